/* SPDX-License-Identifier: Apache-2.0 */
#include "load/states.h"

enum {
	/* Clocks of two CPUs agree better than this. */
	SKEW_NS = 10000,
};

/* A state and where. */
struct stand {
	uint8_t state;
	uint8_t reason;
	uint32_t cpu;
};

struct mr_life {
	int64_t since_ns;
	struct stand now;
	bool is_over;
	bool woken_early; /* a waking came while it ran */
	bool is_missed;   /* left its CPU unseen: blocked or runnable, the next event decides */
	bool is_in_call;  /* BLOCKED in `call` */
	/* It was woken, and that is the first that is heard of it after a gap. */
	bool is_wake_open;
	int64_t wake_ns;
	/* It was seen on another CPU before it left this one, where it ran since then. */
	bool is_doubtful;
	uint32_t doubtful_cpu;
	int64_t doubtful_ns;
	struct mr_system_calls_row call;
};

int mr_states_start(struct mr_states_maker *maker, struct mr_model *model)
{
	const uint64_t *counts = model->survey->event_counts;
	struct mr_states_maker made = {
		.model = model,
		.has_wakings = counts[MR_EVENT_kernel_waking] > 0,
		.lives = calloc(model->survey->tasks.list.count + 1, sizeof *made.lives),
	};

	if (!made.lives)
		return -ENOMEM;
	int result = mr_gaps_make(model, &made.gaps);
	if (result == 0)
		*maker = made;
	else
		free(made.lives);
	return result;
}

void mr_states_free(struct mr_states_maker *maker)
{
	free(maker->lives);
	mr_gaps_free(&maker->gaps);
}

bool mr_states_is_over(const struct mr_states_maker *maker, uint32_t task)
{
	return maker->lives[task].is_over;
}

/* ---- rows --------------------------------------------------------------------------------------- */

static int add(struct mr_states_maker *maker, uint32_t task, int64_t begin_ns, int64_t end_ns,
	       struct stand stand, uint32_t minor_faults)
{
	const struct mr_life *life = &maker->lives[task];
	uint32_t track = maker->model->survey->tasks.list.items[task].track;

	if (begin_ns >= end_ns)
		return 0;
	if (stand.state == MR_STATE_BLOCKED && life->is_in_call) {
		struct mr_system_calls_row call = life->call;

		call.track = track;
		call.start_ns = begin_ns;
		call.duration_ns = end_ns - begin_ns;
		call.flags = MR_ROW_BLOCKED;
		int result = mr_system_calls_append(&maker->model->system_calls, call);
		if (result < 0)
			return result;
	}
	return mr_states_append(&maker->model->states,
				(struct mr_states_row){.track = track,
						       .start_ns = begin_ns,
						       .duration_ns = end_ns - begin_ns,
						       .cpu = stand.cpu,
						       .minor_faults = minor_faults,
						       .system_call = MR_NO_ROW,
						       .wakeup = MR_NO_ROW,
						       .ended_by = MR_NO_ROW,
						       .released_by = MR_NO_TRACK,
						       .state = stand.state,
						       .reason = stand.reason});
}

static struct stand unknown(uint8_t reason)
{
	return (struct stand){MR_STATE_UNKNOWN, reason, MR_NO_CPU};
}

/* It never left the first CPU: what it did before it was seen on the second is not known. */
static int give_up_doubtful(struct mr_states_maker *maker, uint32_t task)
{
	struct mr_life *life = &maker->lives[task];

	if (!life->is_doubtful)
		return 0;
	life->is_doubtful = false;
	maker->model->anomalies.contradictory++;
	return add(maker, task, life->doubtful_ns, life->since_ns, unknown(MR_REASON_LOST), 0);
}

/* Ends what the thread was doing. `was` is what the event says it was doing just before; `fits`: and that
 * is what it was thought to do. */
