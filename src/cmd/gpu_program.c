/* SPDX-License-Identifier: Apache-2.0
 *
 * The program that `doctor --gpu-check` records.
 *
 *     stream a   copy to device │ 32 device kernels │ event
 *     stream b                                        waits for it │ 32 device kernels │ copy from device
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "cmd/gpu_check.h"

enum {
	NON_BLOCKING = 1,
	BLOCK = 64,
	ROUNDS = 2000, /* of each device kernel */
};

/* For every GPU, as the driver compiles it when it loads it. */
static const char code[] = ".version 6.4\n"
			   ".target sm_50\n"
			   ".address_size 64\n"
			   ".visible .entry millrace_check(.param .u64 where, .param .u32 rounds)\n"
			   "{\n"
			   "	.reg .u64 %address;\n"
			   "	.reg .u32 %value, %left;\n"
			   "	.reg .pred %more;\n"
			   "	ld.param.u64 %address, [where];\n"
			   "	ld.param.u32 %left, [rounds];\n"
			   "	mov.u32 %value, %tid.x;\n"
			   "again:\n"
			   "	mad.lo.u32 %value, %value, 1664525, 1013904223;\n"
			   "	sub.u32 %left, %left, 1;\n"
			   "	setp.ne.u32 %more, %left, 0;\n"
			   "	@%more bra again;\n"
			   "	cvta.to.global.u64 %address, %address;\n"
			   "	st.global.u32 [%address], %value;\n"
			   "	ret;\n"
			   "}\n";

/* All return 0 if they succeed. */
#define FUNCTIONS(FUNCTION)                                                                      \
	FUNCTION(cuInit, (unsigned int flags))                                                   \
	FUNCTION(cuDeviceGetCount, (int *ret_count))                                             \
	FUNCTION(cuDevicePrimaryCtxRetain, (void **ret_context, int device))                     \
	FUNCTION(cuCtxSetCurrent, (void *context))                                               \
	FUNCTION(cuModuleLoadData, (void **ret_module, const void *image))                       \
	FUNCTION(cuModuleGetFunction, (void **ret_function, void *module, const char *name))     \
	FUNCTION(cuMemAlloc_v2, (uint64_t * ret_address, size_t bytes))                          \
	FUNCTION(cuMemHostAlloc, (void **ret_address, size_t bytes, unsigned int flags))         \
	FUNCTION(cuStreamCreate, (void **ret_stream, unsigned int flags))                        \
	FUNCTION(cuEventCreate, (void **ret_event, unsigned int flags))                          \
	FUNCTION(cuEventRecord, (void *event, void *stream))                                     \
	FUNCTION(cuStreamWaitEvent, (void *stream, void *event, unsigned int flags))             \
	FUNCTION(cuStreamSynchronize, (void *stream))                                            \
	FUNCTION(cuMemcpyHtoDAsync_v2,                                                           \
		 (uint64_t to, const void *from, size_t bytes, void *stream))                    \
	FUNCTION(cuMemcpyDtoHAsync_v2, (void *to, uint64_t from, size_t bytes, void *stream))    \
	FUNCTION(cuLaunchKernel,                                                                 \
		 (void *function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z, \
		  unsigned int block_x, unsigned int block_y, unsigned int block_z,              \
		  unsigned int shared_bytes, void *stream, void **arguments, void **extra))

#define DECLARE(name, parameters) static int(*name) parameters;
FUNCTIONS(DECLARE)
#undef DECLARE

static bool find_functions(void)
{
	void *library = dlopen("libcuda.so.1", RTLD_NOW);
	bool are_there = library != NULL;
	if (!library)
		return false;
#define FIND(name, parameters)                     \
	*(void **)&(name) = dlsym(library, #name); \
	are_there = are_there && (name);
	FUNCTIONS(FIND)
#undef FIND
	return are_there;
}

#define TRY(call)                                                                 \
	do {                                                                      \
		int result_ = (call);                                             \
		if (result_ != 0) {                                               \
			fprintf(stderr, "%s failed: error %d\n", #call, result_); \
			return 1;                                                 \
		}                                                                 \
	} while (0)

static int work(void *function)
{
	void *streams[2], *event, *host;
	uint64_t memory;
	unsigned int rounds = ROUNDS;
	void *arguments[] = {&memory, &rounds};

	TRY(cuMemAlloc_v2(&memory, MR_GPU_BYTES));
	TRY(cuMemHostAlloc(&host, MR_GPU_BYTES, 0));
	TRY(cuStreamCreate(&streams[0], NON_BLOCKING));
	TRY(cuStreamCreate(&streams[1], NON_BLOCKING));
	TRY(cuEventCreate(&event, 0));
	TRY(cuMemcpyHtoDAsync_v2(memory, host, MR_GPU_BYTES, streams[0]));
	for (int i = 0; i < 2; i++) {
		for (int j = 0; j < MR_GPU_LAUNCHES; j++)
			TRY(cuLaunchKernel(function, 1, 1, 1, BLOCK, 1, 1, 0, streams[i], arguments,
					   NULL));
		if (i == 0) {
			TRY(cuEventRecord(event, streams[0]));
			TRY(cuStreamWaitEvent(streams[1], event, 0));
		}
	}
	TRY(cuMemcpyDtoHAsync_v2(host, memory, MR_GPU_BYTES, streams[1]));
	TRY(cuStreamSynchronize(streams[1]));
	return 0;
}

int mr_gpu_program(void)
{
	void *context, *module, *function;
	int count = 0;

	if (!find_functions() || cuInit(0) != 0 || cuDeviceGetCount(&count) != 0 || count == 0)
		return MR_GPU_NO_CUDA;
	TRY(cuDevicePrimaryCtxRetain(&context, 0));
	TRY(cuCtxSetCurrent(context));
	TRY(cuModuleLoadData(&module, code));
	TRY(cuModuleGetFunction(&function, module, "millrace_check"));
	return work(function);
}
