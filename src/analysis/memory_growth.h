/* SPDX-License-Identifier: Apache-2.0
 *
 * Does memory grow from step to step? What is live where a step ends, and the median of all slopes between two such
 * steps (Theil and Sen): a few steps that differ, such as the first ones, do not matter.
 *
 *     live bytes                          ·  ·
 *                    ·        ·  ·  ·            bytes_per_step: the median slope
 *            ·  ·        ·
 *            0  1    2   3    4  5  6  7  8      steps
 */
#ifndef MR_ANALYSIS_MEMORY_GROWTH_H
#define MR_ANALYSIS_MEMORY_GROWTH_H

#include "model/model.h"

struct mr_memory_growth {
	uint32_t step_count; /* of the process; 0: none, or no memory was reported by then */
	int64_t first_ns;    /* where the first step ends that was looked at */
	int64_t last_ns;     /* and the last */
	uint64_t first_bytes;
	uint64_t last_bytes;
	int64_t bytes_per_step;
	bool is_growing; /* nearly always, and by more than is lost in the rest */
};

/* By account (model/memory_accounts.h), of the steps in the model's window. -ENOMEM. */
int mr_memory_growth_make(const struct mr_model *model, struct mr_memory_growth *growths);

#endif
