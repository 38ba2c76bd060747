/* SPDX-License-Identifier: Apache-2.0 */
#include "load/torch/backward.h"

#include <string.h>

#include "base/sort.h"
#include "base/vector.h"

/* ---- what autograd executed ------------------------------------------------------------------------ */

/* From begin to end, on one of autograd's threads. */
struct work {
	int64_t start_ns;
	int64_t end_ns;
	uint32_t track;
	uint32_t process;
};

typedef mr_vec(struct work) work_list;

static int64_t end_of(const struct mr_node_executions *executions, uint32_t row)
{
	return executions->start_ns[row] + executions->duration_ns[row];
}

/* By node. NULL without memory. */
static bool *find_functions(const struct mr_model *model)
{
	static const char engine[] = "autograd::engine::evaluate_function";
	const struct mr_definitions *definitions = &model->survey->definitions;
	bool *is_function = calloc(definitions->nodes.count + 1, sizeof *is_function);

	for (size_t i = 0; is_function && i < definitions->nodes.count; i++)
		is_function[i] = strncmp(mr_model_text(model, definitions->nodes.items[i].name),
					 engine, sizeof engine - 1) == 0;
	return is_function;
}

static int compare_work(const void *left, const void *right)
{
	const struct work *a = left, *b = right;

	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	return (a->track > b->track) - (a->track < b->track);
}

/* Functions inside others, as of gradients that are computed in order to compute gradients, are part of them. */
static bool is_outermost(const struct mr_node_executions *executions, const bool *is_function,
			 uint32_t row)
{
	if (!is_function[executions->node[row]])
		return false;
	do
		row = executions->parent[row];
	while (row != MR_NO_ROW && !is_function[executions->node[row]]);
	return row == MR_NO_ROW;
}

/* By process, then by time. `is_worker` says of each track whether it has any. */
static int list_work(const struct mr_model *model, const bool *is_function, bool *is_worker,
		     work_list *list)
{
	const struct mr_node_executions *executions = &model->node_executions;
	int result = 0;

	for (uint32_t row = 0; result == 0 && row < executions->table.count; row++) {
		uint32_t track = executions->track[row];
		uint32_t process = model->survey->tracks.items[track].process;

		if (!is_outermost(executions, is_function, row))
			continue;
		is_worker[track] = true;
		result =
			mr_vec_push(list, ((struct work){executions->start_ns[row],
							 end_of(executions, row), track, process}));
	}
	if (list->count)
		qsort(list->items, list->count, sizeof *list->items, compare_work);
	return result;
}

/* ---- the thread that waits ------------------------------------------------------------------------- */

/* By process: its thread that executes most besides autograd's; MR_NO_TRACK: there is none. NULL without memory. */
static uint32_t *find_waiting(const struct mr_model *model, const bool *is_worker)
{
	const struct mr_survey *survey = model->survey;
	const uint32_t *first = model->node_executions.table.first_of_track;
	uint32_t *found = malloc((survey->processes.count + 1) * sizeof *found);

	for (size_t i = 0; found && i < survey->processes.count; i++)
		found[i] = MR_NO_TRACK;
	for (uint32_t i = 0; found && i < survey->tracks.count; i++) {
		uint32_t *best = &found[survey->tracks.items[i].process];
		uint32_t most = *best == MR_NO_TRACK ? 0 : first[*best + 1] - first[*best];

		if (first[i + 1] - first[i] > most && !is_worker[i])
			*best = i;
	}
	return found;
}

/* ---- its gaps -------------------------------------------------------------------------------------- */

typedef mr_vec(struct mr_sort_item) edge_list;

enum {
	EXECUTION_EDGE,
	CALL_BEGIN,
	CALL_END,
};

static int add_edges(edge_list *edges, int64_t start_ns, int64_t end_ns, uint32_t begin,
		     uint32_t end)
{
	int result = mr_vec_push(edges, ((struct mr_sort_item){mr_sort_key(start_ns), begin}));

	return result < 0 ? result
			  : mr_vec_push(edges, ((struct mr_sort_item){mr_sort_key(end_ns), end}));
}

