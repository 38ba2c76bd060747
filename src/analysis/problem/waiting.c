/* SPDX-License-Identifier: Apache-2.0
 *
 * Waiting for another thread or process: the subject waits for a result or a child process, and what it waits for works on
 * that. No rule before knew better what the wait is for.
 */
#include "analysis/problem/problem.h"

static uint32_t giver_of(const struct mr_case *of, const struct mr_moment *moment)
{
	bool by_itself;

	return mr_moment_giver(of, moment, &by_itself);
}

static bool waits(const struct mr_case *of, const struct mr_moment *moment)
{
	return giver_of(of, moment) != MR_NO_TRACK;
}

static const char *name_giver(struct mr_case *of, const struct mr_moment *moment)
{
	return mr_case_thread(of, giver_of(of, moment));
}

int mr_find_waiting(struct mr_case *of, struct mr_problem *problem)
{
	struct mr_share giver, deed;

	mr_claim_if(of, waits);
	if (mr_case_most(of, name_giver, &giver) < 0 || mr_case_most(of, mr_moment_deed, &deed) < 0)
		return -ENOMEM;
	problem->confidence = MR_CONFIDENCE_POSSIBLE;
	problem->where = giver.name;
	problem->why =
		mr_region_print(&of->findings->region, "%s waits %s of the time for %s%s%s%s.",
				mr_case_subject(of), mr_case_share(of, mr_claimed_ns(of)),
				giver.count > 1 ? "others, most of it for " : "", giver.name,
				*deed.name ? ", which mostly " : "", deed.name);
	return problem->why ? 0 : -ENOMEM;
}
