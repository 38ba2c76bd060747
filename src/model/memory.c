/* SPDX-License-Identifier: Apache-2.0 */
#include "model/runtime.h"

#include "base/pages.h"
#include "base/sort.h"

struct piece {
	uint64_t bytes; /* that it adds to the device; 0: it is not live, or part of another */
	uint32_t device;
	uint32_t allocator;
};

struct ledger {
	struct mr_model *model;
	struct mr_strings keys;
	mr_vec(struct piece) pieces; /* by number of its key */
	uint64_t *live_bytes;        /* by device and teller */
};

static uint64_t *live_of(const struct ledger *ledger, uint32_t device, uint8_t teller)
{
	return &ledger->live_bytes[2 * (size_t)device + teller];
}

struct mr_memory_key mr_memory_key(const struct mr_model *model, uint32_t row, uint64_t address)
{
	const struct mr_memory *memory = &model->memory;
	bool is_runtime = memory->teller[row] == MR_MEMORY_RUNTIME;

	return (struct mr_memory_key){
		.address = address,
		.process = model->survey->tracks.items[memory->track[row]].process,
		.teller = memory->teller[row],
		.device = is_runtime ? 0 : memory->device[row],
		.allocator = is_runtime ? 0 : memory->allocator[row],
	};
}

/* The piece at an address, in the names of the row's teller. NULL without memory. */
static struct piece *find_piece(struct ledger *ledger, uint32_t row, uint64_t address)
{
	const struct mr_memory_key key = mr_memory_key(ledger->model, row, address);
	uint32_t number;

	if (mr_strings_intern(&ledger->keys, &key, sizeof key, &number) < 0)
		return NULL;
	if (number == ledger->pieces.count && mr_vec_push(&ledger->pieces, (struct piece){0}) < 0)
		return NULL;
	return &ledger->pieces.items[number];
}

/* A part is where the whole is, which its runtime need not say again. */
static int inherit_device(struct ledger *ledger, uint32_t row)
{
	const struct mr_memory *memory = &ledger->model->memory;
	const struct piece *whole = find_piece(ledger, row, memory->parent[row]);

	if (!whole)
		return -ENOMEM;
	memory->device[row] = whole->device;
	return 0;
}

/* An address that is given out again was freed in between, told or not. */
static int enter(struct ledger *ledger, uint32_t row)
{
	const struct mr_memory *memory = &ledger->model->memory;
	uint8_t teller = memory->teller[row];

	if (memory->parent[row] && !memory->device[row] && inherit_device(ledger, row) < 0)
		return -ENOMEM;
	struct piece *piece = find_piece(ledger, row, memory->address[row]);
	if (!piece)
		return -ENOMEM;
	*live_of(ledger, piece->device, teller) -= piece->bytes;
	if (memory->is_free[row]) {
		if (piece->device)
			memory->device[row] = piece->device;
		if (piece->allocator)
			memory->allocator[row] = piece->allocator;
		if (piece->bytes)
			memory->bytes[row] = piece->bytes;
		piece->bytes = 0;
	} else {
		piece->device = memory->device[row];
		piece->allocator = memory->allocator[row];
		piece->bytes = memory->parent[row] ? 0 : memory->bytes[row];
		*live_of(ledger, piece->device, teller) += piece->bytes;
	}
	memory->live_bytes[row] = *live_of(ledger, memory->device[row], teller);
	return 0;
}

static int enter_all(struct ledger *ledger, struct mr_sort_item *order, uint32_t count)
{
	const struct mr_memory *memory = &ledger->model->memory;
	int result = 0;

	for (uint32_t row = 0; row < count; row++)
		order[row] = (struct mr_sort_item){mr_sort_key(memory->start_ns[row]), row};
	mr_sort(order, order + count, count);
	for (uint32_t i = 0; result == 0 && i < count; i++)
		result = enter(ledger, order[i].index);
	return result;
}

int mr_memory_join(struct mr_model *model)
{
	uint32_t count = model->memory.table.count;
	mr_auto(free) struct mr_sort_item *order =
		mr_allocate_large((2 * (size_t)count + 1) * sizeof *order);
	mr_auto(free) uint64_t *live_bytes =
		calloc(2 * model->survey->definitions.devices.count, sizeof *live_bytes);
	struct ledger ledger = {.model = model, .live_bytes = live_bytes};

	if (!order || !live_bytes)
		return -ENOMEM;
	int result = enter_all(&ledger, order, count);
	mr_strings_free(&ledger.keys);
	mr_vec_free(&ledger.pieces);
	return result;
}
