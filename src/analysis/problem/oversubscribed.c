/* SPDX-License-Identifier: Apache-2.0
 *
 * Oversubscribed CPUs: the program's own threads keep each other from running, as many more want a CPU than there are.
 */
#include "analysis/problem/problem.h"

enum {
	ACTIVE_PERMILLE = 2, /* a thread that runs for less of the time does not count */
	DEMAND_PER_CPU =
		2, /* on average so many threads run on a CPU or wait for each other there */
};

static bool is_own(const struct mr_case *of, const struct mr_moment *moment)
{
	const struct mr_link link = mr_last_station(&of->subject, moment)->link;

	return link.kind == MR_CAUSE_PREEMPTED && link.culprit == MR_CULPRIT_THREAD;
}

/* The threads of the program that really run in the time that is looked at. */
static uint32_t count_active(const struct mr_case *of)
{
	const struct mr_states *states = &of->cut->states;
	uint32_t count = 0;

	for (uint32_t track = 0; track < of->model->survey->first_queue_track; track++) {
		int64_t run_ns = 0;

		for (uint32_t row = states->table.first_of_track[track];
		     row < states->table.first_of_track[track + 1]; row++)
			if (states->state[row] == MR_STATE_RUN)
				run_ns += states->duration_ns[row];
		count += mr_permille(run_ns, of->whole_ns) >= ACTIVE_PERMILLE;
	}
	return count;
}

static uint32_t count_cpus(const struct mr_case *of)
{
	const struct mr_survey *survey = of->model->survey;

	return (uint32_t)survey->tracks.count - survey->first_cpu_track;
}

/* The time in which threads of the program ran or could have run: all together. */
static int64_t demand_ns(const struct mr_case *of)
{
	const struct mr_finding_table *table =
		mr_findings_find_table(of->findings, "threads", "by_thread");
	int64_t sum_ns = 0;

	for (uint32_t row = 0; table && row < table->row_count; row++)
		sum_ns += mr_finding_value(table, row, mr_finding_column(table, "run_ns"))->number +
			  mr_finding_value(table, row, mr_finding_column(table, "runnable_ns"))
				  ->number;
	return sum_ns;
}

int mr_find_oversubscribed(struct mr_case *of, struct mr_problem *problem)
{
	struct mr_region *region = &of->findings->region;
	uint32_t cpus = count_cpus(of);

	if (cpus == 0 || demand_ns(of) / cpus / DEMAND_PER_CPU < of->whole_ns)
		return 0;
	uint32_t active = count_active(of);
	mr_claim_if(of, is_own);
	problem->confidence = MR_CONFIDENCE_SURE;
	problem->where = mr_region_print(region, "%u threads on %u CPU%s", active, cpus,
					 cpus == 1 ? "" : "s");
	problem->why = mr_region_print(
		region,
		"The program's own threads compete: %u of them run on %u CPU%s, and "
		"keep the %s waiting for %s of the time.",
		active, cpus, cpus == 1 ? "" : "s", mr_case_whole(of),
		mr_case_share(of, mr_claimed_ns(of)));
	return problem->where && problem->why ? 0 : -ENOMEM;
}
