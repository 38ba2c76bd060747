/* SPDX-License-Identifier: Apache-2.0
 *
 * Decoding. Most events have a fixed size and need only a table lookup, two comparisons and a few
 * stores: the fast path. Everything else takes the slow path: texts, extended headers, layouts of
 * other versions, unknown events, and the step to the next packet.
 */
#include <string.h>

#include "base/macros.h"
#include "base/progress.h"
#include "trace/private.h"

/* Every event of our schema fits the buffer for rearranged payloads. */
#define MR_FIELD(type, name, doc)
#define MR_EVENT(id, name, level, doc, ...)                                 \
	_Static_assert(sizeof(struct mr_event_##name) <=                    \
			       sizeof(((struct mr_cursor *)0)->rearranged), \
		       "larger than a cursor's buffer");
#include "schema/events.def"
#undef MR_EVENT
#undef MR_FIELD

void mr_cursor_start(struct mr_cursor *cursor, const struct mr_trace *trace,
		     const struct mr_trace_stream *stream)
{
	*cursor = (struct mr_cursor){
		.trace = trace,
		.stream = stream,
		.layouts = trace->private->metadata->layouts[stream->stream_class],
	};
}

/* Goes to the next packet; false if there is none. Skips a packet that ends before the last event
 * already returned. */
static bool next_packet(struct mr_cursor *cursor)
{
	while (cursor->packet_index < cursor->stream->packet_count) {
		const struct mr_trace_packet *found =
			&cursor->stream->packets[cursor->packet_index++];
		const struct mr_packet *packet = found->packet;
		mr_progress_advance(mr_align_up(found->content_bytes, 8u));
		uint64_t last_ticks = mr_max(cursor->last_ticks, packet->context.begin_ticks);
		if (last_ticks > packet->context.end_ticks) {
			cursor->malformed_packets++;
			continue;
		}
		cursor->position = packet->events;
		cursor->limit = (const uint8_t *)packet + found->content_bytes;
		cursor->last_ticks = last_ticks;
		cursor->end_ticks = packet->context.end_ticks;
		cursor->context = &packet->context;
		return true;
	}
	return false;
}

/* Ticks of a compact header: the earliest time with these low bits that is not before the last event. */
static uint32_t compact_elapsed(const uint8_t *header, uint64_t last_ticks)
{
	uint32_t low;
	memcpy(&low, header + 1, sizeof low);
	return low - (uint32_t)last_ticks;
}

struct header {
	uint64_t ticks;
	uint8_t id;
	uint8_t bytes;
};

/* Reads the header of the next event; false if it is invalid. */
static bool read_header(const struct mr_cursor *cursor, struct header *ret_header)
{
	const uint8_t *position = cursor->position;
	size_t left = (size_t)(cursor->limit - position);
	bool extended = position[0] == MR_EVENT_EXTENDED;
	struct header header = {.bytes = extended ? MR_EXTENDED_HEADER_BYTES
						  : MR_COMPACT_HEADER_BYTES};
	if (left < header.bytes)
		return false;
	header.id = position[extended];
	if (extended) {
		memcpy(&header.ticks, position + 2, sizeof header.ticks);
		if (header.ticks < cursor->last_ticks || header.ticks > cursor->end_ticks)
			return false;
	} else {
		uint32_t elapsed = compact_elapsed(position, cursor->last_ticks);
		if (elapsed > cursor->end_ticks - cursor->last_ticks)
			return false;
		header.ticks = cursor->last_ticks + elapsed;
	}
	*ret_header = header;
	return true;
}

static const char *event_text(const struct mr_layout *layout, const uint8_t *text)
{
	if (!layout->desc->has_text)
		return NULL;
	return layout->text_known ? (const char *)text : "";
}

enum outcome {
	EVENT,
	SKIPPED,
	MALFORMED
};

/* Decodes the next event, of any form. */
static enum outcome decode(struct mr_cursor *cursor, struct mr_event *event)
{
	struct header header;
	if (!read_header(cursor, &header))
		return MALFORMED;
	const struct mr_layout *layout = &cursor->layouts[header.id];
	const uint8_t *payload = cursor->position + header.bytes;
	if (!layout->declared || (size_t)(cursor->limit - payload) < layout->fixed_bytes)
		return MALFORMED;
	const uint8_t *text = payload + layout->fixed_bytes, *next = text;
	if (layout->has_text) {
		const uint8_t *zero = memchr(text, 0, (size_t)(cursor->limit - text));
		if (!zero)
			return MALFORMED;
		next = zero + 1;
	}
	cursor->position = next;
	cursor->last_ticks = header.ticks;
	if (!layout->desc) {
		cursor->unknown_events++;
		return SKIPPED;
	}
	if (layout->moves) {
		mr_layout_rearrange(layout, payload, cursor->rearranged);
		payload = cursor->rearranged;
	}
	*event = (struct mr_event){
		.ticks = header.ticks,
		.desc = layout->desc,
		.payload = payload,
		.text = event_text(layout, text),
		.context = cursor->context,
	};
	return EVENT;
}

static __attribute__((noinline)) bool next_the_long_way(struct mr_cursor *cursor,
							struct mr_event *event)
{
	for (;;) {
		if (cursor->position == cursor->limit) {
			if (!next_packet(cursor))
				return false;
			continue; /* the packet may be empty */
		}
		switch (decode(cursor, event)) {
		case EVENT:
			return true;
		case SKIPPED:
			break;
		case MALFORMED:
			cursor->malformed_packets++;
			cursor->position = cursor->limit;
			break;
		}
	}
}

bool mr_cursor_next(struct mr_cursor *cursor, struct mr_event *event)
{
	const uint8_t *position = cursor->position;
	size_t left = (size_t)(cursor->limit - position);
	if (mr_unlikely(left == 0))
		return next_the_long_way(cursor, event);
	const struct mr_layout *layout = &cursor->layouts[position[0]];
	if (mr_unlikely(left < layout->plain_bytes))
		return next_the_long_way(cursor, event);
	uint64_t last_ticks = cursor->last_ticks;
	uint32_t elapsed = compact_elapsed(position, last_ticks);
	if (mr_unlikely(elapsed > cursor->end_ticks - last_ticks))
		return next_the_long_way(cursor, event);
	event->ticks = cursor->last_ticks = last_ticks + elapsed;
	event->desc = layout->desc;
	event->payload = position + MR_COMPACT_HEADER_BYTES;
	event->text = NULL;
	event->context = cursor->context;
	cursor->position = position + layout->plain_bytes;
	return true;
}
