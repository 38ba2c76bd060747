/* SPDX-License-Identifier: Apache-2.0
 *
 * An OpenCL runtime for tests of the layer: it does its work when the test says so, counts references, and
 * knows what no real runtime reports. Thread safe. For one test program: everything is static.
 */
#ifndef MR_TEST_OPENCL_RUNTIME_H
#define MR_TEST_OPENCL_RUNTIME_H

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hook/hook.h"
#include "hook/opencl/layer.h"

enum {
	EVENTS = 70000,
	QUEUES = 192,
	CALLBACKS = 4, /* of one event */
	CL_INVALID_EVENT = -58,
	CL_RUNNING = 1,
	CL_INVALID_QUEUE_PROPERTIES = -35,
};

struct mr_cl_command_queue {
	cl_ulong properties;
	atomic_int references;
};

struct callback {
	cl_event_notify *notify;
	void *data;
};

struct mr_cl_event {
	atomic_int references;
	atomic_int status;
	_Atomic(cl_command_queue) queue;
	uint64_t queued;
	struct callback callbacks[CALLBACKS]; /* under callback_lock, as their number */
	uint32_t callback_count;
};

struct mr_cl_device_id {
	int unused;
};

static struct mr_cl_device_id the_device;
static struct mr_cl_event events[EVENTS];
static atomic_uint event_count;
static struct mr_cl_command_queue queues[QUEUES];
static atomic_uint queue_count;
static pthread_mutex_t callback_lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_uint asked_callbacks;
static bool refuses_profiling;
static bool completes_at_once;
static void (*while_asked)(void); /* something happens while the runtime is asked about an event */
static uint64_t timer_ahead_ns;   /* 0: there is no timer */
static _Atomic uint64_t clock_ns = 1000;

/* In place of the library's own: the test attaches to an arena itself. */
void mr_hook_start(void)
{
}

static cl_int answer(const void *value, size_t need, size_t bytes, void *ret_value,
		     size_t *ret_bytes)
{
	if (ret_value && bytes < need)
		return CL_INVALID_VALUE;
	if (ret_value)
		memcpy(ret_value, value, need);
	if (ret_bytes)
		*ret_bytes = need;
	return CL_SUCCESS;
}

/* Which device it is, as far as the driver says. A driver answers only to what its extensions promise: to anything
 * else with what it likes. */
static struct {
	const char *extensions;
	cl_device_uuid uuid;
	cl_device_pci_bus_info bus_info;
	cl_device_topology_amd topology;
	cl_uint nv_domain, nv_bus, nv_slot;
} offered;

static cl_int device_info(cl_device_id device, cl_uint what, size_t bytes, void *ret_value,
			  size_t *ret_bytes)
{
	(void)device;
	static const cl_ulong type = CL_DEVICE_TYPE_GPU;
	const char *extensions = offered.extensions ? offered.extensions : "";
#define OFFER(name, value) \
	case name:         \
		return answer(&(value), sizeof(value), bytes, ret_value, ret_bytes)
	switch (what) {
		OFFER(CL_DEVICE_TYPE, type);
		OFFER(CL_DEVICE_UUID_KHR, offered.uuid);
		OFFER(CL_DEVICE_PCI_BUS_INFO_KHR, offered.bus_info);
		OFFER(CL_DEVICE_TOPOLOGY_AMD, offered.topology);
		OFFER(CL_DEVICE_PCI_DOMAIN_ID_NV, offered.nv_domain);
		OFFER(CL_DEVICE_PCI_BUS_ID_NV, offered.nv_bus);
		OFFER(CL_DEVICE_PCI_SLOT_ID_NV, offered.nv_slot);
	case CL_DEVICE_EXTENSIONS:
		return answer(extensions, strlen(extensions) + 1, bytes, ret_value, ret_bytes);
	}
#undef OFFER
	return answer(timer_ahead_ns ? "OpenCL 2.1" : "OpenCL 1.2", 11, bytes, ret_value,
		      ret_bytes);
}

static cl_int device_timer(cl_device_id device, cl_ulong *ret_device, cl_ulong *ret_host)
{
	assert_ptr_equal(device, &the_device);
	assert_int_not_equal(timer_ahead_ns, 0); /* a device of OpenCL 1.2 is not to be asked */
	*ret_device = atomic_load(&clock_ns) + timer_ahead_ns;
	*ret_host = 0;
	return CL_SUCCESS;
}

static cl_command_queue create_queue(cl_context context, cl_device_id device, cl_ulong properties,
				     cl_int *ret_error)
{
	(void)context, (void)device;
	bool is_refused = refuses_profiling && properties & CL_QUEUE_PROFILING_ENABLE;
	*ret_error = is_refused ? CL_INVALID_QUEUE_PROPERTIES : CL_SUCCESS;
	if (is_refused)
		return NULL;
	cl_command_queue made = &queues[atomic_fetch_add(&queue_count, 1)];
	made->properties = properties;
	atomic_store(&made->references, 1);
	return made;
}

