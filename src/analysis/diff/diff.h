/* SPDX-License-Identifier: Apache-2.0
 *
 * Compares the steps of two traces, or of two parts of one: what a step takes longer or shorter for.
 *
 *     step        50.0 ms → 59.1 ms                    the critical path tiles a step, so the changes of its shares
 *     disk         1.2 ms →  9.0 ms   +7.8 ms          sum to the change of the step, exactly
 *     preempted    0.1 ms →  1.7 ms   +1.6 ms
 *     the rest    48.7 ms → 48.4 ms   -0.3 ms          within the noise of the steps
 *
 * A change is told if the noise of the steps cannot explain it: by a rank test of the steps (rank.h), false discoveries
 * controlled among all names; and if it is more than what either side changes by from its first half to its second.
 */
#ifndef MR_ANALYSIS_DIFF_DIFF_H
#define MR_ANALYSIS_DIFF_DIFF_H

#include "analysis/diff/side.h"

/* Adds one finding. Errors have a cause. */
int mr_diff_tell(const struct mr_side *before, const struct mr_side *after,
		 struct mr_findings *findings);

#endif
