/* SPDX-License-Identifier: Apache-2.0
 *
 * Uses HIP in the way that the argument names, and prints results that are the same each time.
 */
#include "hip.h"

#include <atomic>
#include <cstring>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

enum {
	COUNT = 4096,
	BLOCKS = COUNT / 256,
};

__global__ void increment(int *items, int count)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < count)
		items[i] += 1;
}

__global__ void twice(int *items, int count)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < count)
		items[i] *= 2;
}

static int *new_items(void)
{
	int *items;
	MUST(hipMalloc((void **)&items, COUNT * sizeof(int)));
	MUST(hipMemset(items, 0, COUNT * sizeof(int)));
	return items;
}

static int graph(int, char **)
{
	int *items = new_items();
	hipStream_t stream;
	hipGraph_t made;
	hipGraphExec_t ready;
	MUST(hipStreamCreate(&stream));
	MUST(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
	increment<<<BLOCKS, 256, 0, stream>>>(items, COUNT);
	twice<<<BLOCKS, 256, 0, stream>>>(items, COUNT);
	MUST(hipStreamEndCapture(stream, &made));
	MUST(hipGraphInstantiate(&ready, made, nullptr, nullptr, 0));
	for (int i = 0; i < 3; i++)
		MUST(hipGraphLaunch(ready, stream));
	MUST(hipStreamSynchronize(stream));
	printf("graph: %d wrong\n", count_wrong(items, COUNT, 14));
	return 0;
}

static std::atomic<int> callbacks;

static void call_back(hipStream_t, hipError_t, void *)
{
	callbacks++;
}

static int callback(int, char **)
{
	int *items = new_items();
	hipStream_t stream;
	MUST(hipStreamCreate(&stream));
	for (int i = 0; i < 5; i++) {
		increment<<<BLOCKS, 256, 0, stream>>>(items, COUNT);
		MUST(hipStreamAddCallback(stream, call_back, nullptr, 0));
	}
	MUST(hipStreamSynchronize(stream));
	printf("callbacks: %d, %d wrong\n", callbacks.load(), count_wrong(items, COUNT, 5));
	return 0;
}

static int streams(int, char **)
{
	int *items = new_items();
	hipStream_t all[12];
	MUST(hipDeviceSynchronize());
	for (auto &stream : all)
		MUST(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
	for (int i = 0; i < 3; i++)
		for (auto &stream : all) {
			increment<<<BLOCKS, 256, 0, stream>>>(items, COUNT);
			MUST(hipStreamSynchronize(stream));
		}
	printf("streams: %d wrong\n", count_wrong(items, COUNT, 36));
	return 0;
}

static void work_in_thread(int *ret_wrong)
{
	int *items = new_items();
	hipStream_t stream;
	MUST(hipStreamCreate(&stream));
	MUST(hipDeviceSynchronize());
	for (int i = 0; i < 50; i++)
		increment<<<BLOCKS, 256, 0, stream>>>(items, COUNT);
	MUST(hipStreamSynchronize(stream));
	*ret_wrong = count_wrong(items, COUNT, 50);
}

static int threads(int, char **)
{
	int wrong[4];
	std::vector<std::thread> all;
	for (int &one : wrong)
		all.emplace_back(work_in_thread, &one);
	for (auto &thread : all)
		thread.join();
	printf("threads: %d %d %d %d wrong\n", wrong[0], wrong[1], wrong[2], wrong[3]);
	return 0;
}

static int fork_before(int, char **)
{
	int status;
	pid_t child = fork();
	if (child == 0) {
		int *items = new_items();
		increment<<<BLOCKS, 256>>>(items, COUNT);
		printf("child: %d wrong\n", count_wrong(items, COUNT, 1));
		return 0;
	}
	waitpid(child, &status, 0);
	printf("parent: child %d\n", WEXITSTATUS(status));
	return 0;
}

static int fork_after(int, char **)
{
	int status, *items = new_items();
	MUST(hipDeviceSynchronize());
	fflush(stdout);
	pid_t child = fork();
	if (child == 0) {
		printf("child\n");
		fflush(stdout);
		_exit(3);
	}
	waitpid(child, &status, 0);
	increment<<<BLOCKS, 256>>>(items, COUNT);
	printf("parent: %d wrong, child %d\n", count_wrong(items, COUNT, 1), WEXITSTATUS(status));
	return 0;
}

/* Ends while the device is busy with the 41st of its kernels, or a later one: forty are complete. */
static int end_busy(int argc, char **argv)
{
	int *items;
	MUST(hipHostMalloc((void **)&items, COUNT * sizeof(int), hipHostMallocMapped));
	memset(items, 0, COUNT * sizeof(int));
	for (int i = 0; i < 100; i++)
		increment<<<BLOCKS, 256>>>(items, COUNT);
	while (__atomic_load_n(&items[0], __ATOMIC_ACQUIRE) < 41)
		usleep(100);
	printf("launched\n");
	fflush(stdout);
	if (argc > 2 && strcmp(argv[2], "_exit") == 0)
		_exit(0);
	if (argc > 2 && strcmp(argv[2], "exec") == 0)
		execl("/bin/echo", "echo", "executed", (char *)nullptr);
	exit(0);
}

/* Until somebody ends it. */
static int wait_for_ever(int, char **)
{
	int *items = new_items();
	for (int i = 0; i < 200; i++)
		increment<<<BLOCKS, 256>>>(items, COUNT);
	MUST(hipDeviceSynchronize());
	increment<<<BLOCKS, 256>>>(items, COUNT);
	printf("launched\n");
	fflush(stdout);
	for (;;)
		pause();
}

static int reset(int, char **)
{
	increment<<<BLOCKS, 256>>>(new_items(), COUNT);
	MUST(hipDeviceReset());
	printf("reset\n");
	return 0;
}

static int peer(int, char **)
{
	int count, *first = new_items(), *second;
	MUST(hipGetDeviceCount(&count));
	printf("devices: %d\n", count);
	increment<<<BLOCKS, 256>>>(first, COUNT);
	MUST(hipDeviceSynchronize());
	MUST(hipSetDevice(1));
	MUST(hipMalloc((void **)&second, COUNT * sizeof(int)));
	MUST(hipMemcpyPeer(second, 1, first, 0, COUNT * sizeof(int)));
	twice<<<BLOCKS, 256>>>(second, COUNT);
	printf("peer: %d wrong\n", count_wrong(second, COUNT, 2));
	return 0;
}

static int pageable(int, char **)
{
	const size_t count = 1 << 20;
	std::vector<int> from(count, 1), to(count), rows(count);
	int *device;
	MUST(hipMalloc((void **)&device, count * sizeof(int)));
	MUST(hipMemcpy(device, from.data(), count * sizeof(int), hipMemcpyHostToDevice));
	MUST(hipMemcpy(to.data(), device, count * sizeof(int), hipMemcpyDeviceToHost));
	MUST(hipMemcpy2D(rows.data(), 2048, device, 4096, 1000, 64, hipMemcpyDeviceToHost));
	int wrong = 0;
	for (int row = 0; row < 64; row++)
		for (int i = 0; i < 512; i++)
			wrong += rows[row * 512 + i] != (i < 250);
	printf("pageable: %s, %d wrong\n", from == to ? "same" : "different", wrong);
	return 0;
}

/* As many launches as the argument says, each waited for, or all at the end. */
static int many(int argc, char **argv)
{
	int *items = new_items(), count = argc > 2 ? atoi(argv[2]) : 400;
	bool is_waiting = argc > 3;
	for (int i = 0; i < count; i++) {
		increment<<<1, 64>>>(items, 64);
		if (is_waiting) {
			MUST(hipDeviceSynchronize());
			usleep(1000);
		}
	}
	MUST(hipDeviceSynchronize());
	printf("many: %d wrong\n", count_wrong(items, 64, count));
	return 0;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(int argc, char **argv);
	} ways[] = {
		{"graph", graph},	  {"callback", callback}, {"streams", streams},
		{"threads", threads},	  {"fork_before", fork_before},
		{"fork_after", fork_after}, {"end_busy", end_busy}, {"wait", wait_for_ever},
		{"reset", reset},	  {"peer", peer},	  {"pageable", pageable},
		{"many", many},
	};
	for (const auto &way : ways)
		if (argc > 1 && strcmp(argv[1], way.name) == 0)
			return way.run(argc, argv);
	return 2;
}
