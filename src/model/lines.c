/* SPDX-License-Identifier: Apache-2.0 */
#include "model/lines.h"

#include "base/sort.h"

/* ---- how long a thread has run ------------------------------------------------------------------ */

struct life {
	const struct mr_states *states;
	uint32_t first, end; /* rows; none without the kernel level: then it counts as running */
};

static struct life life_of(const struct mr_model *model, uint32_t track)
{
	const uint32_t *first = model->states.table.first_of_track;

	return first ? (struct life){&model->states, first[track], first[track + 1]}
		     : (struct life){&model->states, 0, 0};
}

/* It may have run when nobody knows. */
static bool may_run(const struct mr_states *states, uint32_t row)
{
	return states->state[row] == MR_STATE_RUN || states->state[row] == MR_STATE_UNKNOWN;
}

/* By then; before its first state less than 0. */
static int64_t ran_until(const struct life *life, int64_t ns)
{
	const struct mr_states *states = life->states;

	if (life->first == life->end)
		return ns;
	uint32_t row = mr_find_larger(states->start_ns, life->first, life->end, ns);
	if (row == life->first)
		return ns - states->start_ns[row];
	row--;
	int64_t inside_ns = ns - states->start_ns[row];
	int64_t beyond_ns = mr_max(inside_ns - states->duration_ns[row], INT64_C(0));
	return states->ran_ns[row] + (may_run(states, row) ? inside_ns : beyond_ns);
}

/* The first instant by which it has run for so long. */
static int64_t instant_of(const struct life *life, int64_t ran_ns)
{
	const struct mr_states *states = life->states;

	if (life->first == life->end)
		return ran_ns;
	uint32_t row = mr_find_larger(states->ran_ns, life->first, life->end, ran_ns - 1);
	if (row == life->first)
		return states->start_ns[row] + ran_ns;
	row--;
	int64_t more_ns = ran_ns - states->ran_ns[row];
	return states->start_ns[row] + more_ns +
	       (may_run(states, row) ? 0 : states->duration_ns[row]);
}

/* ---- lines -------------------------------------------------------------------------------------- */

static uint32_t answer(uint32_t site, int64_t from_ns, int64_t to_ns,
		       struct mr_line_stretch *ret_stretch)
{
	if (ret_stretch)
		*ret_stretch = (struct mr_line_stretch){from_ns, to_ns};
	return site;
}

/* A sample; MR_NO_ROW: there is none. */
struct sight {
	uint32_t row;
	uint32_t site;
	int64_t ns;
	int64_t ran_ns;
};

static struct sight look(const struct mr_model *model, const struct life *life, uint32_t row,
			 bool is_there)
{
	const struct mr_samples *samples = &model->samples;

	if (!is_there)
		return (struct sight){.row = MR_NO_ROW};
	return (struct sight){row, samples->site[row], samples->start_ns[row],
			      ran_until(life, samples->start_ns[row])};
}

/* The nearer one, by how long the thread has run in between. */
static uint32_t choose(const struct life *life, const struct sight *before,
		       const struct sight *after, int64_t ns, struct mr_line_stretch *ret_stretch)
{
	bool has_before = before->row != MR_NO_ROW, has_after = after->row != MR_NO_ROW;
	int64_t ran_ns = ran_until(life, ns);
	int64_t until_ns = before->ran_ns + MR_LINE_REACH_NS; /* the first counts, */
	int64_t since_ns = after->ran_ns - MR_LINE_REACH_NS;  /* the second does */

	if (has_before && has_after && since_ns < until_ns) {
		if (before->site == after->site)
			return answer(before->site, before->ns, after->ns, ret_stretch);
		until_ns = since_ns = before->ran_ns + (after->ran_ns - before->ran_ns) / 2 + 1;
	}
	int64_t from_ns = has_before ? before->ns : INT64_MIN;
	int64_t to_ns = has_after ? after->ns : INT64_MAX;
	if (has_before && ran_ns < until_ns)
		return answer(before->site, from_ns, mr_min(instant_of(life, until_ns), to_ns),
			      ret_stretch);
	if (has_after && ran_ns >= since_ns)
		return answer(after->site, mr_max(instant_of(life, since_ns), from_ns), to_ns,
			      ret_stretch);
	return answer(0, has_before ? instant_of(life, until_ns) : INT64_MIN,
		      has_after ? instant_of(life, since_ns) : INT64_MAX, ret_stretch);
}

uint32_t mr_line_at(const struct mr_model *model, uint32_t track, int64_t ns,
		    struct mr_line_stretch *ret_stretch)
{
	model = mr_model_whole(model); /* samples beyond the edges of a part count, too */
	const struct mr_samples *samples = &model->samples;
	const uint32_t *first = samples->table.first_of_track;

	if (!first || first[track] == first[track + 1])
		return answer(0, INT64_MIN, INT64_MAX, ret_stretch);
	struct life life = life_of(model, track);
	uint32_t next = mr_find_larger(samples->start_ns, first[track], first[track + 1], ns);
	struct sight before = look(model, &life, next - 1, next > first[track]);
	struct sight after = look(model, &life, next, next < first[track + 1]);
	return choose(&life, &before, &after, ns, ret_stretch);
}
