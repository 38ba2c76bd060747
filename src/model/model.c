/* SPDX-License-Identifier: Apache-2.0 */
#include "model/model.h"

#include "base/error.h"
#include "base/progress.h"
#include "import/import.h"
#include "model/dataflow.h"
#include "model/index.h"
#include "model/kernel.h"
#include "model/loader.h"
#include "model/nesting.h"
#include "model/runtime.h"
#include "model/spans.h"

static uint32_t find_node(struct mr_loader *loader, uint32_t id)
{
	uint32_t node = mr_loader_find(loader, MR_ID_node, id);

	loader->model->anomalies.undefined += node == 0;
	return node;
}

/* ---- one event to one row ----------------------------------------------------------------------- */

static int add_execution(struct mr_loader *loader, struct mr_span span, uint32_t node,
			 uint32_t step, uint8_t flags)
{
	return mr_node_executions_append(
		&loader->model->node_executions,
		(struct mr_node_executions_row){.track = loader->track,
						.start_ns = span.start_ns,
						.duration_ns = span.duration_ns,
						.node = find_node(loader, node),
						.step = step,
						.asked_ns = MR_NO_TIME,
						.done_ns = MR_NO_TIME,
						.flags = flags});
}

static int add_execution_at(struct mr_loader *loader, const struct mr_event_node_interval_at *at)
{
	const struct mr_survey *survey = loader->model->survey;
	uint32_t clock = mr_definition_find_clock(&survey->definitions, loader->process, at->clock);
	const struct mr_clock_map *map = mr_clocks_find(survey->clocks, clock);

	if (!map) {
		loader->model->anomalies.unplaced++;
		return 0;
	}
	struct mr_span span = mr_loader_span(loader, mr_clock_to_ns(map, at->start),
					     mr_clock_to_ns(map, at->end));
	return add_execution(loader, span, at->node, at->step, 0);
}

static int add_instant(struct mr_loader *loader, const struct mr_event *event)
{
	const struct mr_event_node_instant *instant = event->payload;

	return mr_node_instants_append(
		&loader->model->node_instants,
		(struct mr_node_instants_row){.track = loader->track,
					      .start_ns = mr_loader_to_ns(loader, event->ticks),
					      .node = find_node(loader, instant->node),
					      .step = instant->step});
}

static int add_step(struct mr_loader *loader, struct mr_span span, uint64_t step, uint8_t flags)
{
	return mr_steps_append(&loader->model->steps,
			       (struct mr_steps_row){.track = loader->track,
						     .start_ns = span.start_ns,
						     .duration_ns = span.duration_ns,
						     .step = step,
						     .flags = flags});
}

static int add_unfinished(struct mr_loader *loader, const struct mr_event *event)
{
	const struct mr_event_interval_unfinished *open = event->payload;
	struct mr_span span = mr_loader_span(loader, mr_loader_to_ns(loader, open->start),
					     mr_loader_to_ns(loader, event->ticks));

	loader->model->anomalies.unfinished++;
	switch (open->event) {
	case MR_EVENT_node_interval:
		return add_execution(loader, span, open->what, (uint32_t)open->step,
				     MR_ROW_UNFINISHED);
	case MR_EVENT_step_interval:
		return add_step(loader, span, open->step, MR_ROW_UNFINISHED);
	case MR_EVENT_runtime_call:
		return mr_runtime_add_unfinished_call(loader, span, open->what, open->step);
	}
	return 0;
}

static int add_counter(struct mr_loader *loader, const struct mr_event *event)
{
	const struct mr_event_counter *counter = event->payload;

	return mr_counters_append(
		&loader->model->counters,
		(struct mr_counters_row){
			.track = loader->track,
			.start_ns = mr_loader_to_ns(loader, event->ticks),
			.name = mr_loader_find(loader, MR_ID_string, counter->name),
			.value = counter->value});
}

static int add_allocation(struct mr_loader *loader, const struct mr_event *event)
{
	const struct mr_event_memory_allocate *memory = event->payload;

	return mr_memory_append(
		&loader->model->memory,
		(struct mr_memory_row){
			.track = loader->track,
			.start_ns = mr_loader_to_ns(loader, event->ticks),
			.device = mr_loader_find(loader, MR_ID_device, memory->device),
			.allocator = mr_loader_find(loader, MR_ID_string, memory->allocator),
			.node = mr_loader_find(loader, MR_ID_node, memory->node),
			.address = memory->address,
			.bytes = memory->bytes});
}

static int add_free(struct mr_loader *loader, const struct mr_event *event)
{
	const struct mr_event_memory_free *memory = event->payload;

	return mr_memory_append(
		&loader->model->memory,
		(struct mr_memory_row){
			.track = loader->track,
			.start_ns = mr_loader_to_ns(loader, event->ticks),
			.device = mr_loader_find(loader, MR_ID_device, memory->device),
			.allocator = mr_loader_find(loader, MR_ID_string, memory->allocator),
			.address = memory->address,
			.bytes = memory->bytes,
			.is_free = true});
}

