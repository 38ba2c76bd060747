/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/input_loaders.h"

#include <stdlib.h>

#include "analysis/finding/tally.h"
#include "analysis/windows.h"
#include "base/sort.h"

enum {
	MOST_ANCESTORS = 64,
	MOST_HOPS = 4,    /* threads of the program between the loader and the step thread */
	FEWEST_WAITS = 3, /* what is handed over less often is no input */
};

struct maker {
	const struct mr_model *model;
	uint32_t *main_thread; /* by process: whose tid is its pid; MR_NO_TRACK: not known */
	uint32_t *step_thread; /* by process: the first that has steps */
	bool *is_loader;       /* by process: of the team that is being made */
	mr_vec(struct wait {
		uint32_t giver; /* process */
		int64_t start_ns;
		int64_t end_ns;
	}) waits; /* of the team */
};

static uint32_t process_of(const struct mr_model *model, uint32_t track)
{
	return model->survey->tracks.items[track].process;
}

/* ---- processes and threads --------------------------------------------------------------------------- */

/* Did `process` come from `ancestor`, perhaps through others? */
static bool descends_from(const struct mr_survey *survey, uint32_t process, uint32_t ancestor)
{
	for (int i = 0; i < MOST_ANCESTORS; i++) {
		uint32_t parent = survey->processes.items[process].parent;

		if (parent == process)
			return false;
		if (parent == ancestor)
			return true;
		process = parent;
	}
	return false;
}

static void find_threads(struct maker *maker)
{
	const struct mr_survey *survey = maker->model->survey;
	const struct mr_steps *steps = &maker->model->steps;

	for (size_t i = 0; i < survey->processes.count; i++)
		maker->main_thread[i] = maker->step_thread[i] = MR_NO_TRACK;
	for (uint32_t i = 0; i < survey->tracks.count; i++) {
		const struct mr_track *track = &survey->tracks.items[i];

		if (track->kind == MR_TRACK_THREAD &&
		    track->tid == survey->processes.items[track->process].pid &&
		    maker->main_thread[track->process] == MR_NO_TRACK)
			maker->main_thread[track->process] = i;
	}
	for (uint32_t row = 0; row < steps->table.count; row++) {
		uint32_t *thread = &maker->step_thread[process_of(maker->model, steps->track[row])];

		if (*thread == MR_NO_TRACK)
			*thread = steps->track[row];
	}
}

/* ---- waits of the program ---------------------------------------------------------------------------- */

/* Is the thread blocked until another thread hands it something? */
static bool is_hand_over(const struct mr_model *model, uint32_t row)
{
	const struct mr_states *states = &model->states;

	if (states->state[row] != MR_STATE_BLOCKED || states->released_by[row] == MR_NO_TRACK)
		return false;
	enum mr_wait_kind kind = mr_wait_kind_of(model, row);
	return kind != MR_WAIT_CHILD && kind != MR_WAIT_DISK && kind != MR_WAIT_SLEEP &&
	       kind != MR_WAIT_STOPPED;
}

/* The thread's last wait that ends in (from_ns, until_ns]; MR_NO_ROW if there is none. */
static uint32_t find_last_wait(const struct mr_model *model, uint32_t thread, int64_t from_ns,
			       int64_t until_ns)
{
	const struct mr_states *states = &model->states;
	const uint32_t *first = &states->table.first_of_track[thread];
	uint32_t row = mr_find_larger(states->start_ns, first[0], first[1], until_ns);

	while (row-- > first[0]) {
		int64_t end_ns = states->start_ns[row] + states->duration_ns[row];

		if (end_ns <= from_ns)
			break;
		if (end_ns <= until_ns && is_hand_over(model, row))
			return row;
	}
	return MR_NO_ROW;
}

/* The process that ended the wait, through threads of the program itself, and when it did so; the program's own process
 * if no other did. */
