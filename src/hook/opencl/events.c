/* SPDX-License-Identifier: Apache-2.0
 *
 * Events as the program sees them: its reference counts, what waits for them, and what must stay hidden from
 * the program.
 */
#include "hook/opencl/layer.h"

void mr_opencl_note_waits(uint64_t correlation, cl_uint count, const cl_event *events)
{
	struct mr_handle entry;
	for (cl_uint i = 0; events && i < count; i++)
		if (mr_handle_get(&mr_opencl->event_map, events[i], &entry))
			mr_emit(runtime_wait, .correlation = correlation, .awaited = entry.value);
}

/* Visits the queues of events that have not been found complete. */
static void visit_queues(cl_uint count, const cl_event *events,
			 void (*visit)(struct mr_opencl_queue *queue))
{
	struct mr_handle entry;
	void *last = NULL;
	for (cl_uint i = 0; events && i < count; i++) {
		if (!mr_handle_get(&mr_opencl->event_map, events[i], &entry) ||
		    !(entry.flags & MR_HANDLE_IS_HELD) || entry.owner == last)
			continue;
		last = entry.owner;
		visit(entry.owner);
	}
}

/* Of one that is awaited alone, the end is seen at once. */
static void watch(struct mr_opencl_queue *queue)
{
	mr_opencl_watch_quiet(queue, 2);
}

static void harvest(struct mr_opencl_queue *queue)
{
	mr_opencl_harvest(queue, false);
}

cl_int mr_opencl_clWaitForEvents(cl_uint count, const cl_event *events)
{
	struct mr_opencl_call call;
	uint64_t correlation = mr_correlation_new();
	if (mr_opencl_begin(&call, MR_OPENCL_clWaitForEvents, correlation))
		mr_opencl_note_waits(correlation, count, events);
	visit_queues(count, events, watch);
	cl_int result = mr_opencl_next.clWaitForEvents(count, events);
	const struct mr_opencl_about about = {.object = count > 0 && events ? events[0] : NULL};
	mr_opencl_end_about(&call, result, &about);
	if (result == CL_SUCCESS)
		visit_queues(count, events, harvest);
	return result;
}

/* Launches something that waits, but no event shows when it has ended: so no operation follows, and the queue
 * stands in the place of the object. */
cl_int mr_opencl_clEnqueueWaitForEvents(cl_command_queue command_queue, cl_uint count,
					const cl_event *events)
{
	struct mr_opencl_call call;
	uint64_t correlation = mr_correlation_new();
	if (!mr_opencl_begin(&call, MR_OPENCL_clEnqueueWaitForEvents, correlation))
		return mr_opencl_next.clEnqueueWaitForEvents(command_queue, count, events);
	mr_opencl_note_waits(correlation, count, events);
	cl_int result = mr_opencl_next.clEnqueueWaitForEvents(command_queue, count, events);
	struct mr_event_runtime_launch event = {.function = mr_opencl_names[call.function],
						.correlation = correlation,
						.result = result,
						.object = (uintptr_t)command_queue,
						.kind = MR_operation_kind_barrier};
	mr_opencl_leave(mr_call_interval_end(&call.interval, MR_EVENT_runtime_launch, &event,
					     sizeof event));
	return result;
}

/* A user event has an id like an operation, so that waits can refer to it. */
cl_event mr_opencl_clCreateUserEvent(cl_context context, cl_int *ret_error)
{
	struct mr_opencl_call call;
	cl_int error = CL_SUCCESS;
	ret_error = ret_error ? ret_error : &error;
	uint64_t correlation = mr_correlation_new();
	mr_opencl_begin(&call, MR_OPENCL_clCreateUserEvent, correlation);
	cl_event event = mr_opencl_next.clCreateUserEvent(context, ret_error);
	const struct mr_handle entry = {.handle = event, .value = correlation, .references = 1};
	if (event)
		mr_handle_put(&mr_opencl->event_map, &entry);
	mr_opencl_end_made(&call, event, *ret_error);
	return event;
}

