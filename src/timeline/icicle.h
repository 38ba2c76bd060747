/* SPDX-License-Identifier: Apache-2.0
 *
 * What threads and queues did in a window, by the stack of names:
 *
 *     ┌ train_step ──────────────┐┌ other ┐      of all tracks together: equal stacks are one
 *     ├ MatMul ────┐┌ Conv2D ────┤└───────┘
 *     └ launch ───┐┘└────────────┘
 *
 * Slices of several tables on a track nest by time, the longer around the shorter. A slice that reaches out of the one
 * around it counts only inside, so that what is in a frame never exceeds it.
 */
#ifndef MR_TIMELINE_ICICLE_H
#define MR_TIMELINE_ICICLE_H

#include "timeline/view.h"

#define MR_NO_FRAME UINT32_MAX

struct mr_frame {
	uint32_t parent; /* frame around it, which comes before it; or MR_NO_FRAME */
	uint32_t label;
	enum mr_sliced table;
	uint32_t depth;
	uint32_t count; /* of slices */
	int64_t total_ns;
	int64_t self_ns; /* of it, in no frame inside */
};

struct mr_icicle {
	mr_vec(struct mr_frame) frames;
	int64_t total_ns; /* of the outermost frames */
};

/* `tracks`: which tracks, by number; NULL: all. -ENOMEM. */
int mr_icicle_make(struct mr_view *view, const struct mr_window *window, const bool *tracks,
		   struct mr_icicle *ret_icicle);
void mr_icicle_free(struct mr_icicle *icicle);

static inline void mr_cleanup_icicle(struct mr_icicle *icicle)
{
	mr_icicle_free(icicle);
}

#endif