static int settle(struct mr_states_maker *maker, uint32_t task, int64_t ns, struct stand was,
		  bool fits, uint32_t minor_faults)
{
	struct mr_life *life = &maker->lives[task];
	/* What happens on other CPUs does not touch a thread that runs all the time. */
	bool ran_on = life->now.state == MR_STATE_RUN && was.state == MR_STATE_RUN && fits;
	int64_t begin_ns = life->since_ns, gap_begin_ns = begin_ns, gap_end_ns = ns;
	uint8_t why;
	int result = give_up_doubtful(maker, task);

	life->since_ns = mr_max(ns, begin_ns);
	if (result < 0)
		return result;
	if (mr_unlikely(mr_gaps_find(&maker->gaps, ran_on ? was.cpu : MR_NO_CPU, &gap_begin_ns,
				     &gap_end_ns, &why))) {
		result = add(maker, task, begin_ns, gap_begin_ns, life->now, 0);
		if (result == 0)
			result = add(maker, task, gap_begin_ns, gap_end_ns, unknown(why), 0);
		return result < 0 ? result : add(maker, task, gap_end_ns, ns, was, minor_faults);
	}
	if (mr_likely(fits || life->now.state == MR_STATE_UNKNOWN))
		return add(maker, task, begin_ns, ns, life->now, minor_faults);
	bool is_off = begin_ns >= maker->gaps.off_ns;
	maker->model->anomalies.contradictory += ns > begin_ns && !is_off;
	return add(maker, task, begin_ns, ns,
		   unknown(is_off ? MR_REASON_NOT_RECORDED : MR_REASON_LOST), minor_faults);
}

/* ---- lives -------------------------------------------------------------------------------------- */

/* After a gap it may be doing anything: also running threads are woken. */
static bool is_lost(const struct mr_states_maker *maker, const struct mr_life *life, int64_t ns,
		    uint8_t *ret_why)
{
	bool runs = life->now.state == MR_STATE_RUN;
	int64_t begin_ns = life->since_ns, end_ns = ns;

	return mr_gaps_find(&maker->gaps, runs ? life->now.cpu : MR_NO_CPU, &begin_ns, &end_ns,
			    ret_why);
}

/* A thread that is next switched in has slept since the gap; otherwise it may have run. */
static int settle_wake(struct mr_states_maker *maker, uint32_t task, bool has_slept)
{
	struct mr_life *life = &maker->lives[task];
	uint8_t why = MR_REASON_LOST;

	if (mr_likely(!life->is_wake_open))
		return 0;
	life->is_wake_open = false;
	is_lost(maker, life, life->wake_ns, &why);
	struct stand was = has_slept
				   ? (struct stand){MR_STATE_BLOCKED, MR_REASON_NOT_TOLD, MR_NO_CPU}
				   : unknown(why);
	int result = settle(maker, task, life->wake_ns, was, true, 0);
	life->now = has_slept ? (struct stand){MR_STATE_RUNNABLE, MR_REASON_WOKEN, MR_NO_CPU}
			      : unknown(why);
	return result;
}

static bool is_complete(const struct mr_states_maker *maker, int64_t begin_ns, int64_t end_ns)
{
	uint8_t why;

	return !mr_gaps_find(&maker->gaps, MR_NO_CPU, &begin_ns, &end_ns, &why);
}

/* The thread goes on in another program. It runs, as it has just called for that. */
static int go_on(struct mr_states_maker *maker, uint32_t previous, uint32_t task, int64_t ns)
{
	struct mr_life *old = &maker->lives[previous], *new = &maker->lives[task];
	struct stand runs = {MR_STATE_RUN, MR_REASON_NONE, old->now.cpu};
	uint8_t why;
	int result = settle_wake(maker, previous, false);
	bool fits = old->now.state == MR_STATE_RUN;

	if (result < 0)
		return result;

	if (!fits || is_lost(maker, old, ns, &why))
		runs.cpu = MR_NO_CPU; /* not known until it leaves it */
	result = settle(maker, previous, ns, runs, fits, 0);
	*new = (struct mr_life){.since_ns = ns, .now = runs, .woken_early = old->woken_early};
	old->is_over = true;
	return result;
}

