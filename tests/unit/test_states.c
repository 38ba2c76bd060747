/* SPDX-License-Identifier: Apache-2.0
 *
 * States of threads: small schedules with known answers.
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

struct expected {
	int64_t start_ns, end_ns;
	enum mr_thread_state state;
	enum mr_state_reason reason;
	uint32_t cpu;
};

static uint32_t track_of(const struct mr_model *model, uint32_t tid, int64_t ns)
{
	uint32_t task = mr_task_find(&model->survey->tasks, MR_OWN_HOST, tid, ns);

	assert_int_not_equal(task, MR_NO_TASK);
	return model->survey->tasks.list.items[task].track;
}

static void check_states(const struct mr_model *model, uint32_t tid, int64_t ns,
			 const struct expected *expected, uint32_t count)
{
	const struct mr_states *states = &model->states;
	uint32_t track = track_of(model, tid, ns), row = states->table.first_of_track[track];

	assert_int_equal(states->table.first_of_track[track + 1] - row, count);
	for (uint32_t i = 0; i < count; i++, row++) {
		assert_int_equal(states->start_ns[row], expected[i].start_ns);
		assert_int_equal(states->start_ns[row] + states->duration_ns[row],
				 expected[i].end_ns);
		assert_int_equal(states->state[row], expected[i].state);
		assert_int_equal(states->reason[row], expected[i].reason);
		if (expected[i].state != MR_STATE_UNKNOWN)
			assert_int_equal(states->cpu[row], expected[i].cpu);
	}
}

static void test_a_plain_life(void **state)
{
	static const struct expected expected[] = {
		{100, 110, MR_STATE_RUNNABLE, MR_REASON_NEW, 1},
		{110, 150, MR_STATE_RUN, MR_REASON_NONE, 1},
		{150, 200, MR_STATE_BLOCKED, MR_REASON_DISK, 1},
		{200, 204, MR_STATE_RUNNABLE, MR_REASON_WOKEN, 1},
		{204, 210, MR_STATE_RUNNABLE, MR_REASON_WOKEN, 0},
		{210, 220, MR_STATE_RUN, MR_REASON_NONE, 0},
		{220, 230, MR_STATE_RUNNABLE, MR_REASON_PREEMPTED, 0},
		{230, 240, MR_STATE_RUN, MR_REASON_NONE, 0},
	};

	(void)state;
	kernel_trace_begin(2);
	kernel_born(0, 100, 1, 7, 7, "plain");
	kernel_switch(1, 110, 0, 7, 0);
	KERNEL(1, kernel_interrupt, 135, NULL, .tid = 7, .duration_ns = mr_u48_from(5),
	       .kind = MR_interrupt_kind_softirq);
	KERNEL(1, kernel_interrupt, 140, NULL, .tid = 7, .duration_ns = mr_u48_from(20));
	KERNEL(1, kernel_switch, 150, NULL, .previous_tid = 7, .minor_faults = 3,
	       .reason = MR_switch_reason_disk);
	KERNEL(0, kernel_waking, 200, NULL, .tid = 7, .waker_tid = 99,
	       .context = MR_wake_context_softirq);
	KERNEL(0, kernel_migrate, 204, NULL, .tid = 7, .from_cpu = 1, .to_cpu = 0);
	kernel_switch(0, 210, 0, 7, 0);
	KERNEL(0, kernel_syscall, 212, NULL, .tid = 7, .number = 17, .duration_ns = mr_u48_from(70),
	       .result = 4096);
	kernel_switch(0, 220, 7, 99, MR_switch_reason_preempted);
	kernel_switch(0, 230, 99, 7, 0);
	KERNEL(0, kernel_exit, 235, NULL, .tid = 7);
	kernel_switch(0, 240, 7, 0, MR_switch_reason_exited);
	struct mr_model *model = kernel_trace_load(500);
	const struct mr_states *rows = &model->states;

	check_states(model, 7, 100, expected, mr_countof(expected));
	uint32_t first = rows->table.first_of_track[track_of(model, 7, 100)];
	assert_int_equal(rows->interrupted_ns[first + 1], 20);
	assert_int_equal(rows->minor_faults[first + 1], 3);
	assert_int_equal(rows->system_call[first + 2], 0);
	assert_int_equal(rows->wakeup[first + 2], 0);
	assert_int_equal(model->system_calls.blocked_ns[0], 50);
	assert_int_equal(model->system_calls.runnable_ns[0], 10);
	assert_int_equal(model->wakeups.waker_tid[0], 99);
	assert_int_equal(model->anomalies.contradictory, 0);
	kernel_trace_end(model);
}

/* The waker's CPU reports the wake-up before the sleeper's CPU reports that it sleeps. */
static void test_woken_before_it_blocks(void **state)
{
	static const struct expected expected[] = {
		{100, 110, MR_STATE_RUNNABLE, MR_REASON_NEW, 0},
		{110, 150, MR_STATE_RUN, MR_REASON_NONE, 0},
		{150, 160, MR_STATE_RUNNABLE, MR_REASON_WOKEN, 1},
		{160, 500, MR_STATE_RUN, MR_REASON_NONE, 1},
	};

	(void)state;
	kernel_trace_begin(2);
	kernel_born(0, 100, 1, 7, 7, "early");
	kernel_switch(0, 110, 0, 7, 0);
	kernel_wake(1, 149, 7, 8);
	kernel_switch(0, 150, 7, 0, MR_switch_reason_interruptible);
	kernel_switch(1, 160, 0, 7, 0);
	struct mr_model *model = kernel_trace_load(500);

	check_states(model, 7, 100, expected, mr_countof(expected));
	assert_int_equal(model->anomalies.contradictory, 0);
	kernel_trace_end(model);
}

