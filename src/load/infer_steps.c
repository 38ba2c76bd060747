/* SPDX-License-Identifier: Apache-2.0 */
#include "load/infer_steps.h"

#include "base/sort.h"
#include "load/period.h"
#include "load/rounds.h"

/* ---- what a process does, in order of time ----------------------------------------------------------- */

/* Launches, or operations that one thread executes one after the other. */
struct sequence {
	const struct mr_model *model;
	uint32_t process;
	bool is_of_operations;
	const struct mr_sort_item *items; /* rows of calls, or of node_executions */
	uint32_t count;
};

static int64_t start_of(const struct sequence *sequence, uint32_t item)
{
	const struct mr_model *model = sequence->model;
	uint32_t row = sequence->items[item].index;

	return sequence->is_of_operations ? model->node_executions.start_ns[row]
					  : model->calls.start_ns[row];
}

static int64_t end_of(const struct sequence *sequence, uint32_t item)
{
	const struct mr_model *model = sequence->model;
	uint32_t row = sequence->items[item].index;

	return sequence->is_of_operations ? model->node_executions.start_ns[row] +
						    model->node_executions.duration_ns[row]
					  : mr_call_end_ns(model, row);
}

static uint32_t track_of(const struct sequence *sequence, uint32_t item)
{
	const struct mr_model *model = sequence->model;
	uint32_t row = sequence->items[item].index;

	return sequence->is_of_operations ? model->node_executions.track[row]
					  : model->calls.track[row];
}

/* What was launched or executed, as far as it is known. */
struct item_key {
	uint32_t function; /* of a launch; or the node */
	uint32_t name;
	uint32_t kind;
};

static struct item_key key_of(const struct sequence *sequence, uint32_t item)
{
	const struct mr_calls *calls = &sequence->model->calls;
	uint32_t row = sequence->items[item].index;

	if (sequence->is_of_operations)
		return (struct item_key){.function = sequence->model->node_executions.node[row]};
	uint32_t operation = calls->operation[row];
	return (struct item_key){
		.function = calls->function[row],
		.name = operation == MR_NO_ROW ? 0
					       : sequence->model->device_operations.name[operation],
		.kind = calls->kind[row],
	};
}

