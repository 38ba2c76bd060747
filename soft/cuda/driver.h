/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared by the files of the stand-in for libcuda.
 */
#pragma once

/* Declares every version of each function, under its own name. */
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>
#include <cudaTypedefs.h>
#include <cupti_driver_cbid.h>
#include <dlfcn.h>
#include <generated_cuda_meta.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/device.h"

enum {
	DRIVER_DOMAIN = 1,
};

/* Defines a function of the API: the wrapper that CUPTI sees, and the beginning of what it does. */
#define DRIVER(name, parameters, ...)                                                           \
	static CUresult do_##name parameters;                                                   \
	SOFT_EXPORT CUresult CUDAAPI name parameters                                            \
	{                                                                                       \
		struct soft_frame frame;                                                        \
		name##_params all = {__VA_ARGS__};                                              \
		soft_enter(&frame, DRIVER_DOMAIN, CUPTI_DRIVER_TRACE_CBID_##name, #name, &all); \
		CUresult result = do_##name(__VA_ARGS__);                                       \
		soft_leave(&frame, (int)result);                                                \
		return result;                                                                  \
	}                                                                                       \
	static CUresult do_##name parameters

/* The stream that a handle stands for, in the current context. (driver.c) */
struct soft_stream *soft_stream_of(CUstream stream);
