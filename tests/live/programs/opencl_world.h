/* SPDX-License-Identifier: Apache-2.0
 *
 * What a silent OpenCL program needs: a device, a context, a queue and a kernel that turns round as
 * often as it is told. Ends the program with status 1 if OpenCL refuses anything.
 */
#ifndef OPENCL_WORLD_H
#define OPENCL_WORLD_H

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS

#include <CL/cl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

struct world {
	cl_device_id device;
	cl_context context;
	cl_command_queue queue;
	cl_mem buffer;
	cl_kernel spin;
};

enum {
	WORLD_BUFFER_BYTES = 1 << 20
};

static const char world_source[] =
	"kernel void spin(global uint *data, uint turns)\n"
	"{\n"
	"	uint value = data[0];\n"
	"	for (uint i = 0; i < turns; i++)\n"
	"		value = value * 1664525u + 1013904223u ^ value >> 7;\n"
	"	data[get_global_id(0) + 1] = value;\n"
	"}\n";

static inline void must(cl_int result, const char *what)
{
	if (result == CL_SUCCESS)
		return;
	fprintf(stderr, "%s: %d\n", what, result);
	exit(1);
}
#define MUST(function, ...) must(function(__VA_ARGS__), #function)

/* For calls that give their status through their last argument. */
#define MUST_MAKE(function, ...)                                    \
	({                                                          \
		cl_int error_;                                      \
		__auto_type made_ = function(__VA_ARGS__, &error_); \
		must(error_, #function);                            \
		made_;                                              \
	})

static inline cl_command_queue world_queue(const struct world *world)
{
	return MUST_MAKE(clCreateCommandQueue, world->context, world->device, 0);
}

static inline struct world world_make(void)
{
	struct world world = {0};
	cl_platform_id platform;
	const char *source = world_source;
	MUST(clGetPlatformIDs, 1, &platform, NULL);
	MUST(clGetDeviceIDs, platform, CL_DEVICE_TYPE_ALL, 1, &world.device, NULL);
	world.context = MUST_MAKE(clCreateContext, NULL, 1, &world.device, NULL, NULL);
	world.queue = world_queue(&world);
	world.buffer = MUST_MAKE(clCreateBuffer, world.context, 0, WORLD_BUFFER_BYTES, NULL);
	cl_program program = MUST_MAKE(clCreateProgramWithSource, world.context, 1, &source, NULL);
	MUST(clBuildProgram, program, 1, &world.device, "", NULL, NULL);
	world.spin = MUST_MAKE(clCreateKernel, program, "spin");
	MUST(clReleaseProgram, program);
	MUST(clSetKernelArg, world.spin, 0, sizeof world.buffer, &world.buffer);
	return world;
}

/* Launches one work item that turns round `turns` times. */
static inline void world_spin(const struct world *world, cl_command_queue queue, uint32_t turns,
			      cl_uint wait_count, const cl_event *wait_list, cl_event *ret_event)
{
	const size_t one = 1;
	MUST(clSetKernelArg, world->spin, 1, sizeof turns, &turns);
	MUST(clEnqueueNDRangeKernel, queue, world->spin, 1, NULL, &one, NULL, wait_count, wait_list,
	     ret_event);
}

static inline void world_release(struct world *world)
{
	MUST(clReleaseKernel, world->spin);
	MUST(clReleaseMemObject, world->buffer);
	MUST(clReleaseCommandQueue, world->queue);
	MUST(clReleaseContext, world->context);
}

static inline uint64_t world_clock_ns(clockid_t clock)
{
	struct timespec now;
	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

#endif
