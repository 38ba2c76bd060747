/* SPDX-License-Identifier: Apache-2.0
 *
 * The functions of functions.def that are recorded and otherwise passed through unchanged.
 */
#include "hook/opencl/layer.h"

#define CALL(type, name, parameters, arguments)                   \
	type mr_opencl_##name parameters                          \
	{                                                         \
		struct mr_opencl_call call;                       \
		if (!mr_opencl_begin(&call, MR_OPENCL_##name, 0)) \
			return mr_opencl_next.name arguments;     \
		type result = mr_opencl_next.name arguments;      \
		mr_opencl_end(&call, (intptr_t)result);           \
		return result;                                    \
	}

#define ABOUT(type, name, parameters, arguments, ...)                 \
	type mr_opencl_##name parameters                              \
	{                                                             \
		struct mr_opencl_call call;                           \
		if (!mr_opencl_begin(&call, MR_OPENCL_##name, 0))     \
			return mr_opencl_next.name arguments;         \
		type result = mr_opencl_next.name arguments;          \
		const struct mr_opencl_about about = {__VA_ARGS__};   \
		mr_opencl_end_about(&call, (intptr_t)result, &about); \
		return result;                                        \
	}

#define MAKE(type, name, parameters, arguments)                   \
	type mr_opencl_##name parameters                          \
	{                                                         \
		struct mr_opencl_call call;                       \
		if (!mr_opencl_begin(&call, MR_OPENCL_##name, 0)) \
			return mr_opencl_next.name arguments;     \
		cl_int error = CL_SUCCESS;                        \
		ret_error = ret_error ? ret_error : &error;       \
		type made = mr_opencl_next.name arguments;        \
		mr_opencl_end_made(&call, made, *ret_error);      \
		return made;                                      \
	}

#define MEMORY(name, parameters, arguments, context, flags, bytes)                            \
	cl_mem mr_opencl_##name parameters                                                    \
	{                                                                                     \
		struct mr_opencl_call call;                                                   \
		if (!mr_opencl_begin(&call, MR_OPENCL_##name, 0))                             \
			return mr_opencl_next.name arguments;                                 \
		cl_int error = CL_SUCCESS;                                                    \
		ret_error = ret_error ? ret_error : &error;                                   \
		cl_mem made = mr_opencl_next.name arguments;                                  \
		mr_opencl_end_made(&call, made, *ret_error);                                  \
		if (made)                                                                     \
			mr_opencl_note_memory(MR_OPENCL_##name, context, made, flags, bytes); \
		return made;                                                                  \
	}

#define LAUNCH(kind, name, parameters, arguments, ...)
#define OWN(type, name, parameters, arguments)
#define ABSENT(name)
#include "hook/opencl/functions.def"
