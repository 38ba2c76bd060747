/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/cause/activity.h"

#include "analysis/cause/waiting.h"
#include "analysis/device_time.h"
#include "base/sort.h"
#include "model/lines.h"

/* ---- the row of a table that contains an instant ------------------------------------------------ */

/* Intervals of a track. */
struct intervals {
	const struct mr_table *table;
	const int64_t *start_ns;
	const int64_t *duration_ns;
	const uint32_t *parent; /* NULL where they do not nest */
	uint32_t *place;        /* where the last search ended, or NULL */
};

/* The first row that begins later. */
static uint32_t find_next(const struct intervals *rows, const uint32_t *first, int64_t ns)
{
	if (!rows->place)
		return mr_find_larger(rows->start_ns, first[0], first[1], ns);
	*rows->place = mr_find_larger_near(rows->start_ns, first[0], first[1], *rows->place, ns);
	return *rows->place;
}

static void cut_before(struct mr_activity *activity, int64_t ns)
{
	activity->from_ns = mr_max(activity->from_ns, ns);
}

static void cut_after(struct mr_activity *activity, int64_t ns)
{
	if (ns < activity->to_ns) {
		activity->to_ns = ns;
		activity->to_operation = MR_NO_ROW;
	}
}

/* At a time of a device operation. */
static void cut_at_operation(struct mr_activity *activity, int64_t ns, uint32_t operation)
{
	if (ns <= activity->to_ns) {
		activity->to_ns = ns;
		activity->to_operation = operation;
	}
}

/* The innermost row that contains the instant, or MR_NO_ROW. All that contain it enclose the last one
 * that has started. */
static uint32_t find_innermost(const struct intervals *rows, uint32_t track, int64_t ns,
			       struct mr_activity *activity)
{
	const uint32_t *first = &rows->table->first_of_track[track];
	uint32_t next = find_next(rows, first, ns);
	uint32_t row = next > first[0] ? next - 1 : MR_NO_ROW;

	if (next < first[1])
		cut_after(activity, rows->start_ns[next]);
	while (row != MR_NO_ROW && rows->start_ns[row] + rows->duration_ns[row] <= ns) {
		cut_before(activity, rows->start_ns[row] + rows->duration_ns[row]);
		row = rows->parent ? rows->parent[row] : MR_NO_ROW;
	}
	if (row != MR_NO_ROW) {
		cut_before(activity, rows->start_ns[row]);
		cut_after(activity, rows->start_ns[row] + rows->duration_ns[row]);
	}
	return row;
}

#define INTERVALS(model, name, parents, place)                             \
	(&(struct intervals){&(model)->name.table, (model)->name.start_ns, \
			     (model)->name.duration_ns, parents, place})

/* In the rows of one kind; NULL without places. */
#define PLACE(places, track, kind) ((places) ? &(places)[track].kind : NULL)

/* ---- links -------------------------------------------------------------------------------------- */

/* A thread by its track, or one that is not traced by its tid on its host and the name it had then. */
static struct mr_link make_thread_link(const struct mr_model *model, enum mr_cause_kind kind,
				       uint32_t track, struct mr_host_key task, int64_t ns)
{
	if (track != MR_NO_TRACK)
		return mr_link_make(kind, MR_CULPRIT_THREAD, track, 0);
	return mr_link_make(kind, MR_CULPRIT_TASK, task.number,
			    mr_task_name_at(&model->survey->tasks, task.host, task.number, ns));
}

/* ---- waiting for a device ----------------------------------------------------------------------- */

/* A blocking launch waits for its operation, once that has started, and before for what keeps it from starting. In
 * between it is a call like others. */
static bool is_launch_waiting(const struct mr_model *model, int64_t ns,
			      struct mr_activity *activity, uint32_t *awaited)
{
	int64_t start_ns = model->device_operations.start_ns[*awaited];
	uint32_t after = model->device_operations.after[*awaited];

	if (ns >= start_ns) {
		cut_before(activity, start_ns);
		return true;
	}
	cut_at_operation(activity, start_ns, *awaited);
	if (after == MR_NO_ROW)
		return false;
	int64_t end_ns = mr_operation_end_ns(model, after);
	if (ns < end_ns) {
		cut_at_operation(activity, end_ns, after);
		*awaited = after;
		return true;
	}
	cut_before(activity, end_ns);
	return false;
}

/* And for what operation, or MR_NO_ROW. */
static bool is_waiting(const struct mr_model *model, uint32_t call, int64_t ns,
		       struct mr_activity *activity, uint32_t *ret_awaited)
{
	const struct mr_calls *calls = &model->calls;

