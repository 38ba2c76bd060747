/* SPDX-License-Identifier: Apache-2.0
 *
 * cuda_launches THREADS STREAMS LAUNCHES BLOCKS: launches device kernels from several threads, each on several streams, and
 * waits for them. Prints the CPU time of all threads per launch, in seconds, of each block.
 */
#include <cuda_runtime_api.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum {
	STREAMS_MAX = 64,
	THREADS_MAX = 64,
	AT_ONCE = 1000,
};

void **__cudaRegisterFatBinary(void *binary);
void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name,
			    int limit, void *tid, void *bid, void *block, void *grid, int *warp);

static char kernel;
static int stream_count;
static long launches;
static cudaStream_t streams[STREAMS_MAX];

static void *launch(void *unused)
{
	void *arguments[] = {NULL};
	(void)unused;
	for (long i = 0; i < launches; i++) {
		if (cudaLaunchKernel(&kernel, (dim3){1, 1, 1}, (dim3){32, 1, 1}, arguments, 0,
				     streams[i % stream_count]) != cudaSuccess)
			exit(1);
		if (i % AT_ONCE == 0)
			cudaStreamSynchronize(streams[i % stream_count]);
	}
	cudaDeviceSynchronize();
	return NULL;
}

static double cpu_seconds(void)
{
	struct timespec now;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int main(int argc, char **argv)
{
	static int binary;
	pthread_t threads[THREADS_MAX];
	if (argc != 5) {
		fputs("usage: cuda_launches THREADS STREAMS LAUNCHES BLOCKS\n", stderr);
		return 2;
	}
	int thread_count = atoi(argv[1]) % (THREADS_MAX + 1);
	stream_count = atoi(argv[2]) % (STREAMS_MAX + 1);
	launches = atol(argv[3]) / thread_count;
	__cudaRegisterFunction(__cudaRegisterFatBinary(&binary), &kernel, &kernel, "kernel", -1,
			       NULL, NULL, NULL, NULL, NULL);
	for (int i = 0; i < stream_count; i++)
		if (cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking) != cudaSuccess)
			return 1;
	for (int block = atoi(argv[4]); block > 0; block--) {
		double begin = cpu_seconds();
		for (int i = 0; i < thread_count; i++)
			pthread_create(&threads[i], NULL, launch, NULL);
		for (int i = 0; i < thread_count; i++)
			pthread_join(threads[i], NULL);
		printf("%.9f\n", (cpu_seconds() - begin) / (double)(launches * thread_count));
	}
	return 0;
}
