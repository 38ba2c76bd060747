/* SPDX-License-Identifier: Apache-2.0 */
#include "model/model.h"

#include "base/error.h"
#include "model/nesting.h"

/* Where the events being read belong, and what turns their ticks into nanoseconds. */
struct loader {
	struct mr_model *model;
	uint32_t process;
	uint32_t track;
	const struct mr_clock_map *clock;
	uint32_t clock_gap;
};

struct span {
	int64_t start_ns;
	int64_t duration_ns;
};

/* ---- times and ids ------------------------------------------------------------------------------ */

static int64_t to_ns(struct loader *loader, uint64_t ticks)
{
	return mr_clock_to_ns_near(loader->clock, ticks, &loader->clock_gap);
}

static struct span make_span(struct loader *loader, int64_t start_ns, int64_t end_ns)
{
	if (mr_unlikely(end_ns < start_ns)) {
		loader->model->anomalies.backwards++;
		end_ns = start_ns;
	}
	return (struct span){start_ns, end_ns - start_ns};
}

/* The interval that ends with the event. */
static struct span span_before(struct loader *loader, uint64_t end_ticks, uint64_t duration_ticks)
{
	uint64_t start_ticks = end_ticks - duration_ticks;

	if (mr_unlikely(duration_ticks > end_ticks)) {
		loader->model->anomalies.backwards++;
		start_ticks = end_ticks;
	}
	int64_t end_ns = to_ns(loader, end_ticks);
	int64_t start_ns = to_ns(loader, start_ticks);
	return (struct span){start_ns, end_ns - start_ns};
}

static uint32_t find(const struct loader *loader, enum mr_id_kind kind, uint32_t id)
{
	return mr_definition_find(&loader->model->survey->definitions, loader->process, kind, id);
}

static uint32_t find_node(struct loader *loader, uint32_t id)
{
	uint32_t node = find(loader, MR_ID_node, id);

	loader->model->anomalies.undefined += node == 0;
	return node;
}

/* ---- one event to one row ----------------------------------------------------------------------- */

static int add_execution(struct loader *loader, struct span span, uint32_t node, uint32_t step,
			 uint8_t flags)
{
	return mr_node_executions_append(
		&loader->model->node_executions,
		(struct mr_node_executions_row){.track = loader->track,
						.start_ns = span.start_ns,
						.duration_ns = span.duration_ns,
						.node = find_node(loader, node),
						.step = step,
						.flags = flags});
}

static int add_execution_at(struct loader *loader, const struct mr_event_node_interval_at *at)
{
	const struct mr_survey *survey = loader->model->survey;
	uint32_t clock = mr_definition_find_clock(&survey->definitions, loader->process, at->clock);
	const struct mr_clock_map *map = mr_clocks_find(survey->clocks, clock);

	if (!map) {
		loader->model->anomalies.unplaced++;
		return 0;
	}
	struct span span =
		make_span(loader, mr_clock_to_ns(map, at->start), mr_clock_to_ns(map, at->end));
	return add_execution(loader, span, at->node, at->step, 0);
}

static int add_instant(struct loader *loader, const struct mr_event *event)
{
	const struct mr_event_node_instant *instant = event->payload;

	return mr_node_instants_append(
		&loader->model->node_instants,
		(struct mr_node_instants_row){.track = loader->track,
					      .start_ns = to_ns(loader, event->ticks),
					      .node = find_node(loader, instant->node),
					      .step = instant->step});
}

static int add_step(struct loader *loader, struct span span, uint64_t step, uint8_t flags)
{
	return mr_steps_append(&loader->model->steps,
			       (struct mr_steps_row){.track = loader->track,
						     .start_ns = span.start_ns,
						     .duration_ns = span.duration_ns,
						     .step = step,
						     .flags = flags});
}

static int add_call(struct loader *loader, const struct mr_event *event)
{
	const struct mr_event_runtime_call *call = event->payload;
	struct span span = span_before(loader, event->ticks, mr_u48_value(call->duration_ticks));

	return mr_calls_append(
		&loader->model->calls,
		(struct mr_calls_row){.track = loader->track,
				      .start_ns = span.start_ns,
				      .duration_ns = span.duration_ns,
				      .function = find(loader, MR_ID_string, call->function),
				      .correlation = call->correlation,
				      .result = call->result});
}

