/* SPDX-License-Identifier: Apache-2.0
 *
 * Random calls of CUDA on streams of all kinds, of two devices, and what was called as text: the test knows CUDA's rules and
 * says what must wait for what.
 *
 *     cuda_schedule SEED ACTIONS
 *
 *     streams of device 0:  0 default, 1 2 blocking, 3 non-blocking, 4 the thread's own       of device 1:  5 default, 6 blocking
 */
#include <cuda_runtime_api.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	STREAMS = 7,
	EVENTS = 4,
	BYTES = 4096,
};

void **__cudaRegisterFatBinary(void *binary);
void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name,
			    int limit, void *tid, void *bid, void *block, void *grid, int *warp);

static char kernel;
static uint32_t random_state;
static cudaStream_t streams[STREAMS];
static cudaEvent_t events[EVENTS];
static char *device_memory[2], *pinned, pageable[BYTES];

static uint32_t below(uint32_t limit)
{
	random_state = random_state * 1664525 + 1013904223;
	return (random_state >> 8) % limit;
}

static void check(cudaError_t result)
{
	if (result != cudaSuccess)
		exit(2);
}

static void launch(uint32_t stream)
{
	void *arguments[] = {NULL};
	check(cudaLaunchKernel(&kernel, (dim3){1, 1, 1}, (dim3){32, 1, 1}, arguments, 0,
			       streams[stream]));
	printf("launch %u\n", stream);
}

static void copy(uint32_t stream, void *host, size_t bytes)
{
	check(cudaMemcpyAsync(device_memory[stream >= 5], host, bytes, cudaMemcpyHostToDevice,
			      streams[stream]));
	if (bytes)
		printf("launch %u\n", stream);
}

static void act(void)
{
	uint32_t stream = below(STREAMS), event = below(EVENTS);
	check(cudaSetDevice(stream >= 5));
	switch (below(16)) {
	case 0:
		check(cudaEventSynchronize(events[event]));
		printf("event %u\n", event);
		break;
	case 1:
		check(cudaStreamSynchronize(streams[stream]));
		printf("stream %u\n", stream);
		break;
	case 2:
		if (below(4) != 0)
			break;
		check(cudaDeviceSynchronize());
		printf("device %u\n", stream >= 5);
		break;
	case 3:
	case 4:
	case 5:
		check(cudaEventRecord(events[event], streams[stream]));
		printf("record %u %u\n", event, stream);
		break;
	case 6:
	case 7:
	case 8:
		check(cudaStreamWaitEvent(streams[stream], events[event], 0));
		printf("wait %u %u\n", event, stream);
		break;
	case 9:
		copy(stream, pinned, BYTES);
		break;
	case 10:
		copy(stream, pageable, below(2) ? BYTES : 0);
		break;
	default:
		launch(stream);
	}
}

int main(int count, char **arguments)
{
	static int binary;
	if (count != 3)
		return 1;
	random_state = (uint32_t)atoi(arguments[1]);
	__cudaRegisterFunction(__cudaRegisterFatBinary(&binary), &kernel, &kernel, "kernel", -1,
			       NULL, NULL, NULL, NULL, NULL);
	for (int device = 0; device < 2; device++) {
		check(cudaSetDevice(device));
		check(cudaMalloc((void **)&device_memory[device], BYTES));
	}
	check(cudaMallocHost((void **)&pinned, BYTES));
	check(cudaSetDevice(0));
	check(cudaStreamCreate(&streams[1]));
	check(cudaStreamCreate(&streams[2]));
	check(cudaStreamCreateWithFlags(&streams[3], cudaStreamNonBlocking));
	streams[4] = cudaStreamPerThread;
	check(cudaSetDevice(1));
	check(cudaStreamCreate(&streams[6]));
	for (int i = 0; i < EVENTS; i++)
		check(cudaEventCreate(&events[i]));
	for (int i = atoi(arguments[2]); i > 0; i--)
		act();
	for (int device = 0; device < 2; device++) {
		check(cudaSetDevice(device));
		check(cudaDeviceSynchronize());
		printf("device %d\n", device);
	}
	return 0;
}
