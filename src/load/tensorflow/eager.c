/* SPDX-License-Identifier: Apache-2.0
 *
 * Operations that the program executes by themselves. TensorFlow does so at once, or later: then the call only gives
 * the operation to an executor, and an execution is what its thread did. The two have the address of the same work,
 * which is nobody else's in between.
 *
 *     calling thread     ├ call: MatMul ── enqueued 0x70 ┤                          asked_ns: when the call began
 *     executor's thread                                     ├ run 0x70 ────┤        the row
 *
 * Until they are joined, rows of calls have MR_NO_ROW for a node, and the strings of name and device for a run.
 */
#include <stdlib.h>

#include "load/tensorflow/dataflow.h"
#include "model/nesting.h"

/* ---- rows ------------------------------------------------------------------------------------------ */

int mr_eager_add_enqueued(struct mr_loader *loader, const struct mr_event *event)
{
	const struct mr_event_eager_enqueue *enqueued = event->payload;
	struct mr_dataflow *dataflow = &loader->dataflow;
	const struct mr_eager_item item = {.item = enqueued->item,
					   .process = loader->process,
					   .track = loader->track,
					   .start_ns = mr_loader_to_ns(loader, event->ticks),
					   .run = MR_NO_ROW};
	int result = mr_vec_push(&dataflow->untaken, (uint32_t)dataflow->enqueued.count);

	return result < 0 ? result : mr_vec_push(&dataflow->enqueued, item);
}

int mr_eager_add_run(struct mr_loader *loader, const struct mr_event *event)
{
	const struct mr_event_eager_run *run = event->payload;
	struct mr_span span =
		mr_loader_span_before(loader, event->ticks, mr_u48_value(run->duration_ticks));

	return mr_vec_push(&loader->dataflow.runs,
			   ((struct mr_eager_item){.item = run->item,
						   .process = loader->process,
						   .track = loader->track,
						   .start_ns = span.start_ns,
						   .duration_ns = span.duration_ns,
						   .is_done = run->is_done == 1}));
}

/* What the call gave to an executor, told just before the call itself: first copies of its inputs, where it needs any,
 * then the operation. Calls inside of it have taken theirs. Index, or MR_NO_ROW. */
static uint32_t take_enqueued(struct mr_loader *loader, struct mr_span call)
{
	struct mr_dataflow *dataflow = &loader->dataflow;
	uint32_t operation = MR_NO_ROW;

	for (; dataflow->untaken.count > 0; dataflow->untaken.count--) {
		uint32_t last = dataflow->untaken.items[dataflow->untaken.count - 1];
		const struct mr_eager_item *given = &dataflow->enqueued.items[last];

		if (given->track != loader->track || given->start_ns < call.start_ns)
			break;
		if (operation == MR_NO_ROW)
			operation = last;
	}
	return operation;
}

int mr_eager_add(struct mr_loader *loader, const struct mr_event *event)
{
	const struct mr_event_eager_operation *operation = event->payload;
	struct mr_span span = mr_loader_span_before(loader, event->ticks,
						    mr_u48_value(operation->duration_ticks));
	uint64_t name = mr_loader_find(loader, MR_ID_string, operation->name);
	uint64_t device = mr_loader_find(loader, MR_ID_string, operation->device);

	loader->dataflow.eager_count++;
	return mr_node_executions_append(
		&loader->model->node_executions,
		(struct mr_node_executions_row){.track = loader->track,
						.start_ns = span.start_ns,
						.duration_ns = span.duration_ns,
						.parent = take_enqueued(loader, span),
						.node = MR_NO_ROW,
						.step = MR_NO_STEP,
						.run = device << 32 | name,
						.asked_ns = MR_NO_TIME,
						.done_ns = MR_NO_TIME,
						.flags = MR_ROW_UNPLACED});
}

static bool is_call(const struct mr_node_executions *executions, uint32_t row)
{
	return (executions->flags[row] & MR_ROW_UNPLACED) && executions->node[row] == MR_NO_ROW;
}

static uint32_t process_of(const struct mr_model *model, uint32_t row)
{
	return model->survey->tracks.items[model->node_executions.track[row]].process;
}

/* ---- nodes ----------------------------------------------------------------------------------------- */

/* An operation that has failed, or has no result, does not tell its device. */
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

