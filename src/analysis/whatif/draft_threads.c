/* SPDX-License-Identifier: Apache-2.0
 *
 * The pieces of a thread, along its life:
 *
 *     states    ├─ RUN ──────┤─ BLOCKED ────────┤─ RUNNABLE ─┤─ RUN ──────
 *     pieces    ├ cpu ┤ cpu ─┤                  ├─ wake-up ──┤─ cpu ──────
 *     follows         order                     │            └─ wake-up, and the cpu before the wait
 *                                               └─ who woke it, at that moment
 *
 * The latency of the wake-up follows the waker alone: had the thread come later than that, it would not have waited, nor been
 * woken. What the thread does then follows both. So it is with a wait for a device.
 */
#include "analysis/whatif/draft.h"

#include "analysis/cause/activity.h"
#include "analysis/device_time.h"
#include "base/sort.h"

enum {
	NAMES_MAX =
		16, /* that one piece follows; of threads that had the CPU in turn the last ones count */
};

struct thread {
	struct mr_draft *draft;
	uint32_t track;
	int64_t ns;
	int64_t end_ns;
	uint32_t cut; /* the next one */
	/* What the next piece follows. */
	struct mr_name names[NAMES_MAX];
	size_t name_count;
	uint32_t own; /* the thread's last piece, or MR_NO_PIECE */
	bool has_waited; /* `own` is not among the names: only what the thread does itself follows it */
};

/* ---- what ended a wait ---------------------------------------------------------------------------- */

/* When what a blocked thread waited for came. */
static int64_t given_ns(const struct mr_model *model, uint32_t state)
{
	uint32_t wakeup = model->states.ended_by[state];

	return wakeup != MR_NO_ROW
		       ? model->wakeups.start_ns[wakeup]
		       : model->states.start_ns[state] + model->states.duration_ns[state];
}

/* The first moment of the thread. */
static int64_t birth_ns(const struct mr_model *model, uint32_t track)
{
	const uint32_t *first = &model->states.table.first_of_track[track];

	return first[0] < first[1] ? model->states.start_ns[first[0]] : INT64_MIN;
}

int mr_draft_cut_threads(struct mr_draft *draft)
{
	const struct mr_model *model = draft->model;
	const struct mr_states *states = &model->states;
	int result = 0;

	for (uint32_t row = 0; result == 0 && row < states->table.count; row++)
		if (states->state[row] == MR_STATE_BLOCKED &&
		    states->released_by[row] != MR_NO_TRACK)
			result = mr_vec_push(
				&draft->cuts,
				((struct mr_cut){states->released_by[row], given_ns(model, row)}));
	for (uint32_t track = 0; result == 0 && track < model->survey->tracks.count; track++)
		if (draft->makers[track] != MR_NO_TRACK && birth_ns(model, track) != INT64_MIN)
			result = mr_vec_push(
				&draft->cuts,
				((struct mr_cut){draft->makers[track], birth_ns(model, track)}));
	return result;
}

/* ---- what the next piece follows -------------------------------------------------------------------- */

static void follow_only(struct thread *thread, struct mr_name name)
{
	thread->names[0] = name;
	thread->name_count = 1;
}

static void follow_also(struct thread *thread, struct mr_name name)
{
	if (thread->name_count == NAMES_MAX) {
		memmove(thread->names + 1, thread->names + 2, (NAMES_MAX - 2) * sizeof name);
		thread->name_count--;
	}
	thread->names[thread->name_count++] = name;
}

static struct mr_name name_piece(uint32_t piece)
{
	return (struct mr_name){piece, MR_NAME_PIECE, MR_FOLLOW_ORDER, 0};
}

static struct mr_name name_thread(uint32_t track, enum mr_follow_kind follow, int64_t ns)
{
	return (struct mr_name){track, MR_NAME_THREAD, (uint8_t)follow, ns};
}

static struct mr_name name_operation(uint32_t row)
{
	return (struct mr_name){row, MR_NAME_OPERATION, MR_FOLLOW_SYNC, 0};
}

