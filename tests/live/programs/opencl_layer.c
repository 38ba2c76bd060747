/* SPDX-License-Identifier: Apache-2.0
 *
 * Somebody else's OpenCL layer: counts the kernels that pass it and appends the number to the file
 * that OPENCL_LAYER_COUNTS names, when the process ends.
 */
#include <stdio.h>
#include <stdlib.h>

#include "opencl_layer.h"

static unsigned kernel_count;

static cl_int CL_API_CALL count_kernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
				       const size_t *offset, const size_t *global,
				       const size_t *local, cl_uint wait_count,
				       const cl_event *wait_list, cl_event *event)
{
	__atomic_fetch_add(&kernel_count, 1, __ATOMIC_RELAXED);
	return target->clEnqueueNDRangeKernel(queue, kernel, dimensions, offset, global, local,
					      wait_count, wait_list, event);
}

static __attribute__((destructor)) void write_count(void)
{
	const char *path = getenv("OPENCL_LAYER_COUNTS");
	FILE *file = path && kernel_count ? fopen(path, "a") : NULL;
	if (!file)
		return;
	fprintf(file, "%u\n", kernel_count);
	fclose(file);
}

static void hook(cl_icd_dispatch *own)
{
	own->clEnqueueNDRangeKernel = count_kernel;
}
