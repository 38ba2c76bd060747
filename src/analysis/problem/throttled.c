/* SPDX-License-Identifier: Apache-2.0
 *
 * Throttled: the group of the program has used up its share of the CPUs, and the kernel lets its threads wait.
 */
#include "analysis/problem/problem.h"

static bool is_throttled(const struct mr_case *of, const struct mr_moment *moment)
{
	return mr_last_station(&of->subject, moment)->link.kind == MR_CAUSE_THROTTLED;
}

int mr_find_throttled(struct mr_case *of, struct mr_problem *problem)
{
	mr_claim_if(of, is_throttled);
	problem->confidence = MR_CONFIDENCE_SURE;
	problem->where = "the control group of the program";
	problem->why = mr_region_print(&of->findings->region,
				       "The threads of the program want a CPU, but their control "
				       "group has used up its quota "
				       "for %s of the time.",
				       mr_case_share(of, mr_claimed_ns(of)));
	return problem->why ? 0 : -ENOMEM;
}
