/* SPDX-License-Identifier: Apache-2.0
 *
 * opencl_dlopen [LOADER [leave]]: finds the OpenCL loader at run time, as scripting languages do,
 * copies 4 KiB to the device ten times, and unloads the loader; with "leave" before anything is
 * released. Prints what its calls return.
 */
#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <dlfcn.h>
#include <stdio.h>

enum {
	COPIES = 10,
	BYTES = 4096
};

static void *loader;

/* The function of that name, with the type that the header gives it. */
#define FIND(function) \
	__typeof__(&function) find_##function = (__typeof__(&function))dlsym(loader, #function)

static void copy(cl_context context, cl_command_queue queue)
{
	static char data[BYTES];
	cl_int error;
	FIND(clCreateBuffer);
	FIND(clEnqueueWriteBuffer);
	FIND(clFinish);
	FIND(clReleaseMemObject);
	cl_mem buffer = find_clCreateBuffer(context, 0, BYTES, NULL, &error);
	printf("clCreateBuffer = %d\n", error);
	for (int i = 0; i < COPIES; i++)
		printf("clEnqueueWriteBuffer = %d\n",
		       find_clEnqueueWriteBuffer(queue, buffer, CL_FALSE, 0, BYTES, data, 0, NULL,
						 NULL));
	printf("clFinish = %d\n", find_clFinish(queue));
	printf("clReleaseMemObject = %d\n", find_clReleaseMemObject(buffer));
}

int main(int argc, char **argv)
{
	cl_platform_id platform = NULL;
	cl_device_id device = NULL;
	cl_int error;
	loader = dlopen(argc > 1 ? argv[1] : "libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
	if (!loader) {
		fprintf(stderr, "%s\n", dlerror());
		return 1;
	}
	FIND(clGetPlatformIDs);
	FIND(clGetDeviceIDs);
	FIND(clCreateContext);
	FIND(clCreateCommandQueue);
	FIND(clReleaseCommandQueue);
	FIND(clReleaseContext);
	printf("clGetPlatformIDs = %d\n", find_clGetPlatformIDs(1, &platform, NULL));
	printf("clGetDeviceIDs = %d\n",
	       find_clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL));
	cl_context context = find_clCreateContext(NULL, 1, &device, NULL, NULL, &error);
	printf("clCreateContext = %d\n", error);
	cl_command_queue queue = find_clCreateCommandQueue(context, device, 0, &error);
	printf("clCreateCommandQueue = %d\n", error);
	copy(context, queue);
	if (argc < 3) {
		printf("clReleaseCommandQueue = %d\n", find_clReleaseCommandQueue(queue));
		printf("clReleaseContext = %d\n", find_clReleaseContext(context));
	}
	dlclose(loader);
	return 0;
}
