/* SPDX-License-Identifier: Apache-2.0 */
#include "load/runtime.h"

/* ---- calls -------------------------------------------------------------------------------------- */

/* The four events of calls begin alike. */
#define SAME_PLACE(event, field)                                              \
	_Static_assert(offsetof(struct mr_event_##event, field) ==            \
			       offsetof(struct mr_event_runtime_call, field), \
		       "a call is read through runtime_call")
SAME_PLACE(runtime_call_on, function);
SAME_PLACE(runtime_call_on, duration_ticks);
SAME_PLACE(runtime_call_on, correlation);
SAME_PLACE(runtime_launch, duration_ticks);
SAME_PLACE(runtime_launch, correlation);
SAME_PLACE(runtime_launch_kernel, duration_ticks);
SAME_PLACE(runtime_launch_kernel, correlation);

static struct mr_calls_row start_call(struct mr_loader *loader, const struct mr_event *event)
{
	const struct mr_event_runtime_call *call = event->payload;
	struct mr_span span =
		mr_loader_span_before(loader, event->ticks, mr_u48_value(call->duration_ticks));

	return (struct mr_calls_row){.track = loader->track,
				     .start_ns = span.start_ns,
				     .duration_ns = span.duration_ns,
				     .function =
					     mr_loader_find(loader, MR_ID_string, call->function),
				     .correlation = call->correlation,
				     .site = loader->site,
				     .operation = MR_NO_ROW,
				     .awaited = MR_NO_ROW,
				     .execution = MR_NO_ROW};
}

static int add_call(struct mr_loader *loader, const struct mr_event *event)
{
	const struct mr_event_runtime_call *call = event->payload;
	struct mr_calls_row row = start_call(loader, event);

	row.result = call->result;
	return mr_calls_append(&loader->model->calls, row);
}

static int add_call_on(struct mr_loader *loader, const struct mr_event *event)
{
	const struct mr_event_runtime_call_on *call = event->payload;
	struct mr_calls_row row = start_call(loader, event);

	row.result = call->result;
	row.queue = mr_loader_find(loader, MR_ID_queue, call->queue);
	row.object = call->object;
	row.bytes = call->bytes;
	return mr_calls_append(&loader->model->calls, row);
}

static int add_launch(struct mr_loader *loader, const struct mr_event *event)
{
	const struct mr_event_runtime_launch *launch = event->payload;
	struct mr_calls_row row = start_call(loader, event);

	row.result = launch->result;
	row.queue = mr_loader_find(loader, MR_ID_queue, launch->queue);
	row.object = launch->object;
	row.bytes = launch->bytes;
	row.role = MR_CALL_LAUNCH;
	row.kind = launch->kind;
	row.is_blocking = launch->is_blocking != 0;
	return mr_calls_append(&loader->model->calls, row);
}

static int add_kernel_launch(struct mr_loader *loader, const struct mr_event *event)
{
	const struct mr_event_runtime_launch_kernel *launch = event->payload;
	const struct mr_launch_size *size = &loader->launch_size;
	bool is_large = launch->correlation != 0 && size->correlation == launch->correlation &&
			size->process == loader->process;
	struct mr_calls_row row = start_call(loader, event);

	row.result = launch->result;
	row.queue = mr_loader_find(loader, MR_ID_queue, launch->queue);
	row.role = MR_CALL_LAUNCH;
	row.kind = MR_operation_kind_kernel;
	int result = mr_calls_append(&loader->model->calls, row);
	if (result < 0)
		return result;
	return mr_kernel_launches_append(
		&loader->model->kernel_launches,
		(struct mr_kernel_launches_row){
			.track = row.track,
			.start_ns = row.start_ns,
			.correlation = launch->correlation,
			.call = MR_NO_ROW,
			.name = mr_loader_find(loader, MR_ID_string, launch->name),
			.global_x = is_large ? size->global[0] : launch->global_x,
			.global_y = is_large ? size->global[1] : launch->global_y,
			.global_z = is_large ? size->global[2] : launch->global_z,
			.local_x = launch->local_x,
			.local_y = launch->local_y,
			.local_z = launch->local_z});
}

static int add_dispatch(struct mr_loader *loader, const struct mr_event *event)
{
	const struct mr_event_runtime_dispatch *dispatch = event->payload;

	return mr_kernel_launches_append(
		&loader->model->kernel_launches,
		(struct mr_kernel_launches_row){
			.track = loader->track,
			.start_ns = mr_loader_to_ns(loader, event->ticks),
			.correlation = dispatch->correlation,
			.call = MR_NO_ROW,
			.name = mr_loader_find(loader, MR_ID_string, dispatch->name),
			.global_x = dispatch->global_x,
			.global_y = dispatch->global_y,
			.global_z = dispatch->global_z,
			.local_x = dispatch->local_x,
			.local_y = dispatch->local_y,
			.local_z = dispatch->local_z,
			.private_bytes = dispatch->private_bytes,
			.group_bytes = dispatch->group_bytes,
			.argument_bytes = dispatch->argument_bytes,
			.is_ordered = dispatch->is_ordered != 0});
}

static void note_launch_size(struct mr_loader *loader,
			     const struct mr_event_runtime_launch_size *size)
{
	loader->launch_size = (struct mr_launch_size){
		loader->process,
		size->correlation,
		{size->global_x, size->global_y, size->global_z},
	};
}

int mr_runtime_add_unfinished_call(struct mr_loader *loader, struct mr_span span, uint32_t function,
				   uint64_t correlation)
{
	return mr_calls_append(
		&loader->model->calls,
		(struct mr_calls_row){.track = loader->track,
				      .start_ns = span.start_ns,
				      .duration_ns = span.duration_ns,
				      .function = mr_loader_find(loader, MR_ID_string, function),
				      .correlation = correlation,
				      .operation = MR_NO_ROW,
				      .awaited = MR_NO_ROW,
				      .execution = MR_NO_ROW,
				      .site = loader->site,
				      .flags = MR_ROW_UNFINISHED});
}

/* ---- device operations -------------------------------------------------------------------------- */

/* Widens what is used of the device's clock, and turns the time into nanoseconds. */
static int64_t device_ns(struct mr_device_clock *used, const struct mr_clock_map *clock,
			 uint64_t ticks)
{
	if (ticks == 0)
		return MR_NO_TIME;
	used->first_ticks = mr_min(used->first_ticks, ticks);
	used->last_ticks = mr_max(used->last_ticks, ticks);
	return mr_clock_to_ns(clock, ticks);
}

/* Raw ticks of the device's clock; 0: not known. Those of the counter are of the device's own. */
struct raw_times {
	uint64_t queued, submitted, start, end;
	uint64_t counter_start, counter_end;
};

/* Fills in the times. Where they are not known, the operation waits for its launch to be placed. */
static void place(struct mr_loader *loader, const struct mr_event *event, uint32_t device,
		  const struct raw_times *times, struct mr_device_operations_row *row)
{
	const struct mr_survey *survey = loader->model->survey;
	const struct mr_clock_map *clock =
		mr_clocks_find(survey->clocks, survey->definitions.devices.items[device].clock);
	struct mr_device_clock *used = &loader->model->device_clocks[device];

	row->raw_start = times->start;
	row->raw_end = times->end;
	row->counter_start = times->counter_start;
	row->counter_end = times->counter_end;
	if (!clock || !times->start || !times->end) {
		row->start_ns = mr_loader_to_ns(loader, event->ticks);
		row->flags = MR_ROW_UNTIMED;
		return;
	}
	struct mr_span span = mr_loader_span(loader, device_ns(used, clock, times->start),
					     device_ns(used, clock, times->end));
	row->start_ns = span.start_ns;
	row->duration_ns = span.duration_ns;
	row->queued_ns = device_ns(used, clock, times->queued);
	row->submitted_ns = device_ns(used, clock, times->submitted);
	row->bound_ns = mr_max(mr_clock_bound_ns(clock, times->start),
			       mr_clock_bound_ns(clock, times->end));
}

/* Adds a row, in which what the event says of the operation itself is filled in. */
static int add_done(struct mr_loader *loader, const struct mr_event *event, uint32_t queue_id,
		    const struct raw_times *times, struct mr_device_operations_row row)
{
	const struct mr_survey *survey = loader->model->survey;
	uint32_t queue = mr_loader_find(loader, MR_ID_queue, queue_id);

	if (!queue) {
		loader->model->anomalies.unplaced++;
		return 0;
	}
	row.track = mr_survey_track_of_queue(survey, queue);
	row.queued_ns = row.submitted_ns = MR_NO_TIME;
	row.bound_ns = MR_CLOCK_BOUND_UNKNOWN;
	row.process = loader->process;
	row.call = row.after = MR_NO_ROW;
	place(loader, event, survey->definitions.queues.items[queue].device, times, &row);
	return mr_device_operations_append(&loader->model->device_operations, row);
}

static int add_operation(struct mr_loader *loader, const struct mr_event *event)
{
	const struct mr_event_device_operation *done = event->payload;

	return add_done(
		loader, event, done->queue,
		&(struct raw_times){done->queued, done->submitted, done->start, done->end, 0, 0},
		(struct mr_device_operations_row){
			.name = mr_loader_find(loader, MR_ID_string, done->name),
			.correlation = done->correlation,
			.bytes = done->bytes,
			.kind = done->kind});
}

/* The runtime has translated the ticks of the device's own counter to another clock. */
static int add_counted(struct mr_loader *loader, const struct mr_event *event)
{
	const struct mr_event_device_operation_counted *done = event->payload;

	return add_done(loader, event, done->queue,
			&(struct raw_times){.start = done->start,
					    .end = done->end,
					    .counter_start = done->counter_start,
					    .counter_end = done->counter_end},
			(struct mr_device_operations_row){
				.name = mr_loader_find(loader, MR_ID_string, done->name),
				.correlation = done->correlation,
				.bytes = done->bytes,
				.kind = done->kind});
}

/* Its compiler or profiler says how much work it is. */
static int add_work(struct mr_loader *loader, const struct mr_event *event)
{
	const struct mr_event_device_operation_work *work = event->payload;

	return add_done(
		loader, event, work->queue,
		&(struct raw_times){work->queued, work->submitted, work->start, work->end, 0, 0},
		(struct mr_device_operations_row){
			.name = mr_loader_find(loader, MR_ID_string, work->name),
			.correlation = work->correlation,
			.bytes = work->bytes,
			.kind = work->kind,
			.flops = work->flops,
			.accessed_bytes = work->accessed_bytes,
			.category = mr_loader_find(loader, MR_ID_string, work->category)});
}

static int add_kernel(struct mr_loader *loader, const struct mr_event *event)
{
	const struct mr_event_device_kernel *done = event->payload;

	return add_done(loader, event, done->queue,
			&(struct raw_times){.start = done->start, .end = done->end},
			(struct mr_device_operations_row){
				.name = mr_loader_find(loader, MR_ID_string, done->name),
				.correlation = done->correlation,
				.kind = MR_operation_kind_kernel,
				.graph = done->graph,
				.graph_node = done->graph_node,
				.registers = done->registers,
				.static_bytes = done->static_bytes,
				.dynamic_bytes = done->dynamic_bytes});
}

static int add_transfer(struct mr_loader *loader, const struct mr_event *event)
{
	const struct mr_event_device_transfer *done = event->payload;

	return add_done(loader, event, done->queue,
			&(struct raw_times){.start = done->start, .end = done->end},
			(struct mr_device_operations_row){
				.name = mr_loader_find(loader, MR_ID_string, done->name),
				.correlation = done->correlation,
				.bytes = done->bytes,
				.kind = done->kind,
				.from_memory = done->from,
				.to_memory = done->to,
				.target = mr_loader_find(loader, MR_ID_device, done->target),
				.graph = done->graph,
				.graph_node = done->graph_node});
}

static int add_unfinished_operation(struct mr_loader *loader, const struct mr_event *event)
{
	const struct mr_event_device_operation_unfinished *open = event->payload;
	uint32_t queue = mr_loader_find(loader, MR_ID_queue, open->queue);

	if (!queue) {
		loader->model->anomalies.unplaced++;
		return 0;
	}
	return mr_device_operations_append(
		&loader->model->device_operations,
		(struct mr_device_operations_row){
			.track = mr_survey_track_of_queue(loader->model->survey, queue),
			.start_ns = mr_loader_to_ns(loader, event->ticks),
			.queued_ns = MR_NO_TIME,
			.submitted_ns = MR_NO_TIME,
			.bound_ns = MR_CLOCK_BOUND_UNKNOWN,
			.process = loader->process,
			.call = MR_NO_ROW,
			.after = MR_NO_ROW,
			.name = mr_loader_find(loader, MR_ID_string, open->name),
			.correlation = open->correlation,
			.kind = open->kind,
			.flags = MR_ROW_UNFINISHED});
}

/* ---- waits and memory --------------------------------------------------------------------------- */

static int add_wait(struct mr_loader *loader, const struct mr_event *event)
{
	const struct mr_event_runtime_wait *wait = event->payload;

	return mr_dependencies_append(
		&loader->model->dependencies,
		(struct mr_dependencies_row){.track = loader->track,
					     .start_ns = mr_loader_to_ns(loader, event->ticks),
					     .correlation = wait->correlation,
					     .awaited = wait->awaited,
					     .call = MR_NO_ROW,
					     .awaited_call = MR_NO_ROW});
}

static int add_allocation(struct mr_loader *loader, const struct mr_event *event)
{
	const struct mr_event_runtime_allocate *memory = event->payload;

	return mr_memory_append(
		&loader->model->memory,
		(struct mr_memory_row){
			.track = loader->track,
			.start_ns = mr_loader_to_ns(loader, event->ticks),
			.device = mr_loader_find(loader, MR_ID_device, memory->device),
			.allocator = mr_loader_find(loader, MR_ID_string, memory->function),
			.address = memory->object,
			.parent = memory->parent,
			.bytes = memory->bytes,
			.site = loader->site,
			.teller = MR_MEMORY_RUNTIME});
}

static int add_free(struct mr_loader *loader, const struct mr_event *event)
{
	const struct mr_event_runtime_free *memory = event->payload;

	return mr_memory_append(
		&loader->model->memory,
		(struct mr_memory_row){.track = loader->track,
				       .start_ns = mr_loader_to_ns(loader, event->ticks),
				       .address = memory->object,
				       .teller = MR_MEMORY_RUNTIME,
				       .is_free = true});
}

/* ---- all events --------------------------------------------------------------------------------- */

int mr_runtime_add_device_clocks(struct mr_model *model, size_t first)
{
	size_t device_count = model->survey->definitions.devices.count;
	struct mr_device_clock *clocks =
		realloc(model->device_clocks, device_count * sizeof *clocks);

	if (!clocks)
		return -ENOMEM;
	for (size_t i = first; i < device_count; i++)
		clocks[i] = (struct mr_device_clock){.first_ticks = UINT64_MAX};
	model->device_clocks = clocks;
	return 0;
}

int mr_runtime_start(struct mr_model *model)
{
	const uint64_t *counts = model->survey->event_counts;
	int result = mr_runtime_add_device_clocks(model, 0);

	if (result < 0)
		return result;
	result = mr_table_reserve(&model->calls.table,
				  counts[MR_EVENT_runtime_call] + counts[MR_EVENT_runtime_call_on] +
					  counts[MR_EVENT_runtime_launch] +
					  counts[MR_EVENT_runtime_launch_kernel] +
					  counts[MR_EVENT_interval_unfinished]);
	if (result == 0)
		result = mr_table_reserve(&model->kernel_launches.table,
					  counts[MR_EVENT_runtime_launch_kernel] +
						  counts[MR_EVENT_runtime_dispatch]);
	if (result == 0)
		result = mr_table_reserve(&model->device_operations.table,
					  counts[MR_EVENT_device_operation] +
						  counts[MR_EVENT_device_operation_counted] +
						  counts[MR_EVENT_device_operation_work] +
						  counts[MR_EVENT_device_kernel] +
						  counts[MR_EVENT_device_transfer] +
						  counts[MR_EVENT_device_operation_unfinished]);
	if (result == 0)
		result =
			mr_table_reserve(&model->dependencies.table, counts[MR_EVENT_runtime_wait]);
	return result;
}

int mr_runtime_add(struct mr_loader *loader, const struct mr_event *event)
{
	switch (event->desc->id) {
	case MR_EVENT_runtime_call:
		return add_call(loader, event);
	case MR_EVENT_runtime_call_on:
		return add_call_on(loader, event);
	case MR_EVENT_runtime_launch:
		return add_launch(loader, event);
	case MR_EVENT_runtime_launch_kernel:
		return add_kernel_launch(loader, event);
	case MR_EVENT_runtime_dispatch:
		return add_dispatch(loader, event);
	case MR_EVENT_runtime_launch_size:
		note_launch_size(loader, event->payload);
		return 0;
	case MR_EVENT_device_operation:
		return add_operation(loader, event);
	case MR_EVENT_device_operation_counted:
		return add_counted(loader, event);
	case MR_EVENT_device_operation_work:
		return add_work(loader, event);
	case MR_EVENT_device_kernel:
		return add_kernel(loader, event);
	case MR_EVENT_device_transfer:
		return add_transfer(loader, event);
	case MR_EVENT_device_operation_unfinished:
		return add_unfinished_operation(loader, event);
	case MR_EVENT_runtime_wait:
		return add_wait(loader, event);
	case MR_EVENT_runtime_allocate:
		return add_allocation(loader, event);
	case MR_EVENT_runtime_free:
		return add_free(loader, event);
	}
	return mr_runtime_add_report(loader, event);
}
