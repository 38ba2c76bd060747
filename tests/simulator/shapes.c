/* SPDX-License-Identifier: Apache-2.0
 *
 * Programs as people write them, of random sizes: what is critical in them is known without looking at a path. Main is
 * thread 0, makes the others at once, and waits for their end.
 *
 * Pieces of work last milliseconds: next to them the machine's own latencies do not count.
 */
#include "world.h"

enum {
	PERCENT = 100,
	RESULT_PIPE = 4, /* from this one on */
};

/* ---- actions ------------------------------------------------------------------------------------ */

static void add(struct simulation *simulation, int who, struct action action)
{
	PUSH(&simulation->threads[who].actions, action);
}

static void run(struct simulation *simulation, int who, int64_t ns)
{
	add(simulation, who, (struct action){.kind = ACT_RUN, .ns = ns});
}

/* About so long. */
static void run_about(struct simulation *simulation, int who, int64_t ns)
{
	run(simulation, who, ns * (int64_t)(90 + world_pick(simulation, 21)) / PERCENT);
}

static void sleep_for(struct simulation *simulation, int who, int64_t ns)
{
	add(simulation, who, (struct action){.kind = ACT_TIMER, .ns = ns, .what = CALL_SLEEP});
}

static void lock(struct simulation *simulation, int who, uint32_t lock, int64_t limit_ns)
{
	add(simulation, who, (struct action){.kind = ACT_LOCK, .what = lock, .ns = limit_ns});
}

static void unlock(struct simulation *simulation, int who, uint32_t lock)
{
	add(simulation, who, (struct action){.kind = ACT_UNLOCK, .what = lock});
}

static void give(struct simulation *simulation, int who, uint32_t pipe)
{
	add(simulation, who, (struct action){.kind = ACT_WRITE, .what = pipe});
}

static void take(struct simulation *simulation, int who, uint32_t pipe)
{
	add(simulation, who, (struct action){.kind = ACT_READ, .what = pipe});
}

static int64_t pick_ms(struct simulation *simulation, uint32_t low, uint32_t high)
{
	return (int64_t)(low + world_pick(simulation, high - low + 1)) * 100000;
}

/* ---- shapes ------------------------------------------------------------------------------------- */

/* The others end before main does. */
static void write_heartbeat(struct simulation *simulation, uint32_t rounds)
{
	int64_t work_ns = pick_ms(simulation, 10, 20), pause_ns = 2 * work_ns;

	for (uint32_t i = 0; i < rounds; i++) {
		run_about(simulation, 0, work_ns);
		lock(simulation, 0, 0, 0);
		run(simulation, 0, work_ns / 4);
		unlock(simulation, 0, 0);
	}
	for (uint32_t i = 0; i < rounds / 3; i++) {
		sleep_for(simulation, 1, pause_ns + pick_ms(simulation, 0, 10));
		lock(simulation, 1, 0, 0);
		run(simulation, 1, work_ns / 10);
		unlock(simulation, 1, 0);
	}
}

/* Main needs what the other makes: in percent of the time that main itself needs for it. */
static void write_producer(struct simulation *simulation, uint32_t rounds, int64_t percent,
			   bool sleeps)
{
	int64_t work_ns = pick_ms(simulation, 10, 20), make_ns = work_ns * percent / PERCENT;

	for (uint32_t i = 0; i < rounds; i++) {
		if (sleeps)
			sleep_for(simulation, 1, make_ns);
		else
			run_about(simulation, 1, make_ns);
		give(simulation, 1, 0);
		take(simulation, 0, 0);
		run_about(simulation, 0, work_ns);
	}
}

/* The first is the slowest. */
static void write_pipeline(struct simulation *simulation, uint32_t rounds)
{
	int64_t work_ns = pick_ms(simulation, 10, 20);

	for (uint32_t i = 0; i < rounds; i++) {
		run_about(simulation, 2, 2 * work_ns);
		give(simulation, 2, 1);
		take(simulation, 1, 1);
		run_about(simulation, 1, work_ns);
		give(simulation, 1, 0);
		take(simulation, 0, 0);
		run_about(simulation, 0, work_ns);
	}
}

