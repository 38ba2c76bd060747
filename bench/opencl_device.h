/* SPDX-License-Identifier: Apache-2.0
 *
 * The beginning of an OpenCL program: a device, a context, a queue without profiling. Ends the
 * program if any OpenCL call fails.
 */
#ifndef BENCH_OPENCL_DEVICE_H
#define BENCH_OPENCL_DEVICE_H

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>

struct bench_device {
	cl_device_id id;
	cl_context context;
	cl_command_queue queue;
};

static inline void bench_check(cl_int result, const char *what)
{
	if (result == CL_SUCCESS)
		return;
	fprintf(stderr, "%s: %d\n", what, result);
	exit(1);
}
#define BENCH_CALL(function, ...) bench_check(function(__VA_ARGS__), #function)

static inline struct bench_device bench_device(void)
{
	struct bench_device device;
	cl_platform_id platform;
	cl_int error;
	BENCH_CALL(clGetPlatformIDs, 1, &platform, NULL);
	BENCH_CALL(clGetDeviceIDs, platform, CL_DEVICE_TYPE_ALL, 1, &device.id, NULL);
	device.context = clCreateContext(NULL, 1, &device.id, NULL, NULL, &error);
	bench_check(error, "clCreateContext");
	device.queue = clCreateCommandQueue(device.context, device.id, 0, &error);
	bench_check(error, "clCreateCommandQueue");
	return device;
}

static inline cl_mem bench_buffer(const struct bench_device *device, size_t bytes)
{
	cl_int error;
	cl_mem buffer = clCreateBuffer(device->context, 0, bytes, NULL, &error);
	bench_check(error, "clCreateBuffer");
	return buffer;
}

static inline cl_kernel bench_kernel(const struct bench_device *device, const char *source,
				     const char *name)
{
	cl_int error;
	cl_program program = clCreateProgramWithSource(device->context, 1, &source, NULL, &error);
	bench_check(error, "clCreateProgramWithSource");
	BENCH_CALL(clBuildProgram, program, 1, &device->id, "", NULL, NULL);
	cl_kernel kernel = clCreateKernel(program, name, &error);
	bench_check(error, "clCreateKernel");
	return kernel;
}

#endif