/* CPU 0 comes first among equal times, and CPU 1 may be a little late. */
static void test_seen_on_the_next_cpu_first(void **state)
{
	static const struct expected expected[] = {
		{100, 110, MR_STATE_RUNNABLE, MR_REASON_NEW, 1},
		{110, 150, MR_STATE_RUN, MR_REASON_NONE, 1},
		{150, 160, MR_STATE_RUN, MR_REASON_NONE, 0},
		{160, 500, MR_STATE_RUNNABLE, MR_REASON_YIELDED, 0},
	};

	(void)state;
	for (uint64_t late_ns = 0; late_ns < 2; late_ns++) {
		kernel_trace_begin(2);
		kernel_born(0, 100, 1, 7, 7, "tie");
		kernel_wake(0, 5, 1, 1);
		kernel_switch(1, 110, 0, 7, 0);
		kernel_switch(0, 150, 0, 7, 0);
		kernel_switch(1, 150 + late_ns, 7, 0, MR_switch_reason_preempted);
		kernel_switch(0, 160, 7, 0, MR_switch_reason_yielded);
		struct mr_model *model = kernel_trace_load(500);

		check_states(model, 7, 100, expected, mr_countof(expected));
		assert_int_equal(model->anomalies.contradictory, 0);
		kernel_trace_end(model);
	}
}

/* perf events report neither wake-ups nor reasons, nor the last switch of a thread. */
static void test_without_wakings(void **state)
{
	static const struct expected expected[] = {
		{100, 110, MR_STATE_RUNNABLE, MR_REASON_NEW, 0},
		{110, 150, MR_STATE_RUN, MR_REASON_NONE, 0},
		{150, 200, MR_STATE_BLOCKED, MR_REASON_NOT_TOLD, 0},
		{200, 300, MR_STATE_RUN, MR_REASON_NONE, 1},
	};

	(void)state;
	kernel_trace_begin(2);
	kernel_born(0, 100, 1, 7, 7, "perf");
	kernel_switch(0, 110, MR_NO_TID, 7, 0);
	kernel_switch(0, 150, 7, MR_NO_TID, MR_switch_reason_unknown);
	kernel_switch(1, 200, MR_NO_TID, 7, 0);
	KERNEL(1, kernel_exit, 300, NULL, .tid = 7);
	kernel_born(0, 305, 1, 8, 8, "next");
	kernel_switch(1, 310, MR_NO_TID, 8, 0);
	struct mr_model *model = kernel_trace_load(500);

	check_states(model, 7, 100, expected, mr_countof(expected));
	assert_int_equal(model->anomalies.contradictory, 0);
	kernel_trace_end(model);
}