static int add_unfinished(struct loader *loader, const struct mr_event *event)
{
	const struct mr_event_interval_unfinished *open = event->payload;
	struct span span =
		make_span(loader, to_ns(loader, open->start), to_ns(loader, event->ticks));

	loader->model->anomalies.unfinished++;
	switch (open->event) {
	case MR_EVENT_node_interval:
		return add_execution(loader, span, open->what, (uint32_t)open->step,
				     MR_ROW_UNFINISHED);
	case MR_EVENT_step_interval:
		return add_step(loader, span, open->step, MR_ROW_UNFINISHED);
	case MR_EVENT_runtime_call:
		return mr_calls_append(
			&loader->model->calls,
			(struct mr_calls_row){.track = loader->track,
					      .start_ns = span.start_ns,
					      .duration_ns = span.duration_ns,
					      .function = find(loader, MR_ID_string, open->what),
					      .flags = MR_ROW_UNFINISHED});
	}
	return 0;
}

static int64_t optional_ns(const struct mr_clock_map *clock, uint64_t ticks)
{
	return ticks ? mr_clock_to_ns(clock, ticks) : MR_NO_TIME;
}

static int add_device_operation(struct loader *loader, const struct mr_event_device_operation *done)
{
	const struct mr_survey *survey = loader->model->survey;
	uint32_t queue = find(loader, MR_ID_queue, done->queue);
	uint32_t device = survey->definitions.queues.items[queue].device;
	const struct mr_clock_map *clock =
		mr_clocks_find(survey->clocks, survey->definitions.devices.items[device].clock);

	if (!queue || !clock || !done->start) {
		loader->model->anomalies.unplaced++;
		return 0;
	}
	struct span span = make_span(loader, mr_clock_to_ns(clock, done->start),
				     mr_clock_to_ns(clock, done->end));
	return mr_device_operations_append(
		&loader->model->device_operations,
		(struct mr_device_operations_row){.track = mr_survey_track_of_queue(survey, queue),
						  .start_ns = span.start_ns,
						  .duration_ns = span.duration_ns,
						  .queued_ns = optional_ns(clock, done->queued),
						  .submitted_ns =
							  optional_ns(clock, done->submitted),
						  .name = find(loader, MR_ID_string, done->name),
						  .correlation = done->correlation,
						  .bytes = done->bytes,
						  .kind = done->kind});
}

static int add_counter(struct loader *loader, const struct mr_event *event)
{
	const struct mr_event_counter *counter = event->payload;

	return mr_counters_append(
		&loader->model->counters,
		(struct mr_counters_row){.track = loader->track,
					 .start_ns = to_ns(loader, event->ticks),
					 .name = find(loader, MR_ID_string, counter->name),
					 .value = counter->value});
}

static int add_allocation(struct loader *loader, const struct mr_event *event)
{
	const struct mr_event_memory_allocate *memory = event->payload;

	return mr_memory_append(
		&loader->model->memory,
		(struct mr_memory_row){.track = loader->track,
				       .start_ns = to_ns(loader, event->ticks),
				       .device = find(loader, MR_ID_device, memory->device),
				       .allocator = find(loader, MR_ID_string, memory->allocator),
				       .node = find(loader, MR_ID_node, memory->node),
				       .address = memory->address,
				       .bytes = memory->bytes});
}

static int add_free(struct loader *loader, const struct mr_event *event)
{
	const struct mr_event_memory_free *memory = event->payload;

	return mr_memory_append(
		&loader->model->memory,
		(struct mr_memory_row){.track = loader->track,
				       .start_ns = to_ns(loader, event->ticks),
				       .device = find(loader, MR_ID_device, memory->device),
				       .allocator = find(loader, MR_ID_string, memory->allocator),
				       .address = memory->address,
				       .bytes = memory->bytes,
				       .is_free = true});
}

