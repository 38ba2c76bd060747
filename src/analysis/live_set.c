/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/live_set.h"

#include "base/pages.h"
#include "base/sort.h"
#include "model/memory_accounts.h"

struct share_key {
	uint32_t node;
	uint32_t allocator;
};

struct maker {
	const struct mr_model *model;
	struct mr_strings pieces; /* struct mr_memory_key */
	mr_vec(uint32_t) holders; /* by piece: row of its allocation; MR_NO_ROW: it is not live */
	struct mr_strings keys;   /* struct share_key, of the set's shares */
	struct mr_live_set set;
	const struct mr_memory_scope *scope;
	struct mr_live_share nameless; /* what has no address, as load/memory.c counts it */
};

/* A part of another piece holds nothing of its own. */
static bool is_meant(const struct mr_model *model, uint32_t row,
		     const struct mr_memory_scope *scope)
{
	const struct mr_memory *memory = &model->memory;

	return model->survey->tracks.items[memory->track[row]].process == scope->process &&
	       memory->device[row] == scope->device && memory->teller[row] == scope->teller &&
	       memory->parent[row] == 0 &&
	       (!scope->is_of_allocator || memory->allocator[row] == scope->allocator);
}

static void enter_nameless(struct maker *maker, uint32_t row)
{
	const struct mr_memory *memory = &maker->model->memory;
	uint64_t bytes = memory->bytes[row], *live = &maker->nameless.bytes;

	if (bytes == MR_NO_SIZE || !is_meant(maker->model, row, maker->scope))
		return;
	*live = memory->is_free[row] ? *live - mr_min(bytes, *live) : *live + bytes;
	maker->nameless.allocator = memory->allocator[row];
}

static int enter(struct maker *maker, uint32_t row)
{
	const struct mr_memory *memory = &maker->model->memory;
	const struct mr_memory_key key = mr_memory_key(maker->model, row, memory->address[row]);
	uint32_t piece;

	if (memory->address[row] == 0 && memory->bytes[row] &&
	    memory->teller[row] == MR_MEMORY_FRAMEWORK) {
		enter_nameless(maker, row);
		return 0;
	}
	if (mr_strings_intern(&maker->pieces, &key, sizeof key, &piece) < 0)
		return -ENOMEM;
	if (piece == maker->holders.count && mr_vec_push(&maker->holders, MR_NO_ROW) < 0)
		return -ENOMEM;
	if (memory->is_free[row] && maker->holders.items[piece] == MR_NO_ROW)
		enter_nameless(maker, row);
	maker->holders.items[piece] = memory->is_free[row] ? MR_NO_ROW : row;
	return 0;
}

/* In order of time; of events at the same time the first row first, as the model takes them. */
static int enter_until(struct maker *maker, int64_t ns)
{
	const struct mr_memory *memory = &maker->model->memory;
	size_t room = 2 * (size_t)memory->table.count + 1, count = 0;
	mr_auto(free) struct mr_sort_item *order = mr_allocate_large(room * sizeof *order);
	int result = order ? 0 : -ENOMEM;

	for (uint32_t row = 0; result == 0 && row < memory->table.count; row++)
		if (memory->start_ns[row] <= ns)
			order[count++] =
				(struct mr_sort_item){mr_sort_key(memory->start_ns[row]), row};
	if (result == 0)
		mr_sort(order, order + count, count);
	for (size_t i = 0; result == 0 && i < count; i++)
		result = enter(maker, order[i].index);
	return result;
}

static int add(struct maker *maker, uint32_t row)
{
	const struct mr_memory *memory = &maker->model->memory;
	const struct share_key key = {memory->node[row], memory->allocator[row]};
	const struct mr_live_share fresh = {.node = key.node, .allocator = key.allocator};
	struct mr_live_set *set = &maker->set;
	uint32_t number;

	if (mr_strings_intern(&maker->keys, &key, sizeof key, &number) < 0)
		return -ENOMEM;
	if (number == set->shares.count && mr_vec_push(&set->shares, fresh) < 0)
		return -ENOMEM;
	set->shares.items[number].count++;
	set->shares.items[number].bytes += memory->bytes[row];
	set->count++;
	set->bytes += memory->bytes[row];
	return 0;
}

static int compare(const void *left, const void *right)
{
	const struct mr_live_share *a = left, *b = right;

	if (a->bytes != b->bytes)
		return a->bytes < b->bytes ? 1 : -1;
	if (a->node != b->node)
		return a->node > b->node ? 1 : -1;
	return (a->allocator > b->allocator) - (a->allocator < b->allocator);
}

static int make(struct maker *maker, const struct mr_memory_scope *scope, int64_t ns)
{
	int result = enter_until(maker, ns);

	for (size_t i = 0; result == 0 && i < maker->holders.count; i++) {
		uint32_t row = maker->holders.items[i];

		if (row != MR_NO_ROW && is_meant(maker->model, row, scope))
			result = add(maker, row);
	}
	if (result == 0 && maker->nameless.bytes) {
		maker->nameless.count = 1;
		maker->set.count++;
		maker->set.bytes += maker->nameless.bytes;
		result = mr_vec_push(&maker->set.shares, maker->nameless);
	}
	if (result == 0 && maker->set.shares.count)
		qsort(maker->set.shares.items, maker->set.shares.count,
		      sizeof *maker->set.shares.items, compare);
	return result;
}

int mr_live_set_make(const struct mr_model *model, const struct mr_memory_scope *scope, int64_t ns,
		     struct mr_live_set *ret_set)
{
	struct maker maker = {.model = model, .scope = scope};
	int result = make(&maker, scope, ns);

	mr_strings_free(&maker.pieces);
	mr_strings_free(&maker.keys);
	mr_vec_free(&maker.holders);
	if (result == 0)
		*ret_set = maker.set;
	else
		mr_live_set_free(&maker.set);
	return result;
}

void mr_live_set_free(struct mr_live_set *set)
{
	mr_vec_free(&set->shares);
}