static void test_contradictions_are_unknown(void **state)
{
	static const struct expected expected[] = {
		{100, 110, MR_STATE_RUNNABLE, MR_REASON_NEW, 0},
		{110, 200, MR_STATE_UNKNOWN, MR_REASON_LOST, 0}, /* never left CPU 0 */
		{200, 250, MR_STATE_RUN, MR_REASON_NONE, 1},
		{250, 300, MR_STATE_UNKNOWN, MR_REASON_LOST, 0}, /* runs again, never woken */
		{300, 400, MR_STATE_UNKNOWN, MR_REASON_LOST, 0}, /* leaves a CPU it was not on */
		{400, 500, MR_STATE_BLOCKED, MR_REASON_STOPPED, 0},
	};

	(void)state;
	kernel_trace_begin(2);
	kernel_born(0, 100, 1, 7, 7, "odd");
	kernel_wake(0, 5, 1, 1);
	kernel_switch(0, 110, 0, 7, 0);
	kernel_switch(1, 200, 0, 7, 0);
	kernel_switch(1, 250, 7, 0, MR_switch_reason_interruptible);
	kernel_switch(1, 300, 0, 7, 0);
	kernel_switch(0, 400, 7, 0, MR_switch_reason_stopped);
	struct mr_model *model = kernel_trace_load(500);

	check_states(model, 7, 100, expected, mr_countof(expected));
	assert_int_equal(model->anomalies.contradictory, 3);
	kernel_trace_end(model);
}

/* With --delay, nothing is known of what threads did before. */
static void test_recording_begins_late(void **state)
{
	static const struct expected expected[] = {
		{100, 490, MR_STATE_UNKNOWN, MR_REASON_NOT_RECORDED, 0},
		{490, 520, MR_STATE_RUN, MR_REASON_NONE, 0},
		{520, 600, MR_STATE_BLOCKED, MR_REASON_UNINTERRUPTIBLE, 0},
	};

	(void)state;
	kernel_trace_begin(2);
	kernel_born(0, 100, 1, 7, 7, "late");
	kernel_switch(0, 520, 7, 0, MR_switch_reason_uninterruptible);
	kernel_trace_switch_levels(490, 0);
	struct mr_model *model = kernel_trace_load(600);

	check_states(model, 7, 100, expected, mr_countof(expected));
	assert_int_equal(model->anomalies.contradictory, 0);
	kernel_trace_end(model);
}

/* Tasks are followed while levels are off: births and ends do not show what they did. */
static void test_recording_ends_early(void **state)
{
	static const struct expected expected[] = {
		{100, 120, MR_STATE_RUNNABLE, MR_REASON_NEW, 0},
		{120, 300, MR_STATE_RUN, MR_REASON_NONE, 0},
		{300, 900, MR_STATE_UNKNOWN, MR_REASON_NOT_RECORDED, 0},
	};
	static const struct expected later[] = {
		{500, 900, MR_STATE_UNKNOWN, MR_REASON_NOT_RECORDED, 0},
	};

	(void)state;
	kernel_trace_begin(1);
	kernel_born(0, 100, 1, 7, 7, "early");
	kernel_switch(0, 120, 0, 7, MR_switch_reason_preempted);
	kernel_born(0, 500, 7, 8, 8, "unseen");
	kernel_trace_switch_levels(0, 300);
	struct mr_model *model = kernel_trace_load(900);

	check_states(model, 7, 100, expected, mr_countof(expected));
	check_states(model, 8, 500, later, mr_countof(later));
	assert_int_equal(model->anomalies.contradictory, 0);
	kernel_trace_end(model);
}

/* A flight recorder's oldest packets are gone: nothing is complete before the last of the CPUs' first ones.
 * What happens from then on tells what the threads are doing. */
