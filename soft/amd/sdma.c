/* SPDX-License-Identifier: Apache-2.0
 *
 * Commands of a copy engine (SDMA, version 4). A command begins with a word that says what it is.
 */
#include <string.h>

#include "device.h"

enum command {
	NOP = 0,
	COPY = 1,
	FENCE = 5,
	TRAP = 6,
	POLL = 8,
	ATOMIC = 10,
	FILL = 11,
	TIMESTAMP = 13,

	COPY_RECT = 4,         /* a kind of COPY */
	COUNT_MASK = 0x3fffff, /* bytes, less one */
};

static void *address(const uint32_t *words)
{
	return (void *)((uint64_t)words[1] << 32 | words[0]);
}

/* One side of a copy of a rectangle. */
struct side {
	char *start;
	uint64_t row;   /* bytes from one to the next */
	uint64_t slice; /* likewise */
};

static struct side side_of(const uint32_t *words, uint32_t shift)
{
	return (struct side){.start = (char *)address(words) +
				      ((uint64_t)(words[2] & 0x3fff) << shift),
			     .row = ((uint64_t)(words[3] >> 13) + 1) << shift,
			     .slice = ((uint64_t)(words[4] & 0xfffffff) + 1) << shift};
}

static uint64_t copy_rect(const uint32_t *words)
{
	uint32_t shift = words[0] >> 29; /* of an element's size */
	struct side from = side_of(words + 1, shift), to = side_of(words + 6, shift);
	uint64_t width = ((uint64_t)(words[11] & 0x3fff) + 1) << shift;
	uint64_t rows = (words[11] >> 16 & 0x3fff) + 1, slices = (words[12] & 0x7ff) + 1;
	for (uint64_t slice = 0; slice < slices; slice++)
		for (uint64_t row = 0; row < rows; row++)
			memcpy(to.start + slice * to.slice + row * to.row,
			       from.start + slice * from.slice + row * from.row, width);
	return width * rows * slices;
}

/* How many bytes the command takes. */
static uint32_t copy(struct soft_queue *queue, const uint32_t *words)
{
	bool is_rect = (words[0] >> 8 & 0xff) == COPY_RECT;
	uint64_t start_ns = soft_now_ns(), start = soft_ticks(), bytes;
	if (is_rect) {
		bytes = copy_rect(words);
	} else {
		bytes = (words[1] & COUNT_MASK) + 1;
		memmove(address(words + 5), address(words + 3), bytes);
	}
	if (soft_settings.copy_mbps)
		soft_pace(start_ns, bytes * 1000 / soft_settings.copy_mbps);
	soft_log("copy", queue, start, soft_ticks(), bytes, "-");
	return is_rect ? 52 : 28;
}

static uint32_t fill(struct soft_queue *queue, const uint32_t *words)
{
	uint64_t start = soft_ticks();
	uint32_t *to = address(words + 1), count = (words[4] & COUNT_MASK) / 4 + 1;
	for (uint32_t i = 0; i < count; i++)
		to[i] = words[3];
	soft_log("fill", queue, start, soft_ticks(), (uint64_t)count * 4, "-");
	return 20;
}

/* With the topmost bit, memory is polled; without it, a cache is flushed. */
static uint32_t poll(const struct soft_queue *queue, const uint32_t *words)
{
	uint32_t times = 0;
	while (words[0] >> 31 &&
	       (*(volatile uint32_t *)address(words + 1) & words[4]) != words[3]) {
		if (queue->is_stopped)
			return 0;
		soft_idle(&times);
	}
	return 24;
}

static uint32_t execute(struct soft_queue *queue, const uint32_t *words)
{
	switch (words[0] & 0xff) {
	case NOP:
		return 4;
	case COPY:
		return copy(queue, words);
	case FENCE:
		__atomic_store_n((uint32_t *)address(words + 1), words[3], __ATOMIC_RELEASE);
		return 16;
	case TRAP:
		soft_event_raise(words[1] & 0xfffffff);
		return 8;
	case POLL:
		return poll(queue, words);
	case ATOMIC: /* the only kind in use adds 64 bits */
		__atomic_add_fetch((uint64_t *)address(words + 1),
				   (uint64_t)words[4] << 32 | words[3], __ATOMIC_ACQ_REL);
		return 32;
	case FILL:
		return fill(queue, words);
	case TIMESTAMP:
		*(uint64_t *)address(words + 1) = soft_ticks();
		return 12;
	default:
		soft_log("unknown", queue, soft_ticks(), soft_ticks(), words[0], "-");
		queue->is_stopped = true;
		return 0;
	}
}

bool soft_sdma_step(struct soft_queue *queue)
{
	uint64_t index = *queue->read_index;
	if (index >= queue->doorbell)
		return false;
	uint32_t bytes = execute(queue, (const uint32_t *)(queue->ring + index % queue->bytes));
	__atomic_store_n(queue->read_index, index + bytes, __ATOMIC_RELEASE);
	return true;
}
