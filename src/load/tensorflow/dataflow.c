/* SPDX-License-Identifier: Apache-2.0 */
#include "load/tensorflow/dataflow.h"

#include <string.h>

#include "model/nesting.h"

static struct mr_strings *strings_of(struct mr_loader *loader)
{
	return &loader->model->survey->definitions.strings;
}

static int intern(struct mr_loader *loader, struct mr_slice slice, uint32_t *ret_string)
{
	return mr_strings_intern(strings_of(loader), slice.at, slice.length, ret_string);
}

/* ---- rows ---------------------------------------------------------------------------------------- */

static int read_text(struct mr_loader *loader, const char *text, struct mr_traceme *ret_meaning)
{
	struct mr_traceme_parts parts;

	mr_traceme_read(text, ret_meaning, &parts);
	int result = intern(loader, parts.name, &ret_meaning->name);
	if (result == 0)
		result = intern(loader, parts.type, &ret_meaning->type);
	if (result == 0)
		result = intern(loader, parts.detail, &ret_meaning->detail);
	if (result == 0)
		result = intern(loader, parts.channel, &ret_meaning->channel);
	return result;
}

/* What an interned text means: read once. */
static int find_meaning(struct mr_loader *loader, uint32_t string, struct mr_traceme *ret_meaning)
{
	struct mr_dataflow *dataflow = &loader->dataflow;
	int result = 0;

	while (result == 0 && dataflow->meanings.count <= string)
		result = mr_vec_push(&dataflow->meanings, (struct mr_traceme){0});
	if (result < 0)
		return result;
	if (dataflow->meanings.items[string].kind == MR_TRACEME_NOT_READ)
		result = read_text(loader, mr_strings_text(strings_of(loader), string),
				   &dataflow->meanings.items[string]);
	*ret_meaning = dataflow->meanings.items[string];
	return result;
}

/* What an event says besides its text. */
struct told {
	struct mr_span span;
	uint64_t numbers[MR_TRACEME_NUMBERS];
	bool has_numbers; /* if not, they stand in the text, where there are any */
};

static uint64_t number_at(const struct told *told, uint8_t place)
{
	return place == MR_TRACEME_NONE ? 0 : told->numbers[place];
}

/* Until all scopes are known the node is only the operation's text: its place in the meanings. */
static int add_operation(struct mr_loader *loader, const struct told *told, uint32_t text,
			 const struct mr_traceme *meaning)
{
	return mr_node_executions_append(
		&loader->model->node_executions,
		(struct mr_node_executions_row){.track = loader->track,
						.start_ns = told->span.start_ns,
						.duration_ns = told->span.duration_ns,
						.node = text,
						.step = MR_NO_STEP,
						.shapes = meaning->detail,
						.asked_ns = MR_NO_TIME,
						.done_ns = MR_NO_TIME,
						.flags = MR_ROW_UNPLACED});
}

static int add_scope(struct mr_loader *loader, const struct told *told,
		     const struct mr_traceme *meaning)
{
	return mr_scopes_append(
		&loader->model->scopes,
		(struct mr_scopes_row){.track = loader->track,
				       .start_ns = told->span.start_ns,
				       .duration_ns = told->span.duration_ns,
				       .name = meaning->name,
				       .detail = meaning->detail,
				       .run = number_at(told, meaning->run),
				       .key = number_at(told, meaning->key),
				       .parent_key = number_at(told, meaning->parent_key)});
}

static int add_step(struct mr_loader *loader, const struct told *told,
		    const struct mr_traceme *meaning)
{
	return mr_steps_append(&loader->model->steps,
			       (struct mr_steps_row){.track = loader->track,
						     .start_ns = told->span.start_ns,
						     .duration_ns = told->span.duration_ns,
						     .step = number_at(told, meaning->step)});
}

static void read_numbers(const char *text, struct told *told)
{
	struct mr_traceme_parts parts;
	struct mr_traceme meaning;

	mr_traceme_read(text, &meaning, &parts);
	for (int i = 0; i < MR_TRACEME_NUMBERS; i++)
		told->numbers[i] = mr_slice_number(parts.numbers[i]);
}

static bool needs_numbers(const struct mr_traceme *meaning)
{
	return meaning->run != MR_TRACEME_NONE || meaning->key != MR_TRACEME_NONE ||
	       meaning->parent_key != MR_TRACEME_NONE || meaning->step != MR_TRACEME_NONE;
}