/* A thread begins runnable. One that is found when the recording begins is blocked until it is woken. */
static int begin(struct mr_states_maker *maker, uint32_t task)
{
	const struct mr_task *born = &maker->model->survey->tasks.list.items[task];

	maker->lives[task] = (struct mr_life){
		.since_ns = born->begin_ns,
		.now = {MR_STATE_RUNNABLE, MR_REASON_NEW, MR_NO_CPU},
	};
	if (born->previous == MR_NO_TASK || maker->lives[born->previous].is_over)
		return 0;
	return go_on(maker, born->previous, task, born->begin_ns);
}

int mr_states_advance(struct mr_states_maker *maker, int64_t ns)
{
	const struct mr_tasks *tasks = &maker->model->survey->tasks;
	int result = 0;

	while (result == 0 && maker->begun < tasks->list.count &&
	       tasks->list.items[maker->begun].begin_ns <= ns)
		result = begin(maker, maker->begun++);
	return result;
}

int mr_states_run(struct mr_states_maker *maker, uint32_t task, struct mr_place place)
{
	struct mr_life *life = &maker->lives[task];
	uint32_t cpu = place.cpu;
	int64_t ns = place.ns;
	struct stand was = {MR_STATE_RUNNABLE, MR_REASON_NOT_TOLD, cpu};
	if (life->is_over)
		return 0;
	int result = settle_wake(maker, task,
				 life->is_wake_open && is_complete(maker, life->wake_ns, ns));
	if (result < 0)
		return result;
	if (life->is_missed && maker->has_wakings)
		life->now = was;
	if (life->now.state == MR_STATE_RUN && life->now.cpu != cpu && life->now.cpu != MR_NO_CPU) {
		result = give_up_doubtful(maker, task);
		life->is_doubtful = true;
		life->doubtful_cpu = life->now.cpu;
		life->doubtful_ns = life->since_ns;
		life->since_ns = mr_max(ns, life->since_ns);
	} else {
		if (life->now.state == MR_STATE_BLOCKED && life->woken_early)
			life->now = (struct stand){MR_STATE_RUNNABLE, MR_REASON_WOKEN, cpu};
		if (life->now.state == MR_STATE_RUNNABLE)
			life->now.cpu = cpu;
		bool is_told_nothing = life->now.state == MR_STATE_BLOCKED && !maker->has_wakings;
		if (is_told_nothing)
			was.state = MR_STATE_BLOCKED;
		result = settle(maker, task, ns, was,
				life->now.state == MR_STATE_RUNNABLE || is_told_nothing, 0);
	}
	life->now = (struct stand){MR_STATE_RUN, MR_REASON_NONE, cpu};
	life->woken_early = life->is_in_call = life->is_missed = false;
	return result;
}

/* It came to its CPU unseen, after another one was known to have it. */
static int come_unseen(struct mr_states_maker *maker, uint32_t task, struct mr_place place)
{
	struct mr_life *life = &maker->lives[task];
	int64_t known_ns = mr_max(place.known_ns, life->since_ns);
	uint8_t why;
	bool wanted =
		(life->now.state == MR_STATE_RUNNABLE || life->is_missed || life->woken_early) &&
		!is_lost(maker, life, place.ns, &why);
	int result = 0;

	if (wanted) {
		life->now =
			(struct stand){MR_STATE_RUNNABLE,
				       life->now.state == MR_STATE_RUNNABLE ? life->now.reason
									    : MR_REASON_NOT_TOLD,
				       place.cpu};
		result = settle(maker, task, known_ns, life->now, true, 0);
		life->now = unknown(MR_REASON_LOST);
		maker->model->anomalies.contradictory += known_ns < place.ns;
	}
	if (result == 0)
		result = settle(maker, task, place.ns,
				(struct stand){MR_STATE_RUN, MR_REASON_NONE, place.cpu}, false, 0);
	life->now = (struct stand){MR_STATE_RUN, MR_REASON_NONE, place.cpu};
	life->woken_early = life->is_in_call = life->is_missed = false;
	return result;
}

