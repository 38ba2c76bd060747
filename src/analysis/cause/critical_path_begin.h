/* SPDX-License-Identifier: Apache-2.0
 *
 * Where a critical path begins, which is at the end of its window: on what ended last.
 */
#ifndef MR_ANALYSIS_CRITICAL_PATH_BEGIN_H
#define MR_ANALYSIS_CRITICAL_PATH_BEGIN_H

#include "model/model.h"

struct mr_path_begin {
	int64_t ns;         /* not after the end of the window; its begin if there is nothing */
	uint32_t thread;    /* track, or MR_NO_TRACK */
	uint32_t operation; /* row, or MR_NO_ROW */
};

struct mr_path_begin mr_path_begin_find(const struct mr_model *model, const struct mr_part *part);

/* By track: the thread that made it, which after an exec is itself; or MR_NO_TRACK. NULL without memory. */
uint32_t *mr_path_makers_make(const struct mr_model *model);

#endif