/* In order of time: where the thread begins or ends something. */
static int list_edges(const struct mr_model *model, uint32_t track, edge_list *edges)
{
	const struct mr_node_executions *executions = &model->node_executions;
	const struct mr_calls *calls = &model->calls;
	int result = 0;

	for (uint32_t row = executions->table.first_of_track[track];
	     result == 0 && row < executions->table.first_of_track[track + 1]; row++)
		result = add_edges(edges, executions->start_ns[row], end_of(executions, row),
				   EXECUTION_EDGE, EXECUTION_EDGE);
	for (uint32_t row = calls->table.first_of_track[track];
	     result == 0 && row < calls->table.first_of_track[track + 1]; row++)
		result = add_edges(edges, calls->start_ns[row], mr_call_end_ns(model, row),
				   CALL_BEGIN, CALL_END);
	if (result < 0)
		return result;
	mr_auto(free) struct mr_sort_item *scratch = malloc((edges->count + 1) * sizeof *scratch);
	if (!scratch)
		return -ENOMEM;
	mr_sort(edges->items, scratch, (uint32_t)edges->count);
	return 0;
}

/* What was executed between two times, if nothing was going on at either; from place `*next` on, which moves behind
 * it. */
static bool find_between(const work_list *list, size_t *next, uint64_t from, uint64_t to,
			 struct work *ret_work)
{
	struct work all = {.start_ns = INT64_MAX, .end_ns = INT64_MIN, .track = MR_NO_TRACK};
	bool is_whole = true;

	for (; *next < list->count && mr_sort_key(list->items[*next].start_ns) < to; (*next)++) {
		const struct work *work = &list->items[*next];

		is_whole &= mr_sort_key(work->start_ns) >= from && mr_sort_key(work->end_ns) <= to;
		all.start_ns = mr_min(all.start_ns, work->start_ns);
		if (work->end_ns > all.end_ns) {
			all.end_ns = work->end_ns;
			all.track = work->track;
		}
	}
	*ret_work = all;
	return is_whole && all.start_ns < all.end_ns;
}

/* Appends the waits of one thread. Work that began before a gap counts for the gap before, and spoils that one. */
static int add_waits(struct mr_model *model, const work_list *list, uint32_t track)
{
	edge_list edges = {0};
	size_t next = 0;
	int64_t busy_until_ns = INT64_MIN;
	uint32_t calls = 0;
	int result = list_edges(model, track, &edges);

	for (size_t i = 0; result == 0 && i + 1 < edges.count; i++) {
		uint64_t from = edges.items[i].key, to = edges.items[i + 1].key;
		struct work work;

		calls += edges.items[i].index == CALL_BEGIN;
		calls -= edges.items[i].index == CALL_END;
		if (from == to)
			continue;
		bool is_wait = find_between(list, &next, from, to, &work) && calls == 0 &&
			       mr_sort_key(busy_until_ns) <= from;
		busy_until_ns = mr_max(busy_until_ns, work.end_ns);
		if (is_wait)
			result = mr_thread_waits_append(
				&model->thread_waits,
				(struct mr_thread_waits_row){.track = track,
							     .start_ns = work.start_ns,
							     .duration_ns =
								     work.end_ns - work.start_ns,
							     .awaited = work.track});
	}
	mr_vec_free(&edges);
	return result;
}

/* ---- all together ---------------------------------------------------------------------------------- */

/* The work of the process that begins at `first`. */
static work_list slice_of(const work_list *list, size_t first)
{
	size_t end = first;

	while (end < list->count && list->items[end].process == list->items[first].process)
		end++;
	return (work_list){list->items + first, end - first, end - first};
}

int mr_torch_join_backward(struct mr_model *model)
{
	uint32_t track_count = (uint32_t)model->survey->tracks.count;
	mr_auto(free) bool *is_function = find_functions(model);
	mr_auto(free) bool *is_worker = calloc((size_t)track_count + 1, sizeof *is_worker);
	mr_auto(free) uint32_t *waiting = NULL;
	work_list list = {0};
	int result = is_function && is_worker ? list_work(model, is_function, is_worker, &list)
					      : -ENOMEM;

	if (result == 0 && !(waiting = find_waiting(model, is_worker)))
		result = -ENOMEM;
	for (size_t i = 0; result == 0 && i < list.count;) {
		const work_list slice = slice_of(&list, i);
		uint32_t track = waiting[list.items[i].process];

		if (track != MR_NO_TRACK)
			result = add_waits(model, &slice, track);
		i += slice.count;
	}
	mr_vec_free(&list);
	return result < 0 ? result : mr_table_sort(&model->thread_waits.table, track_count);
}
