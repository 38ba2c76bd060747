/* SPDX-License-Identifier: Apache-2.0
 *
 * Merges streams in chronological order. The first item of a heap is the lane with the earliest event.
 * Its cursor moves only when the caller asks for the next event, so the payload it points to stays
 * valid until then.
 */
#include <errno.h>

#include "base/error.h"
#include "base/heap.h"
#include "trace/private.h"

struct lane {
	struct mr_cursor cursor;
	struct mr_event event; /* the next event of this stream */
};

struct mr_merge {
	struct lane *lanes;        /* in the order of the trace's streams */
	struct mr_heap_item *heap; /* (ns, lane) */
	uint32_t lane_count;
	uint32_t heap_count;
	bool is_given; /* the first event has been returned */
	mr_to_ns *to_ns;
	const void *clocks;
};

/* Reads a lane's next event; false at its end. */
static bool advance(struct mr_merge *merge, uint32_t number, struct mr_heap_item *item)
{
	struct lane *lane = &merge->lanes[number];
	if (!mr_cursor_next(&lane->cursor, &lane->event))
		return false;
	*item = (struct mr_heap_item){
		.key = merge->to_ns(merge->clocks, lane->cursor.stream->stream_class,
				    lane->event.ticks),
		.index = number,
	};
	return true;
}

int mr_merge_start(const struct mr_trace *trace, mr_stream_wanted *wanted, mr_to_ns *to_ns,
		   const void *clocks, struct mr_merge **ret_merge)
{
	mr_auto(merge) struct mr_merge *merge = calloc(1, sizeof *merge);
	if (!merge)
		return mr_fail_errno(ENOMEM, "merge");
	merge->to_ns = to_ns;
	merge->clocks = clocks;
	merge->lanes = calloc(trace->stream_count + 1, sizeof *merge->lanes);
	merge->heap = calloc(trace->stream_count + 1, sizeof *merge->heap);
	if (!merge->lanes || !merge->heap)
		return mr_fail_errno(ENOMEM, "merge of %u streams", trace->stream_count);
	for (uint32_t i = 0; i < trace->stream_count; i++) {
		const struct mr_trace_stream *stream = &trace->streams[i];
		if (wanted && !wanted(stream))
			continue;
		uint32_t number = merge->lane_count++;
		mr_cursor_start(&merge->lanes[number].cursor, trace, stream);
		if (advance(merge, number, &merge->heap[merge->heap_count]))
			merge->heap_count++;
	}
	mr_heap_make(merge->heap, merge->heap_count);
	*ret_merge = mr_take(merge);
	return 0;
}

bool mr_merge_next(struct mr_merge *merge, struct mr_event *event, int64_t *ret_ns)
{
	if (merge->is_given) {
		if (!advance(merge, merge->heap[0].index, &merge->heap[0]))
			merge->heap[0] = merge->heap[--merge->heap_count];
		mr_heap_sink(merge->heap, merge->heap_count, 0);
	}
	merge->is_given = merge->heap_count > 0;
	if (!merge->is_given)
		return false;
	*event = merge->lanes[merge->heap[0].index].event;
	*ret_ns = merge->heap[0].key;
	return true;
}

void mr_merge_free(struct mr_merge *merge)
{
	if (!merge)
		return;
	free(merge->lanes);
	free(merge->heap);
	free(merge);
}

uint64_t mr_merge_unknown_events(const struct mr_merge *merge)
{
	uint64_t count = 0;
	for (uint32_t i = 0; i < merge->lane_count; i++)
		count += merge->lanes[i].cursor.unknown_events;
	return count;
}

uint64_t mr_merge_malformed_packets(const struct mr_merge *merge)
{
	uint64_t count = 0;
	for (uint32_t i = 0; i < merge->lane_count; i++)
		count += merge->lanes[i].cursor.malformed_packets;
	return count;
}
