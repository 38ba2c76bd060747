/* SPDX-License-Identifier: Apache-2.0
 *
 * A layer that only passes calls on, to measure what any layer costs.
 */
#include "opencl_layer.h"

static cl_int CL_API_CALL retain(cl_mem memory)
{
	return target->clRetainMemObject(memory);
}

static void hook(cl_icd_dispatch *own)
{
	own->clRetainMemObject = retain;
}