static int find_devices(const struct mr_model *model, struct only_devices *devices)
{
	const struct mr_node_executions *executions = &model->node_executions;
	int result = 0;

	for (uint32_t row = 0; result == 0 && row < executions->table.count; row++) {
		uint32_t device = (uint32_t)(executions->run[row] >> 32);

		if (is_call(executions, row) && device)
			result = note_device(devices,
					     (struct name_key){process_of(model, row),
							       (uint32_t)executions->run[row]},
					     device);
	}
	return result;
}

/* Leaves run and flags as those of a row that is placed. */
static int place_call(struct mr_loader *loader, const struct only_devices *devices, uint32_t row)
{
	struct mr_node_executions *executions = &loader->model->node_executions;
	const struct name_key key = {process_of(loader->model, row),
				     (uint32_t)executions->run[row]};
	uint32_t device = (uint32_t)(executions->run[row] >> 32);

	if (!device)
		device = find_only_device(devices, key);
	executions->run[row] = 0;
	executions->flags[row] &= (uint8_t)~MR_ROW_UNPLACED;
	return mr_dataflow_find_eager(loader, key.process, key.name, device,
				      &executions->node[row]);
}

/* ---- steps ----------------------------------------------------------------------------------------- */

/* A step that is a call of a function: told of inside of the call. */
static void number_call_of_step(struct mr_model *model, uint32_t step, uint32_t row)
{
	struct mr_node_executions *executions = &model->node_executions;

	if (row == MR_NO_ROW || !is_call(executions, row) || !model->steps.function[step] ||
	    model->steps.function[step] != (uint32_t)executions->run[row])
		return;
	executions->step[row] = mr_step_number(model, step);
}

static int number_calls_of_steps(struct mr_model *model)
{
	const struct mr_node_executions *executions = &model->node_executions;
	const struct mr_steps *steps = &model->steps;
	const struct mr_nesting outer = {executions->start_ns, executions->duration_ns, NULL, NULL,
					 NULL};
	const struct mr_nesting inner = {steps->start_ns, steps->duration_ns, NULL, NULL, NULL};
	mr_auto(free) uint32_t *around = malloc((steps->table.count + 1) * sizeof *around);
	int result = around ? 0 : -ENOMEM;

	for (uint32_t i = 0; result == 0 && i < model->survey->tracks.count; i++) {
		const uint32_t *rows = &executions->table.first_of_track[i];
		const uint32_t *of_track = &steps->table.first_of_track[i];

		if (of_track[0] == of_track[1])
			continue;
		result = mr_nest_in(&outer, rows[0], rows[1], &inner, of_track[0], of_track[1],
				    around);
		for (uint32_t step = of_track[0]; result == 0 && step < of_track[1]; step++)
			number_call_of_step(model, step, around[step]);
	}
	return result;
}

/* By the thread that asked for them, wherever they are executed. */
static int number_calls(struct mr_model *model)
{
	struct mr_node_executions *executions = &model->node_executions;
	const struct mr_nesting rows = {executions->start_ns, executions->duration_ns, NULL, NULL,
					NULL};

	if (model->steps.table.count == 0)
		return 0;
	mr_auto(free) uint32_t *around = mr_steps_around(model, &executions->table, &rows);
	if (!around)
		return -ENOMEM;
	for (uint32_t row = 0; row < executions->table.count; row++)
		if (is_call(executions, row))
			executions->step[row] = mr_step_number(model, around[row]);
	return number_calls_of_steps(model);
}

/* ---- asynchronous ones ------------------------------------------------------------------------------ */

/* Something told of a piece of work. */
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
static void match_mentions(struct mr_dataflow *dataflow, const struct mention *mentions,
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
			dataflow->enqueued.items[given->index].run = mention->index;
		given = NULL;
	}
}

static int match_runs(struct mr_dataflow *dataflow)
{
	size_t count = dataflow->enqueued.count + dataflow->runs.count;
	mr_auto(free) struct mention *mentions = malloc((count + 1) * sizeof *mentions);

	if (!mentions)
		return -ENOMEM;
	for (size_t i = 0; i < dataflow->enqueued.count; i++)
		mentions[i] = (struct mention){&dataflow->enqueued.items[i], false, (uint32_t)i};
	for (size_t i = 0; i < dataflow->runs.count; i++)
		mentions[dataflow->enqueued.count + i] =
			(struct mention){&dataflow->runs.items[i], true, (uint32_t)i};
	qsort(mentions, count, sizeof *mentions, compare_mentions);
	match_mentions(dataflow, mentions, count);
	return 0;
}

