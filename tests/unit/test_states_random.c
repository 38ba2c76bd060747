/* SPDX-License-Identifier: Apache-2.0
 *
 * States of threads: random schedules that the test itself runs, nanosecond by nanosecond, on a few CPUs with
 * few tids, so that those are used again and again. What is lost may become unknown, and never wrong.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernel_trace.h"
#include "trace_writer.h"

enum {
	NOT_ALIVE = MR_STATE_COUNT,
	CPUS = 3,
	TIDS = 8,
	FIRST_TID = 10,
	FOREIGN_TID = 100, /* + CPU: a thread that is not traced */
	STEPS = 4000,
	MAX_TASKS = 1000,
	MAX_EVENTS = 20000,
};

struct simulated_thread {
	bool is_alive;
	bool is_exiting;
	uint8_t state;
	uint32_t cpu;
	uint32_t task; /* index of truth */
	uint64_t last_ns;
};

struct simulated_event {
	uint32_t cpu;
	uint64_t ns;
	uint8_t id;
	uint8_t size;
	uint8_t fields[32];
};

static struct {
	uint64_t random;
	uint64_t ns;
	struct simulated_thread threads[TIDS];
	uint32_t occupant[CPUS]; /* tid */
	uint32_t task_count;
	uint32_t tid_of_task[MAX_TASKS];
	uint64_t birth_of_task[MAX_TASKS];
	uint8_t truth[MAX_TASKS][STEPS + 1]; /* state by nanosecond */
	struct simulated_event events[MAX_EVENTS];
	uint32_t event_count;
} world;

static bool chance(uint32_t one_in)
{
	return next_random(&world.random) % one_in == 0;
}

static void put(uint32_t cpu, uint8_t id, const void *fields, size_t size)
{
	struct simulated_event *event = &world.events[world.event_count++];

	assert_true(world.event_count <= MAX_EVENTS);
	*event = (struct simulated_event){
		.cpu = cpu, .ns = world.ns, .id = id, .size = (uint8_t)size};
	memcpy(event->fields, fields, size);
}

#define PUT(cpu, name, ...)                                        \
	do {                                                       \
		const struct mr_event_##name put_ = {__VA_ARGS__}; \
		put(cpu, MR_EVENT_##name, &put_, sizeof put_);     \
	} while (0)

static struct simulated_thread *thread_of(uint32_t tid)
{
	return tid >= FIRST_TID && tid < FIRST_TID + TIDS ? &world.threads[tid - FIRST_TID] : NULL;
}

static void set_state(struct simulated_thread *thread, uint8_t state)
{
	thread->state = state;
	thread->last_ns = world.ns;
}

static void begin_task(struct simulated_thread *thread)
{
	uint32_t task = world.task_count++;

	assert_true(task < MAX_TASKS);
	thread->task = task;
	world.tid_of_task[task] = FIRST_TID + (uint32_t)(thread - world.threads);
	world.birth_of_task[task] = world.ns;
}

static void fork_thread(uint32_t cpu, uint32_t parent_tid, struct simulated_thread *thread)
{
	uint32_t tid = FIRST_TID + (uint32_t)(thread - world.threads);

	*thread = (struct simulated_thread){.is_alive = true, .cpu = cpu};
	set_state(thread, MR_STATE_RUNNABLE);
	begin_task(thread);
	PUT(cpu, kernel_fork, .parent_tid = parent_tid, .tid = tid, .pid = tid, .inner_tid = tid,
	    .inner_pid = tid);
}

static struct simulated_thread *pick(uint8_t state)
{
	uint32_t from = (uint32_t)(next_random(&world.random) % TIDS);

	for (uint32_t i = 0; i < TIDS; i++) {
		struct simulated_thread *thread = &world.threads[(from + i) % TIDS];

		if (thread->is_alive && thread->state == state && thread->last_ns < world.ns)
			return thread;
	}
	return NULL;
}

static enum mr_switch_reason leave(struct simulated_thread *thread)
{
	if (thread->is_exiting) {
		thread->is_alive = false;
		thread->last_ns = world.ns;
		return MR_switch_reason_exited;
	}
	bool blocks = chance(2);
	set_state(thread, blocks ? MR_STATE_BLOCKED : MR_STATE_RUNNABLE);
	return blocks ? MR_switch_reason_interruptible : MR_switch_reason_preempted;
}

static void switch_cpu(uint32_t cpu)
{
	uint32_t previous = world.occupant[cpu];
	struct simulated_thread *leaving = thread_of(previous);
	struct simulated_thread *coming = chance(4) ? NULL : pick(MR_STATE_RUNNABLE);
	enum mr_switch_reason reason = MR_switch_reason_preempted;

	if (leaving && leaving->last_ns == world.ns)
		return;
	if (leaving)
		reason = leave(leaving);
	uint32_t next = coming      ? FIRST_TID + (uint32_t)(coming - world.threads)
			: chance(2) ? 0
				    : FOREIGN_TID + cpu;
	if (coming && coming->cpu != cpu)
		PUT(cpu, kernel_migrate, .tid = next, .from_cpu = coming->cpu, .to_cpu = cpu);
	if (coming) {
		set_state(coming, MR_STATE_RUN);
		coming->cpu = cpu;
	}
	world.occupant[cpu] = next;
	PUT(cpu, kernel_switch, .previous_tid = previous, .next_tid = next, .reason = reason);
}

static uint32_t count_staying(void)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < TIDS; i++)
		count += world.threads[i].is_alive && !world.threads[i].is_exiting;
	return count;
}

