/* SPDX-License-Identifier: Apache-2.0
 *
 * Eager operations, which the program executes one by one. TensorFlow executes them at once or later. In the latter
 * case the call only hands the operation to an executor, and the execution is the work of the executor's thread. Both
 * events have the address of the same work item, which nothing else uses in between.
 *
 *     calling thread     ├ call: MatMul ── enqueued 0x70 ┤                          asked_ns: when the call began
 *     executor's thread                                     ├ run 0x70 ────┤        the row
 */
#include <stdlib.h>

#include "load/tensorflow/tensorflow.h"
#include "model/nesting.h"

/* ---- rows ------------------------------------------------------------------------------------------ */

int mr_eager_add_enqueued(struct mr_tensorflow *tensorflow, const struct mr_event *event)
{
	const struct mr_event_eager_enqueue *enqueued = event->payload;
	const struct mr_eager_item item = {
		.item = enqueued->item,
		.process = tensorflow->loader->process,
		.track = tensorflow->loader->track,
		.start_ns = mr_loader_to_ns(tensorflow->loader, event->ticks),
		.run = MR_NO_ROW};
	int result = mr_vec_push(&tensorflow->untaken, (uint32_t)tensorflow->enqueued.count);

	return result < 0 ? result : mr_vec_push(&tensorflow->enqueued, item);
}

int mr_eager_add_run(struct mr_tensorflow *tensorflow, const struct mr_event *event)
{
	const struct mr_event_eager_run *run = event->payload;
	struct mr_span span = mr_loader_span_before(tensorflow->loader, event->ticks,
						    mr_u48_value(run->duration_ticks));

	return mr_vec_push(&tensorflow->runs,
			   ((struct mr_eager_item){.item = run->item,
						   .process = tensorflow->loader->process,
						   .track = tensorflow->loader->track,
						   .start_ns = span.start_ns,
						   .duration_ns = span.duration_ns,
						   .is_done = run->is_done == 1}));
}

/* What the call gave to an executor, recorded just before the call itself: first copies of its inputs, if it needs any,
 * then the operation. Calls inside of it have taken theirs. Index, or MR_NO_ROW. */
static uint32_t take_enqueued(struct mr_tensorflow *tensorflow, struct mr_span call)
{
	uint32_t operation = MR_NO_ROW;

	for (; tensorflow->untaken.count > 0; tensorflow->untaken.count--) {
		uint32_t last = tensorflow->untaken.items[tensorflow->untaken.count - 1];
		const struct mr_eager_item *given = &tensorflow->enqueued.items[last];

		if (given->track != tensorflow->loader->track || given->start_ns < call.start_ns)
			break;
		if (operation == MR_NO_ROW)
			operation = last;
	}
	return operation;
}

int mr_eager_add(struct mr_tensorflow *tensorflow, const struct mr_event *event)
{
	const struct mr_event_eager_operation *operation = event->payload;
	struct mr_span span = mr_loader_span_before(tensorflow->loader, event->ticks,
						    mr_u48_value(operation->duration_ticks));
	const struct mr_eager_call call = {
		.name = mr_loader_find(tensorflow->loader, MR_ID_string, operation->name),
		.device = mr_loader_find(tensorflow->loader, MR_ID_string, operation->device),
		.enqueued = take_enqueued(tensorflow, span)};
	int result = mr_node_executions_append(
		&tensorflow->model->node_executions,
		(struct mr_node_executions_row){.track = tensorflow->loader->track,
						.start_ns = span.start_ns,
						.duration_ns = span.duration_ns,
						.step = MR_NO_STEP,
						.asked_ns = MR_NO_TIME,
						.done_ns = MR_NO_TIME,
						.site = tensorflow->loader->site});

	if (result == 0)
		result = mr_pending_add(tensorflow, MR_PENDING_CALL,
					(uint32_t)tensorflow->calls.count);
	return result < 0 ? result : mr_vec_push(&tensorflow->calls, call);
}

static bool is_call(const struct mr_tensorflow *tensorflow, uint32_t row)
{
	return mr_pending_kind(tensorflow, row) == MR_PENDING_CALL;
}

