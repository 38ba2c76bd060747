/* SPDX-License-Identifier: Apache-2.0
 *
 * What threads do on their cores and in the kernel. An action has phases: it is called again whenever what it
 * waited for has come, until it is over.
 */
#include "machine.h"
#include "writer.h"

/* ---- with the kernel alone ----------------------------------------------------------------------- */

void action_enter(struct simulation *simulation, int who, uint32_t number, uint32_t file)
{
	struct thread *thread = &simulation->threads[who];

	thread->in_system_call = true;
	thread->call_ns = simulation->now_ns;
	thread->call_number = number;
	thread->call_file = file;
	thread->call_word = WORD_NONE;
	thread->call_command = 0;
}

void action_enter_word(struct simulation *simulation, int who, uint32_t word,
		       enum word_command command)
{
	struct thread *thread = &simulation->threads[who];

	action_enter(simulation, who, CALL_FUTEX, FILE_NONE);
	thread->call_word = word;
	thread->call_command = command;
	if (command == COMMAND_WAKE)
		PUSH(&simulation->wakings, (struct waking){simulation->now_ns, word, who});
}

static void leave(struct simulation *simulation, int who)
{
	if (simulation->threads[who].in_system_call)
		writer_system_call(simulation, who);
	simulation->threads[who].in_system_call = false;
}

/* The end of all that wait in a system call: true when it is over. */
bool action_return_from_wait(struct simulation *simulation, int who)
{
	if (simulation->threads[who].phase == 1) {
		machine_start_short_chunk(simulation, who);
		return false;
	}
	leave(simulation, who);
	return true;
}

static bool do_interrupt(struct simulation *simulation, int who, const struct action *action)
{
	struct thread *thread = &simulation->threads[who];
	int64_t now_ns = simulation->now_ns;

	switch (thread->phase) {
	case 0:
		thread->interrupt_ns = now_ns;
		break;
	case 1:
		thread->inner_ns = now_ns;
		break;
	case 2:
		if (action->is_special) {
			PUSH(&thread->interrupts,
			     (struct interrupt){thread->inner_ns, now_ns, action->what + 1, true});
			writer_interrupt(simulation, who);
		}
		break;
	case 3:
		PUSH(&thread->interrupts,
		     (struct interrupt){thread->interrupt_ns, now_ns, action->what, false});
		writer_interrupt(simulation, who);
		return true;
	}
	machine_start_chunk(simulation, who, action->ns);
	thread->is_atomic = true;
	return false;
}

static bool do_timer(struct simulation *simulation, int who, const struct action *action)
{
	const struct thread *thread = &simulation->threads[who];
	uint32_t number = action->what;

	if (thread->phase > 0)
		return action_return_from_wait(simulation, who);
	if (number == CALL_FUTEX)
		action_enter_word(simulation, who, WORD_FIRST_TIMER + (uint32_t)who,
				  COMMAND_WAIT_BITSET);
	else
		action_enter(simulation, who, number, FILE_NONE);
	machine_block(simulation, who,
		      number == CALL_FUTEX  ? "word"
		      : number == CALL_POLL ? "poll"
					    : "sleep",
		      FILE_NONE, MR_switch_reason_interruptible);
	machine_wake_later(simulation, who, action->ns,
			   (struct event){.waker = WAKER_TIMER,
					  .source = "hrtimer_wakeup",
					  .point = thread->point,
					  .edge_ns = action->ns});
	return false;
}