static uint32_t find_giver(const struct mr_model *model, uint32_t row, int64_t *ret_end_ns)
{
	const struct mr_states *states = &model->states;
	uint32_t own = process_of(model, states->track[row]), thread = states->released_by[row];
	int64_t start_ns = states->start_ns[row], end_ns = start_ns + states->duration_ns[row];

	for (int hop = 0; hop < MOST_HOPS && process_of(model, thread) == own; hop++) {
		uint32_t next = find_last_wait(model, thread, start_ns, end_ns);

		if (next == MR_NO_ROW)
			return own;
		end_ns = states->start_ns[next] + states->duration_ns[next];
		thread = states->released_by[next];
	}
	*ret_end_ns = end_ns;
	return process_of(model, thread);
}

static struct mr_input_loader *find_loader(struct mr_loader_team *team, uint32_t process)
{
	for (size_t i = 0; i < team->loaders.count; i++)
		if (team->loaders.items[i].process == process)
			return &team->loaders.items[i];
	struct mr_input_loader fresh = {.process = process};
	return mr_vec_push(&team->loaders, fresh) < 0
		       ? NULL
		       : &team->loaders.items[team->loaders.count - 1];
}

static int add_wait(struct maker *maker, struct mr_loader_team *team, uint32_t row)
{
	const struct mr_states *states = &maker->model->states;
	int64_t end_ns = 0;
	uint32_t giver = find_giver(maker->model, row, &end_ns);

	if (!descends_from(maker->model->survey, giver, team->process))
		return 0;
	struct mr_input_loader *loader = find_loader(team, giver);
	if (!loader)
		return -ENOMEM;
	/* A timed wait that ran out is part of the one that follows it. */
	loader->given += states->wakeup[row] == states->ended_by[row];
	mr_ns_add(&loader->waited_ns, end_ns - states->start_ns[row]);
	return mr_vec_push(&maker->waits, ((struct wait){giver, states->start_ns[row], end_ns}));
}

static int find_waits(struct maker *maker, struct mr_loader_team *team)
{
	const struct mr_states *states = &maker->model->states;
	const uint32_t *first = &states->table.first_of_track[team->thread];
	int result = 0;

	maker->waits.count = 0;
	for (uint32_t row = first[0]; result == 0 && row < first[1]; row++) {
		mr_ns_add(&team->whole_ns, states->duration_ns[row]);
		if (is_hand_over(maker->model, row))
			result = add_wait(maker, team, row);
	}
	return result;
}

/* A process that hands over once or twice, such as a command whose output is read, is no loader. */
static void drop_others(struct mr_loader_team *team)
{
	size_t kept = 0;

	for (size_t i = 0; i < team->loaders.count; i++)
		if (team->loaders.items[i].given >= FEWEST_WAITS)
			team->loaders.items[kept++] = team->loaders.items[i];
	team->loaders.count = kept;
}

static void mark_loaders(const struct maker *maker, const struct mr_loader_team *team, bool mark)
{
	for (size_t i = 0; i < team->loaders.count; i++)
		maker->is_loader[team->loaders.items[i].process] = mark;
}

/* The share of its steps says more than that of its life. */
static int measure_waits(const struct maker *maker, struct mr_loader_team *team)
{
	mr_auto(windows) struct mr_windows steps = {0}, waits = {0};
	int result = mr_windows_add_steps(&steps, maker->model, team->process);

	mark_loaders(maker, team, true);
	for (size_t i = 0; result == 0 && i < maker->waits.count; i++) {
		const struct wait *wait = &maker->waits.items[i];

		if (maker->is_loader[wait->giver])
			result = mr_windows_add(&waits, wait->start_ns,
						wait->end_ns - wait->start_ns);
	}
	mark_loaders(maker, team, false);
	mr_windows_unite(&waits);
	mr_windows_unite(&steps);
	team->has_steps = steps.list.count > 0;
	if (team->has_steps)
		team->whole_ns = mr_windows_length(&steps);
	team->wait_ns =
		team->has_steps ? mr_windows_common(&waits, &steps) : mr_windows_length(&waits);
	return result;
}

/* ---- what loaders do --------------------------------------------------------------------------------- */

static enum mr_loader_time time_of(const struct mr_model *model, uint32_t row, uint32_t program)
{
	const struct mr_states *states = &model->states;
	uint32_t by = states->released_by[row];

