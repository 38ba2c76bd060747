/* SPDX-License-Identifier: Apache-2.0 */
#include "load/infer_steps.h"

#include "base/sort.h"
#include "load/period.h"

/* ---- what a process launched, in order of time ---------------------------------------------------- */

struct sequence {
	const struct mr_model *model;
	uint32_t process;
	const struct mr_sort_item *launches; /* rows of calls */
	uint32_t count;
};

static int64_t start_of(const struct sequence *sequence, uint32_t launch)
{
	return sequence->model->calls.start_ns[sequence->launches[launch].index];
}

static int64_t end_of(const struct sequence *sequence, uint32_t launch)
{
	const struct mr_calls *calls = &sequence->model->calls;
	uint32_t row = sequence->launches[launch].index;

	return calls->start_ns[row] + calls->duration_ns[row];
}

/* What was launched, as far as it is known. */
struct launch_key {
	uint32_t function;
	uint32_t name;
	uint32_t kind;
};

static int name_launches(const struct sequence *sequence, uint32_t *ids)
{
	const struct mr_calls *calls = &sequence->model->calls;
	struct mr_strings keys = {0};
	int result = 0;

	for (uint32_t i = 0; result == 0 && i < sequence->count; i++) {
		uint32_t row = sequence->launches[i].index, operation = calls->operation[row];
		const struct launch_key key = {
			.function = calls->function[row],
			.name = operation == MR_NO_ROW
					? 0
					: sequence->model->device_operations.name[operation],
			.kind = calls->kind[row],
		};

		result = mr_strings_intern(&keys, &key, sizeof key, &ids[i]);
	}
	mr_strings_free(&keys);
	return result;
}

/* ---- where a round begins ------------------------------------------------------------------------- */

/* Times in which some operation of the graph went on, of a process: none overlap, in order. */
struct busy_time {
	int64_t start_ns;
	int64_t end_ns;
};

typedef mr_vec(struct busy_time) busy_times;

static int add_busy_time(busy_times *times, int64_t start_ns, int64_t end_ns)
{
	struct busy_time *last = times->count ? &times->items[times->count - 1] : NULL;

	if (last && start_ns <= last->end_ns) {
		last->end_ns = mr_max(last->end_ns, end_ns);
		return 0;
	}
	return mr_vec_push(times, ((struct busy_time){start_ns, end_ns}));
}

static int find_busy_times(const struct sequence *sequence, busy_times *times)
{
	const struct mr_node_executions *executions = &sequence->model->node_executions;
	const struct mr_track *tracks = sequence->model->survey->tracks.items;
	size_t room = executions->table.count;
	mr_auto(free) struct mr_sort_item *items = malloc((2 * room + 1) * sizeof *items);
	uint32_t count = 0;
	int result = 0;

	if (!items)
		return -ENOMEM;
	for (uint32_t row = 0; row < executions->table.count; row++)
		if (executions->parent[row] == MR_NO_ROW &&
		    tracks[executions->track[row]].process == sequence->process)
			items[count++] =
				(struct mr_sort_item){mr_sort_key(executions->start_ns[row]), row};
	mr_sort(items, items + room, count);
	for (uint32_t i = 0; result == 0 && i < count; i++) {
		int64_t start_ns = executions->start_ns[items[i].index];

		result = add_busy_time(times, start_ns,
				       start_ns + executions->duration_ns[items[i].index]);
	}
	return result;
}

/* Before each launch, the time since the end of the last; of it, what is not in busy times. */
static void measure_gaps(const struct sequence *sequence, const busy_times *times, int64_t *gaps_ns)
{
	size_t at = 0;

	gaps_ns[0] = 0;
	for (uint32_t i = 1; i < sequence->count; i++) {
		int64_t from_ns = end_of(sequence, i - 1), to_ns = start_of(sequence, i);
		int64_t gap_ns = mr_max(to_ns - from_ns, INT64_C(0));

		while (at < times->count && times->items[at].end_ns <= from_ns)
			at++;
		for (size_t j = at; j < times->count && times->items[j].start_ns < to_ns; j++)
			gap_ns -= mr_min(times->items[j].end_ns, to_ns) -
				  mr_max(times->items[j].start_ns, from_ns);
		gaps_ns[i] = gap_ns;
	}
}

