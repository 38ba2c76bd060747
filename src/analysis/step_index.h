/* SPDX-License-Identifier: Apache-2.0
 *
 * In which step of its process something happened: marked or inferred ones (steps.h), whatever thread did it.
 *
 *     process 1   ├── 0 ──┤├── 1 ──┤   ├── 2 ──┤
 *                     ▲                    ▲             where steps overlap the one that began first counts
 *
 * Read-only once made.
 */
#ifndef MR_ANALYSIS_STEP_INDEX_H
#define MR_ANALYSIS_STEP_INDEX_H

#include "analysis/steps.h"

struct mr_step_index {
	struct mr_step_list list;
	uint32_t *order;   /* steps by process, then by start */
	int64_t *until_ns; /* latest end of the step at a place and all before it, of a process */
	uint32_t *first_of_process; /* places; and one more: the end */
};

int mr_step_index_make(const struct mr_model *model, struct mr_step_index *ret_index);
void mr_step_index_free(struct mr_step_index *index);

/* A step of the list, or MR_NO_ROW. */
uint32_t mr_step_index_find(const struct mr_step_index *index, uint32_t process, int64_t ns);

static inline void mr_cleanup_step_index(struct mr_step_index *index)
{
	mr_step_index_free(index);
}

#endif
