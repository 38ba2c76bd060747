/* SPDX-License-Identifier: Apache-2.0
 *
 * What a thread was doing at an instant: host(thread, t) of doc/causes.md, its first link, and what the
 * next link depends on. Answers come with the stretch around the instant in which they hold.
 *
 *     states      ├── RUN ──────────────┤── BLOCKED in futex ──────────┤─ RUNNABLE ─┤
 *     calls          ├─   finish ─┤
 *     executions  ├────────────── Decode ──────────────────────────────────────────────
 *     answers     ├──┤────────────┤─────┤──────────────────────────────┤────────────┤
 *
 * A stretch ends where any of the rows ends that the answer names, so neighbours may have equal links.
 */
#ifndef MR_ANALYSIS_ACTIVITY_H
#define MR_ANALYSIS_ACTIVITY_H

#include "analysis/cause/cause.h"

struct mr_activity {
	int64_t from_ns;       /* holds in [from_ns, to_ns), which contains the instant; */
	int64_t to_ns;         /* INT64_MIN and INT64_MAX where there is nothing before or after */
	uint32_t to_operation; /* whose start or end to_ns is; MR_NO_ROW: it is no device's time */

	struct mr_link link; /* `next` is not set */
	/* How the chain goes on, at the same instant: at most one of these. */
	uint32_t delayed_operation; /* delay(operation, t), or MR_NO_ROW */
	uint32_t waker;             /* host(track, t), or MR_NO_TRACK */

	/* Rows that contain the instant, or MR_NO_ROW. */
	uint32_t state;
	uint32_t call;         /* innermost */
	uint32_t execution;    /* innermost */
	uint32_t waiting_call; /* outermost call that waits for the device */
	uint32_t interrupt;    /* outermost, of RUN */
	uint32_t cpu_run;      /* of RUNNABLE: who has the CPU */

	uint32_t awaited; /* what waiting_call waits for, over or not: a device operation */
};

/* Where searches in the rows of a track ended last: who asks about instants that follow each other finds the next answer
 * there. Zeroes at first. */
struct mr_places {
	uint32_t state;
	uint32_t call;
	uint32_t execution;
	uint32_t interrupt;
	uint32_t cpu_run;
};

/* O(log n) in the rows of the thread, times the depth of its nested intervals. `places`: by track, or NULL. */
void mr_activity_find(const struct mr_model *model, struct mr_places *places, uint32_t thread,
		      int64_t ns, struct mr_activity *ret_activity);

/* Likewise, but as if no call waited for the device. */
void mr_activity_find_ordinary(const struct mr_model *model, struct mr_places *places,
			       uint32_t thread, int64_t ns, struct mr_activity *ret_activity);

/* Is the thread's state known then? */
static inline bool mr_activity_has_state(const struct mr_model *model,
					 const struct mr_activity *activity)
{
	return activity->state != MR_NO_ROW &&
	       model->states.state[activity->state] != MR_STATE_UNKNOWN;
}

static inline bool mr_activity_runs(const struct mr_model *model,
				    const struct mr_activity *activity)
{
	return activity->state != MR_NO_ROW && model->states.state[activity->state] == MR_STATE_RUN;
}

#endif
