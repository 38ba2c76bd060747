/* SPDX-License-Identifier: Apache-2.0
 *
 * Streams and events. TensorFlow makes four streams per device (compute, to the device, from it,
 * between devices). An event is a marker in one stream; another stream waits for it with a barrier.
 * Everything is flushed at once: TensorFlow polls events and expects the device to work meanwhile.
 */
#include "device.h"

#include <pthread.h>
#include <stdlib.h>

/* All streams of all devices. */
static pthread_mutex_t streams_lock = PTHREAD_MUTEX_INITIALIZER;
static SP_Stream streams;

struct SP_Event_st {
	cl_event marker; /* set when the event was last recorded, or NULL */
};

struct callback {
	SE_StatusCallbackFn function;
	void *argument;
};

static cl_event enqueue_marker(cl_command_queue queue, TF_Status *status)
{
	cl_event marker = NULL;

	mr_opencl_failed(status, clEnqueueMarkerWithWaitList(queue, 0, NULL, &marker),
			 "clEnqueueMarkerWithWaitList");
	clFlush(queue);
	return marker;
}

static void enqueue_barrier(cl_command_queue queue, cl_event marker, TF_Status *status)
{
	mr_opencl_failed(status, clEnqueueBarrierWithWaitList(queue, 1, &marker, NULL),
			 "clEnqueueBarrierWithWaitList");
	clFlush(queue);
}

static void create_stream(const SP_Device *device, SP_Stream *ret_stream, TF_Status *status)
{
	struct mr_device *owner = device->device_handle;
	cl_int result;
	SP_Stream stream = calloc(1, sizeof(*stream));

	if (!stream) {
		TF_SetStatus(status, TF_RESOURCE_EXHAUSTED, "no memory for a stream");
		return;
	}
	stream->device = owner;
	stream->queue = clCreateCommandQueue(mr_opencl_context(), owner->id, 0, &result);
	if (mr_opencl_failed(status, result, "clCreateCommandQueue")) {
		free(stream);
		return;
	}
	pthread_mutex_lock(&streams_lock);
	stream->next = streams;
	streams = stream;
	pthread_mutex_unlock(&streams_lock);
	*ret_stream = stream;
}

static void destroy_stream(const SP_Device *device, SP_Stream stream)
{
	(void)device;
	pthread_mutex_lock(&streams_lock);
	SP_Stream *link = &streams;
	while (*link != stream)
		link = &(*link)->next;
	*link = stream->next;
	pthread_mutex_unlock(&streams_lock);
	clFinish(stream->queue);
	clReleaseCommandQueue(stream->queue);
	free(stream);
}

static void make_stream_wait(const SP_Device *device, SP_Stream dependent, SP_Stream other,
			     TF_Status *status)
{
	(void)device;
	cl_event marker = enqueue_marker(other->queue, status);
	if (!marker)
		return;
	enqueue_barrier(dependent->queue, marker, status);
	clReleaseEvent(marker);
}

static void get_stream_status(const SP_Device *device, SP_Stream stream, TF_Status *status)
{
	(void)device;
	(void)stream;
	TF_SetStatus(status, TF_OK, "");
}

static void create_event(const SP_Device *device, SP_Event *ret_event, TF_Status *status)
{
	(void)device;
	SP_Event event = calloc(1, sizeof(*event));
	if (event)
		*ret_event = event;
	else
		TF_SetStatus(status, TF_RESOURCE_EXHAUSTED, "no memory for an event");
}

static void forget_marker(SP_Event event)
{
	if (event->marker)
		clReleaseEvent(event->marker);
	event->marker = NULL;
}

static void destroy_event(const SP_Device *device, SP_Event event)
{
	(void)device;
	forget_marker(event);
	free(event);
}

static SE_EventStatus get_event_status(const SP_Device *device, SP_Event event)
{
	cl_int state;

	(void)device;
	if (!event->marker)
		return SE_EVENT_COMPLETE;
	if (clGetEventInfo(event->marker, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(state), &state,
			   NULL) != CL_SUCCESS)
		return SE_EVENT_UNKNOWN;
	if (state < 0)
		return SE_EVENT_ERROR;
	return state == CL_COMPLETE ? SE_EVENT_COMPLETE : SE_EVENT_PENDING;
}

static void record_event(const SP_Device *device, SP_Stream stream, SP_Event event,
			 TF_Status *status)
{
	(void)device;
	forget_marker(event);
	event->marker = enqueue_marker(stream->queue, status);
}

static void make_stream_wait_for_event(const SP_Device *device, SP_Stream stream, SP_Event event,
				       TF_Status *status)
{
	(void)device;
	if (event->marker)
		enqueue_barrier(stream->queue, event->marker, status);
}

static void wait_for_event(const SP_Device *device, SP_Event event, TF_Status *status)
{
	(void)device;
	if (event->marker)
		mr_opencl_failed(status, clWaitForEvents(1, &event->marker), "clWaitForEvents");
}

static void wait_for_stream(const SP_Device *device, SP_Stream stream, TF_Status *status)
{
	(void)device;
	mr_opencl_failed(status, clFinish(stream->queue), "clFinish");
}

static void wait_for_device(const SP_Device *device, TF_Status *status)
{
	const struct mr_device *owner = device->device_handle;

	pthread_mutex_lock(&streams_lock);
	for (SP_Stream stream = streams; stream; stream = stream->next) {
		if (stream->device == owner)
			wait_for_stream(device, stream, status);
	}
	pthread_mutex_unlock(&streams_lock);
}

static void CL_CALLBACK run_callback(cl_event marker, cl_int state, void *argument)
{
	struct callback *callback = argument;
	TF_Status *status = TF_NewStatus();

	if (state < 0)
		mr_opencl_failed(status, state, "a stream before its callback");
	callback->function(callback->argument, status);
	TF_DeleteStatus(status);
	free(callback);
	clReleaseEvent(marker);
}

static TF_Bool call_host(const SP_Device *device, SP_Stream stream, SE_StatusCallbackFn function,
			 void *argument)
{
	struct callback *callback = malloc(sizeof(*callback));
	cl_event marker;

	(void)device;
	if (!callback)
		return 0;
	*callback = (struct callback){function, argument};
	if (clEnqueueMarkerWithWaitList(stream->queue, 0, NULL, &marker) != CL_SUCCESS) {
		free(callback);
		return 0;
	}
	if (clSetEventCallback(marker, CL_COMPLETE, run_callback, callback) != CL_SUCCESS) {
		clReleaseEvent(marker);
		free(callback);
		return 0;
	}
	clFlush(stream->queue);
	return 1;
}

void mr_streams_describe(SP_StreamExecutor *executor)
{
	executor->create_stream = create_stream;
	executor->destroy_stream = destroy_stream;
	executor->create_stream_dependency = make_stream_wait;
	executor->get_stream_status = get_stream_status;
	executor->create_event = create_event;
	executor->destroy_event = destroy_event;
	executor->get_event_status = get_event_status;
	executor->record_event = record_event;
	executor->wait_for_event = make_stream_wait_for_event;
	executor->block_host_for_event = wait_for_event;
	executor->block_host_until_done = wait_for_stream;
	executor->synchronize_all_activity = wait_for_device;
	executor->host_callback = call_host;
}
