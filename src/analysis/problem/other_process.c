/* SPDX-License-Identifier: Apache-2.0
 *
 * Another process takes the CPU: a thread that the step waits for could run, but a thread of a process that does not belong
 * to the program has the CPU.
 */
#include "analysis/problem/problem.h"

static bool is_taken(const struct mr_case *of, const struct mr_moment *moment)
{
	const struct mr_link link = mr_last_station(&of->subject, moment)->link;

	return link.kind == MR_CAUSE_PREEMPTED && link.culprit == MR_CULPRIT_TASK;
}

static const char *name_taker(struct mr_case *of, const struct mr_moment *moment)
{
	const struct mr_link link = mr_last_station(&of->subject, moment)->link;

	return link.in ? mr_model_text(of->model, link.in) : NULL;
}

int mr_find_other_process(struct mr_case *of, struct mr_problem *problem)
{
	struct mr_region *region = &of->findings->region;
	struct mr_share taker;

	mr_claim_if(of, is_taken);
	if (mr_case_most(of, name_taker, &taker) < 0)
		return -ENOMEM;
	problem->confidence = MR_CONFIDENCE_SURE;
	problem->where = *taker.name ? mr_region_print(region, "'%s'", taker.name) : "";
	problem->why = mr_region_print(region,
				       "Processes that do not belong to the program have the CPU "
				       "for %s of the time%s%s%s%s.",
				       mr_case_share(of, mr_claimed_ns(of)),
				       *taker.name ? ", most of it '" : "", taker.name,
				       *taker.name ? "': " : "",
				       *taker.name ? mr_case_time(of, taker.time_ns) : "");
	return problem->where && problem->why ? 0 : -ENOMEM;
}
