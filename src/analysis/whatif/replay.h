/* SPDX-License-Identifier: Apache-2.0
 *
 * A course again, with pieces that take another time, or follow less: each piece starts as soon as all that it follows have
 * ended, and its delay has passed. Everything happens in the recorded order.
 *
 *     recorded   A ├── disk ──┤─ cpu ─┤                     B waits for A
 *                B ├─ cpu ─┤ ............├─ cpu ─┤
 *     no disk    A ├─ cpu ─┤
 *                B ├─ cpu ─┤├─ cpu ─┤
 *
 * Without a change every piece starts and ends just when it did.
 *
 * Borrows the course. O(pieces + follows).
 */
#ifndef MR_ANALYSIS_REPLAY_H
#define MR_ANALYSIS_REPLAY_H

#include "analysis/whatif/course.h"

/* What is different. */
struct mr_change {
	int64_t *duration_ns; /* by piece */
	uint16_t *freed;      /* by piece: 1 << enum mr_follow_kind of what it no longer follows */
	int64_t *delay_ns;    /* by piece */
};

/* None yet: all is as in the course. -ENOMEM. */
int mr_change_make(const struct mr_course *course, struct mr_change *ret_change);
void mr_change_free(struct mr_change *change);

struct mr_replay {
	const struct mr_course *course;
	const struct mr_change *change;
	int64_t *end_ns; /* by piece */
	uint32_t
		last; /* the piece that ends last, of equal ones the first; MR_NO_PIECE: there is none */
};

/* -ENOMEM. */
int mr_replay_make(const struct mr_course *course, const struct mr_change *change,
		   struct mr_replay *ret_replay);
void mr_replay_free(struct mr_replay *replay);

/* When the last piece has ended. */
static inline int64_t mr_replay_last_ns(const struct mr_replay *replay)
{
	return replay->last == MR_NO_PIECE ? replay->course->first_ns
					   : replay->end_ns[replay->last];
}

/* When the thread, or the queue, comes to where it was recorded at that time. */
int64_t mr_replay_at(const struct mr_replay *replay, uint32_t track, int64_t ns);

/* The piece that it had to wait for last; MR_NO_PIECE: for none. */
uint32_t mr_replay_enabler(const struct mr_replay *replay, uint32_t piece);

static inline void mr_cleanup_change(struct mr_change *change)
{
	mr_change_free(change);
}

static inline void mr_cleanup_replay(struct mr_replay *replay)
{
	mr_replay_free(replay);
}

#endif
