/* SPDX-License-Identifier: Apache-2.0
 *
 * A run without a problem: what the problem has claimed (problem/claims.h) takes no time, where it was lost in the end.
 *
 *     subject  ├ runs ┤── waits for B ────────┤ runs ┤        claimed: the wait
 *     B        ┊      ├─ computes ────────────┤               its root: B computes, so that piece is cut
 *
 * If the root itself waits there, for a lock, a CPU or a device, it no longer does. So the subject goes on earlier, unless
 * something else keeps it: that is then the limit.
 */
#ifndef MR_ANALYSIS_ABSENCE_H
#define MR_ANALYSIS_ABSENCE_H

#include "analysis/problem/claims.h"
#include "analysis/whatif/replay.h"

/* What is claimed by problems whose keys match takes `factor` of its time, on top of what is changed already. -ENOENT with a
 * cause if there is no such problem, or -ENOMEM. */
int mr_claims_apply(const struct mr_claims *claims, const char *pattern, double factor,
		    const struct mr_course *course, struct mr_change *change);

#endif