/* From now on the thread waits for this alone. */
static void wait_for(struct thread *thread, struct mr_name name)
{
	follow_only(thread, name);
	thread->has_waited = true;
}

/* The last operation of a queue that was launched before that time and has ended at the other; MR_NO_ROW. */
static uint32_t find_last(const struct mr_model *model, uint32_t queue, int64_t launched_ns,
			  int64_t ended_ns)
{
	const struct mr_device_operations *operations = &model->device_operations;
	const uint32_t *first = mr_queue_rows(model, queue);
	uint32_t row = mr_find_larger(operations->start_ns, first[0], first[1], ended_ns);

	while (row-- > first[0]) {
		uint32_t call = operations->call[row];

		if (call != MR_NO_ROW && model->calls.start_ns[call] < launched_ns &&
		    mr_operation_is_timed(model, row) &&
		    mr_operation_end_ns(model, row) <= ended_ns)
			return row;
	}
	return MR_NO_ROW;
}

static void follow_queue(struct thread *thread, uint32_t queue, uint32_t call)
{
	const struct mr_model *model = thread->draft->model;
	bool is_in_order =
		model->survey->definitions.queues.items[queue].order == MR_queue_order_in_order;
	uint32_t row = is_in_order ? find_last(model, queue, model->calls.start_ns[call],
					       mr_call_end_ns(model, call))
				   : MR_NO_ROW;

	if (row != MR_NO_ROW)
		follow_also(thread, name_operation(row));
}

/* All that the call waits for, whether it had ended before or not: its wait list, or what was launched to its queue, or
 * to all queues of the process. Of those in order the last one will do. */
static void follow_awaited(struct thread *thread, uint32_t call)
{
	const struct mr_draft *draft = thread->draft;
	const struct mr_calls *calls = &draft->model->calls;
	const struct mr_survey *survey = draft->model->survey;
	uint32_t first = draft->list_first[call], end = draft->list_first[call + 1];

	for (uint32_t i = first; i < end; i++)
		follow_also(thread, name_operation(draft->listed[i]));
	if (first < end || calls->role[call] != MR_CALL_WAIT)
		return;
	if (calls->queue[call])
		follow_queue(thread, calls->queue[call], call);
	for (uint32_t queue = 1; !calls->queue[call] && queue < survey->definitions.queues.count;
	     queue++)
		if (survey->definitions.queues.items[queue].process ==
		    survey->tracks.items[thread->track].process)
			follow_queue(thread, queue, call);
}

/* ---- pieces --------------------------------------------------------------------------------------- */

static int add(struct thread *thread, int64_t to_ns, const struct mr_activity *activity)
{
	struct mr_draft *draft = thread->draft;
	uint32_t number = (uint32_t)draft->pieces.count;
	struct mr_piece piece = {.start_ns = thread->ns,
				 .duration_ns = to_ns - thread->ns,
				 .link = activity->link,
				 .track = thread->track,
				 .operation = MR_NO_ROW,
				 .execution = activity->execution};
	int result = mr_draft_add(draft, piece, thread->names, thread->name_count);

	follow_only(thread, name_piece(number));
	return result;
}

/* What the thread itself does. */
static int add_own(struct thread *thread, int64_t to_ns, const struct mr_activity *activity)
{
	if (thread->has_waited && thread->own != MR_NO_PIECE)
		follow_also(thread, name_piece(thread->own));
	thread->has_waited = false;
	thread->own = (uint32_t)thread->draft->pieces.count;
	return add(thread, to_ns, activity);
}

/* A thread gave what this one waited for. Timed waits that were repeated are one wait: the thread does nothing until then. */
static void wait_for_thread(struct thread *thread, const struct mr_activity *activity,
			    int64_t *to_ns)
{
	const struct mr_model *model = thread->draft->model;
	int64_t ns = given_ns(model, activity->state);
	enum mr_follow_kind follow = activity->link.kind == MR_CAUSE_LOCK  ? MR_FOLLOW_LOCK
				     : activity->link.kind == MR_CAUSE_GIL ? MR_FOLLOW_GIL
									   : MR_FOLLOW_GIVE;

	wait_for(thread, name_thread(activity->waker, follow, ns));
	*to_ns = mr_min(mr_max(*to_ns, ns), thread->end_ns);
}

