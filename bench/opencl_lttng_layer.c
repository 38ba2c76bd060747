/* SPDX-License-Identifier: Apache-2.0
 *
 * A layer that records, with LTTng-UST, the start and duration of the calls that bench/opencl_*.c
 * measure, and nothing about the device.
 */
#include <stdint.h>

#include "lttng_provider.h"
#include "opencl_layer.h"
#include "record/ticks.h"

enum {
	RETAIN = 1,
	ENQUEUE,
	FINISH
};

#define RECORDED(function, call)                                               \
	uint64_t start_ticks = mr_ticks_of_counter();                          \
	cl_int result = call;                                                  \
	lttng_ust_tracepoint(bench, instant, function,                         \
			     (uint32_t)(mr_ticks_of_counter() - start_ticks)); \
	return result

static cl_int CL_API_CALL retain(cl_mem memory)
{
	RECORDED(RETAIN, target->clRetainMemObject(memory));
}

static cl_int CL_API_CALL enqueue_kernel(cl_command_queue queue, cl_kernel kernel,
					 cl_uint dimensions, const size_t *offset,
					 const size_t *global, const size_t *local,
					 cl_uint wait_count, const cl_event *waits, cl_event *event)
{
	RECORDED(ENQUEUE, target->clEnqueueNDRangeKernel(queue, kernel, dimensions, offset, global,
							 local, wait_count, waits, event));
}

static cl_int CL_API_CALL finish(cl_command_queue queue)
{
	RECORDED(FINISH, target->clFinish(queue));
}

static void hook(cl_icd_dispatch *own)
{
	own->clRetainMemObject = retain;
	own->clEnqueueNDRangeKernel = enqueue_kernel;
	own->clFinish = finish;
}