static uint32_t process_of(const struct mr_model *model, uint32_t row)
{
	return model->survey->tracks.items[model->node_executions.track[row]].process;
}

/* ---- nodes ----------------------------------------------------------------------------------------- */

/* An operation that has failed, or has no result, does not record its device. */
struct only_device {
	uint32_t device; /* string */
	bool is_one_of_many;
};

struct only_devices {
	struct mr_strings keys; /* (process, name) */
	mr_vec(struct only_device) items;
};

struct name_key {
	uint32_t process;
	uint32_t name;
};

static int note_device(struct only_devices *devices, struct name_key key, uint32_t device)
{
	uint32_t count = mr_strings_count(&devices->keys);
	uint32_t number;
	int result = mr_strings_intern(&devices->keys, &key, sizeof key, &number);

	if (result == 0 && number == count)
		return mr_vec_push(&devices->items, ((struct only_device){.device = device}));
	if (result == 0 && devices->items.items[number].device != device)
		devices->items.items[number].is_one_of_many = true;
	return result;
}

/* The one on which all others of that name were executed; 0 if there are several, or none. */
static uint32_t find_only_device(const struct only_devices *devices, struct name_key key)
{
	uint32_t number;

	if (!mr_strings_find(&devices->keys, &key, sizeof key, &number) ||
	    devices->items.items[number].is_one_of_many)
		return 0;
	return devices->items.items[number].device;
}

static int find_devices(const struct mr_tensorflow *tensorflow, struct only_devices *devices)
{
	const struct mr_model *model = tensorflow->model;
	int result = 0;

	for (uint32_t row = 0; result == 0 && row < model->node_executions.table.count; row++) {
		if (!is_call(tensorflow, row))
			continue;
		const struct mr_eager_call *call = mr_pending_call(tensorflow, row);
		if (call->device)
			result = note_device(devices,
					     (struct name_key){process_of(model, row), call->name},
					     call->device);
	}
	return result;
}

static int place_call(struct mr_tensorflow *tensorflow, const struct only_devices *devices,
		      uint32_t row)
{
	const struct mr_eager_call *call = mr_pending_call(tensorflow, row);
	const struct name_key key = {process_of(tensorflow->model, row), call->name};
	uint32_t device = call->device ? call->device : find_only_device(devices, key);

	mr_pending_settle(tensorflow, row);
	return mr_tensorflow_find_eager(tensorflow, key.process, key.name, device,
					&tensorflow->model->node_executions.node[row]);
}

/* ---- steps ----------------------------------------------------------------------------------------- */

/* The call of a function reaches out of the step that ends with it, which is recorded inside the call. */
static int number_calls_of_functions(struct mr_tensorflow *tensorflow)
{
	const struct mr_model *model = tensorflow->model;
	const struct mr_node_executions *executions = &model->node_executions;
	const struct mr_function_calls *calls = &model->function_calls;
	const struct mr_nesting outer = {executions->start_ns, executions->duration_ns, NULL, NULL,
					 NULL};
	const struct mr_nesting inner = {calls->start_ns, calls->duration_ns, NULL, NULL, NULL};
	mr_auto(free) uint32_t *around =
		malloc((calls->table.count + UINT64_C(1)) * sizeof *around);
	mr_auto(free) uint32_t *steps = mr_steps_around(model, &calls->table, &inner);
	int result = around && steps ? 0 : -ENOMEM;

	for (uint32_t i = 0; result == 0 && i < model->survey->tracks.count; i++) {
		const uint32_t *rows = &executions->table.first_of_track[i];
		const uint32_t *of_track = &calls->table.first_of_track[i];

		if (of_track[0] == of_track[1])
			continue;
		result = mr_nest_in(&outer, rows[0], rows[1], &inner, of_track[0], of_track[1],
				    around);
		for (uint32_t call = of_track[0]; result == 0 && call < of_track[1]; call++)
			if (around[call] != MR_NO_ROW && is_call(tensorflow, around[call]) &&
			    mr_pending_call(tensorflow, around[call])->name == calls->graph[call])
				executions->step[around[call]] = mr_step_number(model, steps[call]);
	}
	return result;
}

