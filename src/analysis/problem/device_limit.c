/* SPDX-License-Identifier: Apache-2.0
 *
 * The device is the limit: a device works, whether the step thread waits for it or runs ahead. The host keeps up with it,
 * so only the work on the device can become shorter.
 */
#include "analysis/problem/problem.h"

static bool is_on_device(const struct mr_case *of, const struct mr_moment *moment)
{
	switch (mr_last_station(&of->subject, moment)->link.kind) {
	case MR_CAUSE_DEVICE:
	case MR_CAUSE_DEPENDENCY:
	case MR_CAUSE_DEVICE_BUSY:
	case MR_CAUSE_DISPATCH:
		return true;
	default:
		return false;
	}
}

int mr_find_device_limit(struct mr_case *of, struct mr_problem *problem)
{
	struct mr_share most;

	mr_claim_if(of, is_on_device);
	int64_t time_ns = mr_claimed_ns(of);
	if (time_ns < of->whole_ns / 2)
		return 0; /* it works, but it is not the limit */
	if (mr_case_most_culprit(of, &most) < 0)
		return -ENOMEM;
	problem->is_verdict = true;
	problem->confidence = MR_CONFIDENCE_SURE;
	problem->where = most.name;
	problem->why = mr_region_print(
		&of->findings->region, "The device works %s of the time of the %s, %s of it on %s.",
		mr_case_share(of, time_ns), mr_case_whole(of), mr_case_time(of, most.time_ns),
		*most.name ? most.name : "its next operation");
	return problem->why ? 0 : -ENOMEM;
}