	*ret_awaited = calls->awaited[call];
	if (calls->role[call] == MR_CALL_WAIT)
		return true;
	if (calls->role[call] != MR_CALL_LAUNCH || !calls->is_blocking[call])
		return false;
	return *ret_awaited == MR_NO_ROW || is_launch_waiting(model, ns, activity, ret_awaited);
}

static void find_waiting_call(const struct mr_model *model, int64_t ns,
			      struct mr_activity *activity)
{
	uint32_t awaited;

	for (uint32_t call = activity->call; call != MR_NO_ROW; call = model->calls.parent[call])
		if (is_waiting(model, call, ns, activity, &awaited)) {
			activity->waiting_call = call;
			activity->awaited = awaited;
		}
}

/* False if the call waits no longer and the thread only lacks a CPU. */
static bool tell_waiting(const struct mr_model *model, int64_t ns, struct mr_activity *activity)
{
	const struct mr_device_operations *operations = &model->device_operations;
	uint32_t awaited = activity->awaited;

	if (activity->waiting_call == MR_NO_ROW)
		return false;
	if (awaited != MR_NO_ROW && ns < mr_operation_end_ns(model, awaited)) {
		activity->link = mr_link_of_operation(model, MR_CAUSE_DEPENDENCY, awaited);
		cut_at_operation(activity, mr_operation_end_ns(model, awaited), awaited);
		if (ns < operations->start_ns[awaited]) {
			cut_at_operation(activity, operations->start_ns[awaited], awaited);
			activity->delayed_operation = awaited;
		} else {
			cut_before(activity, operations->start_ns[awaited]);
		}
		return true;
	}
	if (awaited != MR_NO_ROW)
		cut_before(activity, mr_operation_end_ns(model, awaited));
	if (activity->state != MR_NO_ROW &&
	    model->states.state[activity->state] == MR_STATE_RUNNABLE)
		return false;
	activity->link = mr_link_make(MR_CAUSE_SYNC, MR_CULPRIT_FUNCTION,
				      model->calls.function[activity->waiting_call], 0);
	return true;
}

/* ---- as the kernel sees it ---------------------------------------------------------------------- */

static struct mr_link name_execution(const struct mr_model *model, enum mr_cause_kind kind,
				     uint32_t execution, uint32_t thread)
{
	return mr_link_make(kind, MR_CULPRIT_NODE, model->node_executions.node[execution], thread);
}

static void tell_untraced(const struct mr_model *model, uint32_t thread,
			  struct mr_activity *activity)
{
	if (activity->call != MR_NO_ROW)
		activity->link = mr_link_make(MR_CAUSE_CALL, MR_CULPRIT_FUNCTION,
					      model->calls.function[activity->call], 0);
	else if (activity->execution != MR_NO_ROW)
		activity->link =
			name_execution(model, MR_CAUSE_UNTRACED, activity->execution, thread);
	else
		activity->link = mr_link_bare(MR_CAUSE_UNTRACED);
}

/* In which line of Python it runs, if it does. */
static void tell_line(const struct mr_model *model, uint32_t thread, int64_t ns,
		      struct mr_activity *activity)
{
	struct mr_line_stretch stretch;
	uint32_t site = mr_line_at(model, thread, ns, &stretch);

	cut_before(activity, stretch.from_ns);
	cut_after(activity, stretch.to_ns);
	activity->link =
		site ? mr_link_make(MR_CAUSE_CPU, MR_CULPRIT_LINE,
				    model->survey->definitions.sites.items[site].same, thread)
		     : mr_link_make(MR_CAUSE_CPU, MR_CULPRIT_THREAD, thread, 0);
}

static void tell_running(const struct mr_model *model, struct mr_places *places, uint32_t thread,
			 int64_t ns, struct mr_activity *activity)
{
	const struct mr_interrupts *interrupts = &model->interrupts;
	uint32_t interrupt = find_innermost(
		INTERVALS(model, interrupts, interrupts->parent, PLACE(places, thread, interrupt)),
		thread, ns, activity);

	for (; interrupt != MR_NO_ROW; interrupt = interrupts->parent[interrupt])
		activity->interrupt = interrupt;
	if (activity->interrupt != MR_NO_ROW)
		activity->link = mr_link_make(MR_CAUSE_INTERRUPT, MR_CULPRIT_INTERRUPT,
					      interrupts->number[activity->interrupt],
					      interrupts->kind[activity->interrupt]);
	else if (activity->call != MR_NO_ROW)
		activity->link = mr_link_make(MR_CAUSE_CPU, MR_CULPRIT_CALL,
					      model->calls.function[activity->call], thread);
	else if (activity->execution != MR_NO_ROW)
		activity->link = name_execution(model, MR_CAUSE_CPU, activity->execution, thread);
	else
		tell_line(model, thread, ns, activity);
}