static int compare_times(const void *left, const void *right)
{
	const int64_t *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

/* The launch of the first round with the longest gap before it, in the median of all rounds. *ret_gap_ns is
 * that median. */
static uint32_t find_longest_gap(const struct mr_period *period, const int64_t *gaps_ns,
				 int64_t *values_ns, int64_t *ret_gap_ns)
{
	uint32_t best = period->first;

	*ret_gap_ns = 0;
	for (uint32_t place = 0; place < period->length; place++) {
		uint32_t count = 0;

		for (uint32_t i = period->first + place; i < period->end; i += period->length)
			if (i > 0)
				values_ns[count++] = gaps_ns[i];
		qsort(values_ns, count, sizeof *values_ns, compare_times);
		if (count && values_ns[count / 2] > *ret_gap_ns) {
			*ret_gap_ns = values_ns[count / 2];
			best = period->first + place;
		}
	}
	return best;
}

static int find_beginning(const struct sequence *sequence, const struct mr_period *period,
			  uint32_t *ret_first)
{
	mr_auto(free) int64_t *gaps_ns = malloc(sequence->count * sizeof *gaps_ns);
	mr_auto(free) int64_t *values_ns = malloc(sequence->count * sizeof *values_ns);
	busy_times times = {0};
	int64_t gap_ns;

	if (!gaps_ns || !values_ns || find_busy_times(sequence, &times) < 0) {
		mr_vec_free(&times);
		return -ENOMEM;
	}
	measure_gaps(sequence, &times, gaps_ns);
	*ret_first = find_longest_gap(period, gaps_ns, values_ns, &gap_ns);
	/* Something of the graph goes on all the time, such as the frames of a Python program. */
	if (gap_ns == 0) {
		times.count = 0;
		measure_gaps(sequence, &times, gaps_ns);
		*ret_first = find_longest_gap(period, gaps_ns, values_ns, &gap_ns);
	}
	mr_vec_free(&times);
	return 0;
}

/* ---- steps of it ---------------------------------------------------------------------------------- */

/* What follows the very last launch cannot be distinguished from the step. */
static int64_t end_of_round(const struct sequence *sequence, uint32_t end)
{
	return end < sequence->count ? start_of(sequence, end) : end_of(sequence, end - 1);
}

static int add_steps(struct mr_model *model, const struct sequence *sequence,
		     struct mr_inference *inference, uint32_t first)
{
	const struct mr_period *period = &inference->period;
	int result = 0;

	for (; result == 0 && period->length && period->end - first >= period->length;
	     first += period->length) {
		int64_t start_ns = start_of(sequence, first);

		result = mr_steps_append(
			&model->steps,
			(struct mr_steps_row){
				.track = model->calls.track[sequence->launches[first].index],
				.start_ns = start_ns,
				.duration_ns =
					end_of_round(sequence, first + period->length) - start_ns,
				.step = inference->step_count++,
				.origin = MR_STEP_INFERRED});
	}
	return result;
}

/* Several of them, all the same. */
static bool are_alike(const uint32_t *ids, uint32_t count)
{
	uint32_t i = 1;

	while (i < count && ids[i] == ids[0])
		i++;
	return count > 1 && i == count;
}

static int infer(struct mr_model *model, const struct sequence *sequence)
{
	struct mr_inference inference = {.process = sequence->process,
					 .launch_count = sequence->count};
	mr_auto(free) uint32_t *ids = malloc((sequence->count + 1) * sizeof *ids);
	const struct mr_period *period = &inference.period;
	int result = ids ? name_launches(sequence, ids) : -ENOMEM;

	if (result == 0)
		result = mr_period_find(ids, sequence->count, &inference.period);
	inference.is_uniform = result == 0 && are_alike(ids, sequence->count);
	uint32_t first = period->first;
	if (result == 0 && period->length && (period->end - period->first) % period->length)
		result = find_beginning(sequence, period, &first);
	if (result == 0)
		result = add_steps(model, sequence, &inference, first);
	return result < 0 ? result : mr_vec_push(&model->inferences.list, inference);
}

/* ---- all processes -------------------------------------------------------------------------------- */

static uint32_t list_launches(const struct mr_model *model, struct mr_sort_item *items)
{
	const struct mr_calls *calls = &model->calls;
	uint32_t count = 0;

	for (uint32_t row = 0; row < calls->table.count; row++)
		if (calls->role[row] == MR_CALL_LAUNCH)
			items[count++] =
				(struct mr_sort_item){mr_sort_key(calls->start_ns[row]), row};
	return count;
}

/* Launches of all processes are in order of time; those of each are put together. */
static int infer_all(struct mr_model *model, const struct mr_sort_item *launches, uint32_t count)
{
	const struct mr_track *tracks = model->survey->tracks.items;
	uint32_t process_count = (uint32_t)model->survey->processes.count;
	mr_auto(free) uint32_t *first = calloc((size_t)process_count + 2, sizeof *first);
	mr_auto(free) struct mr_sort_item *divided = malloc((count + 1) * sizeof *divided);
	int result = 0;

	if (!first || !divided)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++)
		first[tracks[model->calls.track[launches[i].index]].process + 2]++;
	for (uint32_t i = 0; i < process_count; i++)
		first[i + 2] += first[i + 1];
	for (uint32_t i = 0; i < count; i++)
		divided[first[tracks[model->calls.track[launches[i].index]].process + 1]++] =
			launches[i];
	for (uint32_t i = 0; result == 0 && i < process_count; i++) {
		const struct sequence sequence = {model, i, divided + first[i],
						  first[i + 1] - first[i]};

		if (sequence.count)
			result = infer(model, &sequence);
	}
	return result;
}

int mr_steps_infer(struct mr_model *model)
{
	size_t room = model->calls.table.count;

	if (model->steps.table.count)
		return 0;
	mr_auto(free) struct mr_sort_item *launches = malloc((2 * room + 1) * sizeof *launches);
	if (!launches)
		return -ENOMEM;
	uint32_t count = list_launches(model, launches);
	mr_sort(launches, launches + room, count);
	int result = infer_all(model, launches, count);
	return result < 0
		       ? result
		       : mr_table_sort(&model->steps.table, (uint32_t)model->survey->tracks.count);
}