/* What a running thread may do besides leaving its CPU. */
static void act(uint32_t cpu, uint32_t tid, struct simulated_thread *thread)
{
	struct simulated_thread *unused = &world.threads[next_random(&world.random) % TIDS];

	if (thread->last_ns == world.ns || thread->is_exiting)
		return;
	if (chance(60) && !unused->is_alive && unused->last_ns < world.ns) {
		fork_thread(cpu, tid, unused);
	} else if (chance(80)) {
		thread->last_ns = world.ns;
		begin_task(thread);
		PUT(cpu, kernel_exec, .tid = tid, .old_tid = tid);
	} else if (chance(60) && count_staying() > 2 && world.ns < STEPS - 500) {
		thread->is_exiting = true;
		PUT(cpu, kernel_exit, .tid = tid);
	}
}

static void simulate(uint64_t seed)
{
	memset(&world, 0, sizeof world);
	memset(world.truth, NOT_ALIVE, sizeof world.truth);
	world.random = seed;
	world.ns = 1;
	fork_thread(0, 1, &world.threads[0]);
	fork_thread(1, FIRST_TID, &world.threads[1]);
	for (world.ns = 2; world.ns < STEPS; world.ns++) {
		for (uint32_t cpu = 0; cpu < CPUS; cpu++) {
			struct simulated_thread *woken = chance(12) ? pick(MR_STATE_BLOCKED) : NULL;
			struct simulated_thread *here = thread_of(world.occupant[cpu]);

			if (woken) {
				set_state(woken, MR_STATE_RUNNABLE);
				PUT(cpu, kernel_waking,
				    .tid = FIRST_TID + (uint32_t)(woken - world.threads),
				    .waker_tid = world.occupant[cpu]);
			}
			if (chance(15))
				switch_cpu(cpu);
			else if (here)
				act(cpu, world.occupant[cpu], here);
		}
		for (uint32_t i = 0; i < TIDS; i++)
			if (world.threads[i].is_alive)
				world.truth[world.threads[i].task][world.ns] =
					world.threads[i].state;
	}
	world.truth[0][1] = world.truth[1][1] = MR_STATE_RUNNABLE;
}

static void write_event(const struct simulated_event *event)
{
	bool has_text = mr_event_table[event->id].has_text;

	kernel_trace_put(event->cpu, event->id, event->ns, event->fields, event->size,
			 has_text ? "name" : NULL);
}

static bool is_definition(const struct simulated_event *event)
{
	return event->id >= MR_EVENT_kernel_fork && event->id <= MR_EVENT_kernel_task_name;
}

enum fault {
	NOTHING_LOST,
	BUFFER_FULL, /* some events of a CPU are left out now and then, and it is told; never definitions */
	HOLES, /* the kernel itself does not report every switch away from another's thread */
};

static bool is_hole(const struct simulated_event *event)
{
	struct mr_event_kernel_switch switched;

	memcpy(&switched, event->fields, sizeof switched);
	return event->id == MR_EVENT_kernel_switch && switched.previous_tid >= FOREIGN_TID &&
	       chance(3);
}