static void tell_runnable(const struct mr_model *model, struct mr_places *places, uint32_t thread,
			  int64_t ns, struct mr_activity *activity)
{
	const struct mr_cpu_runs *runs = &model->cpu_runs;
	uint8_t reason = model->states.reason[activity->state];

	if (reason == MR_REASON_THROTTLED) {
		activity->link = mr_link_bare(MR_CAUSE_THROTTLED);
		return;
	}
	uint32_t cpu = mr_survey_track_of_cpu(model->survey, MR_OWN_HOST,
					      model->states.cpu[activity->state]);
	uint32_t run = MR_NO_ROW;
	if (cpu != MR_NO_TRACK)
		run = find_innermost(INTERVALS(model, cpu_runs, NULL, PLACE(places, cpu, cpu_run)),
				     cpu, ns, activity);
	activity->cpu_run = run;
	if (run != MR_NO_ROW && runs->tid[run] != 0 && runs->thread[run] != thread)
		activity->link = make_thread_link(
			model, MR_CAUSE_PREEMPTED, runs->thread[run],
			(struct mr_host_key){mr_track_host(model, cpu), runs->tid[run]},
			runs->start_ns[run]);
	else if (reason == MR_REASON_WOKEN || reason == MR_REASON_NEW)
		activity->link = mr_link_bare(MR_CAUSE_WAKE_UP);
	else
		activity->link = mr_link_bare(MR_CAUSE_PREEMPTED);
}

static enum mr_cause_kind cause_of_wait(enum mr_wait_kind kind)
{
	static const uint8_t causes[MR_WAIT_COUNT] = {
		[MR_WAIT_UNKNOWN] = MR_CAUSE_UNKNOWN, [MR_WAIT_DISK] = MR_CAUSE_DISK,
		[MR_WAIT_LOCK] = MR_CAUSE_LOCK,       [MR_WAIT_NETWORK] = MR_CAUSE_NETWORK,
		[MR_WAIT_SLEEP] = MR_CAUSE_SLEEP,     [MR_WAIT_IPC] = MR_CAUSE_IPC,
		[MR_WAIT_CHILD] = MR_CAUSE_CHILD,     [MR_WAIT_POLL] = MR_CAUSE_POLL,
		[MR_WAIT_STOPPED] = MR_CAUSE_STOPPED, [MR_WAIT_OTHER] = MR_CAUSE_OTHER,
		[MR_WAIT_GIL] = MR_CAUSE_GIL,         [MR_WAIT_HAND_OVER] = MR_CAUSE_HAND_OVER,
	};

	return causes[kind];
}

/* The file of the system call in which the thread blocks; 0 for none. */
static uint32_t file_of_wait(const struct mr_model *model, uint32_t state)
{
	uint32_t call = model->states.system_call[state];

	return call == MR_NO_ROW ? 0 : model->system_calls.file[call];
}

static struct mr_link name_file(enum mr_cause_kind kind, uint32_t file)
{
	return file ? mr_link_make(kind, MR_CULPRIT_FILE, file, 0) : mr_link_bare(kind);
}

/* Woken by an interrupt: the file says more than its name. */
static struct mr_link name_interrupt(const struct mr_model *model, enum mr_cause_kind kind,
				     uint32_t file, uint32_t wakeup)
{
	uint32_t source = model->wakeups.source[wakeup];

	if (file || source == 0)
		return name_file(kind, file);
	return mr_link_make(kind, MR_CULPRIT_SOURCE, source, 0);
}

/* Without them a timer that runs out seems to be the doing of the thread that it interrupts. */
static bool are_timers_told(const struct mr_model *model)
{
	const struct mr_manifest_kernel *level = &model->manifest->kernel_level;

	for (size_t i = 0; i < level->off_count; i++)
		if (level->off[i].what && strcmp(level->off[i].what, "hrtimers") == 0)
			return false;
	return true;
}

/* A sleep that a thread ends was ended by its signal, as all are when it ends the process: nobody waited for the time
 * to pass. Not so if the thread is not traced, as timers that the kernel lets a thread of its own run out are; nor of a
 * timer that is a file, which may just have been set anew. */
