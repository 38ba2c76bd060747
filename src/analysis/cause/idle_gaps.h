/* SPDX-License-Identifier: Apache-2.0
 *
 * Gaps as wholes. A cause often comes in pieces, as its chain changes again and again, with each interrupt for
 * instance: a second of waiting for a lock can be a thousand pieces. What a person wants to see is the gap.
 *
 *     device   ├─ work ─┤                               ├─ work ─┤
 *     pieces            ├ lock ┤cpu┤ lock ┤cpu┤ lock ───┤
 *     gap               ├───────────────────────────────┤           lock: three pieces of it
 */
#ifndef MR_ANALYSIS_IDLE_GAPS_H
#define MR_ANALYSIS_IDLE_GAPS_H

#include "analysis/cause/idle.h"

/* A gap as far as it is looked at. */
struct mr_gap_pieces {
	uint32_t first;
	uint32_t count; /* 0: there is none */
	int64_t start_ns;
	int64_t duration_ns;
};

/* The gap that comes after `gap` on the device, or the first one after a zeroed one. */
bool mr_gap_next(const struct mr_idle *idle, const struct mr_idle_device *device,
		 struct mr_gap_pieces *gap);

/* The gap that a piece belongs to. */
struct mr_gap_pieces mr_gap_of(const struct mr_idle *idle, uint32_t piece);

/* The gap, of those that begin in the window, that has most of a kind of cause; of equal ones the first of the device
 * that was idle longest. */
struct mr_gap_pieces mr_gap_of_most(const struct mr_idle *idle, enum mr_cause_kind kind,
				    const struct mr_window *window);

/* What one cause, as its headline names it, took of a gap. */
struct mr_gap_share {
	uint32_t pieces;
	int64_t duration_ns;
	uint32_t thread; /* the last one of all their chains; MR_NO_TRACK: none, or several */
};

struct mr_gap_share mr_gap_share(const struct mr_idle *idle, const struct mr_gap_pieces *gap,
				 uint32_t headline);

/* The piece that stands for a gap, which is not empty: the longest of the cause that took most of it. With a kind,
 * which the gap has: of the cause of that kind. MR_CAUSE_COUNT: of any. -ENOMEM. */
int mr_gap_example(const struct mr_idle *idle, const struct mr_gap_pieces *gap,
		   enum mr_cause_kind kind, uint32_t *ret_piece);

#endif
