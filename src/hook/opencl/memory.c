/* SPDX-License-Identifier: Apache-2.0
 *
 * Contexts, and the memory created in them. The driver reports when a memory object is really destroyed:
 * destructor callbacks run in the reverse order of their registration, so millrace's callback, registered when
 * the object is created, runs after all of the program's and changes nothing for them.
 */
#include "hook/opencl/layer.h"

/* ---- contexts ------------------------------------------------------------------------------------------ */

/* Keeps in mind the device of a context that has only one: it holds what is made in it. */
static void note_context(cl_context context)
{
	cl_device_id devices[2] = {0};
	size_t bytes = 0;
	mr_opencl_next.clGetContextInfo(context, CL_CONTEXT_DEVICES, 0, NULL, &bytes);
	bool is_alone = bytes == sizeof devices[0] &&
			mr_opencl_next.clGetContextInfo(context, CL_CONTEXT_DEVICES, bytes, devices,
							NULL) == CL_SUCCESS;
	const struct mr_opencl_device *device = is_alone ? mr_opencl_device_find(devices[0]) : NULL;
	const struct mr_handle entry = {
		.handle = context, .value = device ? device->id : 0, .references = 1};
	mr_handle_put(&mr_opencl->context_map, &entry);
}

cl_context mr_opencl_clCreateContext(const cl_properties *properties, cl_uint device_count,
				     const cl_device_id *devices, cl_context_notify *notify,
				     void *data, cl_int *ret_error)
{
	struct mr_opencl_call call;
	cl_int error = CL_SUCCESS;
	ret_error = ret_error ? ret_error : &error;
	mr_opencl_begin(&call, MR_OPENCL_clCreateContext, 0);
	cl_context context = mr_opencl_next.clCreateContext(properties, device_count, devices,
							    notify, data, ret_error);
	mr_opencl_end_made(&call, context, *ret_error);
	if (context && *ret_error == CL_SUCCESS)
		note_context(context);
	return context;
}

cl_context mr_opencl_clCreateContextFromType(const cl_properties *properties, cl_ulong type,
					     cl_context_notify *notify, void *data,
					     cl_int *ret_error)
{
	struct mr_opencl_call call;
	cl_int error = CL_SUCCESS;
	ret_error = ret_error ? ret_error : &error;
	mr_opencl_begin(&call, MR_OPENCL_clCreateContextFromType, 0);
	cl_context context =
		mr_opencl_next.clCreateContextFromType(properties, type, notify, data, ret_error);
	mr_opencl_end_made(&call, context, *ret_error);
	if (context && *ret_error == CL_SUCCESS)
		note_context(context);
	return context;
}

/* The events we hold hold their context. */
cl_int mr_opencl_clReleaseContext(cl_context context)
{
	struct mr_opencl_call call;
	mr_opencl_harvest_all(true);
	mr_opencl_begin(&call, MR_OPENCL_clReleaseContext, 0);
	cl_int result = mr_opencl_next.clReleaseContext(context);
	mr_opencl_end_about(&call, result, &(struct mr_opencl_about){.object = context});
	return result;
}

cl_int mr_opencl_clGetContextInfo(cl_context context, cl_uint what, size_t bytes, void *ret_value,
				  size_t *ret_bytes)
{
	struct mr_opencl_call call;
	if (what == CL_CONTEXT_REFERENCE_COUNT)
		mr_opencl_harvest_all(true);
	mr_opencl_begin(&call, MR_OPENCL_clGetContextInfo, 0);
	cl_int result = mr_opencl_next.clGetContextInfo(context, what, bytes, ret_value, ret_bytes);
	mr_opencl_end_about(&call, result, &(struct mr_opencl_about){.object = context});
	return result;
}

/* ---- memory objects -------------------------------------------------------------------------------------- */

static void on_memory_gone(cl_mem memory, void *unused)
{
	(void)unused;
	if (mr_level_is_on(MR_LEVEL_runtime))
		mr_emit(runtime_free, .object = (uintptr_t)memory);
}

uint64_t mr_opencl_memory_bytes(cl_mem memory)
{
	size_t bytes = 0;
	mr_opencl_next.clGetMemObjectInfo(memory, CL_MEM_SIZE, sizeof bytes, &bytes, NULL);
	return bytes;
}

static void write_allocation(enum mr_opencl_function function, cl_context context,
			     const void *object, const void *parent, uint64_t flags, uint64_t bytes)
{
	struct mr_handle device = {0};
	mr_handle_get(&mr_opencl->context_map, context, &device);
	mr_emit(runtime_allocate, .function = mr_opencl_names[function],
		.device = (uint32_t)device.value, .object = (uintptr_t)object,
		.parent = (uintptr_t)parent, .bytes = bytes, .flags = flags);
}

void mr_opencl_note_memory(enum mr_opencl_function function, cl_context context, cl_mem memory,
			   uint64_t flags, uint64_t bytes)
{
	cl_mem parent = NULL;
	if (bytes == 0) { /* anything but a plain buffer */
		bytes = mr_opencl_memory_bytes(memory);
		mr_opencl_next.clGetMemObjectInfo(memory, CL_MEM_ASSOCIATED_MEMOBJECT,
						  sizeof parent, &parent, NULL);
	}
	write_allocation(function, context, memory, parent, flags, bytes);
	if (mr_opencl_next.clSetMemObjectDestructorCallback)
		mr_opencl_next.clSetMemObjectDestructorCallback(memory, on_memory_gone, NULL);
}

/* ---- shared virtual memory ------------------------------------------------------------------------------- */

void *mr_opencl_clSVMAlloc(cl_context context, cl_ulong flags, size_t bytes, cl_uint alignment)
{
	struct mr_opencl_call call;
	mr_opencl_begin(&call, MR_OPENCL_clSVMAlloc, 0);
	void *pointer = mr_opencl_next.clSVMAlloc(context, flags, bytes, alignment);
	if (pointer && call.is_recorded)
		write_allocation(MR_OPENCL_clSVMAlloc, context, pointer, NULL, flags, bytes);
	mr_opencl_end_about(&call, (intptr_t)pointer,
			    &(struct mr_opencl_about){.object = pointer, .bytes = bytes});
	return pointer;
}

void mr_opencl_clSVMFree(cl_context context, void *pointer)
{
	struct mr_opencl_call call;
	mr_opencl_begin(&call, MR_OPENCL_clSVMFree, 0);
	/* Before it is free: another thread may get the same address at once. */
	if (pointer && call.is_recorded)
		mr_emit(runtime_free, .object = (uintptr_t)pointer);
	mr_opencl_next.clSVMFree(context, pointer);
	mr_opencl_end_about(&call, 0, &(struct mr_opencl_about){.object = pointer});
}
