/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared by the files of the stand-in for libcudart.
 */
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <cupti_runtime_cbid.h>
#include <generated_cuda_runtime_api_meta.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/device.h"

enum {
	RUNTIME_DOMAIN = 2,
};

/* Remembers an error for cudaGetLastError(), and gives it back. */
cudaError_t soft_runtime_fail(cudaError_t error);

/* Makes the primary context of the thread's device current. */
void soft_runtime_prepare(void);

#define ENTER(name, version, parameters)                                                       \
	struct soft_frame frame;                                                               \
	soft_enter(&frame, RUNTIME_DOMAIN, CUPTI_RUNTIME_TRACE_CBID_##name##_##version, #name, \
		   parameters)

/* Defines a function of the API: the wrapper that CUPTI sees, and the beginning of what it does. */
#define RUNTIME(name, version, parameters, ...)                           \
	static CUresult do_##name parameters;                             \
	SOFT_EXPORT cudaError_t CUDARTAPI name parameters                 \
	{                                                                 \
		soft_runtime_prepare();                                   \
		name##_##version##_params all = {__VA_ARGS__};            \
		ENTER(name, version, &all);                               \
		cudaError_t result = (cudaError_t)do_##name(__VA_ARGS__); \
		soft_leave(&frame, (int)result);                          \
		return soft_runtime_fail(result);                         \
	}                                                                 \
	static CUresult do_##name parameters

#define RUNTIME_PLAIN(name, version)                           \
	static CUresult do_##name(void);                       \
	SOFT_EXPORT cudaError_t CUDARTAPI name(void)           \
	{                                                      \
		soft_runtime_prepare();                        \
		ENTER(name, version, NULL);                    \
		cudaError_t result = (cudaError_t)do_##name(); \
		soft_leave(&frame, (int)result);               \
		return result;                                 \
	}                                                      \
	static CUresult do_##name(void)