int mr_states_see(struct mr_states_maker *maker, uint32_t task, struct mr_place place)
{
	const struct mr_life *life = &maker->lives[task];

	if (mr_likely(life->is_over || (life->now.state == MR_STATE_RUN && !life->is_wake_open)))
		return 0;
	int result = settle_wake(maker, task, false);
	return result < 0 ? result : come_unseen(maker, task, place);
}

/* What a thread did last after the recording went off is not known. A thread that exited ran until then, if its last
 * switch was recorded, as it is not by perf events. */
static int finish(struct mr_states_maker *maker, uint32_t task)
{
	struct mr_task *ended = &maker->model->survey->tasks.list.items[task];
	struct mr_life *life = &maker->lives[task];
	int result = settle_wake(maker, task, false);
	int64_t off_ns = mr_max(maker->gaps.off_ns, life->since_ns);

	bool is_known = maker->model->survey->kernel_recorded.off_ns != INT64_MAX ||
			(ended->end == MR_TASK_EXIT && maker->has_wakings);
	if (result == 0 && is_known && off_ns < ended->end_ns) {
		result = settle(maker, task, off_ns, life->now, true, 0);
		life->now = unknown(MR_REASON_NOT_RECORDED);
	}
	bool fits = ended->end == MR_TASK_RUNNING ||
		    (ended->end == MR_TASK_EXIT && life->now.state == MR_STATE_RUN);
	if (result == 0)
		result = settle(maker, task, ended->end_ns, unknown(MR_REASON_LOST), fits, 0);
	ended->end_ns = life->since_ns;
	life->is_over = true;
	return result;
}

int mr_states_miss(struct mr_states_maker *maker, uint32_t task, struct mr_place place)
{
	const struct mr_task *ended = &maker->model->survey->tasks.list.items[task];
	struct mr_life *life = &maker->lives[task];
	int result = settle_wake(maker, task, false);
	int64_t known_ns = mr_max(place.known_ns, life->since_ns);
	uint8_t why;

	if (result < 0)
		return result;
	if (life->is_over || life->now.state != MR_STATE_RUN || life->now.cpu != place.cpu)
		return 0;
	if (ended->end == MR_TASK_EXIT && ended->end_ns <= place.ns)
		return finish(maker, task);
	if (!is_lost(maker, life, place.ns, &why)) {
		result = settle(maker, task, known_ns, life->now, true, 0);
		life->now = unknown(MR_REASON_LOST);
		maker->model->anomalies.contradictory += known_ns < place.ns;
	}
	if (result == 0)
		result = settle(maker, task, place.ns, unknown(MR_REASON_LOST), true, 0);
	life->now = unknown(MR_REASON_LOST);
	life->is_missed = true;
	return result;
}

static struct stand after_switch(uint8_t switch_reason, uint32_t cpu)
{
	switch (switch_reason) {
	case MR_switch_reason_preempted:
		return (struct stand){MR_STATE_RUNNABLE, MR_REASON_PREEMPTED, cpu};
	case MR_switch_reason_yielded:
		return (struct stand){MR_STATE_RUNNABLE, MR_REASON_YIELDED, cpu};
	case MR_switch_reason_throttled:
		return (struct stand){MR_STATE_RUNNABLE, MR_REASON_THROTTLED, cpu};
	case MR_switch_reason_interruptible:
		return (struct stand){MR_STATE_BLOCKED, MR_REASON_INTERRUPTIBLE, cpu};
	case MR_switch_reason_uninterruptible:
		return (struct stand){MR_STATE_BLOCKED, MR_REASON_UNINTERRUPTIBLE, cpu};
	case MR_switch_reason_disk:
		return (struct stand){MR_STATE_BLOCKED, MR_REASON_DISK, cpu};
	case MR_switch_reason_stopped:
		return (struct stand){MR_STATE_BLOCKED, MR_REASON_STOPPED, cpu};
	default:
		return (struct stand){MR_STATE_BLOCKED, MR_REASON_NOT_TOLD, cpu};
	}
}

/* It left a CPU late: it is running on the next one already. */
static bool is_late(const struct mr_life *life, uint32_t cpu, int64_t ns)
{
	return life->is_doubtful && life->doubtful_cpu == cpu && ns - life->since_ns <= SKEW_NS;
}

