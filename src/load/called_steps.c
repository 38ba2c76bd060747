/* SPDX-License-Identifier: Apache-2.0 */
#include "load/called_steps.h"

#include <string.h>

#include "base/sort.h"

static uint32_t process_of(const struct mr_model *model, uint32_t track)
{
	return model->survey->tracks.items[track].process;
}

/* ---- the function that is called most often ------------------------------------------------------------ */

struct call_key {
	uint32_t process;
	uint32_t function;
};

/* Of one process. */
struct favourite {
	uint32_t function; /* string; 0: none */
	uint32_t count;
};

static int find_favourites(const struct mr_model *model, struct favourite *favourites)
{
	const struct mr_function_calls *calls = &model->function_calls;
	struct mr_strings keys = {0};
	mr_vec(uint32_t) counts = {0};
	int result = 0;

	for (uint32_t row = 0; result == 0 && row < calls->table.count; row++) {
		const struct call_key key = {process_of(model, calls->track[row]),
					     calls->function[row]};
		uint32_t number;

		result = mr_strings_intern(&keys, &key, sizeof key, &number);
		if (result == 0 && number == counts.count)
			result = mr_vec_push(&counts, 0);
		if (result == 0 && ++counts.items[number] > favourites[key.process].count)
			favourites[key.process] =
				(struct favourite){key.function, counts.items[number]};
	}
	mr_strings_free(&keys);
	mr_vec_free(&counts);
	return result;
}

/* ---- one process ---------------------------------------------------------------------------------------- */

/* Rows in order of time. */
struct rows {
	uint32_t *items;
	uint32_t count;
};

struct loop {
	struct mr_model *model;
	struct rows calls;  /* of the favourite: rows of function_calls */
	struct rows others; /* of other functions */
	struct rows takes;  /* of elements, by the program itself: rows of input_work */
	int64_t *begins_ns; /* by call: where the step begins */
};

static int64_t call_end_ns(const struct loop *loop, uint32_t row)
{
	const struct mr_function_calls *calls = &loop->model->function_calls;

	return calls->start_ns[row] + calls->duration_ns[row];
}

/* Threads that call it side by side have loops of their own. */
static bool do_calls_overlap(const struct loop *loop)
{
	int64_t until_ns = INT64_MIN;

	for (uint32_t i = 0; i < loop->calls.count; i++) {
		uint32_t row = loop->calls.items[i];

		if (loop->model->function_calls.start_ns[row] < until_ns)
			return true;
		until_ns = call_end_ns(loop, row);
	}
	return false;
}

/* A step begins where the last one before it ended: of the same thread, if there are several at a time. */
static int find_begins(const struct loop *loop)
{
	const struct mr_function_calls *calls = &loop->model->function_calls;
	bool is_by_track = do_calls_overlap(loop);
	size_t track_count = is_by_track ? loop->model->survey->tracks.count : 1;
	mr_auto(free) int64_t *until_ns = malloc(track_count * sizeof *until_ns);

	if (!until_ns)
		return -ENOMEM;
	for (size_t i = 0; i < track_count; i++)
		until_ns[i] = INT64_MIN;
	for (uint32_t i = 0; i < loop->calls.count; i++) {
		uint32_t row = loop->calls.items[i];
		int64_t *before_ns = &until_ns[is_by_track ? calls->track[row] : 0];

		loop->begins_ns[i] = *before_ns == INT64_MIN ? calls->start_ns[row] : *before_ns;
		*before_ns = call_end_ns(loop, row);
	}
	return 0;
}

/* Calls of other functions in the time before each call. *ret_end_ns: when the last of them ended. */
static uint32_t count_others(const struct loop *loop, uint32_t call, uint32_t *at,
			     int64_t *ret_end_ns)
{
	const struct mr_function_calls *calls = &loop->model->function_calls;
	int64_t start_ns = calls->start_ns[loop->calls.items[call]];
	uint32_t count = 0;

	for (; *at < loop->others.count; ++*at) {
		uint32_t row = loop->others.items[*at];

		if (calls->start_ns[row] >= start_ns)
			break;
		if (calls->start_ns[row] < loop->begins_ns[call])
			continue;
		count++;
		*ret_end_ns = mr_min(call_end_ns(loop, row), start_ns);
	}
	return count;
}

