/* SPDX-License-Identifier: Apache-2.0
 *
 * Page faults: threads that the step waits for touch memory for the first time, again and again, as it was given back to the
 * kernel in between. The trace has the number of faults of each stretch in which a thread ran, not what each took.
 */
#include "analysis/problem/problem.h"

enum {
	FEWEST_FAULTS = 1000,
};

/* Of the faults in which a thread ran, those that fall into [from_ns, to_ns), and what they take. */
struct faults {
	uint64_t count;
	int64_t time_ns;
};

static void add_faults(const struct mr_states *states, uint32_t row, int64_t from_ns, int64_t to_ns,
		       struct faults *faults)
{
	int64_t start_ns = states->start_ns[row], duration_ns = states->duration_ns[row];
	int64_t inside_ns = mr_min(start_ns + duration_ns, to_ns) - mr_max(start_ns, from_ns);
	int64_t all_ns = mr_min(states->minor_faults[row] * MR_FAULT_NS, duration_ns);

	if (inside_ns <= 0 || states->state[row] != MR_STATE_RUN)
		return;
	faults->count += (uint64_t)((unsigned __int128)states->minor_faults[row] *
				    (uint64_t)inside_ns / (uint64_t)duration_ns);
	faults->time_ns +=
		(int64_t)((unsigned __int128)all_ns * (uint64_t)inside_ns / (uint64_t)duration_ns);
}

/* The station's state is the first of the moment. */
static struct faults find_faults(const struct mr_model *model, const struct mr_station *station,
				 int64_t from_ns, int64_t to_ns)
{
	const struct mr_states *states = &model->states;
	uint32_t end = states->table.first_of_track[station->thread + 1];
	struct faults faults = {0};

	for (uint32_t row = station->state; row < end && states->start_ns[row] < to_ns; row++)
		add_faults(states, row, from_ns, to_ns, &faults);
	return faults;
}

int mr_find_page_faults(struct mr_case *of, struct mr_problem *problem)
{
	uint64_t count = 0;

	mr_each_moment(of, moment)
	{
		const struct mr_station *last = mr_last_station(&of->subject, moment);

		if (last->thread == MR_NO_TRACK || last->link.kind != MR_CAUSE_CPU)
			continue;
		struct faults faults = find_faults(of->model, last, moment->start_ns,
						   moment->start_ns + moment->duration_ns);
		moment->claimed_ns = mr_min(faults.time_ns, moment->left_ns);
		count += faults.count;
	}
	if (count < FEWEST_FAULTS)
		return 0;
	problem->confidence = MR_CONFIDENCE_POSSIBLE;
	problem->where = "memory that is touched for the first time";
	problem->why = mr_region_print(
		&of->findings->region,
		"%s page faults: the kernel must find and clear a new page each time, which takes "
		"about %s.",
		mr_case_count(of, (int64_t)count), mr_case_time(of, MR_FAULT_NS));
	return problem->why ? 0 : -ENOMEM;
}