static void write_events(enum fault fault)
{
	uint32_t to_lose[CPUS] = {0};
	uint64_t lost[CPUS] = {0};

	kernel_trace_begin(CPUS);
	for (uint32_t i = 0; i < world.event_count; i++) {
		const struct simulated_event *event = &world.events[i];
		uint32_t cpu = event->cpu;

		if (fault == HOLES && is_hole(event))
			continue;
		if (fault == BUFFER_FULL && to_lose[cpu] == 0 && lost[cpu] == 0 && chance(60))
			to_lose[cpu] = 1 + (uint32_t)(next_random(&world.random) % 4);
		if (is_definition(event)) {
			write_event(event);
		} else if (to_lose[cpu]) {
			to_lose[cpu]--;
			lost[cpu]++;
		} else {
			if (lost[cpu])
				KERNEL(cpu, loss, event->ns, NULL, .count = lost[cpu],
				       .reason = MR_loss_reason_kernel_buffer_full);
			lost[cpu] = 0;
			write_event(event);
		}
	}
	for (uint32_t cpu = 0; cpu < CPUS; cpu++)
		if (lost[cpu])
			KERNEL(cpu, loss, STEPS, NULL, .count = lost[cpu],
			       .reason = MR_loss_reason_kernel_buffer_full);
}

static uint64_t end_of_truth(uint32_t task)
{
	uint64_t end = STEPS;

	while (end > world.birth_of_task[task] && world.truth[task][end - 1] == NOT_ALIVE)
		end--;
	return end;
}

/* Returns how many nanoseconds are unknown. */
static uint64_t check_task(const struct mr_model *model, uint32_t index, enum fault fault)
{
	const struct mr_states *rows = &model->states;
	const struct mr_task *task = &model->survey->tasks.list.items[index];
	int64_t at_ns = (int64_t)world.birth_of_task[index];
	uint64_t unknown_ns = 0;

	assert_int_equal(task->tid, world.tid_of_task[index]);
	assert_int_equal(task->begin_ns, at_ns);
	for (uint32_t row = rows->table.first_of_track[task->track];
	     row < rows->table.first_of_track[task->track + 1]; row++) {
		assert_int_equal(rows->start_ns[row], at_ns);
		assert_true(rows->duration_ns[row] > 0);
		at_ns += rows->duration_ns[row];
		assert_true(at_ns <= STEPS);
		if (rows->state[row] == MR_STATE_UNKNOWN) {
			unknown_ns += (uint64_t)rows->duration_ns[row];
			continue;
		}
		if (fault == HOLES && at_ns == STEPS)
			break; /* nothing comes after it to show that it is wrong */
		for (int64_t ns = rows->start_ns[row]; ns < at_ns; ns++)
			if (rows->state[row] != world.truth[index][ns])
				fail_msg("task %u at %ld: %u instead of %u", index, (long)ns,
					 rows->state[row], world.truth[index][ns]);
	}
	if (fault == NOTHING_LOST)
		assert_int_equal(at_ns, end_of_truth(index));
	assert_int_equal(task->end_ns, at_ns);
	return unknown_ns;
}

static void check_world(uint64_t seed, enum fault fault)
{
	uint64_t unknown_ns = 0, lived_ns = 0;

	simulate(seed);
	write_events(fault);
	struct mr_model *model = kernel_trace_load(STEPS);

	assert_int_equal(model->survey->tasks.list.count, world.task_count);
	for (uint32_t task = 0; task < world.task_count; task++) {
		unknown_ns += check_task(model, task, fault);
		lived_ns += end_of_truth(task) - world.birth_of_task[task];
	}
	assert_true(lived_ns > 2 * STEPS && world.task_count > 10);
	if (fault == NOTHING_LOST) {
		assert_int_equal(unknown_ns, 0);
		assert_int_equal(model->anomalies.contradictory, 0);
	} else {
		assert_true(unknown_ns > 0 && unknown_ns < lived_ns / 2);
	}
	kernel_trace_end(model);
}

static void test_random_schedules(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 40; seed++)
		check_world(seed, NOTHING_LOST);
}

static void test_random_losses(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 40; seed++)
		check_world(seed, BUFFER_FULL);
}

static void test_random_holes(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 40; seed++)
		check_world(seed, HOLES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_schedules),
		cmocka_unit_test(test_random_losses),
		cmocka_unit_test(test_random_holes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
