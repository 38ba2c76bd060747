/* SPDX-License-Identifier: Apache-2.0
 *
 * Packets written into memory, one stream after the other, in the layout of a stream file
 * (schema/packet.h).
 *
 *     mr_image_begin(&image, class, &context, first);        a stream, of one thread, CPU or of definitions
 *     mr_image_add(&image, time, event, &payload, text);     ... in order of time
 *     mr_image_end(&image);
 *     mr_image_take(&image, &packets);
 *
 * A zeroed image, but for the trace's UUID, is empty and valid.
 */
#ifndef MR_IMPORT_IMAGE_H
#define MR_IMPORT_IMAGE_H

#include "base/mapping.h"
#include "schema/packet.h"
#include "schema/schema.h"

struct mr_image {
	const uint8_t *trace_uuid;
	uint8_t *bytes; /* of a mapping, which moves when it grows */
	size_t used;
	size_t capacity;
	size_t packet; /* where the packet begins that is being written */
	enum mr_stream_class stream_class;
	struct mr_packet_context context;
	uint64_t last_ticks;
	uint64_t stream;
};

/* Each returns 0 or -ENOMEM. */
int mr_image_begin(struct mr_image *image, enum mr_stream_class stream_class,
		   const struct mr_packet_context *context, int64_t first);

/* The payload is that of the event; NULL if it has no fields but a text. The text is looked at if the event has
 * one; too long for a packet, it is cut. */
int mr_image_add(struct mr_image *image, int64_t time, enum mr_event_id event, const void *payload,
		 const char *text);

/* The same of bytes that hold the event's id, its fields, and its text with a zero if it has one. */
int mr_image_add_stored(struct mr_image *image, int64_t time, const uint8_t *stored);

void mr_image_end(struct mr_image *image);

/* Hands the packets over, without the room behind them. */
void mr_image_take(struct mr_image *image, struct mr_mapping *ret_packets);
void mr_image_free(struct mr_image *image);

#endif