static enum mr_cause_kind cause_of_blocked(const struct mr_model *model, uint32_t state,
					   uint32_t wakeup)
{
	enum mr_cause_kind kind = cause_of_wait(mr_wait_kind_of(model, state));
	bool is_ended = wakeup != MR_NO_ROW &&
			model->wakeups.context[wakeup] == MR_wake_context_task &&
			model->states.released_by[state] != MR_NO_TRACK && are_timers_told(model) &&
			file_of_wait(model, state) == 0;

	return kind == MR_CAUSE_SLEEP && is_ended ? MR_CAUSE_SIGNAL : kind;
}

static void tell_blocked(const struct mr_model *model, uint32_t thread,
			 struct mr_activity *activity)
{
	const struct mr_wakeups *wakeups = &model->wakeups;
	uint32_t wakeup = model->states.ended_by[activity->state];
	uint32_t waker = model->states.released_by[activity->state];
	enum mr_cause_kind kind = cause_of_blocked(model, activity->state, wakeup);
	uint32_t file = file_of_wait(model, activity->state);
	bool is_timer =
		wakeup != MR_NO_ROW && (wakeups->context[wakeup] == MR_wake_context_timer ||
					wakeups->context[wakeup] == MR_wake_context_hrtimer);

	if (kind == MR_CAUSE_DISK) {
		activity->link = name_file(kind, file);
	} else if (kind == MR_CAUSE_SLEEP || (is_timer && kind != MR_CAUSE_GIL)) {
		activity->link = mr_link_make(MR_CAUSE_SLEEP, MR_CULPRIT_THREAD, thread, 0);
	} else if (wakeup == MR_NO_ROW || (is_timer && waker == MR_NO_TRACK)) {
		activity->link = mr_link_bare(kind);
	} else if (waker != MR_NO_TRACK || wakeups->context[wakeup] == MR_wake_context_task) {
		activity->waker = waker;
		activity->link = make_thread_link(model, kind, waker,
						  (struct mr_host_key){mr_track_host(model, thread),
								       wakeups->waker_tid[wakeup]},
						  wakeups->start_ns[wakeup]);
	} else {
		activity->link = name_interrupt(model, kind, file, wakeup);
	}
}

static void tell_state(const struct mr_model *model, struct mr_places *places, uint32_t thread,
		       int64_t ns, struct mr_activity *activity)
{
	if (!mr_activity_has_state(model, activity)) {
		tell_untraced(model, thread, activity);
		return;
	}
	switch (model->states.state[activity->state]) {
	case MR_STATE_RUN:
		tell_running(model, places, thread, ns, activity);
		break;
	case MR_STATE_RUNNABLE:
		tell_runnable(model, places, thread, ns, activity);
		break;
	case MR_STATE_BLOCKED:
		tell_blocked(model, thread, activity);
		break;
	}
}

/* ---- all together ------------------------------------------------------------------------------- */

static struct mr_activity find_rows(const struct mr_model *model, struct mr_places *places,
				    uint32_t thread, int64_t ns)
{
	struct mr_activity activity = {
		.from_ns = INT64_MIN,
		.to_ns = INT64_MAX,
		.to_operation = MR_NO_ROW,
		.delayed_operation = MR_NO_ROW,
		.waker = MR_NO_TRACK,
		.waiting_call = MR_NO_ROW,
		.interrupt = MR_NO_ROW,
		.cpu_run = MR_NO_ROW,
		.awaited = MR_NO_ROW,
	};

	activity.state =
		find_innermost(INTERVALS(model, states, NULL, PLACE(places, thread, state)), thread,
			       ns, &activity);
	activity.call = find_innermost(
		INTERVALS(model, calls, model->calls.parent, PLACE(places, thread, call)), thread,
		ns, &activity);
	activity.execution =
		find_innermost(INTERVALS(model, node_executions, model->node_executions.parent,
					 PLACE(places, thread, execution)),
			       thread, ns, &activity);
	return activity;
}

void mr_activity_find(const struct mr_model *model, struct mr_places *places, uint32_t thread,
		      int64_t ns, struct mr_activity *ret_activity)
{
	struct mr_activity activity = find_rows(model, places, thread, ns);

	find_waiting_call(model, ns, &activity);
	if (!tell_waiting(model, ns, &activity))
		tell_state(model, places, thread, ns, &activity);
	*ret_activity = activity;
}

void mr_activity_find_ordinary(const struct mr_model *model, struct mr_places *places,
			       uint32_t thread, int64_t ns, struct mr_activity *ret_activity)
{
	*ret_activity = find_rows(model, places, thread, ns);
	tell_state(model, places, thread, ns, ret_activity);
}
