/* SPDX-License-Identifier: Apache-2.0
 *
 * A problem that takes one half of the time.
 */
#include "analysis/problem/problem.h"

int mr_find_cloudy(struct mr_case *of, struct mr_problem *problem)
{
	int64_t left_ns = of->whole_ns / 2;

	mr_each_moment(of, moment)
	{
		moment->claimed_ns = mr_min(moment->left_ns, left_ns);
		left_ns -= moment->claimed_ns;
	}
	problem->where = "the sky";
	problem->why = "The sky was grey.";
	problem->remedy = "Wait.";
	problem->confidence = MR_CONFIDENCE_LIKELY;
	return 0;
}
