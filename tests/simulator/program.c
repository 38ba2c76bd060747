/* SPDX-License-Identifier: Apache-2.0
 *
 * Random programs that always come to their end:
 *  - who holds a lock waits for nothing that needs a lock, a pipe or another thread; locks nest in one order;
 *  - a pipe is read by one thread, and written for each reading by a thread with a lower number;
 *  - a thread is made by one with a lower number, which may wait for its end when it has nothing else to do.
 */
#include "world.h"

enum {
	MAX_DEPTH = 3,
	DRIVER_LOCKS = 4, /* from this one on, one for each process: taken inside launches only */
	TIMED_LOCKS = 8,  /* likewise: at which threads wait with a time limit, again and again */
};

struct author {
	struct simulation *simulation;
	int who;
	bool holds_lock;
	uint32_t depth;
	uint32_t step;
};

static void add(struct author *author, struct action action)
{
	PUSH(&author->simulation->threads[author->who].actions, action);
}

static void add_run(struct author *author)
{
	add(author,
	    (struct action){.kind = ACT_RUN, .ns = world_pick_ns(author->simulation, 200, 60000)});
}

static void add_short_run(struct author *author)
{
	add(author,
	    (struct action){.kind = ACT_RUN, .ns = world_pick_ns(author->simulation, 200, 5000)});
}

static void add_block(struct author *author, uint32_t count);

/* ---- single things ------------------------------------------------------------------------------ */

static void add_interrupt(struct author *author)
{
	struct simulation *simulation = author->simulation;

	add(author, (struct action){.kind = ACT_INTERRUPT,
				    .what = 3 * world_pick(simulation, 20),
				    .is_special = world_chance(simulation, 30),
				    .ns = world_pick_ns(simulation, 300, 4000)});
	add_short_run(author);
}

static void add_wait(struct author *author)
{
	static const uint32_t calls[] = {CALL_SLEEP, CALL_SLEEP, CALL_POLL, CALL_FUTEX};
	struct simulation *simulation = author->simulation;
	int64_t ns = world_pick_ns(simulation, 5000, 200000);

	switch (simulation->options.is_calm + world_pick(simulation, 4)) {
	case 0:
		add(author, (struct action){.kind = ACT_TIMER,
					    .ns = ns,
					    .what = calls[world_pick(simulation, 4)]});
		break;
	case 1:
		add(author,
		    (struct action){.kind = ACT_NETWORK,
				    .ns = ns,
				    .what = world_chance(simulation, 50) ? FILE_SOCKET : 0});
		break;
	default:
		add(author, (struct action){.kind = ACT_DISK,
					    .ns = ns,
					    .is_special = world_chance(simulation, 50),
					    .what = world_pick(simulation, 3)});
	}
}

static void add_locked(struct author *author)
{
	struct simulation *simulation = author->simulation;
	uint32_t lock = world_pick(simulation, 2);

	if (author->holds_lock || simulation->options.is_calm) {
		add_run(author);
		return;
	}
	author->holds_lock = true;
	add(author, (struct action){.kind = ACT_LOCK, .what = lock});
	add_block(author, 1 + world_pick(simulation, 3));
	if (world_chance(simulation, 20)) {
		add(author, (struct action){.kind = ACT_LOCK, .what = lock + 2});
		add_run(author);
		add(author, (struct action){.kind = ACT_UNLOCK, .what = lock + 2});
	}
	add(author, (struct action){.kind = ACT_UNLOCK, .what = lock});
	author->holds_lock = false;
}

/* As an interpreter lets only one of its threads run. */
static void add_timed_lock(struct author *author)
{
	struct simulation *simulation = author->simulation;
	uint32_t lock = TIMED_LOCKS + simulation->threads[author->who].process;

	if (author->holds_lock || simulation->options.is_calm) {
		add_run(author);
		return;
	}
	author->holds_lock = true;
	add(author, (struct action){.kind = ACT_LOCK,
				    .what = lock,
				    .ns = world_pick_ns(simulation, 2000, 30000)});
	add_block(author, 1 + world_pick(simulation, 2));
	add(author, (struct action){.kind = ACT_UNLOCK, .what = lock});
	author->holds_lock = false;
}

