/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/cause/critical_path_threads.h"

#include "base/sort.h"

/* The innermost launching call among the call and those around it, or MR_NO_ROW. */
static uint32_t find_launching(const struct mr_model *model, uint32_t call)
{
	while (call != MR_NO_ROW && model->calls.role[call] != MR_CALL_LAUNCH)
		call = model->calls.parent[call];
	return call;
}

struct mr_link mr_path_link_of(const struct mr_model *model, const struct mr_activity *activity)
{
	if (activity->link.kind != MR_CAUSE_CPU && activity->link.kind != MR_CAUSE_CALL)
		return activity->link;
	uint32_t launching = find_launching(model, activity->call);
	if (launching == MR_NO_ROW)
		return activity->link;
	return mr_link_make(MR_CAUSE_LAUNCH, MR_CULPRIT_FUNCTION, model->calls.function[launching],
			    0);
}

bool mr_path_is_endless(const struct mr_model *model, uint32_t state)
{
	const struct mr_states *states = &model->states;

	if (state == MR_NO_ROW || states->state[state] != MR_STATE_BLOCKED ||
	    states->wakeup[state] != MR_NO_ROW)
		return false;
	return state + 1 == states->table.first_of_track[states->track[state] + 1] ||
	       states->state[state + 1] == MR_STATE_UNKNOWN;
}

uint32_t *mr_path_clients_make(const struct mr_model *model)
{
	const struct mr_thread_waits *waits = &model->thread_waits;
	size_t count = model->survey->tracks.count;
	uint32_t *clients = malloc((count + 1) * sizeof *clients);

	for (size_t i = 0; clients && i < count; i++)
		clients[i] = MR_NO_TRACK;
	for (uint32_t row = 0; clients && row < waits->table.count; row++)
		clients[waits->awaited[row]] = waits->track[row];
	return clients;
}

/* The last row of thread_waits that begins before that time, or MR_NO_ROW. */
static uint32_t find_last_wait(const struct mr_model *model, uint32_t client, int64_t ns)
{
	const struct mr_thread_waits *waits = &model->thread_waits;
	const uint32_t *first = &waits->table.first_of_track[client];
	uint32_t next = mr_find_larger(waits->start_ns, first[0], first[1], ns - 1);

	return next == first[0] ? MR_NO_ROW : next - 1;
}

static int64_t end_of_wait(const struct mr_model *model, uint32_t wait)
{
	return model->thread_waits.start_ns[wait] + model->thread_waits.duration_ns[wait];
}

int64_t mr_path_works_since_ns(const struct mr_model *model, uint32_t client, int64_t ns)
{
	uint32_t wait = client == MR_NO_TRACK ? MR_NO_ROW : find_last_wait(model, client, ns);

	return wait == MR_NO_ROW || end_of_wait(model, wait) < ns
		       ? MR_NO_TIME
		       : model->thread_waits.start_ns[wait];
}

void mr_path_find_worker(const struct mr_model *model, uint32_t thread, int64_t ns,
			 struct mr_activity *activity)
{
	if (activity->call != MR_NO_ROW || mr_activity_has_state(model, activity))
		return;
	uint32_t wait = find_last_wait(model, thread, ns);
	if (wait == MR_NO_ROW)
		return;
	if (end_of_wait(model, wait) < ns) {
		activity->from_ns = mr_max(activity->from_ns, end_of_wait(model, wait));
		return;
	}
	activity->waker = model->thread_waits.awaited[wait];
	activity->from_ns = model->thread_waits.start_ns[wait];
	activity->link = mr_link_make(MR_CAUSE_HAND_OVER, MR_CULPRIT_THREAD, activity->waker, 0);
}

bool mr_path_is_idle_worker(const struct mr_model *model, const struct mr_activity *activity,
			    uint32_t client, int64_t ns)
{
	return client != MR_NO_TRACK && activity->call == MR_NO_ROW &&
	       activity->execution == MR_NO_ROW && !mr_activity_has_state(model, activity) &&
	       mr_path_works_since_ns(model, client, ns) == MR_NO_TIME;
}