static int add_traceme(struct mr_loader *loader, struct told *told, uint32_t text)
{
	struct mr_traceme meaning;
	int result = find_meaning(loader, text, &meaning);

	if (result < 0)
		return result;
	if (meaning.kind == MR_TRACEME_OPERATION)
		return add_operation(loader, told, text, &meaning);
	if (!told->has_numbers && needs_numbers(&meaning))
		read_numbers(mr_strings_text(strings_of(loader), text), told);
	if (meaning.kind == MR_TRACEME_STEP)
		result = add_step(loader, told, &meaning);
	return result < 0 ? result : add_scope(loader, told, &meaning);
}

/* Allocators that tell of themselves: those of devices. Of the CPU's the hook knows more. */
static int add_memory(struct mr_loader *loader, const struct told *told, const char *text,
		      bool is_free)
{
	struct mr_slice name = mr_traceme_value(text, "allocator_name");
	uint64_t bytes = mr_slice_number(mr_traceme_value(text, "allocation_bytes"));
	uint32_t allocator;

	if (mr_slice_is(name, "mklcpu") || mr_slice_is(name, "cpu"))
		return 0;
	int result = intern(loader, name, &allocator);
	if (result < 0)
		return result;
	return mr_memory_append(
		&loader->model->memory,
		(struct mr_memory_row){.track = loader->track,
				       .start_ns = told->span.start_ns,
				       .allocator = allocator,
				       .address = mr_slice_number(mr_traceme_value(text, "addr")),
				       .bytes = is_free ? 0 : bytes,
				       .is_free = is_free});
}

/* What a group does together, told by the thread that does it; the node's own event is told besides. Until the runs
 * are known the node is only its name. */
static int add_collective(struct mr_loader *loader, const struct told *told, const char *text)
{
	struct mr_traceme_parts parts;
	struct mr_traceme meaning;
	uint32_t name;

	mr_traceme_read(text, &meaning, &parts);
	int result = intern(loader, parts.name, &name);
	if (result < 0)
		return result;
	return mr_collectives_append(
		&loader->model->collectives,
		(struct mr_collectives_row){
			.track = loader->track,
			.start_ns = told->span.start_ns,
			.duration_ns = told->span.duration_ns,
			.node = name,
			.run = mr_slice_number(mr_traceme_value(text, "step_id")),
			.group_key = mr_slice_number(mr_traceme_value(text, "group_key")),
			.instance_key = mr_slice_number(mr_traceme_value(text, "instance_key"))});
}

static bool begins_with(const char *text, const char *beginning)
{
	return strncmp(text, beginning, strlen(beginning)) == 0;
}

static int add_text(struct mr_loader *loader, struct told *told, const char *text)
{
	uint32_t string;

	if (begins_with(text, "MemoryAllocation#"))
		return add_memory(loader, told, text, false);
	if (begins_with(text, "MemoryDeallocation#"))
		return add_memory(loader, told, text, true);
	if (mr_traceme_value(text, "instance_key").length > 0)
		return add_collective(loader, told, text);
	int result = mr_strings_intern(strings_of(loader), text, strlen(text), &string);
	return result < 0 ? result : add_traceme(loader, told, string);
}

/* False if there is no place for it, counted if that should not be. Of a half that another thread completes only the
 * first is placed, at its only time; the second has no name. */
static bool place(struct mr_loader *loader, int64_t start, int64_t end, struct mr_span *ret_span)
{
	const struct mr_clock_map *map =
		mr_clocks_find(loader->model->survey->clocks, MR_trace_clock_realtime);

	if (!map || start == 0 || end == 0) {
		loader->model->anomalies.unplaced++;
		return false;
	}
	if (start < 0)
		return false;
	if (end < 0)
		end = start;
	uint32_t *gap = &loader->dataflow.clock_gap;
	*ret_span = mr_loader_span(loader, mr_clock_to_ns_near(map, (uint64_t)start, gap),
				   mr_clock_to_ns_near(map, (uint64_t)end, gap));
	return true;
}

static int add_activity(struct mr_loader *loader, const struct mr_event_activity *activity)
{
	return mr_vec_push(&loader->dataflow.seen,
			   ((struct mr_activity_seen){
				   .process = loader->process,
				   .text = mr_loader_find(loader, MR_ID_string, activity->text),
				   .run = activity->run}));
}

