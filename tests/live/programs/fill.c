/* SPDX-License-Identifier: Apache-2.0
 *
 * fill MIB [THREADS]: uses so much memory, a MiB at a time, while threads emit events all the time; then says so.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "millrace.h"

enum {
	MIB = 1 << 20,
	MOST_THREADS = 1024,
	EVENTS_PER_TURN = 100,
};

static atomic_bool is_over;
static uint32_t node;

static void *emit(void *data)
{
	while (!is_over) {
		for (int i = 0; i < EVENTS_PER_TURN; i++)
			millrace_node_instant(node, 1);
		usleep(1000);
	}
	return data;
}

int main(int argc, char **argv)
{
	static pthread_t threads[MOST_THREADS];
	int mib = argc > 1 ? atoi(argv[1]) : 0, count = argc > 2 ? atoi(argv[2]) : 0;
	node = millrace_node(0, "node", "type", 0);
	if (count > MOST_THREADS)
		return 2;
	for (int i = 0; i < count; i++)
		if (pthread_create(&threads[i], NULL, emit, NULL) != 0)
			return 3;
	for (int i = 0; i < mib; i++) {
		void *memory =
			mmap(NULL, MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (memory == MAP_FAILED)
			return 4;
		memset(memory, 1, MIB);
		usleep(5000);
	}
	usleep(300000);
	is_over = true;
	for (int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	printf("filled %d\n", mib);
	return 0;
}
