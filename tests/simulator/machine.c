/* SPDX-License-Identifier: Apache-2.0
 *
 * The machine: threads on cores, in virtual time. A thread runs its actions one after the other. One that
 * takes time runs a chunk, which others may interrupt; one that waits leaves its core until it is woken.
 *
 *     event ──► thread goes on: actions of no duration ... ──► a chunk begins, or it leaves its core
 *
 * A thread that was woken from another core does not run in the same nanosecond: in the streams of two cores
 * the order would not be told.
 */
#include "machine.h"
#include "writer.h"

/* ---- states ------------------------------------------------------------------------------------- */

static void set_state(struct simulation *simulation, int who, struct stretch next)
{
	struct thread *thread = &simulation->threads[who];

	thread->now.end_ns = simulation->now_ns;
	if (thread->now.begin_ns < thread->now.end_ns)
		PUSH(&thread->life, thread->now);
	next.begin_ns = simulation->now_ns;
	thread->now = next;
}

/* ---- cores -------------------------------------------------------------------------------------- */

/* Its wake-up is told before it runs, whatever order the streams are read in. */
static bool is_eligible(const struct simulation *simulation, int who, int core)
{
	const struct thread *thread = &simulation->threads[who];

	return thread->woken_ns < simulation->now_ns || thread->wake_core == core;
}

/* Place in the core's list of the thread that is to run next, in turn: nobody starves. NOBODY. */
int machine_find_next(const struct simulation *simulation, int core)
{
	const struct core *here = &simulation->cores[core];

	for (size_t i = 0; i < here->waiting.count; i++)
		if (is_eligible(simulation, here->waiting.items[i], core))
			return (int)i;
	return NOBODY;
}

static int take(struct core *core, int place)
{
	int who = core->waiting.items[place];

	core->waiting.count--;
	for (size_t i = (size_t)place; i < core->waiting.count; i++)
		core->waiting.items[i] = core->waiting.items[i + 1];
	return who;
}

static void look_again(struct simulation *simulation, int core, int64_t in_ns)
{
	world_schedule(simulation, simulation->now_ns + in_ns,
		       (struct event){.kind = EVENT_DISPATCH, .who = core});
}

static void begin_running(struct simulation *simulation, int who, int core, bool was_idle)
{
	struct thread *thread = &simulation->threads[who];
	int64_t late_ns = simulation->now_ns - thread->woken_ns;

	thread->point = world_point(simulation);
	world_edge(simulation, thread->wake_point, was_idle ? late_ns : 0, OWNER_THREAD, who);
	world_edge(simulation, simulation->cores[core].point, 0, OWNER_NONE, 0);
	set_state(simulation, who, (struct stretch){.state = RUNS, .core = core});
	thread->core = core;
	world_schedule(
		simulation, simulation->now_ns + world_pick_ns(simulation, 30000, 90000),
		(struct event){.kind = EVENT_SLICE, .who = who, .generation = ++thread->session});
	if (!thread->has_chunk) {
		action_go_on(simulation, who);
		return;
	}
	thread->chunk_ns = simulation->now_ns;
	if (thread->left_ns != NEVER)
		world_schedule(simulation, simulation->now_ns + thread->left_ns,
			       (struct event){.kind = EVENT_CHUNK,
					      .who = who,
					      .generation = ++thread->chunk});
}

/* An idle core wakes up; a busy one looks whether the thread is more urgent. */
static void join_core(struct simulation *simulation, int who, int core, int from_core)
{
	struct core *here = &simulation->cores[core];

	simulation->threads[who].core = core;
	simulation->threads[who].woken_ns = simulation->now_ns;
	simulation->threads[who].wake_core = from_core;
	PUSH(&here->waiting, who);
	if (here->running != NOBODY) {
		look_again(simulation, core,
			   core == from_core ? 0 : world_pick_ns(simulation, 100, 2000));
	} else if (!here->is_waking) {
		here->is_waking = true;
		look_again(simulation, core, world_pick_ns(simulation, 1, 20000));
	}
}

/* A core that has nothing to do takes a thread from another one. */
static void steal(struct simulation *simulation, int core)
{
	for (int from = 0; from < simulation->core_count; from++) {
		int place = machine_find_next(simulation, from);
		int who = place == NOBODY ? NOBODY : simulation->cores[from].waiting.items[place];

		if (who == NOBODY || simulation->threads[who].pinned != NOBODY ||
		    simulation->threads[who].now.begin_ns == simulation->now_ns)
			continue;
		int64_t woken_ns = simulation->threads[who].woken_ns;
		struct stretch stretch = simulation->threads[who].now;

		take(&simulation->cores[from], place);
		writer_migration(simulation, who, from, core);
		stretch.core = core;
		set_state(simulation, who, stretch);
		join_core(simulation, who, core, core);
		simulation->threads[who].woken_ns = woken_ns; /* the time of its point */
		return;
	}
}

