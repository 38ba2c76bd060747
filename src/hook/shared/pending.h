/* SPDX-License-Identifier: Apache-2.0
 *
 * The pending operations of a runtime's queue, from launch until found complete: a ring, oldest first.
 *
 *     operations  ┌───┬───┬───┬───┬───┬───┬───┬───┐   a power of two
 *                 │   │ ● │ ● │ ● │ ● │   │   │   │   taken: out of the ring for a while,
 *                 └───┴───┴───┴───┴───┴───┴───┴───┘   to be looked at
 *                       first, count
 *
 * A ring of zeroes is empty and ready. Its memory comes straight from the system. The caller holds the queue's lock, but
 * never while it queries the runtime: it takes operations out, queries them, and puts back those not complete.
 */
#ifndef MR_HOOK_SHARED_PENDING_H
#define MR_HOOK_SHARED_PENDING_H

#include <stdbool.h>
#include <stdint.h>

#include "record/recorder.h"

struct mr_pending_operation {
	void *event; /* by which the runtime says what became of it */
	uint64_t correlation;
	uint64_t bytes;
	uint64_t launch_ticks;          /* when the call that launched it began ... */
	uint32_t launch_duration_ticks; /* ... and how long it took; UINT32_MAX: longer than fits */
	uint32_t name;                  /* of its device kernel */
	uint32_t queue;                 /* id; 0: that of the queue which holds it */
	uint8_t kind;                   /* enum mr_operation_kind */
	bool is_shared;                 /* the program has the event, too */
	bool is_watched;                /* the runtime was asked to call us when it is complete */
};

struct mr_pending {
	struct mr_pending_operation *operations;
	uint32_t capacity;
	uint32_t first;
	uint32_t count;
	uint32_t taken;
};

/* The pending operation with this number, oldest first. */
static inline struct mr_pending_operation *mr_pending_at(const struct mr_pending *pending,
							 uint32_t index)
{
	return &pending->operations[(pending->first + index) & (pending->capacity - 1)];
}

/* Makes room for one more; false if there is no memory. */
bool mr_pending_grow(struct mr_pending *pending);

/* Adds the newest; false if there is no memory, as the next one. */
static inline bool mr_pending_add(struct mr_pending *pending,
				  const struct mr_pending_operation *operation)
{
	if (mr_unlikely(pending->count == pending->capacity) && !mr_pending_grow(pending))
		return false;
	*mr_pending_at(pending, pending->count++) = *operation;
	return true;
}

/* Puts back before the first, but behind what was launched earlier: others may have looked at that, and have
 * been the faster. */
bool mr_pending_put_back(struct mr_pending *pending, const struct mr_pending_operation *operation);

/* Takes out the oldest, `most` of them at most; returns how many. They count as taken until the caller says that they
 * do not. */
uint32_t mr_pending_take(struct mr_pending *pending, uint32_t most,
			 struct mr_pending_operation *ret_operations);

/* Takes out the one with this event, for good; false if there is none. */
bool mr_pending_remove(struct mr_pending *pending, const void *event,
		       struct mr_pending_operation *ret_operation);

/* Gives back the memory of a large ring that is empty. */
void mr_pending_shrink(struct mr_pending *pending);

/* Writes all as unfinished, and forgets them. */
void mr_pending_write_unfinished(struct mr_pending *pending, uint32_t queue);

/* Writes operations that are over, as events that lie one behind the other, of `bytes` each: in one go if there is room, with
 * one look at the clock. */
void mr_pending_write_events(uint8_t event, const void *done, size_t bytes, uint32_t count);

static inline void mr_pending_write_done(const struct mr_event_device_operation *done,
					 uint32_t count)
{
	mr_pending_write_events(MR_EVENT_device_operation, done, sizeof *done, count);
}

#endif
