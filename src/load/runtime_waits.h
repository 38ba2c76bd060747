/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared by runtime_waits.c and runtime_scopes.c, which find the operations that calls and device operations waited
 * for.
 */
#ifndef MR_LOAD_RUNTIME_WAITS_H
#define MR_LOAD_RUNTIME_WAITS_H

#include "model/model.h"

#define MR_EMPTY_LIST (MR_NO_ROW - 1) /* a wait list that names nothing of use */

struct mr_waits {
	struct mr_model *model;
	uint64_t *bounds_ns;    /* by device: see mr_order_bounds_make() */
	uint32_t *last_of_call; /* by call: of the operations it launched the one that ends last */
	uint32_t *listed;       /* by call that waits: of its wait list the one that ends last, or
				 * MR_EMPTY_LIST; MR_NO_ROW: it has no list */
	uint32_t *listed_for;   /* by operation: of its wait list the one that ends last */
};

static inline bool mr_wait_is_timed(const struct mr_model *model, uint32_t row)
{
	return !(model->device_operations.flags[row] & (MR_ROW_UNFINISHED | MR_ROW_UNTIMED));
}

static inline uint32_t mr_wait_queue_of(const struct mr_model *model, uint32_t row)
{
	return model->survey->tracks.items[model->device_operations.track[row]].queue;
}

/* How far the end of an operation may seem to be from when a call saw it; 0 where that is not known. */
uint64_t mr_wait_bound_ns(const struct mr_waits *waits, uint32_t row);

/* May a synchronising call have waited for an operation that ended then? */
bool mr_wait_is_possible(const struct mr_calls *calls, uint32_t call, int64_t end_ns,
			 uint64_t bound_ns);

/* What calls without wait list waited for: those that name a queue, or those that name none. -ENOMEM. */
int mr_await_scopes(const struct mr_waits *waits, bool by_queue);

#endif
