/* SPDX-License-Identifier: Apache-2.0
 *
 * Why a device operation had not started yet: delay(operation, t) of doc/causes.md, one link at a
 * time.
 *
 *     thread            ├─ launch ─┤
 *     queue 1       ├─ what it waits for ─┤
 *     queue 0  ────┤                               ├─ operation ─┤
 *              host ────┤── device ───────┤dispatch┤
 *
 * Borrows the model, which must live longer. Asking leaves a note of where the answer was found: one thread at a time.
 */
#ifndef MR_ANALYSIS_DELAY_H
#define MR_ANALYSIS_DELAY_H

#include "analysis/cause/activity.h"
#include "analysis/device_work.h"

struct mr_delays {
	const struct mr_model *model;
	struct mr_device_work *devices; /* by device */
	struct mr_places *places;       /* by track */
	/* By row of device_operations, along in-order queues: */
	uint32_t *predecessor; /* or MR_NO_ROW */
	uint32_t *run_first;   /* from this row on each waits for its predecessor most */
	int64_t *launched_ns;  /* the rows from run_first to this have all been launched then */
};

int mr_delays_make(const struct mr_model *model, struct mr_delays *ret_delays);
void mr_delays_free(struct mr_delays *delays);

/* The next link of a chain at an instant, and how the chain goes on: on an operation (delay), on a
 * thread (host), or not at all. */
struct mr_delay {
	struct mr_link link; /* `next` is not set */
	bool has_link;       /* false: it is all the thread's doing */
	uint32_t doer;       /* thread that the link is about, or MR_NO_TRACK */
	uint32_t operation;  /* or MR_NO_ROW */
	uint32_t thread;     /* or MR_NO_TRACK */
	int64_t to_ns;       /* holds from the instant to here */
	uint64_t bound_ns;   /* of to_ns, if that is a time of a device; 0 if it is not */
};

/* delay(operation, ns), where ns is before its start. */
void mr_delay_find(const struct mr_delays *delays, uint32_t operation, int64_t ns,
		   struct mr_delay *ret_delay);

/* Of that the part device(operation, ns). */
void mr_delay_on_device(const struct mr_delays *delays, uint32_t operation, int64_t ns,
			struct mr_delay *ret_delay);

/* host(thread, ns). */
void mr_delay_on_thread(const struct mr_delays *delays, uint32_t thread, int64_t ns,
			struct mr_delay *ret_delay);

/* The same, if what the thread does then is known already. */
void mr_delay_in_activity(const struct mr_delays *delays, uint32_t thread, int64_t ns,
			  const struct mr_activity *activity, struct mr_delay *ret_delay);

#endif