/* A disk does one thing at a time. */
static bool do_disk(struct simulation *simulation, int who, const struct action *action)
{
	const struct thread *thread = &simulation->threads[who];
	uint32_t disk = action->what == FILE_DATA_B;
	int64_t *free_ns = &simulation->disk_free_ns[disk];

	if (thread->phase > 0)
		return action_return_from_wait(simulation, who);
	if (action->what != FILE_NONE)
		action_enter(simulation, who, CALL_PREAD, action->what);
	machine_block(simulation, who, "disk", action->what,
		      action->what == FILE_NONE || action->is_special
			      ? MR_switch_reason_disk
			      : MR_switch_reason_uninterruptible);
	if (simulation->options.is_calm)
		*free_ns = 0;
	int64_t done_ns = mr_max(*free_ns, simulation->now_ns) + action->ns;
	machine_wake_later(simulation, who, done_ns - simulation->now_ns,
			   (struct event){.waker = WAKER_INTERRUPT,
					  .source = "nvme0q1",
					  .point = thread->point,
					  .disk = disk + 1,
					  .is_queued = *free_ns > simulation->now_ns,
					  .edge_ns = action->ns});
	*free_ns = done_ns;
	return false;
}

static bool do_network(struct simulation *simulation, int who, const struct action *action)
{
	const struct thread *thread = &simulation->threads[who];
	bool polls = action->what == FILE_NONE;

	if (thread->phase > 0)
		return action_return_from_wait(simulation, who);
	action_enter(simulation, who, polls ? CALL_POLL : CALL_RECVFROM, action->what);
	machine_block(simulation, who, polls ? "poll" : "network", action->what,
		      MR_switch_reason_interruptible);
	machine_wake_later(simulation, who, action->ns,
			   (struct event){.waker = WAKER_INTERRUPT,
					  .source = "NET_RX",
					  .point = thread->point,
					  .edge_ns = action->ns});
	return false;
}

/* ---- locks --------------------------------------------------------------------------------------- */

static void wait_for_lock(struct simulation *simulation, int who, const struct action *action)
{
	struct thread *thread = &simulation->threads[who];

	PUSH(&simulation->locks[action->what].waiting, who);
	action_enter_word(simulation, who, WORD_FIRST_LOCK + action->what,
			  action->ns ? COMMAND_WAIT_BITSET : COMMAND_WAIT);
	thread->phase = 0;
	machine_block(simulation, who, "word", FILE_NONE, MR_switch_reason_interruptible);
	if (action->ns)
		machine_wake_later(simulation, who, action->ns,
				   (struct event){.waker = WAKER_TIMER,
						  .source = "hrtimer_wakeup",
						  .point = thread->point,
						  .edge_ns = action->ns});
}

static void stop_waiting(struct lock *lock, int who)
{
	size_t left = 0;

	for (size_t i = 0; i < lock->waiting.count; i++)
		if (lock->waiting.items[i] != who)
			lock->waiting.items[left++] = lock->waiting.items[i];
	lock->waiting.count = left;
}

/* The one that unlocks gives the lock to the one that has waited longest. A timed wait that runs out is repeated. */
static bool do_lock(struct simulation *simulation, int who, const struct action *action)
{
	struct thread *thread = &simulation->threads[who];
	struct lock *lock = &simulation->locks[action->what];

	if (thread->phase > 0 && lock->owner == who)
		return action_return_from_wait(simulation, who);
	if (thread->phase == 1) {
		stop_waiting(lock, who);
		machine_start_short_chunk(simulation, who);
		return false;
	}
	if (thread->phase > 0)
		leave(simulation, who);
	if (lock->owner == NOBODY) {
		lock->owner = who;
		return true;
	}
	wait_for_lock(simulation, who, action);
	return false;
}

/* The one that is blocked for it longest, or NOBODY: those whose time has run out do not wait. */
static int find_heir(const struct simulation *simulation, const struct lock *lock)
{
	for (size_t i = 0; i < lock->waiting.count; i++)
		if (simulation->threads[lock->waiting.items[i]].now.state == BLOCKED)
			return lock->waiting.items[i];
	return NOBODY;
}

static void hand_on(struct simulation *simulation, struct lock *lock, int who)
{
	int heir = find_heir(simulation, lock);

	lock->owner = heir;
	lock->is_handed = heir != NOBODY;
	if (heir == NOBODY)
		return;
	stop_waiting(lock, heir);
	machine_wake(simulation, heir, who);
	simulation->threads[heir].wait++; /* no timer wakes it any more */
}

