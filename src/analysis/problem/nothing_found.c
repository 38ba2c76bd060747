/* SPDX-License-Identifier: Apache-2.0
 *
 * No rule found anything: says what the time is instead.
 */
#include "analysis/problem/problem.h"

/* What was executed, if anything; otherwise the cause. */
static const char *name_work(struct mr_case *of, const struct mr_moment *moment)
{
	const struct mr_station *last = mr_last_station(&of->subject, moment);

	if (last->execution != MR_NO_ROW)
		return mr_execution_type(of->model, last->execution);
	return mr_cause_name(last->link.kind);
}

static const char *name_cause(struct mr_case *of, const struct mr_moment *moment)
{
	return mr_cause_name(mr_last_station(&of->subject, moment)->link.kind);
}

int mr_find_nothing_found(struct mr_case *of, struct mr_problem *problem)
{
	struct mr_share work, cause;

	if (of->findings->diagnosis.problems.count)
		return 0;
	mr_each_moment(of, moment) mr_claim(moment);
	if (mr_case_most(of, name_work, &work) < 0 || mr_case_most(of, name_cause, &cause) < 0)
		return -ENOMEM;
	problem->is_verdict = true;
	problem->confidence = MR_CONFIDENCE_POSSIBLE;
	problem->where = work.name;
	problem->why = mr_region_print(
		&of->findings->region,
		"The time of the %s is mostly %s (%s); the largest part is %s (%s).",
		mr_case_whole(of), cause.name, mr_case_share(of, cause.time_ns), work.name,
		mr_case_share(of, work.time_ns));
	return problem->why ? 0 : -ENOMEM;
}
