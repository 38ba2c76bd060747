/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds what synchronising calls without a wait list waited for: the last to end among all operations that were
 * launched to a queue, or by a process, before the call began, and that ended during the call. Operations whose launch
 * is not in the trace were launched before.
 */
#include "base/sort.h"
#include "load/runtime_waits.h"

/* The operations of one queue or process each, in order of their ends. Slot 0 is never used.
 *
 *     slots      │ scope 0 ─────────── │ scope 1 ─────── │      before[slot]: the slot itself as long as its
 *     before       1   1   3   4   4                            operation is there; else one towards the next
 *                      └─ removed      └─ removed               that is there (union-find)
 *
 * Calls come from the last to the first, and operations launched after them are removed before they ask.
 */
struct ended {
	struct mr_sort_item *items;   /* by slot: key is the end, index the row */
	uint32_t *before;             /* by slot */
	uint32_t *slot_of;            /* by row of device_operations; 0: it has none */
	uint32_t *first_of_scope;     /* slots, and one more: the end */
	uint64_t *bounds_ns;          /* by scope: the largest of its devices */
	struct mr_sort_item *removal; /* rows by the start of their launch */
	uint32_t count;               /* of operations */
	uint32_t scope_count;
};

static void mr_cleanup_ended(struct ended *ended)
{
	free(ended->items);
	free(ended->before);
	free(ended->slot_of);
	free(ended->first_of_scope);
	free(ended->bounds_ns);
	free(ended->removal);
}

static uint32_t scope_of(const struct mr_model *model, uint32_t row, bool by_queue)
{
	return by_queue ? mr_wait_queue_of(model, row) : model->device_operations.process[row];
}

/* By end; of equal ones the largest correlation first, so that the smallest is found first. */
static void sort_by_end(const struct mr_model *model, struct ended *ended,
			struct mr_sort_item *sorted, struct mr_sort_item *scratch)
{
	const struct mr_device_operations *operations = &model->device_operations;

	ended->count = 0;
	for (uint32_t row = operations->table.count; row-- > 0;)
		if (mr_wait_is_timed(model, row))
			sorted[ended->count++] =
				(struct mr_sort_item){~operations->correlation[row], row};
	mr_sort(sorted, scratch, ended->count);
	for (uint32_t i = 0; i < ended->count; i++)
		sorted[i].key = mr_sort_key(mr_operation_end_ns(model, sorted[i].index));
	mr_sort(sorted, scratch, ended->count);
}

static void divide_by_scope(const struct mr_waits *waits, struct ended *ended,
			    const struct mr_sort_item *sorted, bool by_queue)
{
	uint32_t *next = ended->first_of_scope + 1; /* becomes the ends, which are the starts */

	next[0] = 1;
	for (uint32_t i = 0; i < ended->count; i++) {
		uint32_t scope = scope_of(waits->model, sorted[i].index, by_queue);

		next[scope + 1]++;
		ended->bounds_ns[scope] =
			mr_max(ended->bounds_ns[scope], mr_wait_bound_ns(waits, sorted[i].index));
	}
	for (uint32_t i = 0; i < ended->scope_count; i++)
		next[i + 1] += next[i];
	ended->first_of_scope[0] = 1;
	for (uint32_t i = 0; i < ended->count; i++) {
		uint32_t scope = scope_of(waits->model, sorted[i].index, by_queue);
		uint32_t slot = next[scope]++;

		ended->items[slot] = sorted[i];
		ended->before[slot] = slot;
		ended->slot_of[sorted[i].index] = slot;
	}
}