int mr_dataflow_add(struct mr_loader *loader, const struct mr_event *event)
{
	struct told told = {0};

	switch (event->desc->id) {
	case MR_EVENT_traceme: {
		const struct mr_event_traceme *plain = event->payload;

		if (!place(loader, plain->start, plain->end, &told.span))
			return 0;
		return add_traceme(loader, &told,
				   mr_loader_find(loader, MR_ID_string, plain->text));
	}
	case MR_EVENT_traceme_numbers: {
		const struct mr_event_traceme_numbers *with = event->payload;

		if (!place(loader, with->start, with->end, &told.span))
			return 0;
		told.numbers[0] = with->first;
		told.numbers[1] = with->second;
		told.numbers[2] = with->third;
		told.numbers[3] = with->fourth;
		told.has_numbers = true;
		return add_traceme(loader, &told, mr_loader_find(loader, MR_ID_string, with->text));
	}
	case MR_EVENT_traceme_text: {
		const struct mr_event_traceme_text *text = event->payload;

		if (!place(loader, text->start, text->end, &told.span))
			return 0;
		return add_text(loader, &told, event->text);
	}
	case MR_EVENT_eager_operation:
		return mr_eager_add(loader, event);
	case MR_EVENT_eager_enqueue:
		return mr_eager_add_enqueued(loader, event);
	case MR_EVENT_eager_run:
		return mr_eager_add_run(loader, event);
	case MR_EVENT_activity:
		return add_activity(loader, event->payload);
	}
	return 0;
}

/* ---- operations ----------------------------------------------------------------------------------- */

static struct mr_nesting scopes_nesting(const struct mr_scopes *scopes)
{
	return (struct mr_nesting){scopes->start_ns, scopes->duration_ns, scopes->self_ns,
				   scopes->parent, scopes->flags};
}

/* The run that a scope belongs to: its own, or that of the first around it that has one. */
static uint64_t run_around(const struct mr_scopes *scopes, uint32_t row)
{
	for (; row != MR_NO_ROW; row = scopes->parent[row])
		if (scopes->run[row])
			return scopes->run[row];
	return 0;
}

/* Of a scope: the same at the start and at the end of an asynchronous operation. */
struct scope_key {
	uint64_t key;
	uint64_t process;
};

/* When asynchronous operations were done. */
struct completions {
	struct mr_strings keys;
	mr_vec(int64_t) done_ns;
};

static int find_completions(const struct mr_model *model, struct completions *completions)
{
	const struct mr_scopes *scopes = &model->scopes;
	int result = 0;

	for (uint32_t row = 0; row < scopes->table.count && result == 0; row++) {
		const char *name = mr_model_text(model, scopes->name[row]);
		uint32_t process = model->survey->tracks.items[scopes->track[row]].process;
		const struct scope_key key = {scopes->key[row], process};
		uint32_t count = mr_strings_count(&completions->keys);
		uint32_t number;

		if (strcmp(name, "ExecutorState::ProcessAsync::Done") != 0)
			continue;
		result = mr_strings_intern(&completions->keys, &key, sizeof key, &number);
		if (result == 0 && number == count)
			result = mr_vec_push(&completions->done_ns, scopes->start_ns[row]);
	}
	return result;
}

/* An operation inside a function is called asynchronously from an executor of its own, which stands between. */
static bool is_asynchronous(const struct mr_model *model, const struct completions *completions,
			    uint32_t process, uint32_t scope, int64_t *ret_done_ns)
{
	const struct mr_scopes *scopes = &model->scopes;
	uint32_t number;

	for (; scope != MR_NO_ROW; scope = scopes->parent[scope]) {
		const struct scope_key key = {scopes->key[scope], process};
		const char *name = mr_model_text(model, scopes->name[scope]);

		if (strcmp(name, "ExecutorState::Process") == 0)
			break;
		if (strcmp(name, "ExecutorState::ProcessAsync::Start") != 0)
			continue;
		if (mr_strings_find(&completions->keys, &key, sizeof key, &number))
			*ret_done_ns = completions->done_ns.items[number];
		return true;
	}
	return false;
}

static int add_message(struct mr_loader *loader, uint32_t row, const struct mr_traceme *meaning)
{
	const struct mr_node_executions *executions = &loader->model->node_executions;

	if (!meaning->channel)
		return 0;
	return mr_messages_append(&loader->model->messages,
				  (struct mr_messages_row){.track = executions->track[row],
							   .start_ns = executions->start_ns[row],
							   .channel = meaning->channel,
							   .key = executions->run[row],
							   .node = executions->node[row],
							   .execution = row,
							   .peer = MR_NO_ROW,
							   .bytes = MR_NO_SIZE,
							   .is_receive = meaning->is_receive});
}

