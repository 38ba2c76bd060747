/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/cause/critical_path_waits.h"

#include <errno.h>

#include "base/sort.h"
#include "model/kernel_link.h"

/* ---- leaving ------------------------------------------------------------------------------------ */

void mr_path_waits_free(struct mr_path_waits *waits)
{
	mr_vec_free(&waits->list);
	mr_vec_free(&waits->executions);
}

static int note_execution(struct mr_path_waits *waits, uint32_t execution)
{
	size_t count = waits->executions.count;

	if (execution == MR_NO_ROW || (count && waits->executions.items[count - 1] == execution))
		return 0;
	return mr_vec_push(&waits->executions, execution);
}

static bool is_futex_lock(const struct mr_model *model, uint32_t state)
{
	return model->states.exchange[state] == MR_EXCHANGE_LOCK ||
	       model->states.exchange[state] == MR_EXCHANGE_GIL;
}

/* A thread that cannot be interrupted, and that another one lets go on, waits for a lock of the kernel's. */
static bool is_lock(const struct mr_model *model, uint32_t state)
{
	return is_futex_lock(model, state) ||
	       model->states.reason[state] == MR_REASON_UNINTERRUPTIBLE;
}

/* Timed waits that ran out and were repeated are one: the first of them. */
static uint32_t first_of_wait(const struct mr_model *model, uint32_t state)
{
	const struct mr_states *states = &model->states;
	uint32_t first = states->table.first_of_track[states->track[state]], wait = state;

	for (uint32_t row = state; states->ended_by[state] != MR_NO_ROW && row-- > first;) {
		if (states->state[row] != MR_STATE_BLOCKED)
			continue;
		if (states->ended_by[row] != states->ended_by[state])
			break;
		wait = row;
	}
	return wait;
}

int mr_path_waits_leave(struct mr_path_waits *waits, const struct mr_model *model,
			struct mr_path_wait wait, uint32_t execution)
{
	if (note_execution(waits, execution) < 0)
		return -ENOMEM;
	wait.limit_ns = mr_path_waits_limit_ns(waits);
	wait.holder = MR_NO_TRACK;
	if (wait.state != MR_NO_ROW) {
		wait.begin_ns = model->states.start_ns[first_of_wait(model, wait.state)];
		wait.is_lock = is_lock(model, wait.state);
	}
	if (wait.is_lock)
		wait.limit_ns = mr_max(wait.limit_ns, wait.begin_ns);
	return mr_vec_push(&waits->list, wait);
}

/* Before an execution began, that in which it is nested waited. */
uint32_t mr_path_waits_execution(struct mr_path_waits *waits, const struct mr_model *model,
				 int64_t ns)
{
	const struct mr_node_executions *executions = &model->node_executions;

	while (waits->executions.count) {
		uint32_t *last = &waits->executions.items[waits->executions.count - 1];

		if (executions->start_ns[*last] < ns)
			return *last;
		*last = executions->parent[*last];
		waits->executions.count -= *last == MR_NO_ROW;
	}
	return MR_NO_ROW;
}

struct mr_link mr_path_waits_link(const struct mr_path_waits *waits, const struct mr_model *model,
				  uint32_t thread, struct mr_link link)
{
	const struct mr_path_wait *last =
		waits->list.count ? &waits->list.items[waits->list.count - 1] : NULL;

	if (!last || !(last->is_lock || last->holder == thread) ||
	    !is_futex_lock(model, last->state) || last->thread == thread ||
	    !mr_cause_is_plain(link.kind))
		return link;
	enum mr_cause_kind kind = model->states.exchange[last->state] == MR_EXCHANGE_GIL
					  ? MR_CAUSE_GIL
					  : MR_CAUSE_LOCK;
	if (link.culprit == MR_CULPRIT_LINE)
		return mr_link_make(kind, MR_CULPRIT_LINE, link.what, link.in);
	return mr_link_make(kind, MR_CULPRIT_THREAD, thread, link.kind);
}