/* The stretch of the thread's life that begins at thread->ns. */
static int step(struct thread *thread)
{
	const struct mr_draft *draft = thread->draft;
	struct mr_activity activity;
	int result = 0;

	mr_activity_find(draft->model, NULL, thread->track, thread->ns, &activity);
	int64_t to_ns = mr_min(activity.to_ns, thread->end_ns);
	while (thread->cut < draft->first_cut[thread->track + 1] &&
	       draft->cuts.items[thread->cut].ns <= thread->ns)
		thread->cut++;
	if (thread->cut < draft->first_cut[thread->track + 1])
		to_ns = mr_min(to_ns, draft->cuts.items[thread->cut].ns);

	switch (activity.link.kind) {
	case MR_CAUSE_DEPENDENCY:
		wait_for(thread, name_operation(activity.awaited));
		follow_awaited(thread, activity.waiting_call);
		break;
	case MR_CAUSE_PREEMPTED:
		if (activity.link.culprit == MR_CULPRIT_THREAD) {
			follow_also(thread, name_thread(activity.link.what, MR_FOLLOW_CPU, to_ns));
			break;
		}
		result = add(thread, to_ns, &activity);
		break;
	case MR_CAUSE_WAKE_UP:
	case MR_CAUSE_THROTTLED:
		result = add(thread, to_ns, &activity);
		break;
	case MR_CAUSE_SYNC:
		if (thread->ns == draft->model->calls.start_ns[activity.waiting_call])
			follow_awaited(thread, activity.waiting_call);
		result = add_own(thread, to_ns, &activity);
		break;
	default:
		if (activity.waker != MR_NO_TRACK)
			wait_for_thread(thread, &activity, &to_ns);
		else
			result = add_own(thread, to_ns, &activity);
	}
	thread->ns = to_ns;
	return result;
}

/* ---- a thread's life --------------------------------------------------------------------------------- */

static void widen(const struct mr_table *table, const int64_t *start_ns, const int64_t *duration_ns,
		  uint32_t track, struct mr_window *life)
{
	for (uint32_t row = table->first_of_track[track]; row < table->first_of_track[track + 1];
	     row++) {
		life->first_ns = mr_min(life->first_ns, start_ns[row]);
		life->last_ns = mr_max(life->last_ns, start_ns[row] + duration_ns[row]);
	}
}

/* Its states, or its calls and executions if it has none; empty if nothing is known. */
static struct mr_window life_of(const struct mr_model *model, uint32_t track)
{
	struct mr_window life = {INT64_MAX, INT64_MIN};

	widen(&model->states.table, model->states.start_ns, model->states.duration_ns, track,
	      &life);
	if (life.first_ns > life.last_ns) {
		widen(&model->calls.table, model->calls.start_ns, model->calls.duration_ns, track,
		      &life);
		widen(&model->node_executions.table, model->node_executions.start_ns,
		      model->node_executions.duration_ns, track, &life);
	}
	return life;
}

int mr_draft_add_thread(struct mr_draft *draft, uint32_t track)
{
	struct mr_window life = life_of(draft->model, track);
	struct thread thread = {.draft = draft,
				.track = track,
				.ns = life.first_ns,
				.end_ns = life.last_ns,
				.cut = draft->first_cut[track],
				.own = MR_NO_PIECE};
	int result = 0;

	if (draft->makers[track] != MR_NO_TRACK)
		follow_only(&thread,
			    name_thread(draft->makers[track], MR_FOLLOW_BIRTH, life.first_ns));
	while (result == 0 && thread.ns < thread.end_ns)
		result = step(&thread);
	return result;
}