/* By the thread that asked for them, wherever they are executed. */
static int number_calls(struct mr_tensorflow *tensorflow)
{
	const struct mr_model *model = tensorflow->model;
	const struct mr_node_executions *executions = &model->node_executions;
	const struct mr_nesting rows = {executions->start_ns, executions->duration_ns, NULL, NULL,
					NULL};

	if (model->steps.table.count == 0)
		return 0;
	mr_auto(free) uint32_t *around = mr_steps_around(model, &executions->table, &rows);
	if (!around)
		return -ENOMEM;
	for (uint32_t row = 0; row < executions->table.count; row++)
		if (is_call(tensorflow, row))
			executions->step[row] = mr_step_number(model, around[row]);
	return number_calls_of_functions(tensorflow);
}

/* ---- asynchronous ones ------------------------------------------------------------------------------ */

/* One record about a work item. */
struct mention {
	const struct mr_eager_item *item;
	bool is_run;
	uint32_t index;
};

static int compare_mentions(const void *left, const void *right)
{
	const struct mention *a = left, *b = right;

#define COMPARE(one, other)   \
	if ((one) != (other)) \
		return (one) < (other) ? -1 : 1;
	COMPARE(a->item->process, b->item->process)
	COMPARE(a->item->item, b->item->item)
	COMPARE(a->item->start_ns, b->item->start_ns)
	COMPARE(a->is_run, b->is_run)
	COMPARE(a->index, b->index)
#undef COMPARE
	return 0;
}

/* A run is of what was given last at its address, unless that has been run already. */
static void match_mentions(struct mr_tensorflow *tensorflow, const struct mention *mentions,
			   size_t count)
{
	const struct mention *given = NULL;

	for (size_t i = 0; i < count; i++) {
		const struct mention *mention = &mentions[i];

		if (!mention->is_run) {
			given = mention;
			continue;
		}
		if (given && given->item->item == mention->item->item &&
		    given->item->process == mention->item->process)
			tensorflow->enqueued.items[given->index].run = mention->index;
		given = NULL;
	}
}

static int match_runs(struct mr_tensorflow *tensorflow)
{
	size_t count = tensorflow->enqueued.count + tensorflow->runs.count;
	mr_auto(free) struct mention *mentions = malloc((count + 1) * sizeof *mentions);

	if (!mentions)
		return -ENOMEM;
	for (size_t i = 0; i < tensorflow->enqueued.count; i++)
		mentions[i] = (struct mention){&tensorflow->enqueued.items[i], false, (uint32_t)i};
	for (size_t i = 0; i < tensorflow->runs.count; i++)
		mentions[tensorflow->enqueued.count + i] =
			(struct mention){&tensorflow->runs.items[i], true, (uint32_t)i};
	qsort(mentions, count, sizeof *mentions, compare_mentions);
	match_mentions(tensorflow, mentions, count);
	return 0;
}

/* Puts the row of a call that gave work to an executor where that was executed, as far as that is known. */
static void move_call(struct mr_tensorflow *tensorflow, uint32_t row, uint32_t enqueued)
{
	struct mr_node_executions *executions = &tensorflow->model->node_executions;
	uint32_t run_index = tensorflow->enqueued.items[enqueued].run;
	const struct mr_eager_item *run =
		run_index == MR_NO_ROW ? NULL : &tensorflow->runs.items[run_index];

	if (run && run->track == executions->track[row])
		return; /* it was executed at once */
	executions->flags[row] |= MR_ROW_ASYNCHRONOUS;
	executions->asked_ns[row] = executions->start_ns[row];
	if (!run)
		return;
	executions->track[row] = run->track;
	executions->start_ns[row] = run->start_ns;
	executions->duration_ns[row] = run->duration_ns;
	if (run->is_done)
		executions->done_ns[row] = run->start_ns + run->duration_ns;
}

/* ---- duplicate records ------------------------------------------------------------------------------- */