/* message_send and message_receive have the same fields. */
static int add_message(struct mr_loader *loader, const struct mr_event *event, bool is_receive)
{
	const struct mr_event_message_send *message = event->payload;

	return mr_messages_append(
		&loader->model->messages,
		(struct mr_messages_row){
			.track = loader->track,
			.start_ns = mr_loader_to_ns(loader, event->ticks),
			.channel = mr_loader_find(loader, MR_ID_string, message->channel),
			.key = message->key,
			.execution = MR_NO_ROW,
			.peer = MR_NO_ROW,
			.bytes = message->bytes,
			.is_receive = is_receive});
}

_Static_assert(sizeof(struct mr_event_message_send) == sizeof(struct mr_event_message_receive),
	       "add_message() reads both");

static int add_row(struct mr_loader *loader, const struct mr_event *event)
{
	switch (event->desc->id) {
	case MR_EVENT_node_interval: {
		const struct mr_event_node_interval *interval = event->payload;
		uint64_t ticks = mr_u48_value(interval->duration_ticks);

		return add_execution(loader, mr_loader_span_before(loader, event->ticks, ticks),
				     interval->node, interval->step, 0);
	}
	case MR_EVENT_node_interval_at:
		return add_execution_at(loader, event->payload);
	case MR_EVENT_node_instant:
		return add_instant(loader, event);
	case MR_EVENT_step_interval: {
		const struct mr_event_step_interval *step = event->payload;

		return add_step(loader,
				mr_loader_span_before(loader, event->ticks, step->duration_ticks),
				step->step, 0);
	}
	case MR_EVENT_interval_unfinished:
		return add_unfinished(loader, event);
	case MR_EVENT_memory_allocate:
		return add_allocation(loader, event);
	case MR_EVENT_memory_free:
		return add_free(loader, event);
	case MR_EVENT_message_send:
		return add_message(loader, event, false);
	case MR_EVENT_message_receive:
		return add_message(loader, event, true);
	case MR_EVENT_counter:
		return add_counter(loader, event);
	}
	return event->desc->level == MR_LEVEL_dataflow ? mr_dataflow_add(loader, event)
						       : mr_runtime_add(loader, event);
}

/* ---- all streams -------------------------------------------------------------------------------- */

static int load_stream(struct mr_loader *loader, const struct mr_trace_stream *stream)
{
	const struct mr_survey *survey = loader->model->survey;
	const struct mr_packet_context *context = NULL;
	struct mr_cursor cursor;
	struct mr_event event;

	loader->clock = mr_clocks_of_stream(survey->clocks, stream->stream_class);
	mr_cursor_start(&cursor, survey->trace, stream);
	while (mr_cursor_next(&cursor, &event)) {
		if (mr_unlikely(event.context != context)) {
			context = event.context;
			mr_survey_find(survey, context, &loader->process, &loader->track);
		}
		if (loader->track == MR_NO_TRACK)
			continue;
		int result = add_row(loader, &event);
		if (mr_unlikely(result < 0))
			return result;
	}
	return 0;
}

/* The survey has counted, so the large tables need not grow by copying. */
static int reserve(struct mr_model *model)
{
	const uint64_t *counts = model->survey->event_counts;
	int result = mr_table_reserve(&model->node_executions.table,
				      counts[MR_EVENT_node_interval] +
					      counts[MR_EVENT_node_interval_at] +
					      counts[MR_EVENT_interval_unfinished]);

	if (result == 0)
		result = mr_table_reserve(
			&model->memory.table,
			counts[MR_EVENT_memory_allocate] + counts[MR_EVENT_memory_free] +
				counts[MR_EVENT_runtime_allocate] + counts[MR_EVENT_runtime_free]);
	if (result == 0)
		result = mr_runtime_start(model);
	return result;
}

static int fill(struct mr_model *model)
{
	struct mr_loader loader = {.model = model};
	int result = reserve(model);

	for (uint32_t i = 0; result == 0 && i < model->trace->stream_count; i++)
		if (model->trace->streams[i].kind == MR_PACKET_EVENTS &&
		    model->trace->streams[i].stream_class == MR_STREAM_USER)
			result = load_stream(&loader, &model->trace->streams[i]);
	if (result == 0)
		result = mr_dataflow_join(&loader);
	mr_dataflow_free(&loader.dataflow);
	return result;
}

static int sort(struct mr_model *model)
{
	uint32_t track_count = (uint32_t)model->survey->tracks.count;
	int result = 0;

#define SORT_TABLE(name)                                      \
	if (result == 0 && !model->name.table.first_of_track) \
		result = mr_table_sort(&model->name.table, track_count);
	MR_TABLES(SORT_TABLE)
#undef SORT_TABLE
	return result;
}