static void add_node(struct author *author)
{
	struct simulation *simulation = author->simulation;

	add(author, (struct action){.kind = ACT_NODE_BEGIN,
				    .what = world_pick(simulation, simulation->node_count)});
	add_block(author, 1 + world_pick(simulation, 4));
	add(author, (struct action){.kind = ACT_NODE_END});
}

static void add_call(struct author *author)
{
	struct simulation *simulation = author->simulation;

	add(author, (struct action){.kind = ACT_CALL_BEGIN, .what = world_pick(simulation, 3)});
	add_short_run(author);
	if (world_chance(simulation, 40))
		add_block(author, 1 + world_pick(simulation, 2));
	add(author, (struct action){.kind = ACT_CALL_END});
}

/* ---- device ------------------------------------------------------------------------------------- */

/* A queue of the thread's process; false if it has none. */
static bool pick_queue(struct author *author, uint32_t *ret_queue)
{
	struct simulation *simulation = author->simulation;
	uint32_t process = simulation->threads[author->who].process;

	for (uint32_t i = 0; i < 4 * simulation->queue_count; i++) {
		uint32_t queue = world_pick(simulation, simulation->queue_count);

		if (simulation->devices[simulation->queues[queue].device].process == process) {
			*ret_queue = queue;
			return true;
		}
	}
	return false;
}

static void add_launch(struct author *author)
{
	struct simulation *simulation = author->simulation;
	uint32_t driver = DRIVER_LOCKS + simulation->threads[author->who].process;
	bool is_calm = simulation->options.is_calm;
	bool is_blocking = world_chance(simulation, 15) && !is_calm;
	uint32_t queue;

	if (!pick_queue(author, &queue))
		return;
	add(author, (struct action){.kind = ACT_LAUNCH,
				    .what = queue,
				    .is_special = is_blocking,
				    .ns = world_pick_ns(simulation, 2000, 120000)});
	add_short_run(author);
	if (world_chance(simulation, 40) && !is_calm) {
		add(author, (struct action){.kind = ACT_LOCK, .what = driver});
		add_short_run(author);
		add(author, (struct action){.kind = ACT_UNLOCK, .what = driver});
	}
	add(author, (struct action){.kind = ACT_ENQUEUE});
	if (is_blocking)
		add(author,
		    (struct action){.kind = ACT_AWAIT, .is_special = world_chance(simulation, 50)});
	if (is_blocking || (world_chance(simulation, 50) && !is_calm))
		add_short_run(author);
	add(author, (struct action){.kind = ACT_LAUNCH_END});
}

static void add_sync(struct author *author)
{
	struct simulation *simulation = author->simulation;
	bool is_wrapped = world_chance(simulation, 20), is_deep = world_chance(simulation, 20);
	uint32_t queue;

	if (!pick_queue(author, &queue))
		return;
	if (is_wrapped)
		add(author, (struct action){.kind = ACT_CALL_BEGIN, .what = 0});
	add(author,
	    (struct action){.kind = ACT_SYNC, .what = world_pick(simulation, 3), .queue = queue});
	if (is_deep)
		add(author, (struct action){.kind = ACT_CALL_BEGIN, .what = 1});
	if (!simulation->options.is_calm)
		add_short_run(author);
	add(author,
	    (struct action){.kind = ACT_SYNC_AWAIT, .is_special = world_chance(simulation, 50)});
	if (is_deep)
		add(author, (struct action){.kind = ACT_CALL_END});
	add(author, (struct action){.kind = ACT_SYNC_END});
	if (is_wrapped)
		add(author, (struct action){.kind = ACT_CALL_END});
}

/* ---- together ----------------------------------------------------------------------------------- */

static void add_something(struct author *author)
{
	struct simulation *simulation = author->simulation;
	bool is_deep = author->depth >= MAX_DEPTH;
	uint32_t what = world_pick(simulation, 100);

	if (what < 30)
		add_launch(author);
	else if (what < 40)
		add_sync(author);
	else if (what < 50)
		add_wait(author);
	else if (what < 56 && !is_deep)
		add_locked(author);
	else if (what < 60 && !is_deep)
		add_timed_lock(author);
	else if (what < 75 && !is_deep)
		add_node(author);
	else if (what < 80 && !is_deep)
		add_call(author);
	else if (what < 85)
		add_interrupt(author);
	else if (what < 88)
		add(author, (struct action){.kind = ACT_YIELD});
	else if (what < 90)
		add(author, (struct action){.kind = ACT_THROTTLE,
					    .ns = world_pick_ns(simulation, 5000, 100000)});
	else
		add_run(author);
}