static bool do_unlock(struct simulation *simulation, int who, const struct action *action)
{
	struct lock *lock = &simulation->locks[action->what];

	switch (simulation->threads[who].phase) {
	case 0:
		if (lock->waiting.count == 0 && !lock->is_handed) {
			lock->owner = NOBODY;
			return true;
		}
		action_enter_word(simulation, who, WORD_FIRST_LOCK + action->what, COMMAND_WAKE);
		break;
	case 1:
		hand_on(simulation, lock, who);
		break;
	case 2:
		leave(simulation, who);
		return true;
	}
	machine_start_short_chunk(simulation, who);
	return false;
}

/* ---- with each other ------------------------------------------------------------------------------ */

/* It waits for another in a pipe, because it was stopped, asleep, or nobody knows why. */
static void wait_for_writer(struct simulation *simulation, int who, const struct action *action)
{
	switch (action->mode) {
	case READ_PIPE:
		machine_block(simulation, who, "ipc", FILE_FIRST_PIPE + action->what,
			      MR_switch_reason_interruptible);
		break;
	case READ_STOPPED:
		machine_block(simulation, who, "stopped", FILE_NONE, MR_switch_reason_stopped);
		break;
	case READ_ASLEEP:
		machine_block(simulation, who, "sleep", FILE_NONE, MR_switch_reason_interruptible);
		break;
	case READ_UNKNOWN:
		machine_block(simulation, who, "unknown", FILE_NONE,
			      MR_switch_reason_interruptible);
		break;
	}
}

static bool do_read(struct simulation *simulation, int who, const struct action *action)
{
	struct pipe *pipe = &simulation->pipes[action->what];

	if (simulation->threads[who].phase > 0)
		return action_return_from_wait(simulation, who);
	if (action->mode == READ_PIPE)
		action_enter(simulation, who, CALL_READ, FILE_FIRST_PIPE + action->what);
	else if (action->mode == READ_ASLEEP)
		action_enter(simulation, who, CALL_SLEEP, FILE_NONE);
	if (pipe->filled) {
		pipe->filled--;
		machine_start_short_chunk(simulation, who);
		simulation->threads[who].phase = 2;
		return false;
	}
	pipe->reader = who;
	wait_for_writer(simulation, who, action);
	return false;
}

static bool do_write(struct simulation *simulation, int who, const struct action *action)
{
	struct pipe *pipe = &simulation->pipes[action->what];
	int reader = pipe->reader;

	switch (simulation->threads[who].phase) {
	case 0:
		action_enter(simulation, who, CALL_WRITE, FILE_FIRST_PIPE + action->what);
		break;
	case 1:
		pipe->reader = NOBODY;
		if (reader == NOBODY)
			pipe->filled++;
		else
			machine_wake(simulation, reader, who);
		break;
	case 2:
		leave(simulation, who);
		return true;
	}
	machine_start_short_chunk(simulation, who);
	return false;
}

/* Takes no time: it looks into memory. */
static bool do_look(struct simulation *simulation, int who, const struct action *action)
{
	struct pipe *pipe = &simulation->pipes[action->what];

	if (pipe->filled)
		pipe->filled--;
	else
		simulation->threads[who].at -= action->queue + 1;
	return true;
}

static bool do_spawn(struct simulation *simulation, int who, const struct action *action)
{
	if (simulation->threads[who].phase == 0) {
		machine_start_short_chunk(simulation, who);
		return false;
	}
	machine_bear(simulation, (int)action->what, who);
	return true;
}

static bool do_join(struct simulation *simulation, int who, const struct action *action)
{
	struct thread *child = &simulation->threads[action->what];
	bool is_process = child->process != simulation->threads[who].process;

	if (simulation->threads[who].phase > 0)
		return action_return_from_wait(simulation, who);
	if (child->is_ending)
		return true;
	child->joined_by = who;
	if (is_process)
		action_enter(simulation, who, CALL_WAIT, FILE_NONE);
	else
		action_enter_word(simulation, who, WORD_FIRST_END + action->what,
				  COMMAND_WAIT_BITSET);
	machine_block(simulation, who, is_process ? "child" : "word", FILE_NONE,
		      MR_switch_reason_interruptible);
	return false;
}