static int compare_counts(const void *left, const void *right)
{
	const uint32_t *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

/* Twice as many as usual, and two more, are another loop. */
static int leave_out_loops(const struct loop *loop)
{
	uint32_t count = loop->calls.count, at = 0;
	mr_auto(free) uint32_t *counts = malloc(2 * (size_t)count * sizeof *counts);
	mr_auto(free) int64_t *ends_ns = malloc(count * sizeof *ends_ns);

	if (!counts || !ends_ns)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++)
		counts[i] = counts[count + i] = count_others(loop, i, &at, &ends_ns[i]);
	qsort(counts + count, count, sizeof *counts, compare_counts);
	uint32_t usual = counts[count + count / 2];
	for (uint32_t i = 0; i < count; i++)
		if (counts[i] >= 2 * usual && counts[i] >= usual + 2)
			loop->begins_ns[i] = ends_ns[i];
	return 0;
}

/* ---- elements that calls take ------------------------------------------------------------------------- */

/* Takes that begin in the call are [*at, the result). */
static uint32_t find_takes(const struct loop *loop, uint32_t call, uint32_t *at)
{
	const struct mr_input_work *work = &loop->model->input_work;
	uint32_t row = loop->calls.items[call], end;

	while (*at < loop->takes.count &&
	       work->start_ns[loop->takes.items[*at]] < loop->model->function_calls.start_ns[row])
		++*at;
	for (end = *at; end < loop->takes.count &&
			work->start_ns[loop->takes.items[end]] < call_end_ns(loop, row);
	     end++)
		;
	return end;
}

/* Do most calls take several? */
static bool take_several(const struct loop *loop)
{
	uint32_t at = 0, several = 0;

	for (uint32_t i = 0; i < loop->calls.count; i++) {
		uint32_t end = find_takes(loop, i, &at);

		several += end - at > 1;
		at = end;
	}
	return several > loop->calls.count / 2;
}

static int add_step(const struct loop *loop, uint32_t call, int64_t from_ns, int64_t to_ns,
		    enum mr_step_origin origin, uint64_t *number)
{
	const struct mr_function_calls *calls = &loop->model->function_calls;
	uint32_t row = loop->calls.items[call];

	return mr_steps_append(&loop->model->steps,
			       (struct mr_steps_row){.track = calls->track[row],
						     .start_ns = from_ns,
						     .duration_ns = to_ns - from_ns,
						     .step = (*number)++,
						     .function = calls->function[row],
						     .origin = (uint8_t)origin});
}

/* Operations that began in [from_ns, to_ns), on all threads of the process. */
static uint64_t count_executions(const struct loop *loop, int64_t from_ns, int64_t to_ns)
{
	const struct mr_model *model = loop->model;
	const struct mr_node_executions *executions = &model->node_executions;
	uint32_t process = process_of(model, model->function_calls.track[loop->calls.items[0]]);
	uint64_t count = 0;

	for (uint32_t track = 0; track < model->survey->tracks.count; track++) {
		const uint32_t *rows = &executions->table.first_of_track[track];

		if (process_of(model, track) != process || rows[0] == rows[1])
			continue;
		count += mr_find_larger(executions->start_ns, rows[0], rows[1], to_ns - 1);
		count -= mr_find_larger(executions->start_ns, rows[0], rows[1], from_ns - 1);
	}
	return count;
}

/* The last request of an iterator may have found that there are no more elements: what follows is then no step, but
 * the end of the last one, in which next to nothing is executed. */
static bool is_end_of_input(const struct loop *loop, uint32_t first, uint32_t last, int64_t to_ns)
{
	const struct mr_input_work *work = &loop->model->input_work;
	const uint32_t *takes = loop->takes.items;

	if (last == first || (last + 1 < loop->takes.count &&
			      work->iterator[takes[last + 1]] == work->iterator[takes[last]]))
		return false;
	uint64_t after = count_executions(loop, work->start_ns[takes[last]], to_ns);
	uint64_t before =
		count_executions(loop, work->start_ns[takes[first]], work->start_ns[takes[last]]);
	return 2 * after * (last - first) < before;
}

