/* SPDX-License-Identifier: Apache-2.0 */
#include "import/image.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

enum {
	PACKET_BYTES = 64 << 10, /* a packet is closed when it is that large */
	TEXT_MAX = MR_PACKET_MAX_BYTES / 2,
	CAPACITY_MIN = 1 << 20,
};

_Static_assert(PACKET_BYTES + TEXT_MAX + 1024 < MR_PACKET_MAX_BYTES, "the largest event fits");

static int reserve(struct mr_image *image, size_t more)
{
	if (image->used + more <= image->capacity)
		return 0;
	size_t wanted = mr_max(image->capacity + image->capacity / 2, (size_t)CAPACITY_MIN);
	void *moved;

	wanted = mr_align_up(mr_max(wanted, image->used + more), (size_t)4096);
	if (image->bytes)
		moved = mremap(image->bytes, image->capacity, wanted, MREMAP_MAYMOVE);
	else
		moved = mmap(NULL, wanted, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			     0);
	if (moved == MAP_FAILED)
		return -ENOMEM;
	image->bytes = moved;
	image->capacity = wanted;
	return 0;
}

static int begin_packet(struct mr_image *image)
{
	if (reserve(image, sizeof(struct mr_packet)) < 0)
		return -ENOMEM;
	image->packet = image->used;
	image->context.begin_ticks = image->last_ticks;
	image->used += sizeof(struct mr_packet);
	return 0;
}

static void end_packet(struct mr_image *image)
{
	struct mr_packet_header header = {.magic = MR_CTF_MAGIC,
					  .stream_class = image->stream_class,
					  .stream = image->stream};
	struct mr_packet_context *context = &image->context;
	size_t content = image->used - image->packet, whole = mr_align_up(content, (size_t)8);

	memcpy(header.trace_uuid, image->trace_uuid, sizeof header.trace_uuid);
	context->end_ticks = image->last_ticks;
	context->content_bits = 8 * content;
	context->packet_bits = 8 * whole;
	memcpy(image->bytes + image->packet, &header, sizeof header);
	memcpy(image->bytes + image->packet + sizeof header, context, sizeof *context);
	image->used = image->packet + whole; /* what was never written is zero, and there is room */
	context->sequence++;
}

int mr_image_begin(struct mr_image *image, enum mr_stream_class stream_class,
		   const struct mr_packet_context *context, int64_t first)
{
	image->stream_class = stream_class;
	image->context = *context;
	image->last_ticks = (uint64_t)first;
	image->stream++;
	return begin_packet(image);
}

void mr_image_end(struct mr_image *image)
{
	end_packet(image);
}

static uint8_t *put(uint8_t *to, const void *from, size_t bytes)
{
	if (bytes)
		memcpy(to, from, bytes);
	return to + bytes;
}

static uint8_t *put_header(uint8_t *to, enum mr_event_id event, uint64_t ticks, uint64_t elapsed)
{
	uint32_t low = (uint32_t)ticks;

	if (elapsed > UINT32_MAX) {
		*to++ = MR_EVENT_EXTENDED;
		*to++ = (uint8_t)event;
		return put(to, &ticks, sizeof ticks);
	}
	*to++ = (uint8_t)event;
	return put(to, &low, sizeof low);
}

/* Makes room for an event, in a new packet if this one is full. */
static int make_room(struct mr_image *image, size_t bytes)
{
	if (image->used - image->packet >= PACKET_BYTES) {
		end_packet(image);
		if (begin_packet(image) < 0)
			return -ENOMEM;
	}
	return reserve(image, MR_EXTENDED_HEADER_BYTES + bytes + 8); /* and for the padding */
}

int mr_image_add(struct mr_image *image, int64_t time, enum mr_event_id event, const void *payload,
		 const char *text)
{
	const struct mr_event_desc *desc = &mr_event_table[event];
	size_t text_bytes = desc->has_text ? mr_min(strlen(text), (size_t)TEXT_MAX) : 0;
	uint64_t ticks = (uint64_t)time;

	if (make_room(image, desc->fixed_bytes + text_bytes + 1) < 0)
		return -ENOMEM;
	uint8_t *to =
		put_header(image->bytes + image->used, event, ticks, ticks - image->last_ticks);
	to = put(to, payload, desc->fixed_bytes);
	if (desc->has_text) {
		to = put(to, text, text_bytes);
		*to++ = 0;
	}
	image->used = (size_t)(to - image->bytes);
	image->last_ticks = ticks;
	return 0;
}

int mr_image_add_stored(struct mr_image *image, int64_t time, const uint8_t *stored)
{
	size_t fixed = mr_event_table[stored[0]].fixed_bytes;

	return mr_image_add(image, time, stored[0], stored + 1, (const char *)stored + 1 + fixed);
}

void mr_image_take(struct mr_image *image, struct mr_mapping *ret_packets)
{
	size_t kept = mr_align_up(image->used, (size_t)4096);

	if (kept < image->capacity)
		munmap(image->bytes + kept, image->capacity - kept);
	*ret_packets = (struct mr_mapping){.bytes = image->bytes, .size = image->used};
	*image = (struct mr_image){0};
}

void mr_image_free(struct mr_image *image)
{
	if (image->bytes)
		munmap(image->bytes, image->capacity);
	*image = (struct mr_image){0};
}