	switch (states->state[row]) {
	case MR_STATE_RUN:
		return MR_LOADER_RUNS;
	case MR_STATE_RUNNABLE:
		return MR_LOADER_RUNNABLE;
	case MR_STATE_BLOCKED:
		if (mr_wait_kind_of(model, row) == MR_WAIT_DISK)
			return MR_LOADER_DISK;
		return by != MR_NO_TRACK && process_of(model, by) == program ? MR_LOADER_FOR_PROGRAM
									     : MR_LOADER_BLOCKED;
	}
	return MR_LOADER_UNKNOWN;
}

static void measure_loader(const struct maker *maker, struct mr_loader_team *team,
			   struct mr_input_loader *loader)
{
	const struct mr_states *states = &maker->model->states;
	uint32_t thread = maker->main_thread[loader->process];

	if (thread == MR_NO_TRACK)
		return;
	for (uint32_t row = states->table.first_of_track[thread];
	     row < states->table.first_of_track[thread + 1]; row++) {
		enum mr_loader_time time = time_of(maker->model, row, team->process);

		mr_ns_add(&loader->ns[time], states->duration_ns[row]);
		if (time == MR_LOADER_BLOCKED)
			mr_ns_add(&team->blocked_ns[mr_wait_kind_of(maker->model, row)],
				  states->duration_ns[row]);
	}
}

/* ---- teams -------------------------------------------------------------------------------------------- */

static int compare_loaders(const void *left, const void *right)
{
	const struct mr_input_loader *a = left, *b = right;

	return (a->process > b->process) - (a->process < b->process);
}

static int finish(struct maker *maker, struct mr_loader_team *team)
{
	qsort(team->loaders.items, team->loaders.count, sizeof *team->loaders.items,
	      compare_loaders);
	for (size_t i = 0; i < team->loaders.count; i++)
		measure_loader(maker, team, &team->loaders.items[i]);
	return measure_waits(maker, team);
}

static int add_team(struct maker *maker, uint32_t process, struct mr_input_loaders *loaders)
{
	struct mr_loader_team team = {.process = process, .thread = maker->step_thread[process]};

	if (team.thread == MR_NO_TRACK)
		team.thread = maker->main_thread[process];
	if (team.thread == MR_NO_TRACK)
		return 0;
	int result = find_waits(maker, &team);
	drop_others(&team);
	if (result == 0 && team.loaders.count)
		result = finish(maker, &team);
	bool is_kept = result == 0 && team.loaders.count;
	if (is_kept)
		result = mr_vec_push(&loaders->teams, team);
	if (!is_kept || result < 0)
		mr_vec_free(&team.loaders);
	return result;
}

int mr_input_loaders_make(const struct mr_model *model, struct mr_input_loaders *ret_loaders)
{
	size_t count = model->survey->processes.count;
	mr_auto(free) uint32_t *main_thread = calloc(count + 1, sizeof *main_thread);
	mr_auto(free) uint32_t *step_thread = calloc(count + 1, sizeof *step_thread);
	mr_auto(free) bool *is_loader = calloc(count + 1, sizeof *is_loader);
	struct maker maker = {.model = model,
			      .main_thread = main_thread,
			      .step_thread = step_thread,
			      .is_loader = is_loader};
	struct mr_input_loaders loaders = {0};
	int result = main_thread && step_thread && is_loader ? 0 : -ENOMEM;

	if (result < 0 || count < 2 || model->states.table.count == 0)
		return result;
	find_threads(&maker);
	for (uint32_t i = 0; result == 0 && i < count; i++)
		result = add_team(&maker, i, &loaders);
	mr_vec_free(&maker.waits);
	if (result < 0)
		mr_input_loaders_free(&loaders);
	else
		*ret_loaders = loaders;
	return result;
}

void mr_input_loaders_free(struct mr_input_loaders *loaders)
{
	for (size_t i = 0; i < loaders->teams.count; i++)
		mr_vec_free(&loaders->teams.items[i].loaders);
	mr_vec_free(&loaders->teams);
}