/* ---- who had the lock --------------------------------------------------------------------------- */

/* The last state before a time in which the thread was blocked, or MR_NO_ROW. */
static uint32_t last_blocked(const struct mr_model *model, uint32_t thread, int64_t ns)
{
	const struct mr_states *states = &model->states;
	const uint32_t *first = &states->table.first_of_track[thread];
	uint32_t row = mr_find_larger(states->start_ns, first[0], first[1], ns - 1);

	while (row-- > first[0])
		if (states->state[row] == MR_STATE_BLOCKED)
			return row;
	return MR_NO_ROW;
}

static bool is_same_lock(const struct mr_model *model, uint32_t a, uint32_t b)
{
	return is_futex_lock(model, a) && is_futex_lock(model, b) && mr_is_same_futex(model, a, b);
}

/* Has the thread called the kernel about the same word since it had waited there, and before that time? */
static bool has_called(const struct mr_model *model, uint32_t waited, int64_t before_ns)
{
	const struct mr_system_calls *calls = &model->system_calls;
	uint32_t thread = model->states.track[waited], wait = model->states.system_call[waited];
	const uint32_t *first = &calls->table.first_of_track[thread];
	uint32_t row = mr_find_larger(calls->start_ns, first[0], first[1], before_ns - 1);

	while (row-- > first[0] && row != wait)
		if (calls->number[row] == calls->number[wait] &&
		    mr_futex_word(calls->argument[row]) == mr_futex_word(calls->argument[wait]))
			return true;
	return false;
}

/* When the wait began, the thread had the lock, and had waited for it. */
static bool got_by_waiting(const struct mr_model *model, uint32_t thread,
			   const struct mr_path_wait *wait)
{
	uint32_t waited =
		thread == MR_NO_TRACK ? MR_NO_ROW : last_blocked(model, thread, wait->begin_ns);

	return waited != MR_NO_ROW && wait->state != MR_NO_ROW &&
	       is_same_lock(model, waited, wait->state) &&
	       !has_called(model, waited, wait->begin_ns);
}

/* ---- returning ---------------------------------------------------------------------------------- */

/* The wait no longer ends at its begin: it becomes like a hand-over. */
static void release_limit(struct mr_path_waits *waits, size_t at)
{
	struct mr_path_wait *list = waits->list.items;
	int64_t limit_ns = at ? list[at - 1].limit_ns : INT64_MIN;

	list[at].is_lock = false;
	for (; at < waits->list.count; at++) {
		if (list[at].is_lock)
			limit_ns = mr_max(limit_ns, list[at].begin_ns);
		list[at].limit_ns = limit_ns;
	}
}

const struct mr_path_wait *mr_path_waits_return(struct mr_path_waits *waits,
						const struct mr_model *model, uint32_t thread)
{
	int64_t limit_ns = mr_path_waits_limit_ns(waits);
	size_t at = waits->list.count - 1;

	while (!waits->list.items[at].is_lock || waits->list.items[at].begin_ns != limit_ns)
		at--;
	if (got_by_waiting(model, thread, &waits->list.items[at])) {
		release_limit(waits, at);
		waits->list.items[at].holder = thread;
		return NULL;
	}
	waits->list.count = at;
	return &waits->list.items[at];
}

const struct mr_path_wait *mr_path_waits_return_from_sleep(struct mr_path_waits *waits,
							   int64_t end_ns)
{
	size_t count = waits->list.count;

	if (count == 0 || waits->list.items[count - 1].begin_ns < end_ns)
		return NULL;
	waits->list.count--;
	return &waits->list.items[count - 1];
}

const struct mr_path_wait *mr_path_waits_return_home(struct mr_path_waits *waits, uint32_t thread)
{
	size_t count = waits->list.count;

	if (count == 0 || waits->list.items[count - 1].thread != thread)
		return NULL;
	waits->list.count--;
	return &waits->list.items[count - 1];
}