/* The core changes hands: to the thread at `place` of its list, or to nobody. The thread `back`, if there is
 * one, wants to have it again. */
static void switch_core(struct simulation *simulation, int core, int place,
			enum mr_switch_reason reason, int back)
{
	struct core *here = &simulation->cores[core];
	int previous = here->running, next = place == NOBODY ? NOBODY : take(here, place);

	if (back != NOBODY)
		PUSH(&here->waiting, back);
	if (here->since_ns < simulation->now_ns)
		PUSH(&here->tenures, (struct tenure){here->since_ns, simulation->now_ns, previous});
	writer_switch(simulation, core, previous, next, reason);
	here->running = next;
	here->since_ns = simulation->now_ns;
	if (previous != NOBODY)
		here->point = simulation->threads[previous].point;
	if (next != NOBODY)
		begin_running(simulation, next, core, previous == NOBODY);
	else if (here->waiting.count)
		look_again(simulation, core, 1);
	else if (world_chance(simulation, 50))
		steal(simulation, core);
}

static bool can_stop(const struct thread *thread)
{
	return thread->has_chunk && !thread->is_atomic;
}

/* Stops the chunk of the thread that has the core, for the one at `place` of its list. */
static void preempt(struct simulation *simulation, int core, int place)
{
	struct core *here = &simulation->cores[core];
	int who = here->running, other = here->waiting.items[place];
	struct thread *thread = &simulation->threads[who];
	int64_t ran_ns = simulation->now_ns - thread->chunk_ns;
	uint32_t point = world_point(simulation);

	if (!thread->is_spinning) {
		world_edge(simulation, thread->point, ran_ns, OWNER_THREAD, who);
	} else {
		world_edge(simulation, thread->point, 0, OWNER_THREAD, who);
		world_edge(simulation, simulation->threads[other].wake_point,
			   simulation->now_ns - simulation->threads[other].woken_ns, OWNER_NONE, 0);
	}
	if (thread->released_ns != NEVER) {
		thread->released_ns = NEVER;
		thread->is_spinning = false;
	}
	if (thread->left_ns != NEVER)
		thread->left_ns -= ran_ns;
	thread->chunk++;
	thread->session++;
	thread->point = thread->wake_point = point;
	thread->woken_ns = simulation->now_ns;
	thread->wake_core = core;
	set_state(simulation, who,
		  (struct stretch){.state = RUNNABLE, .why = WHY_PREEMPTED, .core = core});
	switch_core(simulation, core, place, MR_switch_reason_preempted, who);
}

/* Place in the core's list of a thread that is more urgent than the one that runs; NOBODY. */
static int find_urgent(const struct simulation *simulation, int core)
{
	const struct core *here = &simulation->cores[core];

	for (size_t i = 0; i < here->waiting.count; i++)
		if (is_eligible(simulation, here->waiting.items[i], core) &&
		    simulation->threads[here->waiting.items[i]].priority >
			    simulation->threads[here->running].priority)
			return (int)i;
	return NOBODY;
}

static void dispatch(struct simulation *simulation, int core)
{
	struct core *here = &simulation->cores[core];
	bool is_idle = here->running == NOBODY;
	int place = is_idle ? machine_find_next(simulation, core) : find_urgent(simulation, core);

	here->is_waking = false;
	if (is_idle && place != NOBODY)
		switch_core(simulation, core, place, MR_switch_reason_unknown, NOBODY);
	else if (is_idle && here->waiting.count)
		look_again(simulation, core, 1);
	else if (!is_idle && place != NOBODY && can_stop(&simulation->threads[here->running]))
		preempt(simulation, core, place);
	else if (!is_idle && place != NOBODY)
		look_again(simulation, core, 1000);
}

static void end_slice(struct simulation *simulation, int who, uint32_t session)
{
	struct thread *thread = &simulation->threads[who];

	if (thread->session != session)
		return;
	int place = machine_find_next(simulation, thread->core);
	if (place != NOBODY && can_stop(thread))
		preempt(simulation, thread->core, place);
	else
		world_schedule(
			simulation, simulation->now_ns + 40000,
			(struct event){.kind = EVENT_SLICE, .who = who, .generation = session});
}