int mr_states_stop(struct mr_states_maker *maker, uint32_t task, struct mr_place place,
		   const struct mr_event_kernel_switch *event)
{
	struct mr_life *life = &maker->lives[task];
	uint32_t cpu = place.cpu;
	int64_t ns = place.ns;
	struct stand was = {MR_STATE_RUN, MR_REASON_NONE, cpu};

	if (life->is_over)
		return 0;
	int result = settle_wake(maker, task, false);
	if (result < 0)
		return result;
	if (is_late(life, cpu, ns)) {
		life->is_doubtful = false;
		return add(maker, task, life->doubtful_ns, life->since_ns, was,
			   event->minor_faults);
	}
	if (life->now.state == MR_STATE_RUN && life->now.cpu == MR_NO_CPU)
		life->now.cpu = cpu;
	if (life->now.state != MR_STATE_RUN)
		result = come_unseen(maker, task, place);
	if (result == 0)
		result = settle(maker, task, ns, was,
				life->now.state == MR_STATE_RUN && life->now.cpu == cpu,
				event->minor_faults);
	life->now = after_switch(event->reason, cpu);
	life->woken_early &= life->now.state == MR_STATE_BLOCKED;
	if (event->reason == MR_switch_reason_exited) {
		life->is_over = true;
		maker->model->survey->tasks.list.items[task].end_ns = life->since_ns;
	}
	return result;
}

/* No traced thread created it: it existed when the recording began, and there is no earlier record of it. */
static bool is_found(const struct mr_states_maker *maker, uint32_t task)
{
	const struct mr_tasks *tasks = &maker->model->survey->tasks;
	uint32_t program = tasks->list.items[task].program;

	return maker->lives[task].now.reason == MR_REASON_NEW &&
	       tasks->programs.items[program].parent == program;
}

int mr_states_wake(struct mr_states_maker *maker, uint32_t task, int64_t ns)
{
	struct mr_life *life = &maker->lives[task];
	uint8_t why;

	if (life->is_over)
		return 0;
	int result = settle_wake(maker, task, false);
	if (result < 0)
		return result;
	if (life->is_missed)
		life->now = (struct stand){MR_STATE_BLOCKED, MR_REASON_NOT_TOLD, MR_NO_CPU};
	if (mr_unlikely(is_lost(maker, life, ns, &why))) {
		life->is_wake_open = true;
		life->wake_ns = ns;
	} else if (life->now.state == MR_STATE_BLOCKED || is_found(maker, task)) {
		if (life->now.state != MR_STATE_BLOCKED)
			life->now = (struct stand){MR_STATE_BLOCKED, MR_REASON_NOT_TOLD, MR_NO_CPU};
		result = settle(maker, task, ns, life->now, true, 0);
		life->now = (struct stand){MR_STATE_RUNNABLE, MR_REASON_WOKEN, life->now.cpu};
	}
	life->woken_early = life->now.state == MR_STATE_RUN && !life->is_wake_open;
	life->is_in_call = life->is_missed = false;
	return result;
}

int mr_states_migrate(struct mr_states_maker *maker, uint32_t task, uint32_t from_cpu, int64_t ns)
{
	struct mr_life *life = &maker->lives[task];

	if (life->is_over || life->now.state != MR_STATE_RUNNABLE || life->is_wake_open)
		return 0;
	life->now.cpu = from_cpu;
	return settle(maker, task, ns, life->now, true, 0);
}

void mr_states_block_in(struct mr_states_maker *maker, uint32_t task,
			struct mr_system_calls_row call)
{
	struct mr_life *life = &maker->lives[task];

	life->is_in_call = !life->is_over && life->now.state == MR_STATE_BLOCKED;
	life->call = call;
}

int mr_states_finish(struct mr_states_maker *maker)
{
	const struct mr_survey *survey = maker->model->survey;
	int result = mr_states_advance(maker, INT64_MAX);

	for (uint32_t task = 0; result == 0 && task < survey->tasks.list.count; task++)
		if (!maker->lives[task].is_over)
			result = finish(maker, task);
	return result;
}
