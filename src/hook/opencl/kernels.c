/* SPDX-License-Identifier: Apache-2.0
 *
 * The names of device kernels, queried once. When a device kernel is created, it replaces an earlier one with
 * the same handle.
 */
#include "hook/opencl/layer.h"

enum {
	NAME_BYTES = 4096, /* names of generated kernels can be long */
};

static _Thread_local struct mr_opencl_memo memo __attribute__((tls_model("initial-exec")));

static uint32_t learn_name(cl_kernel kernel)
{
	char name[NAME_BYTES];
	if (mr_opencl_next.clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, sizeof name, name,
					   NULL) != CL_SUCCESS)
		strcpy(name, "(kernel)");
	uint32_t id = mr_define_string(name);
	const struct mr_handle entry = {.handle = kernel, .value = id, .references = 1};
	mr_handle_put(&mr_opencl->kernel_map, &entry);
	mr_opencl_note_change();
	return id;
}

uint32_t mr_opencl_kernel_name(cl_kernel kernel)
{
	if (mr_likely(mr_opencl_recalls(&memo, kernel)))
		return memo.name;
	struct mr_handle entry;
	uint32_t changes = atomic_load_explicit(&mr_opencl->changes, memory_order_acquire);
	uint32_t name = mr_handle_get(&mr_opencl->kernel_map, kernel, &entry)
				? (uint32_t)entry.value
				: learn_name(kernel);
	memo = (struct mr_opencl_memo){.handle = kernel,
				       .generation = mr_this_process.generation,
				       .changes = changes,
				       .name = name};
	return name;
}

cl_kernel mr_opencl_clCreateKernel(cl_program program, const char *name, cl_int *ret_error)
{
	struct mr_opencl_call call;
	cl_int error = CL_SUCCESS;
	ret_error = ret_error ? ret_error : &error;
	mr_opencl_begin(&call, MR_OPENCL_clCreateKernel, 0);
	cl_kernel kernel = mr_opencl_next.clCreateKernel(program, name, ret_error);
	mr_opencl_end_made(&call, kernel, *ret_error);
	if (kernel)
		learn_name(kernel);
	return kernel;
}

cl_int mr_opencl_clCreateKernelsInProgram(cl_program program, cl_uint capacity,
					  cl_kernel *ret_kernels, cl_uint *ret_count)
{
	struct mr_opencl_call call;
	cl_uint count = 0;
	ret_count = ret_count ? ret_count : &count;
	mr_opencl_begin(&call, MR_OPENCL_clCreateKernelsInProgram, 0);
	cl_int result =
		mr_opencl_next.clCreateKernelsInProgram(program, capacity, ret_kernels, ret_count);
	mr_opencl_end_about(&call, result, &(struct mr_opencl_about){.object = program});
	for (cl_uint i = 0; result == CL_SUCCESS && ret_kernels && i < *ret_count; i++)
		learn_name(ret_kernels[i]);
	return result;
}

cl_kernel mr_opencl_clCloneKernel(cl_kernel kernel, cl_int *ret_error)
{
	struct mr_opencl_call call;
	cl_int error = CL_SUCCESS;
	ret_error = ret_error ? ret_error : &error;
	mr_opencl_begin(&call, MR_OPENCL_clCloneKernel, 0);
	cl_kernel clone = mr_opencl_next.clCloneKernel(kernel, ret_error);
	mr_opencl_end_made(&call, clone, *ret_error);
	if (clone)
		learn_name(clone);
	return clone;
}