static int64_t end_of(const struct mr_node_executions *executions, uint32_t row)
{
	return executions->start_ns[row] + executions->duration_ns[row];
}

/* TensorFlow's tracing records functions that XLA has compiled like operations: "f:f", inside the call. */
static bool is_told_again(const struct mr_tensorflow *tensorflow, uint32_t row, uint32_t call)
{
	const struct mr_node_executions *executions = &tensorflow->model->node_executions;
	const struct mr_traceme *meaning = mr_pending_operation(tensorflow, row);
	const struct mr_node *node =
		&tensorflow->model->survey->definitions.nodes.items[executions->node[call]];

	return node->name == meaning->name && node->type == meaning->type &&
	       end_of(executions, row) <= end_of(executions, call);
}

static bool can_be_told_again(const struct mr_tensorflow *tensorflow, uint32_t row)
{
	if (mr_pending_kind(tensorflow, row) != MR_PENDING_OPERATION)
		return false;
	const struct mr_traceme *meaning = mr_pending_operation(tensorflow, row);
	return meaning->name == meaning->type;
}

/* Rows of one track. Adds to *count. */
static int find_repetitions(struct mr_tensorflow *tensorflow, const uint32_t rows[2],
			    bool *is_dropped, uint32_t *count)
{
	struct mr_node_executions *executions = &tensorflow->model->node_executions;
	mr_vec(uint32_t) open = {0}; /* calls that go on, the innermost last */
	int result = 0;

	for (uint32_t row = rows[0]; result == 0 && row < rows[1]; row++) {
		bool is_placed = mr_pending_kind(tensorflow, row) == MR_PENDING_NOTHING;

		if (!is_placed && !can_be_told_again(tensorflow, row))
			continue;
		while (open.count &&
		       end_of(executions, open.items[open.count - 1]) <= executions->start_ns[row])
			open.count--;
		if (is_placed) {
			result = mr_vec_push(&open, row);
		} else if (open.count &&
			   is_told_again(tensorflow, row, open.items[open.count - 1])) {
			uint32_t call = open.items[open.count - 1];

			is_dropped[row] = true;
			++*count;
			if (!executions->shapes[call])
				executions->shapes[call] = executions->shapes[row];
		}
	}
	mr_vec_free(&open);
	return result;
}

static int drop_repetitions(struct mr_tensorflow *tensorflow)
{
	struct mr_table *table = &tensorflow->model->node_executions.table;
	uint32_t track_count = (uint32_t)tensorflow->model->survey->tracks.count;
	mr_auto(free) bool *is_dropped = calloc((size_t)table->count + 1, sizeof *is_dropped);
	uint32_t count = 0;
	int result = is_dropped ? 0 : -ENOMEM;

	for (uint32_t i = 0; result == 0 && i < track_count; i++)
		result =
			find_repetitions(tensorflow, &table->first_of_track[i], is_dropped, &count);
	return result == 0 && count ? mr_pending_drop(tensorflow, is_dropped) : result;
}

int mr_eager_join(struct mr_tensorflow *tensorflow)
{
	const struct mr_table *executions = &tensorflow->model->node_executions.table;
	struct only_devices devices = {0};

	if (tensorflow->calls.count == 0)
		return 0;
	int result = number_calls(tensorflow);
	if (result == 0)
		result = find_devices(tensorflow, &devices);
	if (result == 0)
		result = match_runs(tensorflow);
	for (uint32_t row = 0; result == 0 && row < executions->count; row++) {
		if (!is_call(tensorflow, row))
			continue;
		uint32_t enqueued = mr_pending_call(tensorflow, row)->enqueued;
		if (enqueued != MR_NO_ROW)
			move_call(tensorflow, row, enqueued);
		result = place_call(tensorflow, &devices, row);
	}
	if (result == 0 && tensorflow->enqueued.count)
		result = mr_pending_sort(tensorflow);
	if (result == 0)
		result = drop_repetitions(tensorflow);
	mr_strings_free(&devices.keys);
	mr_vec_free(&devices.items);
	return result;
}