static cl_int queue_info(cl_command_queue handle, cl_uint what, size_t bytes, void *ret_value,
			 size_t *ret_bytes)
{
	static const cl_device_id device = &the_device;
	if (what == CL_QUEUE_DEVICE)
		return answer(&device, sizeof device, bytes, ret_value, ret_bytes);
	assert_int_equal(what, CL_QUEUE_PROPERTIES);
	return answer(&handle->properties, sizeof handle->properties, bytes, ret_value, ret_bytes);
}

/* Its memory stays: a layer that touches it again is found out by the references. */
static cl_int release_queue(cl_command_queue queue)
{
	atomic_fetch_sub(&queue->references, 1);
	return CL_SUCCESS;
}

static void complete(cl_event event)
{
	struct callback callbacks[CALLBACKS];
	pthread_mutex_lock(&callback_lock);
	atomic_store(&event->status, CL_COMPLETE);
	uint32_t count = event->callback_count;
	memcpy(callbacks, event->callbacks, sizeof callbacks);
	event->callback_count = 0;
	pthread_mutex_unlock(&callback_lock);
	for (uint32_t i = 0; i < count; i++)
		callbacks[i].notify(event, CL_COMPLETE, callbacks[i].data);
}

static cl_int finish_queue(cl_command_queue queue)
{
	unsigned count = atomic_load(&event_count);
	for (unsigned i = 0; i < count; i++)
		if (atomic_load(&events[i].queue) == queue)
			complete(&events[i]);
	return CL_SUCCESS;
}

static cl_int flush_queue(cl_command_queue queue)
{
	(void)queue;
	return CL_SUCCESS;
}

static cl_int enqueue(cl_command_queue queue, cl_event *ret_event)
{
	struct mr_cl_event *event = &events[atomic_fetch_add(&event_count, 1)];
	atomic_store(&event->references, ret_event ? 1 : 0);
	atomic_store(&event->status, completes_at_once ? CL_COMPLETE : CL_RUNNING);
	event->queued = atomic_fetch_add(&clock_ns, 10);
	event->callback_count = 0;
	atomic_store(&event->queue, queue);
	if (ret_event)
		*ret_event = event;
	return CL_SUCCESS;
}

static cl_int enqueue_marker(cl_command_queue queue, cl_uint wait_count, const cl_event *waits,
			     cl_event *ret_event)
{
	(void)wait_count, (void)waits;
	return enqueue(queue, ret_event);
}

static cl_int enqueue_fill(cl_command_queue queue, cl_mem buffer, const void *pattern,
			   size_t pattern_bytes, size_t offset, size_t bytes, cl_uint wait_count,
			   const cl_event *waits, cl_event *ret_event)
{
	(void)buffer, (void)pattern, (void)pattern_bytes, (void)offset, (void)bytes;
	return wait_count && !waits ? CL_INVALID_VALUE : enqueue(queue, ret_event);
}

static cl_int set_callback(cl_event event, cl_int status, cl_event_notify *notify, void *data)
{
	assert_int_equal(status, CL_COMPLETE);
	assert_true(atomic_load(&event->references) > 0);
	atomic_fetch_add(&asked_callbacks, 1);
	pthread_mutex_lock(&callback_lock);
	bool is_complete = atomic_load(&event->status) == CL_COMPLETE;
	if (!is_complete) {
		assert_true(event->callback_count < CALLBACKS);
		event->callbacks[event->callback_count++] = (struct callback){notify, data};
	}
	pthread_mutex_unlock(&callback_lock);
	if (is_complete)
		notify(event, CL_COMPLETE, data);
	return CL_SUCCESS;
}

static cl_int retain_event(cl_event event)
{
	assert_true(atomic_fetch_add(&event->references, 1) > 0);
	return CL_SUCCESS;
}

static cl_int release_event(cl_event event)
{
	if (atomic_load(&event->references) <= 0)
		return CL_INVALID_EVENT;
	atomic_fetch_sub(&event->references, 1);
	return CL_SUCCESS;
}

static cl_int event_info(cl_event event, cl_uint what, size_t bytes, void *ret_value,
			 size_t *ret_bytes)
{
	assert_true(atomic_load(&event->references) > 0);
	int number =
		atomic_load(what == CL_EVENT_REFERENCE_COUNT ? &event->references : &event->status);
	if (while_asked)
		while_asked();
	return answer(&number, sizeof number, bytes, ret_value, ret_bytes);
}

static cl_int profiling_info(cl_event event, cl_uint what, size_t bytes, void *ret_value,
			     size_t *ret_bytes)
{
	assert_true(atomic_load(&event->queue)->properties & CL_QUEUE_PROFILING_ENABLE);
	if (atomic_load(&event->status) != CL_COMPLETE)
		return CL_PROFILING_INFO_NOT_AVAILABLE;
	cl_ulong time = event->queued + (what - CL_PROFILING_COMMAND_QUEUED);
	return answer(&time, sizeof time, bytes, ret_value, ret_bytes);
}

#endif
