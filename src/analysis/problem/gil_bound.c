/* SPDX-License-Identifier: Apache-2.0
 *
 * Waiting for the interpreter's lock (GIL): another thread of the process runs Python, and the step must wait for it.
 */
#include <string.h>

#include "analysis/problem/problem.h"

enum {
	/* A thread that wants the lock asks for it again after the interpreter's switch interval, which is 5 ms. */
	SHORTEST_NS = 4900000,
	LONGEST_NS = 6500000,
};

/* A wait at a futex that ran out after that interval. */
static bool runs_out(const struct mr_model *model, const struct mr_station *station)
{
	const struct mr_definitions *definitions = &model->survey->definitions;

	if (station->link.kind != MR_CAUSE_SLEEP || station->state == MR_NO_ROW)
		return false;
	int64_t wait_ns = model->states.duration_ns[station->state];
	uint32_t call = model->states.system_call[station->state];
	if (call == MR_NO_ROW || wait_ns < SHORTEST_NS || wait_ns > LONGEST_NS)
		return false;
	uint32_t number = model->system_calls.number[call];
	return number < definitions->system_calls.count &&
	       strcmp(mr_model_text(model, definitions->system_calls.items[number]), "futex") == 0;
}

/* The first station that waits for the lock, or NULL. */
static const struct mr_station *find_wait(const struct mr_case *of, const struct mr_moment *moment)
{
	const struct mr_station *stations = mr_stations_of(&of->subject, moment);

	for (uint32_t i = 0; i < moment->station_count; i++)
		if (stations[i].link.kind == MR_CAUSE_GIL ||
		    (runs_out(of->model, &stations[i]) && mr_case_is_python(of)))
			return &stations[i];
	return NULL;
}

static bool waits(const struct mr_case *of, const struct mr_moment *moment)
{
	return find_wait(of, moment) != NULL;
}

static const char *name_holder(struct mr_case *of, const struct mr_moment *moment)
{
	const struct mr_link link = find_wait(of, moment)->link;

	return link.kind != MR_CAUSE_SLEEP && link.culprit == MR_CULPRIT_THREAD
		       ? mr_case_thread(of, link.what)
		       : NULL;
}

/* Where the thread is that has the lock, whether it runs or must wait for a CPU. */
static const char *name_line(struct mr_case *of, const struct mr_moment *moment)
{
	const struct mr_station *wait = find_wait(of, moment);

	return wait < mr_last_station(&of->subject, moment)
		       ? mr_station_line(of, wait + 1, moment->start_ns)
		       : NULL;
}

/* "The main thread waits 60.2% of the time for the global lock of Python (GIL). For 1.00 s thread 812 'metrics' has it, and
 * runs train.py:10 metrics." */
int mr_find_gil_bound(struct mr_case *of, struct mr_problem *problem)
{
	struct mr_region *region = &of->findings->region;
	struct mr_share holder, line;

	mr_claim_if(of, waits);
	if (mr_case_most(of, name_holder, &holder) < 0 || mr_case_most(of, name_line, &line) < 0)
		return -ENOMEM;
	const char *held = *holder.name
				   ? mr_region_print(region, " For %s %s has it, and runs %s.",
						     mr_case_time(of, holder.time_ns), holder.name,
						     *line.name ? line.name : "Python")
				   : "";
	problem->confidence = *holder.name ? MR_CONFIDENCE_SURE : MR_CONFIDENCE_LIKELY;
	problem->where = *line.name ? line.name : holder.name;
	problem->why = mr_region_print(
		region, "%s waits %s of the time for the global lock of Python (GIL).%s",
		mr_case_subject(of), mr_case_share(of, mr_claimed_ns(of)), held ? held : "");
	return held && problem->why ? 0 : -ENOMEM;
}
