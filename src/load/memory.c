/* SPDX-License-Identifier: Apache-2.0 */
#include "load/memory.h"

#include "base/pages.h"
#include "base/sort.h"
#include "model/memory_accounts.h"
#include "model/nesting.h"

struct piece {
	uint64_t bytes; /* its size */
	uint64_t
		live_bytes; /* that it adds to its account; 0: it is not live, or part of another */
	uint32_t account;
	uint32_t device;
	uint32_t allocator;
	bool is_live;
};

struct ledger {
	struct mr_model *model;
	struct mr_strings keys;
	mr_vec(struct piece) pieces; /* by number of its key */
	uint64_t *live_bytes;        /* by account */
	uint64_t *nameless_bytes;    /* of these, what has no address */
};

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

/* The record of a free need not repeat the place and size of the allocation. */
static void give_back(const struct mr_memory *memory, uint32_t row, struct piece *piece)
{
	if (piece->device)
		memory->device[row] = piece->device;
	if (piece->allocator)
		memory->allocator[row] = piece->allocator;
	if (piece->is_live)
		memory->bytes[row] = piece->bytes;
	else if (memory->bytes[row] == 0)
		memory->bytes[row] = MR_NO_SIZE;
	piece->is_live = false;
	piece->live_bytes = 0;
}

static void hand_out(const struct mr_memory *memory, uint32_t row, uint32_t account,
		     struct piece *piece)
{
	*piece = (struct piece){.bytes = memory->bytes[row],
				.live_bytes = memory->parent[row] ? 0 : memory->bytes[row],
				.account = account,
				.device = memory->device[row],
				.allocator = memory->allocator[row],
				.is_live = true};
}

/* What has no address comes and goes as an amount. What is freed and was never allocated was there before: it is part of
 * that amount, as far as the trace tells of one. */
static void enter_nameless(struct ledger *ledger, uint32_t row)
{
	const struct mr_memory *memory = &ledger->model->memory;
	uint32_t account = mr_memory_account_of(ledger->model, row);
	uint64_t *nameless = &ledger->nameless_bytes[account];
	uint64_t bytes = memory->bytes[row];

	if (memory->is_free[row])
		bytes = mr_min(bytes == MR_NO_SIZE ? 0 : bytes, *nameless);
	*nameless = memory->is_free[row] ? *nameless - bytes : *nameless + bytes;
	ledger->live_bytes[account] = memory->is_free[row] ? ledger->live_bytes[account] - bytes
							   : ledger->live_bytes[account] + bytes;
	memory->live_bytes[row] = ledger->live_bytes[account];
}

static bool is_nameless(const struct mr_memory *memory, uint32_t row)
{
	return memory->address[row] == 0 && memory->bytes[row] &&
	       memory->teller[row] == MR_MEMORY_FRAMEWORK;
}

/* If an address is allocated again, it was freed in between, whether the trace says so or not. */
static int enter(struct ledger *ledger, uint32_t row)
{
	const struct mr_model *model = ledger->model;
	const struct mr_memory *memory = &model->memory;

	if (is_nameless(memory, row)) {
		enter_nameless(ledger, row);
		return 0;
	}
	if (memory->parent[row] && !memory->device[row] && inherit_device(ledger, row) < 0)
		return -ENOMEM;
	struct piece *piece = find_piece(ledger, row, memory->address[row]);
	if (!piece)
		return -ENOMEM;
	if (memory->is_free[row] && !piece->is_live && memory->bytes[row]) {
		enter_nameless(ledger, row);
		return 0;
	}
	ledger->live_bytes[piece->account] -= piece->live_bytes;
	if (memory->is_free[row])
		give_back(memory, row, piece);
	else
		hand_out(memory, row, mr_memory_account_of(model, row), piece);
	ledger->live_bytes[piece->account] += piece->live_bytes;
	memory->live_bytes[row] = ledger->live_bytes[mr_memory_account_of(model, row)];
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
		calloc(mr_memory_account_count(model) + 1, sizeof *live_bytes);
	mr_auto(free) uint64_t *nameless_bytes =
		calloc(mr_memory_account_count(model) + 1, sizeof *nameless_bytes);
	struct ledger ledger = {
		.model = model, .live_bytes = live_bytes, .nameless_bytes = nameless_bytes};

	if (!order || !live_bytes || !nameless_bytes)
		return -ENOMEM;
	int result = enter_all(&ledger, order, count);
	mr_strings_free(&ledger.keys);
	mr_vec_free(&ledger.pieces);
	return result;
}

/* ---- what for --------------------------------------------------------------------------------------- */

int mr_memory_link(struct mr_model *model)
{
	struct mr_memory *memory = &model->memory;
	const struct mr_node_executions *executions = &model->node_executions;
	const struct mr_nesting outer = {executions->start_ns, executions->duration_ns, NULL, NULL,
					 NULL};
	mr_auto(free) int64_t *no_time = calloc(memory->table.count + 1, sizeof *no_time);
	mr_auto(free) uint32_t *around = malloc((memory->table.count + 1) * sizeof *around);
	const struct mr_nesting inner = {memory->start_ns, no_time, NULL, NULL, NULL};
	int result = no_time && around ? 0 : -ENOMEM;

	for (uint32_t i = 0; result == 0 && i < model->survey->tracks.count; i++) {
		const uint32_t *rows = &memory->table.first_of_track[i];
		const uint32_t *of_track = &executions->table.first_of_track[i];

		result = mr_nest_in(&outer, of_track[0], of_track[1], &inner, rows[0], rows[1],
				    around);
		for (uint32_t row = rows[0]; result == 0 && row < rows[1]; row++)
			if (memory->teller[row] == MR_MEMORY_FRAMEWORK && memory->node[row] == 0 &&
			    around[row] != MR_NO_ROW)
				memory->node[row] = executions->node[around[row]];
	}
	return result;
}