static void add_block(struct author *author, uint32_t count)
{
	author->depth++;
	for (uint32_t i = 0; i < count; i++) {
		add_something(author);
		if (world_chance(author->simulation, 50))
			add_short_run(author);
	}
	author->depth--;
}

static void write_thread(struct simulation *simulation, int who)
{
	struct author author = {.simulation = simulation, .who = who};
	uint32_t size = simulation->options.size ? simulation->options.size
						 : 3 + world_pick(simulation, 25);
	uint32_t step_size = 2 + world_pick(simulation, 6);
	bool has_steps = world_chance(simulation, 40);

	add_short_run(&author);
	while (simulation->threads[who].actions.count < size) {
		if (has_steps)
			add(&author,
			    (struct action){.kind = ACT_STEP_BEGIN, .what = ++author.step});
		add_block(&author, step_size);
		if (has_steps)
			add(&author, (struct action){.kind = ACT_STEP_END});
	}
	add_short_run(&author);
}

/* Threads that are not traced run now and then. */
static void write_foreign(struct simulation *simulation, int who)
{
	struct author author = {.simulation = simulation, .who = who};
	uint32_t count = 5 + world_pick(simulation, 20);

	for (uint32_t i = 0; i < count; i++) {
		add_run(&author);
		add(&author, (struct action){.kind = ACT_TIMER,
					     .ns = world_pick_ns(simulation, 10000, 200000),
					     .what = CALL_SLEEP});
	}
}

/* ---- threads among each other ------------------------------------------------------------------- */

static void insert(struct simulation *simulation, int who, size_t at, struct action action)
{
	struct thread *thread = &simulation->threads[who];

	PUSH(&thread->actions, action);
	for (size_t i = thread->actions.count - 1; i > at; i--)
		thread->actions.items[i] = thread->actions.items[i - 1];
	thread->actions.items[at] = action;
}

/* Nobody may hold a lock there, nor be in a call of the device's. */
static bool is_quiet(const struct simulation *simulation, int who, size_t at)
{
	const struct thread *thread = &simulation->threads[who];
	int held = 0;

	for (size_t i = 0; i < at; i++) {
		enum action_kind kind = thread->actions.items[i].kind;

		held += kind == ACT_LOCK || kind == ACT_LAUNCH || kind == ACT_SYNC;
		held -= kind == ACT_UNLOCK || kind == ACT_LAUNCH_END || kind == ACT_SYNC_END;
	}
	return held == 0;
}

/* Not before the first, which is on its core. */
static size_t pick_place(struct simulation *simulation, int who)
{
	size_t at;

	do
		at = 1 + world_pick(simulation, (uint32_t)simulation->threads[who].actions.count);
	while (simulation->options.is_calm && !is_quiet(simulation, who, at));
	return at;
}

static void add_readings(struct simulation *simulation, int reader)
{
	uint32_t count = simulation->pipe_count < MAX_PIPES && world_chance(simulation, 70)
				 ? 1 + world_pick(simulation, 5)
				 : 0;

	for (uint32_t i = 0; i < count; i++) {
		size_t at = pick_place(simulation, reader);
		int writer = (int)world_pick(simulation, (uint32_t)reader);
		struct action action = {.kind = ACT_READ,
					.mode = world_chance(simulation, 80)   ? READ_PIPE
						: world_chance(simulation, 50) ? READ_STOPPED
						: simulation->pipe_count % 2   ? READ_ASLEEP
									       : READ_UNKNOWN,
					.what = simulation->pipe_count};

		if (!is_quiet(simulation, reader, at))
			continue;
		insert(simulation, reader, at, action);
		action.kind = ACT_WRITE;
		insert(simulation, writer, pick_place(simulation, writer), action);
	}
	simulation->pipe_count += count > 0;
}

/* By a traced thread with a lower number, of the same process if it is not the first of a new one. */
static void add_birth(struct simulation *simulation, int who, int first_traced)
{
	uint32_t process = simulation->threads[who].process;
	int maker;

	do
		maker = first_traced + (int)world_pick(simulation, (uint32_t)(who - first_traced));
	while (simulation->main_threads[process] != who &&
	       simulation->threads[maker].process != process);
	insert(simulation, maker, world_chance(simulation, 60) ? 1 : pick_place(simulation, maker),
	       (struct action){.kind = ACT_SPAWN, .what = (uint32_t)who});
	simulation->threads[who].maker = maker;
}

