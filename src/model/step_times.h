/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds the step of a process in which something happened, on any thread.
 *
 *     process 1   ├── 0 ──┤├── 1 ──┤   ├── 2 ──┤
 *                     ▲                    ▲             if steps overlap, the one that began first counts
 *
 * Read-only once made.
 */
#ifndef MR_MODEL_STEP_TIMES_H
#define MR_MODEL_STEP_TIMES_H

#include "model/model.h"

struct mr_step_times {
	const struct mr_model *model;
	uint32_t *order;   /* rows of steps by process, then by start */
	int64_t *until_ns; /* latest end of the step at a place and all before it, of a process */
	uint32_t *first_of_process; /* places; and one more: the end */
};

/* To be freed also after -ENOMEM. */
int mr_step_times_make(const struct mr_model *model, struct mr_step_times *ret_times);
void mr_step_times_free(struct mr_step_times *times);

/* A row of steps, or MR_NO_ROW. */
uint32_t mr_step_times_find(const struct mr_step_times *times, uint32_t process, int64_t ns);

static inline void mr_cleanup_step_times(struct mr_step_times *times)
{
	mr_step_times_free(times);
}

#endif