static int choose_core(struct simulation *simulation, int who)
{
	const struct thread *thread = &simulation->threads[who];
	int from = (int)world_pick(simulation, (uint32_t)simulation->core_count);

	if (thread->pinned != NOBODY)
		return thread->pinned;
	for (int i = 0; i < simulation->core_count; i++) {
		int core = (from + i) % simulation->core_count;

		if (simulation->cores[core].running == NOBODY)
			return core;
	}
	return from;
}

/* ---- leaving and coming back -------------------------------------------------------------------- */

void machine_leave_core(struct simulation *simulation, int who, struct stretch next,
			enum mr_switch_reason reason)
{
	struct thread *thread = &simulation->threads[who];
	bool yields = reason == MR_switch_reason_yielded;

	thread->phase++;
	thread->session++;
	thread->has_chunk = false;
	next.core = thread->core;
	set_state(simulation, who, next);
	switch_core(simulation, thread->core, machine_find_next(simulation, thread->core), reason,
		    yields ? who : NOBODY);
}

void machine_block(struct simulation *simulation, int who, const char *wait, uint32_t file,
		   enum mr_switch_reason reason)
{
	struct thread *thread = &simulation->threads[who];

	thread->wait++;
	machine_leave_core(
		simulation, who,
		(struct stretch){.state = BLOCKED,
				 .wait = wait,
				 .file = file,
				 .word = thread->in_system_call ? thread->call_word : WORD_NONE,
				 .command = thread->call_command},
		reason);
}

/* Who or what wakes is `by`, on `core`; `from` and `edge_ns` are where the time of it comes from. */
static void wake(struct simulation *simulation, int who, const struct event *by, int core)
{
	struct thread *thread = &simulation->threads[who];

	world_require(thread->now.state == BLOCKED);
	thread->wake_point = world_point(simulation);
	world_edge(simulation, by->point, by->edge_ns, OWNER_THREAD, who);
	world_edge(simulation, thread->point, 0, OWNER_NONE, 0);
	writer_waking(simulation, core, who, by->waker, by->source);
	thread->now.waker = by->waker;
	thread->now.waker_thread = by->waker == WAKER_THREAD ? by->who : NOBODY;
	thread->now.source = by->source;
	int to = choose_core(simulation, who);
	set_state(simulation, who,
		  (struct stretch){.state = RUNNABLE, .why = WHY_WOKEN, .core = to});
	join_core(simulation, who, to, core);
}

void machine_wake(struct simulation *simulation, int who, int waker)
{
	const struct thread *by = &simulation->threads[waker];

	wake(simulation, who,
	     &(struct event){.waker = WAKER_THREAD, .who = waker, .point = by->point}, by->core);
}

/* The thread, which blocks now, is to be woken later. */
void machine_wake_later(struct simulation *simulation, int who, int64_t in_ns, struct event event)
{
	event.kind = EVENT_WAKE;
	event.who = who;
	event.generation = simulation->threads[who].wait;
	world_schedule(simulation, simulation->now_ns + in_ns, event);
}

static void wake_now(struct simulation *simulation, struct event event)
{
	const struct thread *thread = &simulation->threads[event.who];

	if (thread->wait != event.generation)
		return;
	if (event.is_queued)
		event.point = simulation->disk_point[event.disk - 1];
	wake(simulation, event.who, &event,
	     (int)world_pick(simulation, (uint32_t)simulation->core_count));
	if (event.disk)
		simulation->disk_point[event.disk - 1] = thread->wake_point;
}

void machine_bear(struct simulation *simulation, int who, int maker)
{
	struct thread *thread = &simulation->threads[who];
	int from_core = maker == NOBODY ? NOBODY : simulation->threads[maker].core;

	thread->is_born = true;
	thread->born_ns = simulation->now_ns;
	thread->wake_point = world_point(simulation);
	if (maker != NOBODY)
		world_edge(simulation, simulation->threads[maker].point, 0, OWNER_NONE, 0);
	thread->point = thread->wake_point;
	writer_birth(simulation, who, maker);
	int core = choose_core(simulation, who);
	thread->now = (struct stretch){
		.begin_ns = simulation->now_ns, .state = RUNNABLE, .why = WHY_NEW, .core = core};
	join_core(simulation, who, core, from_core);
}

void machine_bury(struct simulation *simulation, int who)
{
	struct thread *thread = &simulation->threads[who];

	thread->is_over = true;
	thread->over_ns = simulation->now_ns;
	writer_death(simulation, who);
	machine_leave_core(simulation, who, (struct stretch){.state = BLOCKED},
			   MR_switch_reason_exited);
}

