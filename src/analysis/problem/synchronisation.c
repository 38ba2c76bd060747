/* SPDX-License-Identifier: Apache-2.0
 *
 * Synchronisation in the step: the step thread waits until the device is done, and only then prepares what comes next; the
 * device is idle meanwhile. Without the wait the two could overlap.
 *
 *     thread   ├ launch ┤─ waits ──────┤─ prepares ──┤ launch ┤─ waits ──────┤
 *     device            ├─ works ──────┤   idle      ┊        ├─ works ──────┤
 *     cost                             ├─────────────┤        of the wait and of what comes after it the shorter
 */
#include "analysis/problem/problem.h"

enum {
	LITTLE = 20, /* waits with a 20th of their time in between are one */
};

/* The thread itself waits in a call until the device is done. */
static bool is_waiting(const struct mr_case *of, const struct mr_moment *moment)
{
	const struct mr_station *first = mr_stations_of(&of->subject, moment);

	return first->call != MR_NO_ROW &&
	       (first->link.kind == MR_CAUSE_DEPENDENCY || first->link.kind == MR_CAUSE_SYNC);
}

/* The thread does not wait for the device, and nor does what it waits for. */
static bool is_host(const struct mr_case *of, const struct mr_moment *moment)
{
	return !is_waiting(of, moment) &&
	       mr_last_station(&of->subject, moment)->thread != MR_NO_TRACK;
}

/* From one wait to the next. */
struct cycle {
	uint32_t call; /* in which the thread waits or waited last, or MR_NO_ROW */
	int64_t wait_ns;
	int64_t host_ns; /* after it, while nothing runs on the device */
	struct mr_moment *first;
};

/* Claims the shorter of the two: that much could be hidden behind the other. */
static uint32_t end_cycle(struct mr_case *of, const struct cycle *cycle,
			  const struct mr_moment *end)
{
	bool is_wait = cycle->wait_ns < cycle->host_ns;

	for (struct mr_moment *moment = cycle->first; moment < end; moment++)
		if (is_wait ? is_waiting(of, moment) : is_host(of, moment))
			mr_claim(moment);
	return mr_min(cycle->wait_ns, cycle->host_ns) > (cycle->wait_ns + cycle->host_ns) / LITTLE;
}

static uint32_t claim_cycles(struct mr_case *of)
{
	struct cycle cycle = {.call = MR_NO_ROW};
	uint32_t count = 0;

	mr_each_moment(of, moment)
	{
		uint32_t call = mr_stations_of(&of->subject, moment)->call;

		if (is_waiting(of, moment)) {
			if (cycle.call == MR_NO_ROW || cycle.host_ns > cycle.wait_ns / LITTLE) {
				if (cycle.call != MR_NO_ROW)
					count += end_cycle(of, &cycle, moment);
				cycle = (struct cycle){.first = moment};
			}
			cycle.call = call;
			cycle.wait_ns += moment->left_ns;
		} else if (cycle.call != MR_NO_ROW && is_host(of, moment)) {
			cycle.host_ns += moment->left_ns;
		}
	}
	return count;
}

/* The function in which the thread waited longest. */
static const char *longest_wait(const struct mr_case *of)
{
	const char *name = "";
	int64_t longest_ns = 0;

	mr_each_moment(of, moment) if (is_waiting(of, moment) && moment->duration_ns > longest_ns)
	{
		uint32_t call = mr_stations_of(&of->subject, moment)->call;

		longest_ns = moment->duration_ns;
		name = mr_model_text(of->model, of->model->calls.function[call]);
	}
	return name;
}

int mr_find_synchronisation(struct mr_case *of, struct mr_problem *problem)
{
	struct mr_region *region = &of->findings->region;
	uint32_t count = claim_cycles(of), steps = (uint32_t)of->subject.steps.count;
	const char *call = longest_wait(of);

	if (count < 3 || count * 2 < steps)
		return 0;
	problem->confidence = MR_CONFIDENCE_LIKELY;
	problem->where = call;
	problem->why = mr_region_print(
		region,
		"The host waits for the device %s times (%s) and only then prepares "
		"what comes next: %s in which the two could overlap.",
		mr_case_count(of, count), call, mr_case_time(of, mr_claimed_ns(of)));
	return problem->why ? 0 : -ENOMEM;
}
