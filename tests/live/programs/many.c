/* SPDX-License-Identifier: Apache-2.0
 *
 * A program of many short threads or processes:
 *
 *     many threads|processes|crowd COUNT EVENTS
 *
 * COUNT of them over the run, eight at a time, each of which records EVENTS instants. A crowd is threads, all of
 * them at once: none ends before the last has recorded.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <millrace.h>

enum {
	AT_ONCE = 8
};

static uint32_t node;
static int events;

static void *record_events(void *unused)
{
	for (int i = 0; i < events; i++)
		millrace_node_instant(node, (uint64_t)i);
	return unused;
}

static void run_threads(int count)
{
	pthread_t threads[AT_ONCE];
	for (int i = 0; i < count; i++) {
		if (i >= AT_ONCE)
			pthread_join(threads[i % AT_ONCE], NULL);
		if (pthread_create(&threads[i % AT_ONCE], NULL, record_events, NULL) != 0)
			abort();
	}
	for (int i = count < AT_ONCE ? 0 : count - AT_ONCE; i < count; i++)
		pthread_join(threads[i % AT_ONCE], NULL);
}

static pthread_barrier_t everybody;

static void *record_and_wait(void *unused)
{
	record_events(NULL);
	pthread_barrier_wait(&everybody);
	return unused;
}

static void run_crowd(int count)
{
	pthread_t thread;
	pthread_barrier_init(&everybody, NULL, (unsigned)count + 1);
	for (int i = 0; i < count; i++)
		if (pthread_create(&thread, NULL, record_and_wait, NULL) != 0)
			abort();
	pthread_barrier_wait(&everybody);
}

static void run_processes(int count)
{
	for (int i = 0; i < count; i++) {
		if (i >= AT_ONCE)
			wait(NULL);
		pid_t pid = fork();
		if (pid == 0) {
			record_events(NULL);
			_exit(0);
		}
		if (pid < 0)
			abort();
	}
	while (wait(NULL) > 0)
		;
}

int main(int argc, char **argv)
{
	if (argc != 4)
		return 2;
	node = millrace_node(millrace_graph("many"), "one", "One", 0);
	events = atoi(argv[3]);
	if (strcmp(argv[1], "crowd") == 0)
		run_crowd(atoi(argv[2]));
	else
		(strcmp(argv[1], "threads") == 0 ? run_threads : run_processes)(atoi(argv[2]));
	return 0;
}