static int add_steps_of_call(const struct loop *loop, uint32_t call, uint32_t first, uint32_t end,
			     uint64_t *number)
{
	const struct mr_input_work *work = &loop->model->input_work;
	const uint32_t *takes = loop->takes.items;
	int64_t from_ns = loop->begins_ns[call];
	int64_t to_ns = call_end_ns(loop, loop->calls.items[call]);
	int result = 0;

	if (end > first && is_end_of_input(loop, first, end - 1, to_ns))
		end--;
	for (uint32_t i = first + 1; result == 0 && i < end; i++) {
		result = add_step(loop, call, from_ns, work->start_ns[takes[i]], MR_STEP_TAKEN,
				  number);
		from_ns = work->start_ns[takes[i]];
	}
	return result < 0 ? result : add_step(loop, call, from_ns, to_ns, MR_STEP_TAKEN, number);
}

static int add_steps(const struct loop *loop)
{
	uint64_t number = loop->model->manifest->first_step;
	bool are_taken = take_several(loop);
	uint32_t at = 0;
	int result = find_begins(loop);

	if (result == 0)
		result = leave_out_loops(loop);
	for (uint32_t i = 0; result == 0 && i < loop->calls.count; i++) {
		uint32_t end = are_taken ? find_takes(loop, i, &at) : at;

		result = are_taken ? add_steps_of_call(loop, i, at, end, &number)
				   : add_step(loop, i, loop->begins_ns[i],
					      call_end_ns(loop, loop->calls.items[i]),
					      MR_STEP_CALLED, &number);
		at = end;
	}
	return result;
}

/* ---- all processes ------------------------------------------------------------------------------------ */

typedef bool is_wanted(const struct mr_model *model, const struct favourite *favourites,
		       uint32_t row);

static bool is_favourite(const struct mr_model *model, const struct favourite *favourites,
			 uint32_t row)
{
	const struct mr_function_calls *calls = &model->function_calls;

	return favourites[process_of(model, calls->track[row])].function == calls->function[row];
}

static bool is_other(const struct mr_model *model, const struct favourite *favourites, uint32_t row)
{
	return !is_favourite(model, favourites, row);
}

static bool is_take(const struct mr_model *model, const struct favourite *favourites, uint32_t row)
{
	const struct mr_input_work *work = &model->input_work;

	(void)favourites;
	return work->kind[row] == MR_INPUT_REQUEST && work->consumer[row] == 0 &&
	       work->parent[row] == MR_NO_ROW;
}

static bool is_any(const struct mr_model *model, const struct favourite *favourites, uint32_t row)
{
	(void)model;
	(void)favourites;
	(void)row;
	return true;
}

/* Rows of a table by process, and in each by time. `first`: of each process, and one more: the end. */
struct sorted {
	uint32_t *items;
	uint32_t *first;
};

static void mr_cleanup_sorted(struct sorted *sorted)
{
	free(sorted->items);
	free(sorted->first);
}

static struct rows rows_of(const struct sorted *sorted, uint32_t process)
{
	return (struct rows){sorted->items + sorted->first[process],
			     sorted->first[process + 1] - sorted->first[process]};
}

static int sort_rows(const struct mr_model *model, const struct mr_table *table,
		     const uint32_t *track, const int64_t *start_ns,
		     const struct favourite *favourites, is_wanted *wants,
		     struct sorted *ret_sorted)
{
	size_t process_count = model->survey->processes.count;
	mr_auto(free) struct mr_sort_item *items =
		malloc((2 * (size_t)table->count + 1) * sizeof *items);
	uint32_t count = 0;

