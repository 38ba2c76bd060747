/* SPDX-License-Identifier: Apache-2.0
 *
 * Allocating device memory: the steps ask the runtime for memory, and the device has nothing to do meanwhile. A runtime is
 * asked by the functions that its allocations name.
 */
#include "analysis/memory_capacity.h"
#include "analysis/problem/problem.h"

enum {
	FEWEST_CALLS = 3, /* once is set-up */
};

/* The call of the subject that allocates, or MR_NO_ROW. */
static uint32_t find_call(const struct mr_case *of, const struct mr_moment *moment,
			  const bool *is_allocator)
{
	const struct mr_calls *calls = &of->model->calls;
	uint32_t call = mr_stations_of(&of->subject, moment)->call;

	while (call != MR_NO_ROW && !is_allocator[calls->function[call]])
		call = calls->parent[call];
	return call;
}

struct asked {
	uint32_t count;    /* calls */
	uint32_t function; /* string: of the last one */
};

static struct asked claim_calls(struct mr_case *of, const bool *is_allocator)
{
	struct asked asked = {0};
	uint32_t last = MR_NO_ROW;

	mr_each_moment(of, moment)
	{
		uint32_t call = find_call(of, moment, is_allocator);

		if (call == MR_NO_ROW ||
		    mr_last_station(&of->subject, moment)->thread == MR_NO_TRACK)
			continue;
		mr_claim(moment);
		asked.count += call != last;
		asked.function = of->model->calls.function[call];
		last = call;
	}
	return asked;
}

int mr_find_allocation(struct mr_case *of, struct mr_problem *problem)
{
	mr_auto(free) bool *is_allocator = mr_find_allocators(of->model);

	if (!is_allocator)
		return -ENOMEM;
	struct asked asked = claim_calls(of, is_allocator);
	if (asked.count < FEWEST_CALLS)
		return 0;
	problem->confidence = MR_CONFIDENCE_SURE;
	problem->where = mr_model_text(of->model, asked.function);
	problem->why = mr_region_print(
		&of->findings->region,
		"%s asks the runtime for device memory %s times (%s), %s each time, and the "
		"device has nothing to do meanwhile.",
		mr_case_subject(of), mr_case_count(of, asked.count), problem->where,
		mr_case_time(of, mr_claimed_ns(of) / asked.count));
	return problem->why ? 0 : -ENOMEM;
}
