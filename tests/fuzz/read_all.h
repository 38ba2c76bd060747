/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared by the fuzzers of the reader: whatever a trace holds, all of its bytes are accounted for, all that events point
 * to can be read, and times never go back.
 */
#ifndef MR_TESTS_FUZZ_READ_ALL_H
#define MR_TESTS_FUZZ_READ_ALL_H

#include "packets_model.h"

/* Touches all that the event points to. */
static inline uint64_t touch(const struct mr_event *event)
{
	uint64_t sum = event->context->tid;
	for (uint32_t i = 0; i < event->desc->fixed_bytes; i++)
		sum += ((const uint8_t *)event->payload)[i];
	require(event->desc->has_text == (event->text != NULL));
	return sum + (event->text ? strlen(event->text) : 0);
}

static inline uint64_t read_streams(const struct mr_trace *trace)
{
	uint64_t count = 0;
	for (uint32_t i = 0; i < trace->stream_count; i++) {
		struct mr_cursor cursor;
		struct mr_event event;
		uint64_t last_ticks = 0;
		mr_cursor_start(&cursor, trace, &trace->streams[i]);
		for (; mr_cursor_next(&cursor, &event); count++) {
			require(event.ticks >= last_ticks);
			last_ticks = event.ticks;
			require(touch(&event) != UINT64_MAX); /* so that it is not optimised away */
		}
	}
	return count;
}

static inline int64_t half_ticks(const void *clocks, enum mr_stream_class stream_class,
				 uint64_t ticks)
{
	(void)clocks, (void)stream_class;
	return (int64_t)(ticks >> 1);
}

static inline uint64_t merge_streams(const struct mr_trace *trace)
{
	mr_auto(merge) struct mr_merge *merge = NULL;
	require(mr_merge_start(trace, NULL, half_ticks, NULL, &merge) == 0);
	struct mr_event event;
	int64_t ns, last_ns = INT64_MIN;
	uint64_t count = 0;
	for (; mr_merge_next(merge, &event, &ns); count++) {
		require(ns >= last_ns);
		last_ns = ns;
	}
	return count;
}

static inline void read_all(const struct mr_trace *trace, size_t stream_bytes)
{
	uint64_t bytes = trace->event_bytes;
	for (uint32_t i = 0; i < trace->damage_count; i++)
		bytes += trace->damages[i].lost_bytes;
	require(bytes == stream_bytes);
	require(read_streams(trace) == merge_streams(trace));
}

#endif
