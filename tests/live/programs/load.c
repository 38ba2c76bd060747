/* SPDX-License-Identifier: Apache-2.0
 *
 * A program that records a lot and says what it has recorded.
 *
 *     load THREADS ROUNDS [PAUSE_NS [COUNTERS]]
 *
 * Each round of a thread is an interval of a node that holds one instant and one step, all with the
 * round's number as their step. ROUNDS 0: until killed. COUNTERS is a file of struct counters, one per
 * thread, raised after each call has returned: whatever they say was committed must be in the trace,
 * whenever the program is killed. At its end the program prints how many rounds it has made.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <millrace.h>

enum {
	MAX_THREADS = 64
};

struct counters {
	uint64_t tid;
	uint64_t begun; /* intervals of the node */
	uint64_t instants;
	uint64_t steps;
	uint64_t ended;
	uint64_t padding[3]; /* a cache line of its own */
};

static volatile struct counters local_counters[MAX_THREADS];
static volatile struct counters *all_counters = local_counters;
static uint64_t rounds, pause_ns;
static uint32_t node;

static uint64_t now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void make_round(volatile struct counters *counters, uint64_t round)
{
	struct millrace_span interval = millrace_node_begin(node, round);
	counters->begun = round + 1;
	millrace_node_instant(node, round);
	counters->instants = round + 1;
	struct millrace_span step = millrace_step_begin(round);
	millrace_step_end(&step);
	counters->steps = round + 1;
	millrace_node_end(&interval);
	counters->ended = round + 1;
}

static void *run(void *argument)
{
	volatile struct counters *counters = argument;
	counters->tid = (uint64_t)syscall(SYS_gettid);
	for (uint64_t round = 0; rounds == 0 || round < rounds; round++) {
		make_round(counters, round);
		for (uint64_t end = pause_ns ? now_ns() + pause_ns : 0; end && now_ns() < end;)
			;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[MAX_THREADS];
	int count = argc > 2 ? atoi(argv[1]) : 0;
	if (count < 1 || count > MAX_THREADS)
		return 2;
	rounds = strtoull(argv[2], NULL, 10);
	pause_ns = argc > 3 ? strtoull(argv[3], NULL, 10) : 0;
	if (argc > 4) {
		int file = open(argv[4], O_RDWR | O_CREAT, 0600);
		if (file < 0 || ftruncate(file, sizeof local_counters) < 0)
			return 3;
		all_counters = mmap(NULL, sizeof local_counters, PROT_READ | PROT_WRITE, MAP_SHARED,
				    file, 0);
		close(file);
	}
	uint32_t graph = millrace_graph("load");
	node = millrace_node(graph, "work", "Work", 0);
	for (int i = 0; i < count; i++)
		pthread_create(&threads[i], NULL, run, (void *)&all_counters[i]);
	uint64_t total = 0;
	for (int i = 0; i < count; i++) {
		pthread_join(threads[i], NULL);
		total += all_counters[i].ended;
	}
	printf("%llu\n", (unsigned long long)total);
	return 0;
}
