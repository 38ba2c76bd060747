/* SPDX-License-Identifier: Apache-2.0
 *
 * decode TRACE: reads every event of every stream with src/trace, and prints the number of node
 * executions and the sum of their durations.
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/error.h"
#include "trace/trace.h"

int main(int argc, char **argv)
{
	mr_auto(trace) struct mr_trace *trace = NULL;
	if (argc != 2 || mr_trace_open(argv[1], &trace) < 0) {
		fprintf(stderr, "decode: %s\n",
			argc == 2 ? mr_error_text() : "usage: decode TRACE");
		return 2;
	}
	uint64_t events = 0, intervals = 0, ticks = 0;
	for (uint32_t i = 0; i < trace->stream_count; i++) {
		struct mr_cursor cursor;
		struct mr_event event;
		mr_cursor_start(&cursor, trace, &trace->streams[i]);
		while (mr_cursor_next(&cursor, &event)) {
			events++;
			if (event.desc->id == MR_EVENT_node_interval) {
				const struct mr_event_node_interval *interval = event.payload;
				ticks += mr_u48_value(interval->duration_ticks);
				intervals++;
			} else if (event.desc->id == MR_EVENT_node_interval_at) {
				const struct mr_event_node_interval_at *interval = event.payload;
				ticks += interval->end - interval->start;
				intervals++;
			}
		}
	}
	printf("events %" PRIu64 " intervals %" PRIu64 " ticks %" PRIu64 "\n", events, intervals,
	       ticks);
	return 0;
}