int mr_model_nest(struct mr_model *model)
{
	const struct mr_node_executions *executions = &model->node_executions;
	const struct mr_calls *calls = &model->calls;
	const struct mr_nesting of_executions = {executions->start_ns, executions->duration_ns,
						 executions->self_ns, executions->parent,
						 executions->flags};
	const struct mr_nesting of_calls = {calls->start_ns, calls->duration_ns, calls->self_ns,
					    calls->parent, calls->flags};
	int result = 0;

	for (uint32_t i = 0; result == 0 && i < model->survey->tracks.count; i++) {
		const uint32_t *first = &executions->table.first_of_track[i];
		result = mr_nest(&of_executions, first[0], first[1], &model->anomalies.overlapping);
		if (result < 0)
			break;
		first = &calls->table.first_of_track[i];
		result = mr_nest(&of_calls, first[0], first[1], &model->anomalies.overlapping);
	}
	return result;
}

/* The model without survey and rows. */
static int open_trace(const char *path, struct mr_model **ret_model)
{
	mr_auto(model) struct mr_model *model = calloc(1, sizeof *model);

	if (!model)
		return mr_fail_errno(ENOMEM, "load %s", path);
#define DESCRIBE_TABLE(name) model->name.table.desc = &mr_##name##_desc;
	MR_TABLES(DESCRIBE_TABLE)
#undef DESCRIBE_TABLE
	int result = mr_import_open(path, &model->trace);
	if (result == 0)
		result = mr_manifest_read(path, &model->manifest);
	if (result == 0)
		*ret_model = mr_take(model);
	return result;
}

static int load_rows(struct mr_model *model)
{
	mr_progress_begin("reading the events", model->trace->event_bytes);
	int result = fill(model);

	if (result == 0)
		result = mr_kernel_level_load(model);
	mr_progress_begin("sorting and joining", 0);
	if (result == 0)
		result = mr_runtime_join(model);
	if (result == 0)
		result = sort(model);
	if (result == 0) {
		mr_dataflow_place_memory(model);
		result = mr_memory_join(model);
	}
	if (result == 0)
		result = mr_model_nest(model);
	if (result == 0)
		result = mr_dataflow_link_memory(model);
	if (result == 0)
		result = mr_messages_link(model);
	if (result == 0)
		result = mr_runtime_link_waits(model);
	if (result == 0)
		result = mr_dataflow_link_copies(model);
	if (result == 0)
		result = mr_kernel_level_link(model);
	if (result == 0)
		result = mr_constraints_check(model);
	return result;
}

static int make_survey(struct mr_model *model)
{
	int result = mr_survey_make(model->trace, &model->survey);

	if (result == 0)
		mr_survey_span_program(model->survey, model->manifest->window_from_ticks,
				       model->manifest->window_to_ticks);
	return result;
}

static int load_anew(struct mr_model *model)
{
	int result = make_survey(model);

	if (result < 0)
		return result;
	result = load_rows(model);
	if (result < 0)
		return mr_fail_errno(-result, "load %s", model->trace->path);
	mr_progress_begin("saving the index", 0);
	mr_index_save_large(model);
	return 0;
}

int mr_model_load_head(const char *path, struct mr_model **ret_model)
{
	mr_auto(model) struct mr_model *model = NULL;
	int result = open_trace(path, &model);

	if (result == 0)
		result = make_survey(model);
	if (result == 0)
		*ret_model = mr_take(model);
	return result;
}

int mr_model_load(const char *path, struct mr_model **ret_model)
{
	mr_auto(model) struct mr_model *model = NULL;
	int result = open_trace(path, &model);

	if (result == 0 && mr_index_load(model) < 0)
		result = load_anew(model);
	if (result == 0)
		*ret_model = mr_take(model);
	return result;
}

struct mr_window mr_model_recorded(const struct mr_model *model)
{
	const struct mr_survey *survey = model->survey;
	const struct mr_manifest *manifest = model->manifest;
	int64_t first_ns = mr_max(survey->first_ns, survey->recorded.on_ns);

	if (manifest->overwritten_packets && survey->clocks)
		first_ns = mr_max(first_ns,
				  mr_clock_to_ns(survey->clocks->user, manifest->kept_from_ticks));
	return (struct mr_window){
		first_ns, mr_max(first_ns, mr_min(survey->last_ns, survey->recorded.off_ns))};
}

void mr_model_free(struct mr_model *model)
{
	if (!model)
		return;
#define FREE_TABLE(name) mr_table_free(&model->name.table);
	MR_TABLES(FREE_TABLE)
#undef FREE_TABLE
	if (model->whole) {
		mr_model_free_cut(model);
	} else {
		free(model->device_clocks);
		mr_survey_free(model->survey);
		mr_manifest_free(model->manifest);
		mr_trace_close(model->trace);
		mr_mapping_close(&model->index);
		free(model->index_key);
	}
	free(model);
}
