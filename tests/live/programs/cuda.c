/* SPDX-License-Identifier: Apache-2.0
 *
 * Uses CUDA through the runtime API, as nvcc's code does: copies, fills, device kernels, two streams, events, a graph.
 *
 *     cuda_work [rounds]
 */
#include <cuda_runtime_api.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	COUNT = 1024,
	BYTES = COUNT * sizeof(float),
};

static int failures;

#define CHECK(call)                                                     \
	do {                                                            \
		int result_ = (int)(call);                              \
		if (result_ != 0)                                       \
			printf("%s: %d\n", #call, result_), failures++; \
	} while (0)

/* ---- what nvcc makes of a device kernel ---------------------------------------------------------------- */

void **__cudaRegisterFatBinary(void *binary);
void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name,
			    int limit, void *tid, void *bid, void *block, void *grid, int *warp);

struct soft_kernel {
	void (*run)(const uint32_t *grid, const uint32_t *block, const uint64_t *arguments);
	int arguments;
};

/* c = a + b */
static void run_add(const uint32_t *grid, const uint32_t *block, const uint64_t *arguments)
{
	const float *a = (const float *)(uintptr_t)arguments[0];
	const float *b = (const float *)(uintptr_t)arguments[1];
	float *c = (float *)(uintptr_t)arguments[2];
	for (uint32_t i = 0; i < grid[0] * block[0] && i < COUNT; i++)
		c[i] = a[i] + b[i];
}

extern const struct soft_kernel soft_kernel_add;
__attribute__((visibility("default"))) const struct soft_kernel soft_kernel_add = {run_add, 3};

static char add; /* its address stands for the kernel, as that of nvcc's stub does */
static char idle;

__attribute__((constructor)) static void register_kernels(void)
{
	static int binary;
	void **handle = __cudaRegisterFatBinary(&binary);
	__cudaRegisterFunction(handle, &add, &add, "add", -1, NULL, NULL, NULL, NULL, NULL);
	__cudaRegisterFunction(handle, &idle, &idle, "_Z4idlePf", -1, NULL, NULL, NULL, NULL, NULL);
}

static void launch_add(float **arrays, cudaStream_t stream)
{
	void *arguments[] = {&arrays[0], &arrays[1], &arrays[2]};
	CHECK(cudaLaunchKernel(&add, (dim3){4, 1, 1}, (dim3){256, 1, 1}, arguments, 0, stream));
}

static void launch_idle(cudaStream_t stream)
{
	void *arguments[] = {NULL};
	CHECK(cudaLaunchKernel(&idle, (dim3){2, 3, 1}, (dim3){32, 4, 1}, arguments, 64, stream));
}

/* ---- work ------------------------------------------------------------------------------------------------ */

static void compute(float **arrays, float *host, cudaStream_t *streams)
{
	cudaEvent_t ready, done;
	static float pageable[COUNT];
	for (int i = 0; i < COUNT; i++)
		host[i] = (float)i;
	CHECK(cudaEventCreate(&ready));
	CHECK(cudaEventCreateWithFlags(&done, cudaEventDisableTiming));
	CHECK(cudaMemcpy(arrays[0], host, BYTES, cudaMemcpyHostToDevice));
	CHECK(cudaMemcpyAsync(arrays[1], host, BYTES, cudaMemcpyHostToDevice, streams[0]));
	CHECK(cudaMemsetAsync(arrays[2], 0, BYTES, streams[0]));
	launch_add(arrays, streams[0]);
	CHECK(cudaEventRecord(ready, streams[0]));
	CHECK(cudaStreamWaitEvent(streams[1], ready, 0));
	launch_idle(streams[1]);
	CHECK(cudaMemcpyAsync(host, arrays[2], BYTES, cudaMemcpyDeviceToHost, streams[1]));
	CHECK(cudaEventRecord(done, streams[1]));
	CHECK(cudaEventSynchronize(done));
	launch_idle(NULL);
	CHECK(cudaMemcpy(pageable, arrays[2], BYTES, cudaMemcpyDeviceToHost));
	CHECK(cudaMemcpyAsync(arrays[1], arrays[0], BYTES / 2, cudaMemcpyDefault, streams[0]));
	CHECK(cudaStreamSynchronize(streams[0]));
	CHECK(cudaEventDestroy(ready));
	CHECK(cudaEventDestroy(done));
	printf("%g %g %g\n", (double)host[10], (double)pageable[1023], (double)host[1]);
}

static void replay(cudaStream_t stream)
{
	cudaGraph_t graph;
	cudaGraphExec_t exec;
	CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	launch_idle(stream);
	launch_idle(stream);
	CHECK(cudaStreamEndCapture(stream, &graph));
	CHECK(cudaGraphInstantiate(&exec, graph, 0));
	CHECK(cudaGraphLaunch(exec, stream));
	CHECK(cudaGraphLaunch(exec, stream));
	CHECK(cudaGraphExecDestroy(exec));
	CHECK(cudaGraphDestroy(graph));
}

int main(int count, char **arguments)
{
	int rounds = count > 1 ? atoi(arguments[1]) : 1;
	float *arrays[3], *host;
	cudaStream_t streams[2];
	for (int i = 0; i < 3; i++)
		CHECK(cudaMalloc((void **)&arrays[i], BYTES));
	CHECK(cudaMallocHost((void **)&host, BYTES));
	CHECK(cudaStreamCreate(&streams[0]));
	CHECK(cudaStreamCreateWithFlags(&streams[1], cudaStreamNonBlocking));
	for (int i = 0; i < rounds; i++)
		compute(arrays, host, streams);
	replay(streams[0]);
	CHECK(cudaDeviceSynchronize());
	printf("wrong: %d\n", (int)cudaMemcpy(arrays[0], host, BYTES, cudaMemcpyHostToDevice) +
				      (int)cudaLaunchKernel(&failures, (dim3){1, 1, 1},
							    (dim3){1, 1, 1}, NULL, 0, NULL));
	for (int i = 0; i < 2; i++)
		CHECK(cudaStreamDestroy(streams[i]));
	for (int i = 0; i < 3; i++)
		CHECK(cudaFree(arrays[i]));
	CHECK(cudaFreeHost(host));
	return failures;
}