	ret_sorted->items = malloc((table->count + UINT64_C(1)) * sizeof(uint32_t));
	ret_sorted->first = calloc(process_count + 1, sizeof(uint32_t));
	if (!items || !ret_sorted->items || !ret_sorted->first)
		return -ENOMEM;
	for (uint32_t row = 0; row < table->count; row++)
		if (wants(model, favourites, row))
			items[count++] = (struct mr_sort_item){mr_sort_key(start_ns[row]), row};
	mr_sort(items, items + table->count, count);
	for (uint32_t i = 0; i < count; i++)
		items[i].key = process_of(model, track[items[i].index]);
	mr_sort(items, items + table->count, count);
	for (uint32_t i = 0; i < count; i++) {
		ret_sorted->items[i] = items[i].index;
		ret_sorted->first[items[i].key + 1]++;
	}
	for (size_t i = 0; i < process_count; i++)
		ret_sorted->first[i + 1] += ret_sorted->first[i];
	return 0;
}

/* One call alone repeats nothing, unless only some steps were recorded. */
static int add_all(struct mr_model *model, const struct favourite *favourites,
		   const struct sorted *calls)
{
	const struct mr_function_calls *table = &model->function_calls;
	const struct mr_input_work *work = &model->input_work;
	mr_auto(sorted) struct sorted others = {0};
	mr_auto(sorted) struct sorted takes = {0};
	mr_auto(free) int64_t *begins_ns =
		malloc((table->table.count + UINT64_C(1)) * sizeof *begins_ns);
	uint32_t least = model->survey->event_counts[MR_EVENT_recording_switched] ? 1 : 2;
	int result = begins_ns ? sort_rows(model, &table->table, table->track, table->start_ns,
					   favourites, is_other, &others)
			       : -ENOMEM;

	if (result == 0)
		result = sort_rows(model, &work->table, work->track, work->start_ns, favourites,
				   is_take, &takes);
	for (uint32_t i = 0; result == 0 && i < model->survey->processes.count; i++) {
		const struct loop loop = {model, rows_of(calls, i), rows_of(&others, i),
					  rows_of(&takes, i), begins_ns};
		uint32_t at = 0;

		if (loop.calls.count >= least ||
		    (loop.calls.count == 1 && find_takes(&loop, 0, &at) - at > 1))
			result = add_steps(&loop);
	}
	return result;
}

/* ---- a program that marks some ------------------------------------------------------------------------ */

/* Calls that begin while no marked step of their process goes on. */
static int count_outside(struct mr_model *model, const struct sorted *calls)
{
	const struct mr_steps *steps = &model->steps;
	mr_auto(sorted) struct sorted marked = {0};
	int result = sort_rows(model, &steps->table, steps->track, steps->start_ns, NULL, is_any,
			       &marked);

	for (uint32_t i = 0; result == 0 && i < model->survey->processes.count; i++) {
		const struct rows of_calls = rows_of(calls, i), of_steps = rows_of(&marked, i);
		int64_t until_ns = INT64_MIN;
		uint32_t next = 0;

		for (uint32_t j = 0; j < of_calls.count; j++) {
			int64_t ns = model->function_calls.start_ns[of_calls.items[j]];

			for (; next < of_steps.count && steps->start_ns[of_steps.items[next]] <= ns;
			     next++)
				until_ns = mr_max(until_ns,
						  steps->start_ns[of_steps.items[next]] +
							  steps->duration_ns[of_steps.items[next]]);
			model->calls_marked.outside += ns >= until_ns;
		}
		model->calls_marked.count += of_calls.count;
	}
	return result;
}

int mr_called_steps_add(struct mr_model *model)
{
	const struct mr_function_calls *table = &model->function_calls;
	mr_auto(sorted) struct sorted calls = {0};
	mr_auto(free) struct favourite *favourites =
		calloc(model->survey->processes.count + 1, sizeof *favourites);
	int result = favourites ? find_favourites(model, favourites) : -ENOMEM;

	if (result == 0)
		result = sort_rows(model, &table->table, table->track, table->start_ns, favourites,
				   is_favourite, &calls);
	if (result < 0)
		return result;
	return model->steps.table.count ? count_outside(model, &calls)
					: add_all(model, favourites, &calls);
}
