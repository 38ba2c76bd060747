/* SPDX-License-Identifier: Apache-2.0
 *
 * Why the devices were idle, as doc/causes.md defines it: every nanosecond in which a device did no work has
 * a chain of causes.
 *
 *     device   ├─ work ─┤                                ├─ work ─┤
 *     pieces            ├─ disk ──┤─ cpu ─┤launch┤dispatch┤           tile the gap exactly
 *
 * Neighbouring pieces of a gap differ in chain or thread. The result owns its memory and refers to rows of
 * the model, which must live longer. Read-only once made.
 */
#ifndef MR_ANALYSIS_IDLE_H
#define MR_ANALYSIS_IDLE_H

#include "analysis/cause/cause.h"
#include "base/vector.h"

struct mr_idle_piece {
	int64_t start_ns;
	int64_t duration_ns;
	uint64_t uncertain_ns; /* by so much it may be shorter or longer */
	uint32_t chain;
	uint32_t operation; /* that ended the gap, or MR_NO_ROW */
	uint32_t thread;    /* the last one of the chain, or MR_NO_TRACK */
};

struct mr_idle_device {
	uint32_t device;
	int64_t first_ns; /* the time looked at */
	int64_t end_ns;
	int64_t idle_ns;
	int64_t explained_ns;   /* of it */
	int64_t dispatch_ns;    /* dispatch latency */
	uint32_t dispatch_gaps; /* from which it is known; 0: too few, it is assumed */
	uint32_t gap_count;
	uint32_t first_piece;
	uint32_t piece_count;
};

struct mr_idle {
	struct mr_chains chains;
	mr_vec(uint32_t) headlines; /* of each chain of a piece; see mr_idle_headline() */
	mr_vec(struct mr_idle_device) devices; /* the longest idle first */
	mr_vec(struct mr_idle_piece) pieces;   /* of each device in order of time */
};

/* Of all devices that have operations with times. A device is looked at from the start of its first operation to
 * the end of its last; where the model is a cut (model/window.h), in its window, if a process that
 * uses it is looked at. Rows are of the whole model. 0 or a negative errno. */
int mr_idle_make(const struct mr_model *model, struct mr_idle *ret_idle);
void mr_idle_free(struct mr_idle *idle);

static inline void mr_cleanup_idle(struct mr_idle *idle)
{
	mr_idle_free(idle);
}

static inline int64_t mr_idle_busy_ns(const struct mr_idle_device *device)
{
	return device->end_ns - device->first_ns - device->idle_ns;
}

/* The chain that names the cause of a piece's chain. Threads of other processes go by their names, and culprits of one
 * kind that are many by their kind (crowd.h): a build has hundreds of short-lived ones. */
static inline uint32_t mr_idle_headline(const struct mr_idle *idle, uint32_t chain)
{
	return idle->headlines.items[chain];
}

/* Pieces of one cause. */
struct mr_idle_cause {
	uint32_t headline; /* chain: see mr_cause_name() and mr_chain_culprit() */
	uint32_t thread;   /* of all of them; MR_NO_TRACK: none, or several */
	uint32_t count;    /* of pieces */
	int64_t total_ns;
	int64_t max_ns;
	uint32_t longest; /* piece; of equal ones the first */
	uint64_t uncertain_ns;
};

/* The causes of some pieces, which they sum to, largest first; to be freed by the caller. -ENOMEM. */
int mr_idle_causes(const struct mr_idle *idle, uint32_t first_piece, uint32_t piece_count,
		   struct mr_idle_cause **ret_causes, uint32_t *ret_count);

#endif
