/* SPDX-License-Identifier: Apache-2.0
 *
 * opencl_schedule: a program that knows its own schedule. For each operation, in the order of the
 * calls that launch them, it prints a line for the test to compare the trace with:
 *
 *     operation KIND BYTES NAME QUEUE ENQUEUED DONE AWAITED...
 *
 * where ENQUEUED was read on CLOCK_MONOTONIC_RAW before the call, DONE when the host had seen its
 * end, and AWAITED are the numbers of earlier operations it waits for.
 *
 *     queue 0   write ─► spin ───────────────────────┐         ┌─► read
 *     queue 1              └─► spin ─► copy ─► marker ┴─► spin ─┘
 */
#include <string.h>

#include "opencl_world.h"

enum {
	MAX_OPERATIONS = 256,
	ROUNDS = 20,
	PER_ROUND = 7,
	TURNS = 300000,
	COPY_BYTES = 65536
};

struct operation {
	const char *kind, *name;
	uint64_t bytes, enqueued_ns, done_ns;
	int queue, awaited[2];
	cl_event event;
};

static struct operation operations[MAX_OPERATIONS];
static int operation_count;
static struct world world;
static cl_command_queue queues[2];
static cl_mem copy;
static char host_data[COPY_BYTES];

static struct operation *begin(const char *kind, const char *name, uint64_t bytes, int queue,
			       int first, int second)
{
	struct operation *operation = &operations[operation_count++];
	*operation = (struct operation){kind, name, bytes, 0, 0, queue, {first, second}, NULL};
	operation->enqueued_ns = world_clock_ns(CLOCK_MONOTONIC_RAW);
	return operation;
}

static cl_uint wait_list(const struct operation *operation, cl_event *ret_events)
{
	cl_uint count = 0;
	for (int i = 0; i < 2; i++)
		if (operation->awaited[i] >= 0)
			ret_events[count++] = operations[operation->awaited[i]].event;
	return count;
}

static int spin(int queue, int first, int second)
{
	cl_event events[2];
	struct operation *operation = begin("kernel", "spin", 0, queue, first, second);
	cl_uint count = wait_list(operation, events);
	world_spin(&world, queues[queue], TURNS, count, count ? events : NULL, &operation->event);
	return (int)(operation - operations);
}

static int write_buffer(int queue)
{
	struct operation *operation = begin("copy_to_device", "-", COPY_BYTES, queue, -1, -1);
	MUST(clEnqueueWriteBuffer, queues[queue], world.buffer, CL_FALSE, 0, COPY_BYTES, host_data,
	     0, NULL, &operation->event);
	return (int)(operation - operations);
}

static int copy_buffer(int queue, int first)
{
	struct operation *operation = begin("copy_on_device", "-", COPY_BYTES, queue, first, -1);
	MUST(clEnqueueCopyBuffer, queues[queue], world.buffer, copy, 0, 0, COPY_BYTES, 1,
	     &operations[first].event, &operation->event);
	return (int)(operation - operations);
}

static int marker(int queue, int first)
{
	struct operation *operation = begin("marker", "-", 0, queue, first, -1);
	MUST(clEnqueueMarkerWithWaitList, queues[queue], 1, &operations[first].event,
	     &operation->event);
	return (int)(operation - operations);
}

static int read_buffer(int queue, int first)
{
	struct operation *operation = begin("copy_from_device", "-", COPY_BYTES, queue, first, -1);
	MUST(clEnqueueReadBuffer, queues[queue], copy, CL_FALSE, 0, COPY_BYTES, host_data, 1,
	     &operations[first].event, &operation->event);
	return (int)(operation - operations);
}

static void one_round(void)
{
	int first = operation_count;
	int written = write_buffer(0);
	int spun = spin(0, written, -1);
	int other = spin(1, spun, -1);
	int copied = copy_buffer(1, other);
	int marked = marker(1, copied);
	int last = spin(1, marked, spun);
	read_buffer(0, last);
	MUST(clFlush, queues[0]);
	MUST(clFlush, queues[1]);
	for (int i = first; i < operation_count; i++) {
		MUST(clWaitForEvents, 1, &operations[i].event);
		operations[i].done_ns = world_clock_ns(CLOCK_MONOTONIC_RAW);
	}
	for (int i = first; i < operation_count; i++)
		MUST(clReleaseEvent, operations[i].event);
}

int main(void)
{
	_Static_assert(ROUNDS * PER_ROUND <= MAX_OPERATIONS, "all rounds are kept");
	world = world_make();
	copy = MUST_MAKE(clCreateBuffer, world.context, 0, COPY_BYTES, NULL);
	queues[0] = world.queue;
	queues[1] = world_queue(&world);
	for (int i = 0; i < ROUNDS; i++)
		one_round();
	for (int i = 0; i < operation_count; i++) {
		const struct operation *each = &operations[i];
		printf("operation %s %llu %s %d %llu %llu", each->kind,
		       (unsigned long long)each->bytes, each->name, each->queue,
		       (unsigned long long)each->enqueued_ns, (unsigned long long)each->done_ns);
		for (int j = 0; j < 2; j++)
			if (each->awaited[j] >= 0)
				printf(" %d", each->awaited[j]);
		printf("\n");
	}
	MUST(clReleaseMemObject, copy);
	MUST(clReleaseCommandQueue, queues[1]);
	world_release(&world);
	return 0;
}
