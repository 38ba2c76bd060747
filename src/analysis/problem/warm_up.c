/* SPDX-License-Identifier: Apache-2.0
 *
 * Compile and warm-up: the first steps take several times as long as the others, as the framework traces, compiles and
 * allocates. They come before the steps that are looked at.
 */
#include "analysis/problem/problem.h"

enum {
	PARTS = 4, /* of the steps, one of which is worth a word */
};

int mr_find_warm_up(struct mr_case *of, struct mr_problem *problem)
{
	const bool *processes = of->cut->whole ? of->cut->part.processes : NULL;
	struct mr_step_list list = {0};
	struct mr_steady steady = {0};
	int result = mr_step_list_make(of->model, processes, &list);

	if (result == 0)
		result = mr_steps_steady(of->model, &list, &steady);
	mr_step_list_free(&list);
	if (result <= 0 || steady.warm_up_ns < of->whole_ns / PARTS ||
	    steady.window.first_ns != of->subject.window.first_ns)
		return mr_min(result, 0);
	problem->outside_ns = steady.warm_up_ns;
	problem->confidence = MR_CONFIDENCE_SURE;
	problem->where = steady.warm_up_count == 1 ? "the first step" : "the first steps";
	problem->why =
		mr_region_print(&of->findings->region,
				"%s took %s longer than the others: the framework traces, "
				"compiles and allocates then.",
				steady.warm_up_count == 1 ? "The first step" : "The first steps",
				mr_case_time(of, steady.warm_up_ns));
	return problem->why ? 0 : -ENOMEM;
}
