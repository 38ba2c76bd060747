/* SPDX-License-Identifier: Apache-2.0
 *
 * lives forks|threads COUNT: runs many short processes or threads, each of which records ten events.
 * Prints wall and CPU time (including children) in seconds, from before the first to after the last,
 * without the start and the end of the program itself.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "millrace.h"
#include "rounds.h"

enum {
	EVENTS = 10,
	AT_ONCE = 8
};

static uint32_t node;

static void *live(void *data)
{
	for (uint32_t i = 0; i < EVENTS; i++)
		millrace_node_instant(node, i);
	return data;
}

static void fork_one(void)
{
	pid_t child = fork();
	if (child == 0) {
		live(NULL);
		_exit(0);
	}
	int status;
	if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
		exit(1);
}

static void run_forks(uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		fork_one();
}

static void run_threads(uint32_t count)
{
	pthread_t threads[AT_ONCE];
	for (uint32_t done = 0; done < count; done += AT_ONCE) {
		for (int i = 0; i < AT_ONCE; i++)
			if (pthread_create(&threads[i], NULL, live, NULL) != 0)
				exit(1);
		for (int i = 0; i < AT_ONCE; i++)
			pthread_join(threads[i], NULL);
	}
}

static double cpu_seconds(void)
{
	struct rusage self, children;
	getrusage(RUSAGE_SELF, &self);
	getrusage(RUSAGE_CHILDREN, &children);
	double microseconds = (double)(self.ru_utime.tv_usec + self.ru_stime.tv_usec +
				       children.ru_utime.tv_usec + children.ru_stime.tv_usec);
	return (double)(self.ru_utime.tv_sec + self.ru_stime.tv_sec + children.ru_utime.tv_sec +
			children.ru_stime.tv_sec) +
	       microseconds / 1e6;
}

int main(int argc, char **argv)
{
	if (argc != 3 || (strcmp(argv[1], "forks") != 0 && strcmp(argv[1], "threads") != 0)) {
		fputs("usage: lives forks|threads COUNT\n", stderr);
		return 2;
	}
	uint32_t count = bench_number(argv[2]);
	node = millrace_node(millrace_graph("bench"), "bench", "Bench", 0);
	double cpu = cpu_seconds();
	uint64_t start_ns = bench_clock_ns(CLOCK_MONOTONIC);
	if (argv[1][0] == 'f')
		run_forks(count);
	else
		run_threads(count);
	double wall = (double)(bench_clock_ns(CLOCK_MONOTONIC) - start_ns) / 1e9;
	printf("%.6f %.6f\n", wall, cpu_seconds() - cpu);
	return 0;
}