static void write_crowded_lock(struct simulation *simulation, uint32_t rounds)
{
	int64_t work_ns = pick_ms(simulation, 10, 20);

	for (int who = 0; who < simulation->thread_count; who++)
		for (uint32_t i = 0; i < rounds; i++) {
			lock(simulation, who, 0, 0);
			run_about(simulation, who, work_ns);
			unlock(simulation, who, 0);
			run_about(simulation, who, work_ns / 2);
		}
}

/* Main wants the lock often, the other holds it long. */
static void write_held_lock(struct simulation *simulation, uint32_t rounds)
{
	int64_t work_ns = pick_ms(simulation, 10, 20);

	for (uint32_t i = 0; i < 16 * rounds; i++) {
		run_about(simulation, 0, work_ns / 8);
		lock(simulation, 0, 0, 0);
		run(simulation, 0, work_ns / 100);
		unlock(simulation, 0, 0);
	}
	for (uint32_t i = 0; i < rounds / 3; i++) {
		lock(simulation, 1, 0, 0);
		sleep_for(simulation, 1, 2 * work_ns);
		unlock(simulation, 1, 0);
		run_about(simulation, 1, pick_ms(simulation, 10, 60));
	}
}

/* Main has a little more to do. */
static void write_interpreter(struct simulation *simulation, uint32_t rounds)
{
	int64_t work_ns = pick_ms(simulation, 10, 20);

	for (int who = 0; who < 2; who++)
		for (uint32_t i = 0; i < rounds + (who == 0 ? rounds / 4 : 0); i++) {
			lock(simulation, who, 8, work_ns / 5);
			run_about(simulation, who, work_ns);
			unlock(simulation, who, 8);
			run(simulation, who, 3000);
		}
}

static void write_pool(struct simulation *simulation, uint32_t rounds)
{
	int64_t work_ns = pick_ms(simulation, 10, 20);
	int workers = simulation->thread_count - 1;

	for (uint32_t i = 0; i < rounds; i++) {
		run_about(simulation, 0, work_ns);
		for (int who = 1; who <= workers; who++) {
			give(simulation, 0, (uint32_t)who);
			take(simulation, who, (uint32_t)who);
			run_about(simulation, who, work_ns * (1 + who));
			give(simulation, who, RESULT_PIPE + (uint32_t)who);
		}
		for (int who = 1; who <= workers; who++)
			take(simulation, 0, RESULT_PIPE + (uint32_t)who);
	}
}

/* Most of the times there is nothing to do. */
static void write_batcher(struct simulation *simulation, uint32_t rounds)
{
	int64_t look_ns = pick_ms(simulation, 2, 4);

	for (uint32_t i = 0; i < rounds; i++) {
		run_about(simulation, 0, 30 * look_ns);
		give(simulation, 0, 1);
		take(simulation, 0, 0);
		sleep_for(simulation, 1, look_ns);
		run(simulation, 1, 5000);
		add(simulation, 1, (struct action){.kind = ACT_LOOK, .what = 1, .queue = 2});
		give(simulation, 1, 0);
	}
}

/* Device kernels that last longer than all else. */
static void write_blocking_copy(struct simulation *simulation, uint32_t rounds)
{
	int64_t work_ns = pick_ms(simulation, 10, 20);

	simulation->device_count = simulation->queue_count = 1;
	simulation->devices[0] = (struct device){.name = "gpu0", .slots = 1};
	simulation->queues[0] = (struct queue){.is_in_order = true, .last = NOBODY};
	for (uint32_t i = 0; i < rounds; i++) {
		run_about(simulation, 0, work_ns / 4);
		for (int is_copy = 0; is_copy < 2; is_copy++) {
			add(simulation, 0,
			    (struct action){.kind = ACT_LAUNCH,
					    .is_special = is_copy,
					    .ns = is_copy ? work_ns / 20 : 2 * work_ns});
			run(simulation, 0, 4000);
			add(simulation, 0, (struct action){.kind = ACT_ENQUEUE});
			if (is_copy)
				add(simulation, 0,
				    (struct action){.kind = ACT_AWAIT,
						    .is_special = world_chance(simulation, 50)});
			add(simulation, 0, (struct action){.kind = ACT_LAUNCH_END});
		}
	}
}