static void unthrottle(struct simulation *simulation, int who)
{
	struct thread *thread = &simulation->threads[who];
	int64_t ns = simulation->now_ns - thread->woken_ns;

	thread->wake_point = world_point(simulation);
	world_edge(simulation, thread->point, ns, OWNER_THREAD, who);
	join_core(simulation, who, thread->core, thread->core);
}

/* ---- chunks ------------------------------------------------------------------------------------- */

void machine_start_chunk(struct simulation *simulation, int who, int64_t ns)
{
	struct thread *thread = &simulation->threads[who];

	thread->phase++;
	thread->has_chunk = true;
	thread->is_atomic = thread->is_spinning = false;
	thread->released_ns = NEVER;
	thread->left_ns = ns;
	thread->chunk_ns = simulation->now_ns;
	thread->chunk++;
	if (ns != NEVER)
		world_schedule(simulation, simulation->now_ns + ns,
			       (struct event){.kind = EVENT_CHUNK,
					      .who = who,
					      .generation = thread->chunk});
}

void machine_start_short_chunk(struct simulation *simulation, int who)
{
	machine_start_chunk(simulation, who, world_pick_ns(simulation, 100, 3000));
}

static void end_chunk(struct simulation *simulation, int who)
{
	struct thread *thread = &simulation->threads[who];
	uint32_t point = world_point(simulation);

	if (thread->released_ns != NEVER) {
		world_edge(simulation, thread->point, 0, OWNER_NONE, 0);
		world_edge(simulation, thread->release_point,
			   simulation->now_ns - thread->released_ns, OWNER_THREAD, who);
	} else {
		world_edge(simulation, thread->point, simulation->now_ns - thread->chunk_ns,
			   OWNER_THREAD, who);
	}
	thread->point = point;
	thread->has_chunk = false;
	action_go_on(simulation, who);
}

/* ---- all events --------------------------------------------------------------------------------- */

static struct event take_event(struct simulation *simulation)
{
	struct event *items = simulation->events.items;
	size_t first = 0;

	for (size_t i = 1; i < simulation->events.count; i++)
		if (items[i].ns < items[first].ns ||
		    (items[i].ns == items[first].ns && items[i].number < items[first].number))
			first = i;
	struct event event = items[first];
	items[first] = items[--simulation->events.count];
	return event;
}

static void happen(struct simulation *simulation, const struct event *event)
{
	switch (event->kind) {
	case EVENT_CHUNK:
		if (simulation->threads[event->who].chunk == event->generation)
			end_chunk(simulation, event->who);
		break;
	case EVENT_WAKE:
		wake_now(simulation, *event);
		break;
	case EVENT_DISPATCH:
		dispatch(simulation, event->who);
		break;
	case EVENT_SLICE:
		end_slice(simulation, event->who, event->generation);
		break;
	case EVENT_UNTHROTTLE:
		unthrottle(simulation, event->who);
		break;
	case EVENT_START:
		device_start(simulation, (uint32_t)event->who);
		break;
	case EVENT_END:
		device_end(simulation, (uint32_t)event->who);
		break;
	}
}

/* What is over last ends the trace. */
static int64_t find_end(const struct simulation *simulation)
{
	int64_t end_ns = 0;

	for (int i = 0; i < simulation->thread_count; i++) {
		world_require(simulation->threads[i].is_over); /* or the program is stuck */
		if (simulation->threads[i].is_traced)
			end_ns = mr_max(end_ns, simulation->threads[i].over_ns);
	}
	for (size_t i = 0; i < simulation->operations.count; i++)
		end_ns = mr_max(end_ns, simulation->operations.items[i].end_ns);
	return end_ns;
}

void machine_run(struct simulation *simulation)
{
	simulation->now_ns = WORLD_BEGIN_NS;
	for (int i = 0; i < simulation->core_count; i++) {
		simulation->cores[i].running = NOBODY;
		simulation->cores[i].since_ns = WORLD_BEGIN_NS;
	}
	world_point(simulation);
	for (int i = 0; i < simulation->thread_count; i++)
		if (!simulation->threads[i].is_traced)
			machine_bear(simulation, i, NOBODY);
	machine_bear(simulation, simulation->main_threads[0], NOBODY);
	while (simulation->events.count) {
		struct event event = take_event(simulation);

		simulation->now_ns = event.ns;
		happen(simulation, &event);
	}
	simulation->end_ns = find_end(simulation);
}
