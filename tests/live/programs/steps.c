/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads the trace of `load` and prints what arrived of each of its threads, one line each:
 *
 *     TID  INSTANTS FIRST  STEPS FIRST  INTERVALS FIRST  [ID:STEP]...
 *
 * that is, how many events there are of each kind and the step of the first, then the unfinished intervals
 * with the id of the event they would have become. Fails if a thread's steps have a gap.
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/error.h"
#include "trace/trace.h"

enum {
	MAX_THREADS = 64,
	MAX_UNFINISHED = 16
};
enum kind {
	INSTANTS,
	STEPS,
	INTERVALS,
	KINDS
};

struct thread {
	uint32_t tid;
	uint64_t first[KINDS], count[KINDS];
	uint32_t unfinished_count;
	struct mr_event_interval_unfinished unfinished[MAX_UNFINISHED];
};

static struct thread threads[MAX_THREADS];
static bool has_gap;

static struct thread *thread_of(uint32_t tid)
{
	int i = 0;
	while (i < MAX_THREADS - 1 && threads[i].tid != 0 && threads[i].tid != tid)
		i++;
	threads[i].tid = tid;
	return &threads[i];
}

static void note(struct thread *thread, enum kind kind, uint64_t step)
{
	if (thread->count[kind] == 0)
		thread->first[kind] = step;
	has_gap |= step != thread->first[kind] + thread->count[kind];
	thread->count[kind]++;
}

static void look_at(const struct mr_event *event)
{
	struct thread *thread = thread_of(event->context->tid);
	switch (event->desc->id) {
	case MR_EVENT_node_instant:
		note(thread, INSTANTS,
		     ((const struct mr_event_node_instant *)event->payload)->step);
		break;
	case MR_EVENT_step_interval:
		note(thread, STEPS, ((const struct mr_event_step_interval *)event->payload)->step);
		break;
	case MR_EVENT_node_interval:
		note(thread, INTERVALS,
		     ((const struct mr_event_node_interval *)event->payload)->step);
		break;
	case MR_EVENT_interval_unfinished:
		if (thread->unfinished_count < MAX_UNFINISHED)
			thread->unfinished[thread->unfinished_count++] =
				*(const struct mr_event_interval_unfinished *)event->payload;
		break;
	}
}

static void print(const struct thread *thread)
{
	printf("%u", thread->tid);
	for (int kind = 0; kind < KINDS; kind++)
		printf(" %" PRIu64 " %" PRIu64, thread->count[kind], thread->first[kind]);
	for (uint32_t i = 0; i < thread->unfinished_count; i++)
		printf(" %u:%" PRIu64, thread->unfinished[i].event,
		       (uint64_t)thread->unfinished[i].step);
	putchar('\n');
}

int main(int argc, char **argv)
{
	struct mr_trace *trace;
	if (argc != 2 || mr_trace_open(argv[1], &trace) < 0) {
		fprintf(stderr, "%s\n", argc == 2 ? mr_error_text() : "give one trace");
		return 1;
	}
	for (uint32_t i = 0; i < trace->stream_count; i++) {
		struct mr_cursor cursor;
		struct mr_event event;
		mr_cursor_start(&cursor, trace, &trace->streams[i]);
		while (mr_cursor_next(&cursor, &event))
			look_at(&event);
	}
	for (int i = 0; i < MAX_THREADS; i++)
		if (threads[i].count[INSTANTS] || threads[i].unfinished_count)
			print(&threads[i]);
	mr_trace_close(trace);
	if (has_gap)
		fputs("a thread's steps have a gap\n", stderr);
	return has_gap;
}
