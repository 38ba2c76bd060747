/* SPDX-License-Identifier: Apache-2.0
 *
 * Conditions that the times of device operations must satisfy. Device times come from a clock map that is
 * exact only to an error bound; these conditions check it independently.
 *
 *     call      ├──launch──┤                 ├────── wait ──────┤
 *                    ├─ 1 ─►                                2 ◄─┤    1  no operation starts before its
 *     queue              .  ├─ operation ─┤ ├─ operation ─┤          launch begins   2  nor ends after
 *                           3 queued ≤ submitted ≤ start  4          the call that waited for it
 *
 * A constraint is never enforced: times stay as they are. If it is violated by no more than the clocks'
 * error bounds, it is uncertain; if by more, it is broken, and the operation is flagged (MR_ROW_VIOLATED). The
 * least slack also reveals a constant bias that breaks nothing: it should be about as small as the fastest
 * launch.
 */
#ifndef MR_MODEL_CONSTRAINTS_H
#define MR_MODEL_CONSTRAINTS_H

#include <stdint.h>

enum mr_constraint_kind {
	MR_CONSTRAINT_LAUNCH,      /* starts after its launch began */
	MR_CONSTRAINT_WAIT,        /* ends before the call that waited for it returned */
	MR_CONSTRAINT_OWN_TIMES,   /* queued, submitted, start in this order */
	MR_CONSTRAINT_DEPENDENCY,  /* starts after what it waits for has ended */
	MR_CONSTRAINT_QUEUE_ORDER, /* starts after its predecessor in an in-order queue has ended */
	MR_CONSTRAINTS,
};

struct mr_constraint {
	uint64_t checked;
	uint64_t uncertain;
	uint64_t broken;
	int64_t least_slack_ns; /* negative: missed by so much. Meaningless if nothing was checked */
};

struct mr_model;

/* By device: how far apart a time of it and a time of a call must be for their order to be known. NULL
 * without memory. */
uint64_t *mr_order_bounds_make(const struct mr_model *model);

/* Fills in model->constraints; all tables are joined and sorted. 0 or -ENOMEM. */
int mr_constraints_check(struct mr_model *model);

#endif