cl_int mr_opencl_clRetainEvent(cl_event event)
{
	struct mr_opencl_call call;
	struct mr_handle entry;
	mr_opencl_begin(&call, MR_OPENCL_clRetainEvent, 0);
	cl_int result = mr_opencl_next.clRetainEvent(event);
	if (result == CL_SUCCESS)
		mr_handle_change(&mr_opencl->event_map, event, 1, 0, &entry);
	mr_opencl_end_about(&call, result, &(struct mr_opencl_about){.object = event});
	return result;
}

/* A program that releases once too often must not get our reference instead of its error. */
cl_int mr_opencl_clReleaseEvent(cl_event event)
{
	struct mr_opencl_call call;
	struct mr_handle entry;
	mr_opencl_begin(&call, MR_OPENCL_clReleaseEvent, 0);
	if (!mr_handle_change(&mr_opencl->event_map, event, -1, 0, &entry) &&
	    mr_handle_get(&mr_opencl->event_map, event, &entry) &&
	    (entry.flags & MR_HANDLE_IS_HELD))
		mr_opencl_let_go(entry.owner, event);
	cl_int result = mr_opencl_next.clReleaseEvent(event);
	mr_opencl_end_about(&call, result, &(struct mr_opencl_about){.object = event});
	return result;
}

/* An answer leaves out our reference, and may be worth a harvest. */
static void use_answer(cl_event event, cl_uint what, void *value)
{
	struct mr_handle entry;
	cl_int number;
	if ((what != CL_EVENT_REFERENCE_COUNT && what != CL_EVENT_COMMAND_EXECUTION_STATUS) ||
	    !mr_handle_get(&mr_opencl->event_map, event, &entry) ||
	    !(entry.flags & MR_HANDLE_IS_HELD))
		return;
	memcpy(&number, value, sizeof number);
	if (what == CL_EVENT_COMMAND_EXECUTION_STATUS && number <= CL_COMPLETE)
		mr_opencl_harvest(entry.owner, false);
	if (what == CL_EVENT_REFERENCE_COUNT) {
		number--;
		memcpy(value, &number, sizeof number);
	}
}

cl_int mr_opencl_clGetEventInfo(cl_event event, cl_uint what, size_t bytes, void *ret_value,
				size_t *ret_bytes)
{
	struct mr_opencl_call call;
	mr_opencl_begin(&call, MR_OPENCL_clGetEventInfo, 0);
	cl_int result = mr_opencl_next.clGetEventInfo(event, what, bytes, ret_value, ret_bytes);
	mr_opencl_end_about(&call, result, &(struct mr_opencl_about){.object = event});
	if (result == CL_SUCCESS && ret_value)
		use_answer(event, what, ret_value);
	return result;
}

/* True if the driver knows times that the program did not ask for. */
static bool has_hidden_times(cl_event event)
{
	struct mr_handle entry;
	if (mr_handle_get(&mr_opencl->event_map, event, &entry))
		return entry.flags & MR_HANDLE_IS_UNTIMED;
	/* From a time when nothing was recorded. */
	cl_command_queue handle = NULL;
	if (mr_opencl_next.clGetEventInfo(event, CL_EVENT_COMMAND_QUEUE, sizeof handle, &handle,
					  NULL) != CL_SUCCESS)
		return false;
	const struct mr_opencl_queue *queue = mr_opencl_queue_find(handle);
	return queue && queue->is_hidden;
}

cl_int mr_opencl_clGetEventProfilingInfo(cl_event event, cl_uint what, size_t bytes,
					 void *ret_value, size_t *ret_bytes)
{
	struct mr_opencl_call call;
	mr_opencl_begin(&call, MR_OPENCL_clGetEventProfilingInfo, 0);
	cl_int result = has_hidden_times(event) ? CL_PROFILING_INFO_NOT_AVAILABLE
						: mr_opencl_next.clGetEventProfilingInfo(
							  event, what, bytes, ret_value, ret_bytes);
	mr_opencl_end_about(&call, result, &(struct mr_opencl_about){.object = event});
	return result;
}