/* Puts the row where it was executed, as far as that is known. */
static void move_call(struct mr_loader *loader, uint32_t row)
{
	struct mr_node_executions *executions = &loader->model->node_executions;
	const struct mr_dataflow *dataflow = &loader->dataflow;
	uint32_t run_index = dataflow->enqueued.items[executions->parent[row]].run;
	const struct mr_eager_item *run =
		run_index == MR_NO_ROW ? NULL : &dataflow->runs.items[run_index];

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

/* ---- what is told twice ------------------------------------------------------------------------------ */

static int64_t end_of(const struct mr_node_executions *executions, uint32_t row)
{
	return executions->start_ns[row] + executions->duration_ns[row];
}

/* Of functions that XLA has compiled TensorFlow's tracing tells as of operations: "f:f", inside of the call. */
static bool is_told_again(const struct mr_loader *loader, uint32_t row, uint32_t call)
{
	const struct mr_node_executions *executions = &loader->model->node_executions;
	const struct mr_traceme *meaning = &loader->dataflow.meanings.items[executions->node[row]];
	const struct mr_node *node =
		&loader->model->survey->definitions.nodes.items[executions->node[call]];

	return node->name == meaning->name && node->type == meaning->type &&
	       end_of(executions, row) <= end_of(executions, call);
}

static bool can_be_told_again(const struct mr_loader *loader, uint32_t row)
{
	const struct mr_node_executions *executions = &loader->model->node_executions;

	if (!(executions->flags[row] & MR_ROW_UNPLACED))
		return false;
	const struct mr_traceme *meaning = &loader->dataflow.meanings.items[executions->node[row]];
	return meaning->name == meaning->type;
}

/* Rows of one track. Adds to *count. */
static int find_repetitions(struct mr_loader *loader, const uint32_t rows[2], bool *is_dropped,
			    uint32_t *count)
{
	struct mr_node_executions *executions = &loader->model->node_executions;
	mr_vec(uint32_t) open = {0}; /* calls that go on, the innermost last */
	int result = 0;

	for (uint32_t row = rows[0]; result == 0 && row < rows[1]; row++) {
		bool is_placed = !(executions->flags[row] & MR_ROW_UNPLACED);

		if (!is_placed && !can_be_told_again(loader, row))
			continue;
		while (open.count &&
		       end_of(executions, open.items[open.count - 1]) <= executions->start_ns[row])
			open.count--;
		if (is_placed) {
			result = mr_vec_push(&open, row);
		} else if (open.count && is_told_again(loader, row, open.items[open.count - 1])) {
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

static int drop_repetitions(struct mr_loader *loader)
{
	struct mr_table *table = &loader->model->node_executions.table;
	uint32_t track_count = (uint32_t)loader->model->survey->tracks.count;
	mr_auto(free) bool *is_dropped = calloc((size_t)table->count + 1, sizeof *is_dropped);
	uint32_t count = 0;
	int result = is_dropped ? 0 : -ENOMEM;

	for (uint32_t i = 0; result == 0 && i < track_count; i++)
		result = find_repetitions(loader, &table->first_of_track[i], is_dropped, &count);
	return result == 0 && count ? mr_table_drop(table, is_dropped, track_count) : result;
}

int mr_eager_join(struct mr_loader *loader)
{
	struct mr_model *model = loader->model;
	struct mr_node_executions *executions = &model->node_executions;
	struct only_devices devices = {0};

	if (loader->dataflow.eager_count == 0)
		return 0;
	int result = number_calls(model);
	if (result == 0)
		result = find_devices(model, &devices);
	if (result == 0)
		result = match_runs(&loader->dataflow);
	for (uint32_t row = 0; result == 0 && row < executions->table.count; row++) {
		if (!is_call(executions, row))
			continue;
		if (executions->parent[row] != MR_NO_ROW)
			move_call(loader, row);
		result = place_call(loader, &devices, row);
	}
	if (result == 0 && loader->dataflow.enqueued.count)
		result = mr_table_sort(&executions->table, (uint32_t)model->survey->tracks.count);
	if (result == 0)
		result = drop_repetitions(loader);
	mr_strings_free(&devices.keys);
	mr_vec_free(&devices.items);
	return result;
}
