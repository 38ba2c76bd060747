/* SPDX-License-Identifier: Apache-2.0
 *
 * paced millrace|lttng|calls RATE SECONDS: writes RATE events per second in total, from two threads, for
 * SECONDS. `calls` makes system calls, for the kernel level.
 * A thread writes due events in batches of 64; if none is due, it sleeps for 50 microseconds.
 * Prints how many events were written: fewer than wanted if the machine cannot reach the rate.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lttng_event.h"
#include "millrace.h"
#include "rounds.h"

enum {
	THREADS = 2,
	BATCH = 64,
	IDLE_NS = 50000
};

static uint32_t node;
static uint64_t duration_ns;
static double events_per_ns; /* of one thread */

static void write_millrace(uint32_t first)
{
	for (uint32_t i = 0; i < BATCH; i++)
		millrace_node_instant(node, first + i);
}

static void write_lttng(uint32_t first)
{
	for (uint32_t i = 0; i < BATCH; i++)
		bench_lttng_event(node, first + i);
}

static void call_kernel(uint32_t first)
{
	(void)first;
	for (uint32_t i = 0; i < BATCH; i++)
		syscall(SYS_getppid);
}

static const struct {
	const char *name;
	void (*write)(uint32_t first);
} kinds[] = {{"millrace", write_millrace}, {"lttng", write_lttng}, {"calls", call_kernel}};

static void (*write_batch)(uint32_t first);

static void *work(void *ret_written)
{
	const struct timespec idle = {.tv_nsec = IDLE_NS};
	uint64_t start_ns = bench_clock_ns(CLOCK_MONOTONIC), elapsed_ns = 0, written = 0;
	while (elapsed_ns < duration_ns) {
		if ((double)(written + BATCH) <= (double)elapsed_ns * events_per_ns) {
			write_batch((uint32_t)written);
			written += BATCH;
		} else {
			nanosleep(&idle, NULL);
		}
		elapsed_ns = bench_clock_ns(CLOCK_MONOTONIC) - start_ns;
	}
	*(uint64_t *)ret_written = written;
	return NULL;
}

int main(int argc, char **argv)
{
	for (size_t i = 0; argc == 4 && i < sizeof kinds / sizeof *kinds; i++)
		if (strcmp(argv[1], kinds[i].name) == 0)
			write_batch = kinds[i].write;
	if (!write_batch) {
		fputs("usage: paced millrace|lttng|calls RATE SECONDS\n", stderr);
		return 2;
	}
	events_per_ns = (double)bench_number(argv[2]) / THREADS / 1e9;
	duration_ns = bench_number(argv[3]) * UINT64_C(1000000000);
	node = millrace_node(millrace_graph("bench"), "bench", "Bench", 0);
	pthread_t threads[THREADS];
	uint64_t written[THREADS], total = 0;
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, work, &written[i]) != 0)
			return 1;
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		total += written[i];
	}
	printf("%" PRIu64 "\n", total);
	return 0;
}