static void add_end(struct simulation *simulation, int who, int first_traced)
{
	struct thread *thread = &simulation->threads[who];
	int maker = thread->maker;

	if (who > first_traced && world_chance(simulation, 70))
		PUSH(&simulation->threads[maker].actions,
		     (struct action){.kind = ACT_JOIN, .what = (uint32_t)who});
}

/* ---- the world ---------------------------------------------------------------------------------- */

static void make_devices(struct simulation *simulation, uint32_t process)
{
	uint32_t count = process == 0 ? 1 + world_pick(simulation, 2) : world_pick(simulation, 2);

	for (uint32_t i = 0; i < count; i++) {
		struct device *device = &simulation->devices[simulation->device_count];

		*device = (struct device){.process = process,
					  .slots = simulation->options.is_calm
							   ? UINT32_MAX
							   : 1 + world_pick(simulation, 3)};
		snprintf(device->name, sizeof device->name, "gpu%u", simulation->device_count);
		for (uint32_t j = 1 + world_pick(simulation, 3); j-- > 0;)
			simulation->queues[simulation->queue_count++] =
				(struct queue){.device = simulation->device_count,
					       .is_in_order = world_chance(simulation, 75),
					       .has_unknown_order = world_chance(simulation, 30),
					       .last = NOBODY};
		simulation->device_count++;
	}
}

static void make_threads(struct simulation *simulation, int foreign_count)
{
	for (int i = 0; i < simulation->thread_count; i++) {
		struct thread *thread = &simulation->threads[i];

		thread->tid = (uint32_t)(1000 + i);
		thread->is_traced = i >= foreign_count;
		thread->priority = (int)world_pick(simulation, 3);
		thread->pinned =
			simulation->options.is_calm ? i
			: world_chance(simulation, 50)
				? (int)world_pick(simulation, (uint32_t)simulation->core_count)
				: NOBODY;
		thread->joined_by = thread->launching = thread->sync_call = NOBODY;
	}
}

/* The first thread of a process has its pid. */
static void make_processes(struct simulation *simulation, int foreign_count)
{
	uint32_t process = 0;

	simulation->main_threads[0] = foreign_count;
	for (int i = foreign_count; i < simulation->thread_count; i++) {
		if (i > foreign_count && simulation->process_count < MAX_PROCESSES &&
		    world_chance(simulation, 20)) {
			process = simulation->process_count++;
			simulation->main_threads[process] = i;
		} else if (simulation->process_count > 1) {
			process = world_pick(simulation, simulation->process_count);
		}
		simulation->threads[i].process = process;
	}
	for (uint32_t i = 0; i < simulation->process_count; i++)
		make_devices(simulation, i);
}

void program_make(struct simulation *simulation)
{
	bool is_calm = simulation->options.is_calm;
	int foreign_count = is_calm ? 0 : (int)world_pick(simulation, 3);
	int traced_count = 1 + (int)world_pick(simulation, 6);

	simulation->thread_count = foreign_count + traced_count;
	simulation->core_count =
		is_calm ? simulation->thread_count : 1 + (int)world_pick(simulation, 4);
	simulation->process_count = 1;
	simulation->node_count = 1 + world_pick(simulation, 6);
	simulation->has_own_names = world_chance(simulation, 50);
	for (int i = 0; i < MAX_LOCKS; i++)
		simulation->locks[i].owner = NOBODY;
	for (int i = 0; i < MAX_PIPES; i++)
		simulation->pipes[i].reader = NOBODY;
	make_threads(simulation, foreign_count);
	make_processes(simulation, foreign_count);
	if (simulation->options.is_cuda)
		cuda_start(simulation);
	for (int i = 0; i < foreign_count; i++)
		write_foreign(simulation, i);
	for (int i = foreign_count; i < simulation->thread_count; i++)
		write_thread(simulation, i);
	for (int i = mr_max(foreign_count, 1); i < simulation->thread_count; i++)
		add_readings(simulation, i);
	for (int i = foreign_count + 1; i < simulation->thread_count; i++)
		add_birth(simulation, i, foreign_count);
	for (int i = foreign_count + 1; i < simulation->thread_count; i++)
		add_end(simulation, i, foreign_count);
}
