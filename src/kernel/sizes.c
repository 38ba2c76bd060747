/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/sizes.h"

#include "base/macros.h"

enum {
	RING_MAX_BYTES = 16 << 20,
	RING_MIN_BYTES = 256 << 10,
	DEFINITION_RING_MAX_BYTES = 512 << 10,
	DEFINITION_RING_MIN_BYTES = 64 << 10,
	DEFINITION_PARTS = 8, /* of the ring for events, in a group */
	MEMORY_PARTS = 32,    /* all rings: one part in so many of the machine's memory; */
	GROUP_PARTS = 64,     /* or of what a control group leaves */
	TABLE_BYTES = 8 << 20,
	TABLE_PARTS_MAX = 16,
};

/* The largest power of two times `least` that is in the share. */
static uint64_t fitting(uint64_t share, uint64_t least, uint64_t most)
{
	uint64_t bytes = most;
	while (bytes > mr_max(share, least))
		bytes /= 2;
	return bytes;
}

struct mr_kernel_sizes mr_kernel_sizes(const struct mr_memory_room *room, uint32_t cpus)
{
	uint64_t share = mr_memory_share(room, room->is_in_group ? GROUP_PARTS : MEMORY_PARTS);
	uint64_t events = fitting(share / mr_max(cpus, 1u), RING_MIN_BYTES, RING_MAX_BYTES);
	struct mr_kernel_sizes sizes = {.event_ring_bytes = events,
					.definition_ring_bytes = DEFINITION_RING_MAX_BYTES,
					.table_parts = 1};
	if (!room->is_in_group)
		return sizes;
	sizes.definition_ring_bytes = fitting(events / DEFINITION_PARTS, DEFINITION_RING_MIN_BYTES,
					      DEFINITION_RING_MAX_BYTES);
	while (sizes.table_parts < TABLE_PARTS_MAX && TABLE_BYTES / sizes.table_parts > share / 4)
		sizes.table_parts *= 2;
	return sizes;
}