static bool do_pause(struct simulation *simulation, int who, const struct action *action)
{
	struct thread *thread = &simulation->threads[who];
	bool yields = action->kind == ACT_YIELD;

	if (thread->phase == 0 && yields && machine_find_next(simulation, thread->core) == NOBODY)
		return true;
	if (thread->phase > 0)
		return action_return_from_wait(simulation, who);
	thread->wake_point = thread->point;
	thread->woken_ns = simulation->now_ns;
	thread->wake_core = thread->core;
	machine_leave_core(
		simulation, who,
		(struct stretch){.state = RUNNABLE, .why = yields ? WHY_YIELDED : WHY_THROTTLED},
		yields ? MR_switch_reason_yielded : MR_switch_reason_throttled);
	if (!yields)
		world_schedule(simulation, simulation->now_ns + action->ns,
			       (struct event){.kind = EVENT_UNTHROTTLE, .who = who});
	return false;
}

/* ---- all actions -------------------------------------------------------------------------------- */

static bool do_note(struct simulation *simulation, int who, const struct action *action)
{
	struct thread *thread = &simulation->threads[who];

	switch (action->kind) {
	case ACT_NODE_BEGIN:
		PUSH(&thread->open_nodes, (uint32_t)thread->nodes.count);
		PUSH(&thread->nodes, (struct node_run){simulation->now_ns, NEVER, action->what});
		break;
	case ACT_NODE_END: {
		struct node_run *node =
			&thread->nodes.items[thread->open_nodes.items[--thread->open_nodes.count]];

		node->end_ns = simulation->now_ns;
		writer_node(simulation, who, node);
		break;
	}
	case ACT_STEP_BEGIN:
		thread->step_ns = simulation->now_ns;
		thread->step = action->what;
		break;
	default:
		thread->last_step_ns = simulation->now_ns;
		writer_step(simulation, who);
	}
	return true;
}

/* False while it takes time. */
static bool act(struct simulation *simulation, int who, const struct action *action)
{
	struct thread *thread = &simulation->threads[who];

	switch (action->kind) {
	case ACT_RUN:
		if (thread->phase > 0)
			return true;
		machine_start_chunk(simulation, who, action->ns);
		return false;
	case ACT_INTERRUPT:
		return do_interrupt(simulation, who, action);
	case ACT_TIMER:
		return do_timer(simulation, who, action);
	case ACT_DISK:
		return do_disk(simulation, who, action);
	case ACT_NETWORK:
		return do_network(simulation, who, action);
	case ACT_LOCK:
		return do_lock(simulation, who, action);
	case ACT_UNLOCK:
		return do_unlock(simulation, who, action);
	case ACT_READ:
		return do_read(simulation, who, action);
	case ACT_WRITE:
		return do_write(simulation, who, action);
	case ACT_LOOK:
		return do_look(simulation, who, action);
	case ACT_SPAWN:
		return do_spawn(simulation, who, action);
	case ACT_JOIN:
		return do_join(simulation, who, action);
	case ACT_YIELD:
	case ACT_THROTTLE:
		return do_pause(simulation, who, action);
	case ACT_NODE_BEGIN:
	case ACT_NODE_END:
	case ACT_STEP_BEGIN:
	case ACT_STEP_END:
		return do_note(simulation, who, action);
	default:
		return launch_act(simulation, who, action);
	}
}

/* The thread has its core: it acts until something takes time. */
void action_go_on(struct simulation *simulation, int who)
{
	struct thread *thread = &simulation->threads[who];

	while (thread->at < thread->actions.count) {
		if (!act(simulation, who, &thread->actions.items[thread->at]))
			return;
		thread->at++;
		thread->phase = 0;
	}
	if (thread->phase == 0) {
		thread->is_ending = true;
		if (thread->joined_by != NOBODY)
			machine_wake(simulation, thread->joined_by, who);
		machine_start_short_chunk(simulation, who);
		return;
	}
	machine_bury(simulation, who);
}
