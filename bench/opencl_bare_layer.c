/* SPDX-License-Identifier: Apache-2.0
 *
 * A layer that does the minimum of what a tracer of device kernels must do: it forces profiling, adds
 * an event to each kernel and reads the event's four times when the queue is empty. It records
 * nothing, works for one thread and one queue, and handles only what bench/opencl_work.c calls.
 */
#include <stdlib.h>

#include "opencl_layer.h"

enum {
	MOST_PENDING = 4096
};

static cl_event pending[MOST_PENDING];
static unsigned pending_count;
static volatile cl_ulong sum;

static void read_times(void)
{
	for (unsigned i = 0; i < pending_count; i++) {
		for (cl_uint which = 0; which < 4; which++) {
			cl_ulong time = 0;
			target->clGetEventProfilingInfo(pending[i],
							CL_PROFILING_COMMAND_QUEUED + which,
							sizeof time, &time, NULL);
			sum += time;
		}
		target->clReleaseEvent(pending[i]);
	}
	pending_count = 0;
}

static cl_command_queue CL_API_CALL create_queue(cl_context context, cl_device_id device,
						 cl_command_queue_properties properties,
						 cl_int *ret_error)
{
	return target->clCreateCommandQueue(context, device, properties | CL_QUEUE_PROFILING_ENABLE,
					    ret_error);
}

static cl_int CL_API_CALL enqueue_kernel(cl_command_queue queue, cl_kernel kernel,
					 cl_uint dimensions, const size_t *offset,
					 const size_t *global, const size_t *local,
					 cl_uint wait_count, const cl_event *waits, cl_event *event)
{
	if (event || pending_count == MOST_PENDING)
		abort();
	return target->clEnqueueNDRangeKernel(queue, kernel, dimensions, offset, global, local,
					      wait_count, waits, &pending[pending_count++]);
}

static cl_int CL_API_CALL finish(cl_command_queue queue)
{
	cl_int result = target->clFinish(queue);
	read_times();
	return result;
}

static void hook(cl_icd_dispatch *own)
{
	own->clCreateCommandQueue = create_queue;
	own->clEnqueueNDRangeKernel = enqueue_kernel;
	own->clFinish = finish;
}
