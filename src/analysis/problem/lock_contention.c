/* SPDX-License-Identifier: Apache-2.0
 *
 * Lock contention: the step waits for a lock that another thread holds. Mostly the model knows a lock when it sees one
 * (states.exchange). Where it does not: threads that share a lock take turns, and the one that holds it now waits for it at
 * other times; a thread that hands something over never waits for what it hands over.
 */
#include "analysis/problem/problem.h"
#include "base/sort.h"
#include "base/strings.h"

/* A thread, and the address of a futex of its process; without padding. */
struct turn_key {
	uint64_t address;
	uint64_t thread;
};

/* What is known already: whether that thread ever waits there. */
struct turns {
	struct mr_strings keys;
	mr_vec(bool) waits;
};

/* The address at which a blocked thread waits; 0 if it is not known. */
static uint64_t address_of(const struct mr_model *model, uint32_t state)
{
	uint32_t call = state == MR_NO_ROW ? MR_NO_ROW : model->states.system_call[state];

	return call == MR_NO_ROW || model->system_calls.file[call]
		       ? 0
		       : model->system_calls.argument[call];
}

static bool find_turn(const struct mr_case *of, uint32_t thread, uint64_t address)
{
	const struct mr_states *states = &of->model->states;
	const uint32_t *first = &states->table.first_of_track[thread];
	uint32_t row = mr_find_larger(states->start_ns, first[0], first[1],
				      of->subject.window.first_ns - 1);

	for (; row < first[1] && states->start_ns[row] < of->subject.window.last_ns; row++)
		if (states->state[row] == MR_STATE_BLOCKED && address_of(of->model, row) == address)
			return true;
	return false;
}

/* Does the thread wait there at some time? 0, 1 or -ENOMEM. */
static int takes_turns(const struct mr_case *of, struct turns *turns, uint32_t thread,
		       uint64_t address)
{
	const struct turn_key key = {address, thread};
	uint32_t number;

	if (mr_strings_intern(&turns->keys, &key, sizeof key, &number) < 0)
		return -ENOMEM;
	if (number == turns->waits.count &&
	    mr_vec_push(&turns->waits, find_turn(of, thread, address)) < 0)
		return -ENOMEM;
	return turns->waits.items[number];
}

/* The first station that waits for what another thread of the program may hold, or NULL. */
static const struct mr_station *find_wait(const struct mr_case *of, const struct mr_moment *moment)
{
	const struct mr_station *stations = mr_stations_of(&of->subject, moment);

	for (uint32_t i = 0; i < moment->station_count; i++)
		if (stations[i].link.kind == MR_CAUSE_LOCK &&
		    stations[i].link.culprit == MR_CULPRIT_THREAD)
			return &stations[i];
	return NULL;
}

/* Is it a lock for certain? */
static bool is_known(const struct mr_model *model, uint32_t state)
{
	return state != MR_NO_ROW && model->states.exchange[state] == MR_EXCHANGE_LOCK;
}

static int claim_waits(struct mr_case *of, struct turns *turns)
{
	mr_each_moment(of, moment)
	{
		const struct mr_station *wait = find_wait(of, moment);
		uint64_t address = wait ? address_of(of->model, wait->state) : 0;
		int result = !wait || is_known(of->model, wait->state) ? wait != NULL
			     : address ? takes_turns(of, turns, wait->link.what, address)
				       : 0;

		if (result < 0)
			return result;
		if (result > 0)
			mr_claim(moment);
	}
	return 0;
}

static const char *name_holder(struct mr_case *of, const struct mr_moment *moment)
{
	return mr_case_thread(of, find_wait(of, moment)->link.what);
}

/* Where the waiting thread asked for it. */
static const char *name_place(struct mr_case *of, const struct mr_moment *moment)
{
	return mr_station_line(of, find_wait(of, moment), moment->start_ns);
}

/* "The main thread waits 85.1% of the time for a lock (train.py:31 <module>). Thread 812 'uploader' holds it for 2.66 s,
 * and mostly sleeps meanwhile (train.py:14 upload)." */
static int describe(struct mr_case *of, struct mr_problem *problem)
{
	struct mr_share holder, doing, place, line;

	if (mr_case_most(of, name_holder, &holder) < 0 ||
	    mr_case_most(of, mr_moment_deed, &doing) < 0 ||
	    mr_case_most(of, name_place, &place) < 0 || mr_case_most(of, mr_moment_line, &line) < 0)
		return -ENOMEM;
	problem->where = *place.name ? place.name : holder.name;
	problem->why = mr_region_print(
		&of->findings->region,
		"%s waits %s of the time for a lock%s%s%s. For %s %s holds it%s%s%s%s%s.",
		mr_case_subject(of), mr_case_share(of, mr_claimed_ns(of)), *place.name ? " (" : "",
		place.name, *place.name ? ")" : "", mr_case_time(of, holder.time_ns), holder.name,
		*doing.name ? " and mostly " : "", doing.name, *line.name ? " (" : "", line.name,
		*line.name ? ")" : "");
	return problem->why ? 0 : -ENOMEM;
}

int mr_find_lock_contention(struct mr_case *of, struct mr_problem *problem)
{
	struct turns turns = {0};
	int result = claim_waits(of, &turns);

	mr_strings_free(&turns.keys);
	mr_vec_free(&turns.waits);
	if (result < 0)
		return -ENOMEM;
	problem->confidence = MR_CONFIDENCE_LIKELY;
	return describe(of, problem);
}
