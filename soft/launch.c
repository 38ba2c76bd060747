/* SPDX-License-Identifier: Apache-2.0
 *
 * Launches device kernels. OpenCL keeps the arguments in the kernel object until it is enqueued, so
 * setting them and enqueueing are one step under a lock.
 */
#include "call.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define KERNELS_MAX     256
#define KERNEL_NAME_MAX 64

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
	char name[KERNEL_NAME_MAX];
	cl_kernel kernel;
} kernels[KERNELS_MAX];
static int kernel_count;

static cl_kernel find_kernel(struct mr_call *call, const char *name)
{
	cl_int result;

	for (int i = 0; i < kernel_count; i++) {
		if (strcmp(kernels[i].name, name) == 0)
			return kernels[i].kernel;
	}
	cl_program program = mr_opencl_program(call->status);
	if (!program)
		return NULL;
	cl_kernel kernel = clCreateKernel(program, name, &result);
	if (mr_opencl_failed(call->status, result, name))
		return NULL;
	if (kernel_count == KERNELS_MAX) {
		clReleaseKernel(kernel);
		mr_call_fail(call, TF_INTERNAL, "too many kernels");
		return NULL;
	}
	snprintf(kernels[kernel_count].name, KERNEL_NAME_MAX, "%s", name);
	kernels[kernel_count++].kernel = kernel;
	return kernel;
}

static bool set_next(struct mr_call *call, cl_kernel kernel, cl_uint *index, size_t size_bytes,
		     const void *value)
{
	return !mr_opencl_failed(call->status,
				 clSetKernelArg(kernel, (*index)++, size_bytes, value),
				 "clSetKernelArg");
}

/* A buffer takes two arguments: itself and an offset. */
static bool set_argument(struct mr_call *call, cl_kernel kernel, cl_uint *index,
			 const struct mr_argument *argument)
{
	struct mr_place place;
	cl_ulong offset_bytes;

	switch (argument->kind) {
	case MR_ARGUMENT_BUFFER:
		if (!mr_memory_find(argument->address, &place, call->status))
			return false;
		offset_bytes = place.offset_bytes;
		return set_next(call, kernel, index, sizeof(place.buffer), &place.buffer) &&
		       set_next(call, kernel, index, sizeof(offset_bytes), &offset_bytes);
	case MR_ARGUMENT_INT:
		return set_next(call, kernel, index, sizeof(cl_int), &argument->integer);
	case MR_ARGUMENT_FLOAT:
		return set_next(call, kernel, index, sizeof(cl_float), &argument->real);
	case MR_ARGUMENT_STRUCT:
		return set_next(call, kernel, index, argument->size_bytes, argument->address);
	}
	return false;
}

static void enqueue(struct mr_call *call, const char *name, struct mr_range range,
		    const struct mr_argument *arguments, size_t count)
{
	size_t group[2] = {range.group_width, 1};
	size_t global[2] = {(range.width + group[0] - 1) / group[0] * group[0], range.height};
	cl_command_queue queue = call->stream->queue;
	cl_uint index = 0;
	cl_kernel kernel = find_kernel(call, name);

	if (!kernel)
		return;
	for (size_t i = 0; i < count; i++) {
		if (!set_argument(call, kernel, &index, &arguments[i]))
			return;
	}
	mr_opencl_failed(
		call->status,
		clEnqueueNDRangeKernel(queue, kernel, 2, NULL, global, group, 0, NULL, NULL), name);
	clFlush(queue);
}

void mr_call_launch_array(struct mr_call *call, const char *kernel, struct mr_range range,
			  const struct mr_argument *arguments, size_t count)
{
	if (mr_call_failed(call) || range.width == 0 || range.height == 0)
		return;
	pthread_mutex_lock(&lock);
	enqueue(call, kernel, range, arguments, count);
	pthread_mutex_unlock(&lock);
}
