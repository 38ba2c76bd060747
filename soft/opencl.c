/* SPDX-License-Identifier: Apache-2.0 */
#include "device.h"

#include <dlfcn.h>
#include <glob.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEVICES_MAX 8
#define MEMORY_MB   1024
/* Element counts are ints. */
#define MEMORY_MB_MAX 2047

static const char *const sources[] = {
#include "kernels.inc"
};

static struct mr_device devices[DEVICES_MAX];
static int device_count;
static cl_context context;

static pthread_mutex_t program_lock = PTHREAD_MUTEX_INITIALIZER;
static cl_program program;

static long environment_number(const char *name, long otherwise, long most)
{
	const char *text = getenv(name);
	long number = text ? atol(text) : otherwise;

	return number < 1 ? otherwise : number > most ? most : number;
}

/* TensorFlow exports the symbols of the LLVM it was built with. PoCL would bind to them instead of
 * its own LLVM, and crash. Loading the driver with its own libraries before the OpenCL loader does
 * prevents that. */
static void bind_drivers(void)
{
	glob_t files;

	if (glob("/etc/OpenCL/vendors/*.icd", 0, NULL, &files) != 0)
		return;
	for (size_t i = 0; i < files.gl_pathc; i++) {
		char library[4096];
		FILE *file = fopen(files.gl_pathv[i], "re");

		if (!file)
			continue;
		if (fgets(library, sizeof(library), file)) {
			library[strcspn(library, "\r\n")] = '\0';
			dlopen(library, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
		}
		fclose(file);
	}
	globfree(&files);
}

static cl_device_id find_pocl(void)
{
	cl_platform_id platforms[16];
	cl_uint count = 0;

	if (clGetPlatformIDs(16, platforms, &count) != CL_SUCCESS)
		return NULL;
	for (cl_uint i = 0; i < count && i < 16; i++) {
		char name[128] = "";
		cl_device_id id;

		clGetPlatformInfo(platforms[i], CL_PLATFORM_NAME, sizeof(name), name, NULL);
		if (strstr(name, "Portable Computing Language") &&
		    clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, 1, &id, NULL) == CL_SUCCESS)
			return id;
	}
	return NULL;
}

/* Each sub-device has its own worker threads. Listing a device twice in PoCL's configuration does not
 * provide that. */
static cl_uint split_device(cl_device_id whole, cl_device_id ret_parts[DEVICES_MAX])
{
	cl_uint count = (cl_uint)environment_number("MILLRACE_SOFT_DEVICES", 1, DEVICES_MAX);
	cl_uint units = 1;
	cl_device_partition_property counts[DEVICES_MAX + 3] = {CL_DEVICE_PARTITION_BY_COUNTS};

	clGetDeviceInfo(whole, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof(units), &units, NULL);
	if (count > units)
		count = units;
	for (cl_uint i = 0; i < count; i++)
		counts[1 + i] = units / count;
	counts[1 + count] = CL_DEVICE_PARTITION_BY_COUNTS_LIST_END;
	if (count > 1 && clCreateSubDevices(whole, counts, count, ret_parts, NULL) == CL_SUCCESS)
		return count;
	ret_parts[0] = whole;
	return 1;
}

static bool open_device(struct mr_device *device, cl_device_id id)
{
	cl_int result;

	device->id = id;
	device->memory_bytes =
		environment_number("MILLRACE_SOFT_MEMORY_MB", MEMORY_MB, MEMORY_MB_MAX) << 20;
	clGetDeviceInfo(id, CL_DEVICE_NAME, sizeof(device->name), device->name, NULL);
	device->queue = clCreateCommandQueue(context, id, 0, &result);
	return result == CL_SUCCESS;
}

static void find_devices(void)
{
	cl_device_id ids[DEVICES_MAX];
	cl_int result;

	bind_drivers();
	cl_device_id whole = find_pocl();
	if (!whole)
		return;
	cl_uint count = split_device(whole, ids);
	context = clCreateContext(NULL, count, ids, NULL, NULL, &result);
	if (result != CL_SUCCESS)
		return;
	while (device_count < (int)count && open_device(&devices[device_count], ids[device_count]))
		device_count++;
}

int mr_devices_count(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, find_devices);
	return device_count;
}

struct mr_device *mr_device_at(int ordinal)
{
	return &devices[ordinal];
}

cl_context mr_opencl_context(void)
{
	return context;
}

bool mr_opencl_failed(TF_Status *status, cl_int result, const char *call)
{
	char text[256];

	if (result == CL_SUCCESS)
		return false;
	snprintf(text, sizeof(text), "%s: OpenCL error %d", call, result);
	TF_SetStatus(status, TF_INTERNAL, text);
	return true;
}

static cl_program build_program(TF_Status *status)
{
	cl_int result;
	cl_program built = clCreateProgramWithSource(context, sizeof(sources) / sizeof(sources[0]),
						     (const char **)sources, NULL, &result);

	if (mr_opencl_failed(status, result, "clCreateProgramWithSource"))
		return NULL;
	if (clBuildProgram(built, 0, NULL, "", NULL, NULL) == CL_SUCCESS)
		return built;

	char log[4096] = "no log";
	clGetProgramBuildInfo(built, devices[0].id, CL_PROGRAM_BUILD_LOG, sizeof(log), log, NULL);
	TF_SetStatus(status, TF_INTERNAL, log);
	clReleaseProgram(built);
	return NULL;
}

cl_program mr_opencl_program(TF_Status *status)
{
	pthread_mutex_lock(&program_lock);
	if (!program)
		program = build_program(status);
	cl_program result = program;
	pthread_mutex_unlock(&program_lock);
	return result;
}