/* ---- all together --------------------------------------------------------------------------------- */

static void write_shape(struct simulation *simulation, uint32_t rounds)
{
	switch (simulation->options.shape) {
	case SHAPE_HEARTBEAT:
		write_heartbeat(simulation, rounds);
		break;
	case SHAPE_SLOW_PRODUCER:
		write_producer(simulation, rounds, 150 + world_pick(simulation, 200), false);
		break;
	case SHAPE_SLOW_CONSUMER:
		write_producer(simulation, rounds, 10 + world_pick(simulation, 60), false);
		break;
	case SHAPE_PACED_PRODUCER:
		write_producer(simulation, rounds, 150 + world_pick(simulation, 200), true);
		break;
	case SHAPE_PIPELINE:
		write_pipeline(simulation, rounds);
		break;
	case SHAPE_CROWDED_LOCK:
		write_crowded_lock(simulation, rounds);
		break;
	case SHAPE_HELD_LOCK:
		write_held_lock(simulation, rounds);
		break;
	case SHAPE_INTERPRETER:
		write_interpreter(simulation, rounds);
		break;
	case SHAPE_POOL:
		write_pool(simulation, rounds);
		break;
	case SHAPE_BATCHER:
		write_batcher(simulation, rounds);
		break;
	case SHAPE_BLOCKING_COPY:
		write_blocking_copy(simulation, rounds);
		break;
	case SHAPE_NONE:
	case SHAPE_COUNT:
		world_require(false);
	}
}

static int count_threads(const struct simulation *simulation)
{
	switch (simulation->options.shape) {
	case SHAPE_PIPELINE:
	case SHAPE_POOL:
		return 3;
	case SHAPE_CROWDED_LOCK:
		return 4;
	case SHAPE_BLOCKING_COPY:
		return 1;
	default:
		return 2;
	}
}

void shape_make(struct simulation *simulation)
{
	simulation->thread_count = simulation->core_count = count_threads(simulation);
	simulation->process_count = 1;
	simulation->node_count = 1;
	simulation->pipe_count = MAX_PIPES;
	for (int i = 0; i < MAX_LOCKS; i++)
		simulation->locks[i].owner = NOBODY;
	for (int i = 0; i < MAX_PIPES; i++)
		simulation->pipes[i].reader = NOBODY;
	for (int i = 0; i < simulation->thread_count; i++) {
		struct thread *thread = &simulation->threads[i];

		thread->tid = (uint32_t)(1000 + i);
		thread->is_traced = true;
		thread->pinned = i;
		thread->joined_by = thread->launching = thread->sync_call = NOBODY;
		run(simulation, i, 1000);
		for (int child = 1; i == 0 && child < simulation->thread_count; child++)
			add(simulation, 0,
			    (struct action){.kind = ACT_SPAWN, .what = (uint32_t)child});
	}
	write_shape(simulation, 20 + world_pick(simulation, 20));
	for (int child = 1; child < simulation->thread_count; child++)
		add(simulation, 0, (struct action){.kind = ACT_JOIN, .what = (uint32_t)child});
	run(simulation, 0, 50000); /* the program ends with main */
}

void shape_shorten(struct simulation *simulation)
{
	const struct simulation_options *options = &simulation->options;
	static const enum action_kind kinds[WORK_COUNT] = {
		[WORK_RUN] = ACT_RUN, [WORK_SLEEP] = ACT_TIMER, [WORK_DEVICE] = ACT_LAUNCH};

	for (int i = 0; i < simulation->thread_count && options->shorter_percent; i++) {
		struct thread *thread = &simulation->threads[i];

		for (size_t j = 0; j < thread->actions.count; j++)
			if (thread->tid == options->shorter_tid &&
			    thread->actions.items[j].kind == kinds[options->shorter_work])
				thread->actions.items[j].ns -= thread->actions.items[j].ns *
							       options->shorter_percent / PERCENT;
	}
}
