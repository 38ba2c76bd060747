/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds the packets of a stream file. A file consists of whole packets, each a multiple of eight bytes
 * long. Where there is no valid packet, the search continues in steps of eight bytes until it finds
 * a header that is valid in every respect. So damage to one packet does not affect the next. Holes of the
 * file are passed over, however large: a file may claim to have any size.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "trace/private.h"

enum {
	PACKET_ALIGNMENT = 8,
	STRETCH = 1 << 20, /* after which the search looks for a hole */
	DAMAGES_MAX = 1000
};

int mr_trace_add_damage(struct mr_trace_private *trace, uint32_t file, uint64_t offset,
			uint64_t lost_bytes, const char *reason)
{
	if (trace->damages.count == DAMAGES_MAX) {
		trace->damages.items[DAMAGES_MAX - 1].lost_bytes += lost_bytes;
		return 0;
	}
	if (trace->damages.count == DAMAGES_MAX - 1)
		reason = "more damage follows than can be listed";
	struct mr_trace_damage damage = {
		.file = trace->names.items[file],
		.offset = offset,
		.reason = strdup(reason),
		.lost_bytes = lost_bytes,
	};
	if (!damage.reason || mr_vec_push(&trace->damages, damage) < 0) {
		free(damage.reason);
		return mr_fail_errno(ENOMEM, "list of damages");
	}
	return 0;
}

/* The reason why this is not a valid packet; NULL if it is one. */
static const char *packet_fault(const struct mr_packet *packet, size_t available,
				const uint8_t *uuid)
{
	if (available < sizeof *packet)
		return "a packet's header is truncated";
	if (packet->header.magic != MR_CTF_MAGIC)
		return "no packet begins here";
	if (memcmp(packet->header.trace_uuid, uuid, sizeof packet->header.trace_uuid) != 0)
		return "the packet belongs to another trace";
	if (packet->header.stream_class >= MR_STREAM_CLASSES)
		return "the packet's stream class is not known";

	const struct mr_packet_context *context = &packet->context;
	uint64_t content_bytes = context->content_bits / 8;
	if (context->packet_bits > 8 * (uint64_t)MR_PACKET_MAX_BYTES ||
	    context->content_bits > context->packet_bits)
		return "the packet's size is invalid";
	if (context->content_bits % 8 || content_bytes < sizeof *packet ||
	    context->packet_bits != 8 * mr_align_up(content_bytes, PACKET_ALIGNMENT))
		return "the packet's size does not match the size of its content";
	if (context->packet_bits / 8 > available)
		return "the packet is truncated";
	if (context->begin_ticks > context->end_ticks)
		return "the packet ends before it begins";
	if (context->kind > MR_PACKET_DEFINITIONS)
		return "the packet's kind is not known";
	return NULL;
}

/* Offset of the first byte that is not in a hole. */
static size_t pass_hole(int fd, size_t offset, size_t size)
{
	off_t data = lseek(fd, (off_t)offset, SEEK_DATA);

	if (data < 0)
		return errno == ENXIO ? size : offset; /* nothing follows; or nobody knows */
	return mr_max(offset, (size_t)data / PACKET_ALIGNMENT * PACKET_ALIGNMENT);
}

/* Offset of the next valid packet, or the end of the file. */
static size_t find_packet(const struct mr_mapping *file, size_t offset, const uint8_t *uuid, int fd)
{
	for (; offset + sizeof(struct mr_packet) <= file->size; offset += PACKET_ALIGNMENT) {
		if (offset % STRETCH == 0)
			offset = pass_hole(fd, offset, file->size);
		if (file->size - offset < sizeof(struct mr_packet))
			break;
		if (!packet_fault((const void *)(file->bytes + offset), file->size - offset, uuid))
			return offset;
	}
	return file->size;
}

/* After damage. */
static size_t find_next(const struct mr_trace_private *trace, uint32_t file, size_t offset,
			int directory)
{
	const struct mr_mapping *mapping = &trace->mappings.items[file];
	mr_auto(close_fd) int fd =
		directory < 0 ? -1
			      : openat(directory, trace->names.items[file], O_RDONLY | O_CLOEXEC);

	return find_packet(mapping, pass_hole(fd, offset, mapping->size),
			   trace->metadata->identity.trace_uuid, fd);
}

int mr_trace_scan_file(struct mr_trace_private *trace, uint32_t file, int directory)
{
	const struct mr_mapping *mapping = &trace->mappings.items[file];
	const uint8_t *uuid = trace->metadata->identity.trace_uuid;
	size_t offset = 0;
	while (offset < mapping->size) {
		const struct mr_packet *packet = (const void *)(mapping->bytes + offset);
		const char *fault = packet_fault(packet, mapping->size - offset, uuid);
		if (fault) {
			size_t next = find_next(trace, file, offset + PACKET_ALIGNMENT, directory);
			if (mr_trace_add_damage(trace, file, offset, next - offset, fault) < 0)
				return -ENOMEM;
			offset = next;
			continue;
		}
		struct mr_trace_packet found = {
			.packet = packet,
			.file_offset = offset,
			.file = file,
			.content_bytes = (uint32_t)(packet->context.content_bits / 8),
		};
		if (mr_vec_push(&trace->packets, found) < 0)
			return mr_fail_errno(ENOMEM, "list of packets");
		offset += packet->context.packet_bits / 8;
	}
	return 0;
}
