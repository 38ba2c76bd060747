/* SPDX-License-Identifier: Apache-2.0
 *
 * Three threads that use the default stream, each its own, as programs do that are compiled for that.
 */
#define CUDA_API_PER_THREAD_DEFAULT_STREAM 1
#include <cuda_runtime_api.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	THREADS = 3,
	LAUNCHES = 4,
};

void **__cudaRegisterFatBinary(void *binary);
void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name,
			    int limit, void *tid, void *bid, void *block, void *grid, int *warp);

static char kernel;

static void *work(void *unused)
{
	void *arguments[] = {NULL}, *memory;
	char bytes[64] = "";
	if (cudaMalloc(&memory, sizeof bytes) != cudaSuccess)
		exit(2);
	for (int i = 0; i < LAUNCHES; i++)
		if (cudaLaunchKernel_ptsz(&kernel, (dim3){1, 1, 1}, (dim3){32, 1, 1}, arguments, 0,
					  NULL) != cudaSuccess)
			exit(2);
	if (cudaMemcpyAsync(bytes, memory, sizeof bytes, cudaMemcpyDeviceToHost, NULL) !=
		    cudaSuccess ||
	    cudaStreamSynchronize(NULL) != cudaSuccess)
		exit(2);
	cudaFree(memory);
	return unused;
}

int main(void)
{
	static int binary;
	pthread_t threads[THREADS];
	__cudaRegisterFunction(__cudaRegisterFatBinary(&binary), &kernel, &kernel, "kernel", -1,
			       NULL, NULL, NULL, NULL, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("done\n");
	return 0;
}
