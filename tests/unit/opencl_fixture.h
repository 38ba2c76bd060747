/* SPDX-License-Identifier: Apache-2.0
 *
 * The OpenCL layer in front of a runtime made for the purpose (opencl_runtime.h), with one queue, and what it
 * has written. For one test program: everything is static.
 */
#ifndef MR_TEST_OPENCL_FIXTURE_H
#define MR_TEST_OPENCL_FIXTURE_H

#include "memory_arena.h"
#include "opencl_runtime.h"

cl_int clInitLayer(cl_uint entries, const struct mr_opencl_dispatch *target, cl_uint *ret_entries,
		   const struct mr_opencl_dispatch **ret_layer);

/* ---- what is in the trace ---------------------------------------------------------------------------------- */

/* The correlation of the n-th launch is n, as long as nothing else has one. */
struct seen {
	uint64_t launches;
	uint64_t operations;
	uint64_t unfinished;
	uint64_t waits;
	uint64_t last_awaited;
	uint64_t queued_sum;
	bool is_untimed;
	uint64_t identities;
	uint32_t identified; /* the last, as its identity */
	char identity[64];
	uint64_t samples;
	struct mr_event_clock_sample sample; /* the last, as the next two */
	struct mr_event_runtime_launch launch;
	struct mr_event_device_operation operation;
};

static void see(const struct test_event *event, void *data)
{
	struct seen *seen = data;
	const struct mr_event_device_operation *operation = event->payload;
	const struct mr_event_runtime_wait *wait = event->payload;
	const struct mr_event_def_queue *queue = event->payload;
	switch (event->id) {
	case MR_EVENT_runtime_launch:
		memcpy(&seen->launch, event->payload, sizeof seen->launch);
		seen->launches++;
		break;
	case MR_EVENT_device_operation:
		memcpy(&seen->operation, event->payload, sizeof seen->operation);
		seen->operations++;
		seen->queued_sum += operation->queued;
		break;
	case MR_EVENT_device_operation_unfinished:
		seen->unfinished++;
		break;
	case MR_EVENT_runtime_wait:
		seen->waits++;
		seen->last_awaited = wait->awaited;
		break;
	case MR_EVENT_clock_sample:
		memcpy(&seen->sample, event->payload, sizeof seen->sample);
		seen->samples++;
		break;
	case MR_EVENT_def_device_identity:
		memcpy(&seen->identified, event->payload, sizeof seen->identified);
		snprintf(seen->identity, sizeof seen->identity, "%s", event->text);
		seen->identities++;
		break;
	case MR_EVENT_def_queue:
		seen->is_untimed = queue->is_untimed;
		break;
	default:
		break;
	}
}

static struct seen look(void)
{
	struct seen seen = {0};
	test_arena_visit(test_arena, see, &seen);
	return seen;
}

/* ---- the layer --------------------------------------------------------------------------------------------- */

static cl_command_queue queue;

static cl_command_queue new_queue(cl_ulong properties)
{
	return mr_opencl_clCreateCommandQueue(NULL, &the_device, properties, NULL);
}

static int set_up(void **state)
{
	const struct mr_opencl_dispatch runtime = {
		.clGetDeviceInfo = device_info,
		.clGetDeviceAndHostTimer = device_timer,
		.clCreateCommandQueue = create_queue,
		.clGetCommandQueueInfo = queue_info,
		.clReleaseCommandQueue = release_queue,
		.clFlush = flush_queue,
		.clFinish = finish_queue,
		.clEnqueueFillBuffer = enqueue_fill,
		.clEnqueueMarkerWithWaitList = enqueue_marker,
		.clSetEventCallback = set_callback,
		.clRetainEvent = retain_event,
		.clReleaseEvent = release_event,
		.clGetEventInfo = event_info,
		.clGetEventProfilingInfo = profiling_info,
	};
	const struct mr_opencl_dispatch *layer;
	cl_uint entries;
	test_arena_attach(512);
	mr_opencl = NULL;
	atomic_store(&mr_last_correlation, 0);
	refuses_profiling = completes_at_once = false;
	timer_ahead_ns = *state ? *(uint64_t *)*state : 0;
	atomic_store(&event_count, 0);
	atomic_store(&asked_callbacks, 0);
	assert_int_equal(clInitLayer(MR_OPENCL_FUNCTIONS, &runtime, &entries, &layer), CL_SUCCESS);
	assert_int_equal(entries, MR_OPENCL_FUNCTIONS);
	assert_null(layer->clCreateFromD3D11BufferKHR);
	queue = new_queue(0);
	assert_non_null(queue);
	return 0;
}

/* What the layer does when the program exits must find nothing: it does so after all tests. */
static int tear_down(void **state)
{
	atomic_store(&mr_opencl->queues, NULL);
	return test_arena_detach(state);
}

static void fill(cl_event *ret_event)
{
	assert_int_equal(
		mr_opencl_clEnqueueFillBuffer(queue, NULL, "", 1, 0, 4096, 0, NULL, ret_event),
		CL_SUCCESS);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
#define TEST_OF(name, timer) \
	cmocka_unit_test_prestate_setup_teardown(name, set_up, tear_down, timer)

#endif