static int name_items(const struct sequence *sequence, uint32_t *ids)
{
	struct mr_strings keys = {0};
	int result = 0;

	for (uint32_t i = 0; result == 0 && i < sequence->count; i++) {
		const struct item_key key = key_of(sequence, i);

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

/* Before each item, the time since the end of the last; of it, what is not in busy times. */
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

/* The place of the pattern with the longest gap before it, in the median of all rounds. *ret_gap_ns is that median. */
static uint32_t find_longest_gap(const struct sequence *sequence, const struct mr_period *period,
				 const struct mr_rounds *rounds, const int64_t *gaps_ns,
				 struct mr_sort_item *items, int64_t *ret_gap_ns)
{
	uint32_t best = 0, count = 0;

	*ret_gap_ns = 0;
	for (uint32_t i = 1; i < sequence->count; i++)
		if (rounds->places[i] != MR_NO_PLACE)
			items[count++] = (struct mr_sort_item){mr_sort_key(gaps_ns[i]), i};
	mr_sort(items, items + sequence->count, count);
	for (uint32_t i = 0; i < count; i++)
		items[i].key = rounds->places[items[i].index];
	mr_sort(items, items + sequence->count, count);
	for (uint32_t first = 0, end; first < count; first = end) {
		for (end = first; end < count && items[end].key == items[first].key; end++)
			;
		int64_t median_ns = gaps_ns[items[first + (end - first) / 2].index];
		if (median_ns > *ret_gap_ns) {
			*ret_gap_ns = median_ns;
			best = (uint32_t)items[first].key;
		}
	}
	return best % period->length;
}

static int find_gap(const struct sequence *sequence, const struct mr_period *period,
		    const struct mr_rounds *rounds, uint32_t *ret_phase)
{
	mr_auto(free) int64_t *gaps_ns = malloc(sequence->count * sizeof *gaps_ns);
	mr_auto(free) struct mr_sort_item *items =
		malloc(2 * (size_t)sequence->count * sizeof *items);
	busy_times times = {0};
	int64_t gap_ns;
	/* Operations are what goes on, if it is they that repeat. */
	int result = gaps_ns && items ? 0 : -ENOMEM;

	if (result == 0 && !sequence->is_of_operations)
		result = find_busy_times(sequence, &times);
	if (result == 0) {
		measure_gaps(sequence, &times, gaps_ns);
		*ret_phase = find_longest_gap(sequence, period, rounds, gaps_ns, items, &gap_ns);
	}
	/* Something of the graph goes on all the time, such as the frames of a Python program. */
	if (result == 0 && gap_ns == 0) {
		times.count = 0;
		measure_gaps(sequence, &times, gaps_ns);
		*ret_phase = find_longest_gap(sequence, period, rounds, gaps_ns, items, &gap_ns);
	}
	mr_vec_free(&times);
	return result;
}

/* The place of the pattern at which rounds begin. */
static int find_phase(const struct sequence *sequence, const struct mr_period *period,
		      const struct mr_rounds *rounds, uint32_t *ret_phase)
{
	const struct mr_round *first = &rounds->list.items[0];
	const struct mr_round *last = &rounds->list.items[rounds->list.count - 1];
	uint32_t before = first->first - period->first, after = period->end - last->end;

	*ret_phase = (period->length - before) % period->length;
	if ((before + after) % period->length == 0)
		return 0;
	return find_gap(sequence, period, rounds, ret_phase);
}

/* ---- steps of it ---------------------------------------------------------------------------------- */

/* What follows the very last item cannot be distinguished from the step. */
static int64_t end_of_round(const struct sequence *sequence, uint32_t end)
{
	return end < sequence->count ? start_of(sequence, end) : end_of(sequence, end - 1);
}

static int add_steps(struct mr_model *model, const struct sequence *sequence,
		     const struct mr_rounds *rounds, struct mr_inference *inference)
{
	int result = 0;

	for (size_t i = 0; result == 0 && i < rounds->list.count; i++) {
		const struct mr_round *round = &rounds->list.items[i];
		int64_t start_ns = start_of(sequence, round->first);

		result = mr_steps_append(
			&model->steps,
			(struct mr_steps_row){.track = track_of(sequence, round->first),
					      .start_ns = start_ns,
					      .duration_ns =
						      end_of_round(sequence, round->end) - start_ns,
					      .step = inference->step_count++,
					      .origin = MR_STEP_INFERRED});
	}
	return result;
}

static int add_rounds(struct mr_model *model, const struct sequence *sequence, const uint32_t *ids,
		      struct mr_inference *inference)
{
	mr_auto(rounds) struct mr_rounds rounds = {0};
	uint32_t phase = 0;
	int result = mr_rounds_find(ids, sequence->count, &inference->period, 0, &rounds);

	if (result == 0)
		result = find_phase(sequence, &inference->period, &rounds, &phase);
	if (result == 0 && phase) {
		mr_rounds_free(&rounds);
		result = mr_rounds_find(ids, sequence->count, &inference->period, phase, &rounds);
	}
	return result < 0 ? result : add_steps(model, sequence, &rounds, inference);
}

/* Several of them, all the same. */
static bool are_alike(const uint32_t *ids, uint32_t count)
{
	uint32_t i = 1;

	while (i < count && ids[i] == ids[0])
		i++;
	return count > 1 && i == count;
}

/* *ret_inference has no steps if the sequence does not show any. */
static int infer(struct mr_model *model, const struct sequence *sequence,
		 struct mr_inference *ret_inference)
{
	struct mr_inference inference = {.process = sequence->process,
					 .item_count = sequence->count,
					 .is_of_operations = sequence->is_of_operations};
	mr_auto(free) uint32_t *ids = malloc((sequence->count + UINT64_C(1)) * sizeof *ids);
	int result = ids ? name_items(sequence, ids) : -ENOMEM;

	if (result == 0)
		result = mr_period_find(ids, sequence->count, &inference.period);
	inference.is_uniform = result == 0 && are_alike(ids, sequence->count);
	if (result == 0 && inference.period.length)
		result = add_rounds(model, sequence, ids, &inference);
	*ret_inference = inference;
	return result;
}

/* ---- all processes -------------------------------------------------------------------------------- */

static uint32_t process_of(const struct mr_model *model, uint32_t track)
{
	return model->survey->tracks.items[track].process;
}

/* Rows of calls that launch, or of operations that stand alone on the thread of each process that has most of them. */
static uint32_t list_items(const struct mr_model *model, const uint32_t *busiest,
			   struct mr_sort_item *items)
{
	const struct mr_calls *calls = &model->calls;
	const struct mr_node_executions *executions = &model->node_executions;
	uint32_t count = 0;

	for (uint32_t row = 0; !busiest && row < calls->table.count; row++)
		if (calls->role[row] == MR_CALL_LAUNCH)
			items[count++] =
				(struct mr_sort_item){mr_sort_key(calls->start_ns[row]), row};
	for (uint32_t row = 0; busiest && row < executions->table.count; row++)
		if (executions->parent[row] == MR_NO_ROW && executions->node[row] &&
		    busiest[process_of(model, executions->track[row])] == executions->track[row])
			items[count++] =
				(struct mr_sort_item){mr_sort_key(executions->start_ns[row]), row};
	return count;
}

/* By process: the thread with most operations that are nested in no other. NULL without memory. */
static uint32_t *find_busiest(const struct mr_model *model)
{
	const struct mr_node_executions *executions = &model->node_executions;
	size_t process_count = model->survey->processes.count;
	mr_auto(free) uint32_t *most = calloc(process_count + 1, sizeof *most);
	mr_auto(free) uint32_t *busiest = malloc((process_count + 1) * sizeof *busiest);

	if (!most || !busiest)
		return NULL;
	for (size_t i = 0; i < process_count; i++)
		busiest[i] = MR_NO_TRACK;
	for (uint32_t track = 0; track < model->survey->tracks.count; track++) {
		uint32_t process = process_of(model, track), count = 0;

		for (uint32_t row = executions->table.first_of_track[track];
		     row < executions->table.first_of_track[track + 1]; row++)
			count += executions->parent[row] == MR_NO_ROW && executions->node[row];
		if (count > most[process]) {
			most[process] = count;
			busiest[process] = track;
		}
	}
	return mr_take(busiest);
}

/* Items of all processes are in order of time; those of each are put together. `first`: of each process, and one more:
 * the end. */
static int divide(const struct mr_model *model, const uint32_t *busiest,
		  struct mr_sort_item **ret_divided, uint32_t **ret_first)
{
	size_t room = busiest ? model->node_executions.table.count : model->calls.table.count;
	uint32_t process_count = (uint32_t)model->survey->processes.count;
	const uint32_t *track = busiest ? model->node_executions.track : model->calls.track;
	mr_auto(free) struct mr_sort_item *items = malloc((2 * room + 1) * sizeof *items);
	mr_auto(free) struct mr_sort_item *divided = malloc((room + 1) * sizeof *divided);
	mr_auto(free) uint32_t *first = calloc((size_t)process_count + 2, sizeof *first);

	if (!items || !divided || !first)
		return -ENOMEM;
	uint32_t count = list_items(model, busiest, items);
	mr_sort(items, items + room, count);
	for (uint32_t i = 0; i < count; i++)
		first[process_of(model, track[items[i].index]) + 2]++;
	for (uint32_t i = 0; i < process_count; i++)
		first[i + 2] += first[i + 1];
	for (uint32_t i = 0; i < count; i++)
		divided[first[process_of(model, track[items[i].index]) + 1]++] = items[i];
	*ret_divided = mr_take(divided);
	*ret_first = mr_take(first);
	return 0;
}

/* Those that launch say where their launches repeat, or that they do not; of the others only those whose operations
 * repeat are worth a word. */
static int infer_all(struct mr_model *model, const uint32_t *busiest, bool *is_done)
{
	mr_auto(free) struct mr_sort_item *divided = NULL;
	mr_auto(free) uint32_t *first = NULL;
	int result = divide(model, busiest, &divided, &first);

	for (uint32_t i = 0; result == 0 && i < model->survey->processes.count; i++) {
		const struct sequence sequence = {model, i, busiest != NULL, divided + first[i],
						  first[i + 1] - first[i]};
		struct mr_inference inference = {0};

		if (sequence.count == 0 || is_done[i])
			continue;
		result = infer(model, &sequence, &inference);
		if (result == 0 && (!busiest || inference.period.length))
			result = mr_vec_push(&model->inferences.list, inference);
		is_done[i] = true;
	}
	return result;
}

int mr_steps_infer(struct mr_model *model)
{
	mr_auto(free) bool *is_done = calloc(model->survey->processes.count + 1, sizeof *is_done);
	int result = is_done ? 0 : -ENOMEM;

	if (model->steps.table.count)
		return 0;
	mr_auto(free) uint32_t *busiest = find_busiest(model);
	if (result == 0)
		result = busiest ? infer_all(model, NULL, is_done) : -ENOMEM;
	if (result == 0)
		result = infer_all(model, busiest, is_done);
	return result < 0
		       ? result
		       : mr_table_sort(&model->steps.table, (uint32_t)model->survey->tracks.count);
}
