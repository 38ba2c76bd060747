/* SPDX-License-Identifier: Apache-2.0
 *
 * Uses CUDA in ways of which CUPTI tells more than calls do: memory of several kinds and of a pool, a copy between devices,
 * waits of all kinds, a graph, a function that is loaded when it is launched first, numbers that another tool gives to calls.
 */
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <cupti_version.h>

#include <cupti_activity.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	BYTES = 8192,
};

void **__cudaRegisterFatBinary(void *binary);
void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name,
			    int limit, void *tid, void *bid, void *block, void *grid, int *warp);

static char kernel, other;

static void check(int result)
{
	if (result != 0) {
		printf("failed: %d\n", result);
		exit(2);
	}
}

static void launch(char *what, unsigned int shared_bytes, cudaStream_t stream)
{
	void *arguments[] = {NULL};
	check(cudaLaunchKernel(what, (dim3){2, 1, 1}, (dim3){64, 1, 1}, arguments, shared_bytes,
			       stream));
}

static void use_memory(cudaStream_t stream)
{
	void *pooled, *pitched, *managed, *pinned, *far;
	size_t pitch;
	check(cudaMallocAsync(&pooled, BYTES, stream));
	check(cudaMallocPitch(&pitched, &pitch, 100, 4));
	check(cudaMallocManaged(&managed, BYTES, cudaMemAttachGlobal));
	check(cudaMallocHost(&pinned, BYTES));
	check(cudaSetDevice(1));
	check(cudaMalloc(&far, BYTES));
	check(cudaSetDevice(0));
	check(cudaMemcpyPeerAsync(far, 1, pooled, 0, BYTES, stream));
	check(cudaStreamSynchronize(stream));
	check(cudaFreeAsync(pooled, stream));
	check(cudaFree(pitched));
	check(cudaFree(managed));
	check(cudaFreeHost(pinned));
	check(cudaFree(far));
}

static void replay(cudaStream_t stream)
{
	cudaGraph_t graph;
	cudaGraphExec_t exec;
	check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	launch(&kernel, 0, stream);
	launch(&other, 32, stream);
	check(cudaStreamEndCapture(stream, &graph));
	check(cudaGraphInstantiate(&exec, graph, 0));
	check(cudaGraphLaunch(exec, stream));
	check(cudaStreamSynchronize(stream));
	check(cudaGraphExecDestroy(exec));
	check(cudaGraphDestroy(graph));
}

int main(void)
{
	static int binary;
	cudaStream_t stream;
	cudaEvent_t event;
	void **handle = __cudaRegisterFatBinary(&binary);
	__cudaRegisterFunction(handle, &kernel, &kernel, "kernel", -1, NULL, NULL, NULL, NULL,
			       NULL);
	__cudaRegisterFunction(handle, &other, &other, "other", -1, NULL, NULL, NULL, NULL, NULL);
	check(cudaStreamCreate(&stream));
	check(cudaEventCreate(&event));
	check(cuptiActivityPushExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0,
						     4711));
	launch(&kernel, 256, stream);
	check(cuptiActivityPopExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, NULL));
	check(cudaEventRecord(event, stream));
	check(cudaStreamWaitEvent(0, event, 0));
	check(cudaEventSynchronize(event));
	use_memory(stream);
	replay(stream);
	check(cudaDeviceSynchronize());
	printf("done\n");
	return 0;
}
