/* SPDX-License-Identifier: Apache-2.0 */
#include "load/annotations.h"

#include "load/runtime.h"
#include "load/sites.h"

static uint32_t find_node(struct mr_loader *loader, uint32_t id)
{
	uint32_t node = mr_loader_find(loader, MR_ID_node, id);

	loader->model->anomalies.undefined += node == 0;
	return node;
}

/* ---- one event to one row ----------------------------------------------------------------------- */

static int add_shaped_execution(struct mr_loader *loader, struct mr_span span, uint32_t node,
				uint32_t step, uint8_t flags, uint32_t shapes)
{
	return mr_node_executions_append(
		&loader->model->node_executions,
		(struct mr_node_executions_row){.track = loader->track,
						.start_ns = span.start_ns,
						.duration_ns = span.duration_ns,
						.node = find_node(loader, node),
						.step = step,
						.shapes = shapes,
						.asked_ns = MR_NO_TIME,
						.done_ns = MR_NO_TIME,
						.site = mr_loader_site_at(loader, span.start_ns),
						.flags = flags});
}

static int add_execution(struct mr_loader *loader, struct mr_span span, uint32_t node,
			 uint32_t step, uint8_t flags)
{
	return add_shaped_execution(loader, span, node, step, flags, 0);
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
	return mr_steps_append(
		&loader->model->steps,
		(struct mr_steps_row){.track = loader->track,
				      .start_ns = span.start_ns,
				      .duration_ns = span.duration_ns,
				      .step = step,
				      .site = mr_loader_site_at(loader, span.start_ns),
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
			.site = loader->site,
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

int mr_annotations_add(struct mr_loader *loader, const struct mr_event *event)
{
	switch (event->desc->id) {
	case MR_EVENT_node_interval: {
		const struct mr_event_node_interval *interval = event->payload;
		uint64_t ticks = mr_u48_value(interval->duration_ticks);

		return add_execution(loader, mr_loader_span_before(loader, event->ticks, ticks),
				     interval->node, interval->step, 0);
	}
	case MR_EVENT_node_interval_shapes: {
		const struct mr_event_node_interval_shapes *interval = event->payload;
		uint64_t ticks = mr_u48_value(interval->duration_ticks);

		return add_shaped_execution(
			loader, mr_loader_span_before(loader, event->ticks, ticks), interval->node,
			interval->step, 0, mr_loader_find(loader, MR_ID_string, interval->shapes));
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
	return 0;
}
