/* SPDX-License-Identifier: Apache-2.0
 *
 * The steps of a model (steps.h), and in which of them something happened (model/step_times.h).
 */
#ifndef MR_ANALYSIS_STEP_INDEX_H
#define MR_ANALYSIS_STEP_INDEX_H

#include "analysis/steps.h"
#include "model/step_times.h"

struct mr_step_index {
	struct mr_step_list list; /* all: by row of the model's steps */
	struct mr_step_times times;
};

int mr_step_index_make(const struct mr_model *model, struct mr_step_index *ret_index);
void mr_step_index_free(struct mr_step_index *index);

/* A step of the list, or MR_NO_ROW. */
static inline uint32_t mr_step_index_find(const struct mr_step_index *index, uint32_t process,
					  int64_t ns)
{
	return mr_step_times_find(&index->times, process, ns);
}

static inline void mr_cleanup_step_index(struct mr_step_index *index)
{
	mr_step_index_free(index);
}

#endif
