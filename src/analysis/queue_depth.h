/* SPDX-License-Identifier: Apache-2.0
 *
 * How many operations a queue held: launched, and not ended.
 *
 *     launches   ├1┤ ├2┤                 ├3┤
 *     queue           ├── 1 ──┤├─ 2 ─┤        ├ 3 ┤
 *     depth      0   1   2       1     0     1      0        the times at each depth sum to the span
 *
 * An operation counts from the end of its launch on, or from its start if that is earlier or the launch is not
 * known. The span of a queue reaches from the first such time to the last end.
 */
#ifndef MR_ANALYSIS_QUEUE_DEPTH_H
#define MR_ANALYSIS_QUEUE_DEPTH_H

#include "analysis/finding/finding.h"
#include "model/model.h"

/* Adds the tables queue_depth, one row for each queue, and queue_depth_times. -ENOMEM. */
int mr_queue_depth_add(const struct mr_model *model, struct mr_findings *findings,
		       struct mr_finding *finding);

#endif
