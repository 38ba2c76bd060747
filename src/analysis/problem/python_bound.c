/* SPDX-License-Identifier: Apache-2.0
 *
 * Python bound: the step thread runs the interpreter, outside all operations and calls of a runtime.
 */
#include "analysis/problem/problem.h"

static bool is_interpreting(const struct mr_case *of, const struct mr_moment *moment)
{
	const struct mr_station *station = mr_last_station(&of->subject, moment);

	return station->thread == of->subject.thread &&
	       (station->link.kind == MR_CAUSE_CPU || station->link.kind == MR_CAUSE_INTERRUPT) &&
	       station->execution == MR_NO_ROW && station->call == MR_NO_ROW;
}

static const char *name_line(struct mr_case *of, const struct mr_moment *moment)
{
	return mr_line_of_link(of->model, &of->findings->region,
			       mr_last_station(&of->subject, moment)->link);
}

int mr_find_python_bound(struct mr_case *of, struct mr_problem *problem)
{
	struct mr_share line;

	if (!mr_case_is_python(of))
		return 0;
	mr_claim_if(of, is_interpreting);
	if (mr_case_most(of, name_line, &line) < 0)
		return -ENOMEM;
	problem->confidence = MR_CONFIDENCE_LIKELY;
	problem->where = *line.name ? line.name : mr_case_thread(of, of->subject.thread);
	problem->why = mr_region_print(
		&of->findings->region,
		"%s runs Python, or libraries that Python calls, for %s of the "
		"time%s%s%s%s%s.",
		mr_case_subject(of), mr_case_share(of, mr_claimed_ns(of)),
		*of->framework ? ", outside all operations" : "",
		*line.name ? ", most of it in " : "", line.name, *line.name ? ": " : "",
		*line.name ? mr_case_time(of, line.time_ns) : "");
	return problem->why ? 0 : -ENOMEM;
}
