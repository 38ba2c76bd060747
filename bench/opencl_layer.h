/* SPDX-License-Identifier: Apache-2.0
 *
 * The skeleton of an OpenCL layer for comparisons and tests. A layer includes this file once and
 * implements hook(). Calls whose table entry it does not change go directly to the runtime.
 */
#ifndef BENCH_OPENCL_LAYER_H
#define BENCH_OPENCL_LAYER_H

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl_layer.h>

static const cl_icd_dispatch *target;
static void hook(cl_icd_dispatch *own);

cl_int CL_API_CALL clGetLayerInfo(cl_layer_info name, size_t bytes, void *value, size_t *ret_bytes)
{
	if (name != CL_LAYER_API_VERSION || (value && bytes < sizeof(cl_layer_api_version)))
		return CL_INVALID_VALUE;
	if (value)
		*(cl_layer_api_version *)value = CL_LAYER_API_VERSION_100;
	if (ret_bytes)
		*ret_bytes = sizeof(cl_layer_api_version);
	return CL_SUCCESS;
}

cl_int CL_API_CALL clInitLayer(cl_uint entry_count, const cl_icd_dispatch *below,
			       cl_uint *ret_entry_count, const cl_icd_dispatch **ret_dispatch)
{
	static cl_icd_dispatch own;
	(void)entry_count;
	target = below;
	hook(&own);
	*ret_entry_count = sizeof own / sizeof(void *);
	*ret_dispatch = &own;
	return CL_SUCCESS;
}

#endif