static int ended_make(const struct mr_waits *waits, bool by_queue, struct ended *ended)
{
	const struct mr_model *model = waits->model;
	size_t room = (size_t)model->device_operations.table.count + 1;
	mr_auto(free) struct mr_sort_item *scratch = malloc(room * sizeof *scratch);

	ended->scope_count = (uint32_t)(by_queue ? model->survey->definitions.queues.count
						 : model->survey->processes.count);
	ended->items = malloc(room * sizeof *ended->items);
	ended->before = calloc(room, sizeof *ended->before);
	ended->slot_of = calloc(room, sizeof *ended->slot_of);
	ended->first_of_scope =
		calloc((size_t)ended->scope_count + 2, sizeof *ended->first_of_scope);
	ended->bounds_ns = calloc((size_t)ended->scope_count + 1, sizeof *ended->bounds_ns);
	ended->removal = malloc(room * sizeof *ended->removal);
	if (!scratch || !ended->items || !ended->before || !ended->slot_of ||
	    !ended->first_of_scope || !ended->bounds_ns || !ended->removal)
		return -ENOMEM;
	sort_by_end(model, ended, ended->removal, scratch);
	divide_by_scope(waits, ended, ended->removal, by_queue);
	for (uint32_t i = 0; i < ended->count; i++) {
		uint32_t call = model->device_operations.call[ended->removal[i].index];

		/* One whose launch is not in the trace was launched before it. */
		ended->removal[i].key =
			call == MR_NO_ROW ? 0 : mr_sort_key(model->calls.start_ns[call]);
	}
	mr_sort(ended->removal, scratch, ended->count);
	return 0;
}

/* The last slot, up to this one, whose operation is there; 0 if there is none. */
static uint32_t find_present(struct ended *ended, uint32_t slot)
{
	while (ended->before[slot] != slot) {
		ended->before[slot] = ended->before[ended->before[slot]];
		slot = ended->before[slot];
	}
	return slot;
}

/* The last slot of the scope that ends until then; the slot before the scope if there is none. */
static uint32_t find_ended(const struct ended *ended, uint32_t scope, int64_t ns)
{
	uint32_t low = ended->first_of_scope[scope], high = ended->first_of_scope[scope + 1];

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (ended->items[middle].key <= mr_sort_key(ns))
			low = middle + 1;
		else
			high = middle;
	}
	return low - 1;
}

static void await_scope(struct mr_model *model, struct ended *ended, uint32_t call, uint32_t scope)
{
	uint64_t bound_ns = ended->bounds_ns[scope];
	int64_t until_ns = mr_call_end_ns(model, call) + (int64_t)bound_ns;
	uint32_t slot = find_present(ended, find_ended(ended, scope, until_ns));

	if (slot < ended->first_of_scope[scope])
		return;
	uint32_t row = ended->items[slot].index;
	if (mr_wait_is_possible(&model->calls, call, mr_operation_end_ns(model, row), bound_ns))
		model->calls.awaited[call] = row;
}

/* Calls that wait for one queue, or those that wait for all of their process. */
static bool awaits_scope(const struct mr_waits *waits, uint32_t call, bool by_queue)
{
	const struct mr_calls *calls = &waits->model->calls;

	return calls->role[call] == MR_CALL_WAIT && waits->listed[call] == MR_NO_ROW &&
	       (calls->queue[call] != 0) == by_queue;
}

int mr_await_scopes(const struct mr_waits *waits, bool by_queue)
{
	struct mr_model *model = waits->model;
	const struct mr_calls *calls = &model->calls;
	mr_auto(free) struct mr_sort_item *asking =
		malloc((2 * (size_t)calls->table.count + 1) * sizeof *asking);
	mr_auto(ended) struct ended ended = {0};
	uint32_t count = 0;

	if (!asking)
		return -ENOMEM;
	for (uint32_t call = 0; call < calls->table.count; call++)
		if (awaits_scope(waits, call, by_queue))
			asking[count++] =
				(struct mr_sort_item){mr_sort_key(calls->start_ns[call]), call};
	if (count == 0)
		return 0;
	if (ended_make(waits, by_queue, &ended) < 0)
		return -ENOMEM;
	mr_sort(asking, asking + count, count);
	uint32_t left = ended.count;
	while (count-- > 0) {
		uint32_t call = asking[count].index;

		for (; left > 0 && ended.removal[left - 1].key >= asking[count].key; left--)
			ended.before[ended.slot_of[ended.removal[left - 1].index]]--;
		await_scope(model, &ended, call,
			    by_queue ? calls->queue[call]
				     : model->survey->tracks.items[calls->track[call]].process);
	}
	return 0;
}
