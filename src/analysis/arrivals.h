/* SPDX-License-Identifier: Apache-2.0
 *
 * Who comes late to collectives: operations that several processes do together, so that all wait for the last one.
 *
 *     process 1   ├─ works ─┤─ waits ────────┤ transfer ┤
 *     process 2   ├─ works ──────┤─ waits ───┤ transfer ┤
 *     process 3   ├─ works ──────────────────┤ transfer ┤
 *     lateness                   ├───────────┤              of the last one, against the last but one
 */
#ifndef MR_ANALYSIS_ARRIVALS_H
#define MR_ANALYSIS_ARRIVALS_H

#include "base/vector.h"
#include "model/model.h"

struct mr_arrival {
	int64_t others_ns;     /* when all others were there */
	int64_t last_ns;       /* when the last one was */
	uint32_t last_process; /* index of the survey */
	uint32_t row;          /* of the last one's collective */
};

struct mr_arrivals {
	mr_vec(struct mr_arrival)
		list;          /* one for each collective that two processes or more took part in */
	int64_t *last_ns;      /* by row of the collectives: when the last one was there */
	uint32_t late_process; /* the one that is late for most time; UINT32_MAX: none */
	uint32_t late_count;   /* how often it was the last, and not by chance */
	int64_t late_ns;       /* what all others waited for it */
};

/* Of the collectives of the model. -ENOMEM. */
int mr_arrivals_make(const struct mr_model *model, struct mr_arrivals *ret_arrivals);
void mr_arrivals_free(struct mr_arrivals *arrivals);

/* Of one process: how often it was the last, and not by chance, and what all others waited for it. */
struct mr_lateness {
	uint32_t count;
	int64_t sum_ns;
	int64_t most_ns;
};
struct mr_lateness mr_arrivals_lateness(const struct mr_arrivals *arrivals, uint32_t process);

/* "rank 3"; "process 4711" if the trace does not say which rank it is. From the region; NULL without memory. */
const char *mr_rank_name(const struct mr_model *model, struct mr_region *region, uint32_t process);

#endif