/* message_send and message_receive have the same fields. */
static int add_message(struct loader *loader, const struct mr_event *event, bool is_receive)
{
	const struct mr_event_message_send *message = event->payload;

	return mr_messages_append(
		&loader->model->messages,
		(struct mr_messages_row){.track = loader->track,
					 .start_ns = to_ns(loader, event->ticks),
					 .channel = find(loader, MR_ID_string, message->channel),
					 .key = message->key,
					 .bytes = message->bytes,
					 .is_receive = is_receive});
}

_Static_assert(sizeof(struct mr_event_message_send) == sizeof(struct mr_event_message_receive),
	       "add_message() reads both");

static int add_row(struct loader *loader, const struct mr_event *event)
{
	switch (event->desc->id) {
	case MR_EVENT_node_interval: {
		const struct mr_event_node_interval *interval = event->payload;
		uint64_t ticks = mr_u48_value(interval->duration_ticks);

		return add_execution(loader, span_before(loader, event->ticks, ticks),
				     interval->node, interval->step, 0);
	}
	case MR_EVENT_node_interval_at:
		return add_execution_at(loader, event->payload);
	case MR_EVENT_node_instant:
		return add_instant(loader, event);
	case MR_EVENT_step_interval: {
		const struct mr_event_step_interval *step = event->payload;

		return add_step(loader, span_before(loader, event->ticks, step->duration_ticks),
				step->step, 0);
	}
	case MR_EVENT_interval_unfinished:
		return add_unfinished(loader, event);
	case MR_EVENT_runtime_call:
		return add_call(loader, event);
	case MR_EVENT_device_operation:
		return add_device_operation(loader, event->payload);
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
	return 0;
}

/* ---- all streams -------------------------------------------------------------------------------- */

static int load_stream(struct loader *loader, const struct mr_trace_stream *stream)
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
		result = mr_table_reserve(&model->calls.table,
					  counts[MR_EVENT_runtime_call] +
						  counts[MR_EVENT_interval_unfinished]);
	if (result == 0)
		result = mr_table_reserve(&model->device_operations.table,
					  counts[MR_EVENT_device_operation]);
	return result;
}

static int fill(struct mr_model *model)
{
	struct loader loader = {.model = model};
	int result = reserve(model);

	for (uint32_t i = 0; result == 0 && i < model->trace->stream_count; i++)
		if (model->trace->streams[i].kind == MR_PACKET_EVENTS)
			result = load_stream(&loader, &model->trace->streams[i]);
	return result;
}

static int sort(struct mr_model *model)
{
	uint32_t track_count = (uint32_t)model->survey->tracks.count;
	int result = 0;

#define SORT_TABLE(name) \
	if (result == 0) \
		result = mr_table_sort(&model->name.table, track_count);
	MR_TABLES(SORT_TABLE)
#undef SORT_TABLE
	return result;
}

static int nest(struct mr_model *model)
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

static int load(struct mr_model *model, const char *path)
{
	int result = mr_trace_open(path, &model->trace);

	if (result == 0)
		result = mr_manifest_read(path, &model->manifest);
	if (result == 0)
		result = mr_survey_make(model->trace, &model->survey);
	if (result < 0)
		return result;
	result = fill(model);
	if (result == 0)
		result = sort(model);
	if (result == 0)
		result = nest(model);
	return result < 0 ? mr_fail_errno(-result, "load %s", path) : 0;
}

int mr_model_load(const char *path, struct mr_model **ret_model)
{
	mr_auto(model) struct mr_model *model = calloc(1, sizeof *model);

	if (!model)
		return mr_fail_errno(ENOMEM, "load %s", path);
#define DESCRIBE_TABLE(name) model->name.table.desc = &mr_##name##_desc;
	MR_TABLES(DESCRIBE_TABLE)
#undef DESCRIBE_TABLE
	int result = load(model, path);
	if (result == 0)
		*ret_model = mr_take(model);
	return result;
}

void mr_model_free(struct mr_model *model)
{
	if (!model)
		return;
#define FREE_TABLE(name) mr_table_free(&model->name.table);
	MR_TABLES(FREE_TABLE)
#undef FREE_TABLE
	mr_survey_free(model->survey);
	mr_manifest_free(model->manifest);
	mr_trace_close(model->trace);
	free(model);
}