/* The scope and the step (a row) are those around it on its thread. Where its run is known, so is the run's step. */
static int place_operation(struct mr_loader *loader, const struct mr_runs *runs,
			   const struct completions *completions, uint32_t row, uint32_t scope,
			   uint32_t step)
{
	struct mr_model *model = loader->model;
	struct mr_node_executions *executions = &model->node_executions;
	const struct mr_traceme meaning = loader->dataflow.meanings.items[executions->node[row]];
	uint32_t process = model->survey->tracks.items[executions->track[row]].process;

	executions->flags[row] &= (uint8_t)~MR_ROW_UNPLACED;
	executions->run[row] = run_around(&model->scopes, scope);
	const struct mr_run run = mr_runs_look_up(runs, process, executions->run[row]);
	executions->step[row] = run.step == MR_NO_STEP ? mr_step_number(model, step) : run.step;
	if (is_asynchronous(model, completions, process, scope, &executions->done_ns[row]))
		executions->flags[row] |= MR_ROW_ASYNCHRONOUS;
	int result = mr_dataflow_find_node(loader, process, run.function, meaning.name,
					   meaning.type, &executions->node[row]);
	return result < 0 ? result : add_message(loader, row, &meaning);
}

static int place_operations(struct mr_loader *loader, const struct mr_runs *runs,
			    const struct completions *completions)
{
	struct mr_model *model = loader->model;
	const struct mr_node_executions *executions = &model->node_executions;
	const struct mr_nesting outer = scopes_nesting(&model->scopes);
	const struct mr_nesting inner = {executions->start_ns, executions->duration_ns, NULL, NULL,
					 NULL};
	mr_auto(free) uint32_t *around = malloc((executions->table.count + 1) * sizeof *around);
	mr_auto(free) uint32_t *steps = mr_steps_around(model, &executions->table, &inner);
	int result = around && steps ? 0 : -ENOMEM;

	for (uint32_t i = 0; result == 0 && i < model->survey->tracks.count; i++) {
		const uint32_t *scopes = &model->scopes.table.first_of_track[i];
		const uint32_t *rows = &executions->table.first_of_track[i];

		result = mr_nest_in(&outer, scopes[0], scopes[1], &inner, rows[0], rows[1], around);
		for (uint32_t row = rows[0]; result == 0 && row < rows[1]; row++)
			if (executions->flags[row] & MR_ROW_UNPLACED)
				result = place_operation(loader, runs, completions, row,
							 around[row], steps[row]);
	}
	return result;
}

static int nest_scopes(struct mr_model *model)
{
	const struct mr_nesting nesting = scopes_nesting(&model->scopes);
	uint64_t overlaps = 0; /* halves of asynchronous scopes do: no anomaly */
	int result = 0;

	for (uint32_t i = 0; result == 0 && i < model->survey->tracks.count; i++) {
		const uint32_t *rows = &model->scopes.table.first_of_track[i];

		result = mr_nest(&nesting, rows[0], rows[1], &overlaps);
	}
	return result;
}

int mr_dataflow_join(struct mr_loader *loader)
{
	struct mr_model *model = loader->model;
	uint32_t track_count = (uint32_t)model->survey->tracks.count;
	struct mr_runs runs = {0};
	struct completions completions = {0};

	if (loader->dataflow.meanings.count == 0 && loader->dataflow.seen.count == 0 &&
	    loader->dataflow.eager_count == 0)
		return 0;
	int result = mr_table_sort(&model->node_executions.table, track_count);
	if (result == 0)
		result = mr_table_sort(&model->scopes.table, track_count);
	if (result == 0)
		result = nest_scopes(model);
	if (result == 0)
		result = mr_dataflow_add_steps(loader);
	if (result == 0)
		result = mr_table_sort(&model->steps.table, track_count);
	if (result == 0)
		result = mr_eager_join(loader);
	if (result == 0)
		result = mr_runs_find_functions(loader, &runs);
	if (result == 0)
		result = find_completions(model, &completions);
	if (result == 0)
		result = place_operations(loader, &runs, &completions);
	if (result == 0)
		result = mr_dataflow_add_edges(loader, &runs);
	if (result == 0)
		result = mr_runs_name_collectives(loader, &runs);
	mr_strings_free(&completions.keys);
	mr_vec_free(&completions.done_ns);
	mr_runs_free(&runs);
	return result;
}

void mr_dataflow_free(struct mr_dataflow *dataflow)
{
	mr_vec_free(&dataflow->meanings);
	mr_vec_free(&dataflow->seen);
	mr_strings_free(&dataflow->graph_keys);
	mr_vec_free(&dataflow->graphs);
	mr_strings_free(&dataflow->node_keys);
	mr_vec_free(&dataflow->nodes);
	mr_vec_free(&dataflow->enqueued);
	mr_vec_free(&dataflow->untaken);
	mr_vec_free(&dataflow->runs);
}
