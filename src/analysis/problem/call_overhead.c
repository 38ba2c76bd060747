/* SPDX-License-Identifier: Apache-2.0
 *
 * Overhead per call: a loop calls a function of the framework that is made for many inputs at once, such as predict() with
 * one sample. Each call makes an input pipeline of its own; or it starts the processes of one, which end with it.
 */
#include "analysis/problem/problem.h"

enum {
	FEWEST_CALLS = 4,
	SELDOM = 4, /* a process for so many steps is still one too many */
};

/* How often an iterator is made in the time that is looked at. */
static uint32_t count_made(const struct mr_case *of)
{
	const struct mr_node_executions *executions = &of->cut->node_executions;
	const struct mr_node *nodes = of->cut->survey->definitions.nodes.items;
	uint32_t count = 0;

	for (uint32_t row = 0; row < executions->table.count; row++)
		count += nodes[executions->node[row]].purpose == MR_PURPOSE_BEGIN_INPUT;
	return count;
}

/* All but the work of the graph and of devices. */
static bool is_overhead(const struct mr_case *of, const struct mr_moment *moment)
{
	const struct mr_station *last = mr_last_station(&of->subject, moment);

	return last->thread != MR_NO_TRACK &&
	       (last->execution == MR_NO_ROW ||
		of->model->node_executions.run[last->execution] == 0);
}

/* ---- loaders that are processes ------------------------------------------------------------------------ */

/* Processes that the subject's starts in the time that is looked at, and that end in it. */
static uint32_t count_loaders(const struct mr_case *of)
{
	const struct mr_survey *survey = of->model->survey;
	uint32_t program = survey->processes.items[of->subject.process].program;
	struct mr_window window = of->subject.window;
	uint32_t count = 0;

	for (uint32_t i = 0; i < survey->tracks.count; i++) {
		const struct mr_track *track = &survey->tracks.items[i];
		const struct mr_process *process = &survey->processes.items[track->process];

		count += track->kind == MR_TRACK_THREAD && track->tid == process->pid &&
			 process->parent == of->subject.process &&
			 track->process != of->subject.process && process->program == program &&
			 track->first_ns >= window.first_ns && track->last_ns < window.last_ns;
	}
	return count;
}

static bool is_loading(const struct mr_case *of, const struct mr_moment *moment)
{
	return mr_moment_is_input(of, moment) ||
	       mr_stations_of(&of->subject, moment)->link.kind == MR_CAUSE_CHILD;
}

static int find_started(struct mr_case *of, struct mr_problem *problem)
{
	uint32_t started = count_loaders(of), steps = (uint32_t)of->subject.steps.count;

	if (started < FEWEST_CALLS || started * SELDOM < steps)
		return 0;
	mr_claim_if(of, is_loading);
	problem->confidence = MR_CONFIDENCE_LIKELY;
	problem->where = "each call starts processes of its own";
	problem->why = mr_region_print(
		&of->findings->region,
		"%s processes are started, and end soon after. %s of the %s is spent "
		"waiting for them: %s for each.",
		mr_case_count(of, started), mr_case_share(of, mr_claimed_ns(of)), mr_case_whole(of),
		mr_case_time(of, mr_claimed_ns(of) / started));
	return problem->why ? 0 : -ENOMEM;
}

int mr_find_call_overhead(struct mr_case *of, struct mr_problem *problem)
{
	struct mr_region *region = &of->findings->region;
	uint32_t made = count_made(of);
	uint32_t steps = (uint32_t)of->subject.steps.count;

	if (made < FEWEST_CALLS || (steps && made * 2 < steps))
		return find_started(of, problem);
	mr_claim_if(of, is_overhead);
	problem->confidence = MR_CONFIDENCE_LIKELY;
	problem->where = "each call makes an iterator of its own";
	uint32_t calls = steps ? mr_min(steps, made) : made;
	problem->why = mr_region_print(
		region,
		"%s calls make an input pipeline each. %s of the %s is spent on that and around "
		"the model, not in it: %s per call.",
		mr_case_count(of, calls), mr_case_share(of, mr_claimed_ns(of)), mr_case_whole(of),
		mr_case_time(of, mr_claimed_ns(of) / calls));
	return problem->why ? 0 : -ENOMEM;
}
