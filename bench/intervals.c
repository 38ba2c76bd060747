/* SPDX-License-Identifier: Apache-2.0
 *
 * intervals COUNT: runs COUNT node executions in total, on two threads, in steps of a thousand. Its
 * trace is measured by size, and by how fast readers read it.
 */
#include <pthread.h>
#include <stdio.h>

#include "millrace.h"
#include "rounds.h"

enum {
	THREADS = 2,
	NODES = 16,
	PER_STEP = 1000
};

static uint32_t nodes[NODES];
static uint32_t count_per_thread;

static void *work(void *data)
{
	const struct timespec pause = {.tv_nsec = 200000}; /* so that nothing is lost */
	for (uint32_t i = 0; i < count_per_thread; i++) {
		struct millrace_span span = millrace_node_begin(nodes[i % NODES], i / PER_STEP);
		millrace_node_end(&span);
		if (i % PER_STEP == PER_STEP - 1)
			nanosleep(&pause, NULL);
	}
	return data;
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fputs("usage: intervals COUNT\n", stderr);
		return 2;
	}
	count_per_thread = bench_number(argv[1]) / THREADS;
	uint32_t graph = millrace_graph("bench");
	for (int i = 0; i < NODES; i++) {
		char name[16];
		snprintf(name, sizeof name, "node%d", i);
		nodes[i] = millrace_node(graph, name, "Bench", 0);
	}
	pthread_t threads[THREADS];
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, work, NULL) != 0)
			return 1;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