static void test_overwritten(void **state)
{
	static const struct expected expected[] = {
		{100, 330, MR_STATE_UNKNOWN, MR_REASON_NOT_RECORDED, 0},
		{330, 350, MR_STATE_UNKNOWN, MR_REASON_NOT_RECORDED, 0},
		{350, 400, MR_STATE_RUN, MR_REASON_NONE, 0},
		{400, 450, MR_STATE_BLOCKED, MR_REASON_INTERRUPTIBLE, 0},
		{450, 460, MR_STATE_RUNNABLE, MR_REASON_WOKEN, 1},
		{460, 500, MR_STATE_RUN, MR_REASON_NONE, 1},
	};
	static const struct expected of_sleeper[] = {
		{100, 350, MR_STATE_UNKNOWN, MR_REASON_NOT_RECORDED, 0},
		{350, 420, MR_STATE_BLOCKED, MR_REASON_NOT_TOLD, MR_NO_CPU},
		{420, 430, MR_STATE_RUNNABLE, MR_REASON_WOKEN, 1},
		{430, 440, MR_STATE_RUN, MR_REASON_NONE, 1},
	};

	(void)state;
	kernel_trace_begin(2);
	kernel_born(0, 100, 1, 7, 7, "flight");
	kernel_born(0, 100, 7, 8, 7, "sleeper");
	kernel_trace_cut(0, 0, 5);
	kernel_trace_cut(1, 0, 2);
	kernel_switch(0, 330, 0, 7, 0);
	kernel_switch(1, 350, 9, 0, MR_switch_reason_interruptible);
	kernel_switch(0, 400, 7, 0, MR_switch_reason_interruptible);
	kernel_wake(1, 420, 8, 9);
	kernel_switch(1, 430, 0, 8, 0);
	kernel_switch(1, 440, 8, 0, MR_switch_reason_exited);
	kernel_wake(1, 450, 7, 9);
	kernel_switch(1, 460, 0, 7, 0);
	struct mr_model *model = kernel_trace_load(500);

	check_states(model, 7, 100, expected, mr_countof(expected));
	check_states(model, 8, 100, of_sleeper, mr_countof(of_sleeper));
	assert_int_equal(model->anomalies.contradictory, 0);
	kernel_trace_end(model);
}

/* A packet in between is missing, and with it a waking and a switch. */
static void test_missing_packet(void **state)
{
	static const struct expected expected[] = {
		{100, 110, MR_STATE_RUNNABLE, MR_REASON_NEW, 0},
		{110, 200, MR_STATE_RUN, MR_REASON_NONE, 0},
		{200, 300, MR_STATE_UNKNOWN, MR_REASON_LOST, 0},
		{300, 400, MR_STATE_RUN, MR_REASON_NONE, 0},
		{400, 500, MR_STATE_BLOCKED, MR_REASON_INTERRUPTIBLE, 0},
	};

	(void)state;
	for (uint32_t missing = 0; missing < 2; missing++) {
		kernel_trace_begin(1);
		kernel_born(0, 100, 1, 7, 7, "hole");
		kernel_switch(0, 110, 0, 7, 0);
		KERNEL(0, kernel_syscall, 200, NULL, .tid = 7);
		kernel_trace_cut(0, 210, missing);
		KERNEL(0, kernel_syscall, 300, NULL, .tid = 7);
		kernel_switch(0, 400, 7, 0, MR_switch_reason_interruptible);
		kernel_wake(0, 500, 8, 7);
		struct mr_model *model = kernel_trace_load(500);

		if (missing)
			check_states(model, 7, 100, expected, mr_countof(expected));
		else
			assert_int_equal(model->states.table.count, 3);
		assert_int_equal(model->anomalies.contradictory, 0);
		kernel_trace_end(model);
	}
}

/* Where only calls that block are recorded. */
static void test_blocked_call(void **state)
{
	(void)state;
	kernel_trace_begin(1);
	kernel_born(0, 100, 1, 7, 7, "blocking");
	kernel_switch(0, 110, 0, 7, 0);
	kernel_switch(0, 150, 7, 0, MR_switch_reason_interruptible);
	KERNEL(0, kernel_blocked_call, 150, NULL, .tid = 7, .number = 202, .argument = 4096,
	       .operation = 9);
	kernel_wake(0, 180, 7, 8);
	kernel_switch(0, 190, 0, 7, 0);
	struct mr_model *model = kernel_trace_load(500);
	const struct mr_system_calls *calls = &model->system_calls;

	assert_int_equal(calls->table.count, 1);
	assert_int_equal(calls->start_ns[0], 150);
	assert_int_equal(calls->duration_ns[0], 30);
	assert_int_equal(calls->blocked_ns[0], 30);
	assert_int_equal(calls->number[0], 202);
	assert_int_equal(calls->argument[0], 4096);
	assert_int_equal(calls->operation[0], 9);
	assert_int_equal(calls->flags[0], MR_ROW_BLOCKED);
	kernel_trace_end(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_plain_life),
		cmocka_unit_test(test_woken_before_it_blocks),
		cmocka_unit_test(test_seen_on_the_next_cpu_first),
		cmocka_unit_test(test_without_wakings),
		cmocka_unit_test(test_contradictions_are_unknown),
		cmocka_unit_test(test_recording_begins_late),
		cmocka_unit_test(test_recording_ends_early),
		cmocka_unit_test(test_overwritten),
		cmocka_unit_test(test_missing_packet),
		cmocka_unit_test(test_blocked_call),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
