/* SPDX-License-Identifier: Apache-2.0
 *
 * The critical path of traces that contradict themselves: whatever waits for whatever, it ends, soon.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/analysis.h"
#include "analysis/cause/critical_path.h"
#include "path_trace.h"
#include "trace_writer.h"

/* Operations wait for each other. */
static void test_circle_of_operations(void **state)
{
	(void)state;
	path_start(true);
	EMIT(runtime_wait, AT(1), .correlation = 1, .awaited = 2);
	EMIT(runtime_wait, AT(1), .correlation = 2, .awaited = 1);
	path_launch(10, 15, 1, 0, false);
	path_launch(20, 25, 2, 1, false);
	path_operate(1, 0, 100, 200);
	path_operate(2, 1, 100, 200);
	CHECK_PATH({BEFORE, "unknown", 0}, {100, "device", 1}, {200, "untraced", 0});
}

static uint32_t track_of(uint32_t tid)
{
	for (uint32_t i = 0; i < path_model->survey->tracks.count; i++)
		if (path_model->survey->tracks.items[i].tid == tid)
			return i;
	fail_msg("no thread %u", tid);
	return 0;
}

/* Says that this thread woke that one, each time. The reader believes no such thing of a thread that does not
 * run, so it cannot come from a trace. */
static void blame(uint32_t waker, uint32_t tid)
{
	const uint32_t *first = &path_model->wakeups.table.first_of_track[track_of(tid)];
	const uint32_t *first_state = &path_model->states.table.first_of_track[track_of(tid)];

	for (uint32_t row = first[0]; row < first[1]; row++) {
		path_model->wakeups.waker[row] = track_of(waker);
		path_model->wakeups.context[row] = MR_wake_context_task;
	}
	for (uint32_t row = first_state[0]; row < first_state[1]; row++)
		if (path_model->states.wakeup[row] != MR_NO_ROW)
			path_model->states.released_by[row] = track_of(waker);
}

static void interrupt(uint32_t tid, uint64_t us)
{
	KERNEL(2, kernel_waking, AT(us), NULL, .tid = tid, .context = MR_wake_context_irq);
}

static void test_circle_of_threads(void **state)
{
	static const struct path_expected expected[] = {
		{BEFORE, "wake-up", MAIN}, {0, "cpu", MAIN},   {100, "unknown", MAIN},
		{200, "wake-up", MAIN},    {210, "cpu", MAIN}, {300, "untraced", 0}};

	(void)state;
	path_start(true);
	path_live_main();
	path_live(1, WORKER, 10);
	path_block(0, MAIN, 100);
	path_block(1, WORKER, 110);
	interrupt(MAIN, 200);
	interrupt(WORKER, 200);
	path_resume(0, MAIN, 210);
	path_resume(1, WORKER, 210);
	path_leave(1, WORKER, 250);
	path_leave(0, MAIN, 300);
	path_load();
	blame(WORKER, MAIN);
	blame(MAIN, WORKER);
	path_check(path_model, expected, mr_countof(expected));
	path_unload();
}

/* Anything may wait for anything, at any time. The path tiles the window (it asserts so), soon. */
static void test_nonsense(void **state)
{
	uint64_t random = 41;

	(void)state;
	for (int round = 0; round < 150; round++) {
		struct mr_findings findings = {0};
		uint64_t us = 0;

		path_start(true);
		for (uint32_t tid = MAIN; tid < MAIN + 4; tid++)
			kernel_born(0, AT(0), MAIN + (uint32_t)next_random(&random) % 4, tid, MAIN,
				    "thread");
		for (uint64_t i = 1; i <= 60; i++) {
			uint32_t tid = MAIN + (uint32_t)next_random(&random) % 4;
			uint32_t other = MAIN + (uint32_t)next_random(&random) % 4;

			us += next_random(&random) % 3;
			if (next_random(&random) % 2)
				path_wake((uint32_t)i % 3, tid, other, us);
			else
				kernel_switch((uint32_t)i % 3, AT(us), tid,
					      next_random(&random) % 2 ? other : 0,
					      next_random(&random) % 9);
			EMIT(runtime_wait, AT(us), .correlation = next_random(&random) % 30,
			     .awaited = next_random(&random) % 30);
			if (next_random(&random) % 3)
				path_launch(us, us + next_random(&random) % 3, i % 30, i % 2,
					    i % 5 == 0);
			else
				path_synchronise(us, us + next_random(&random) % 9);
		}
		for (uint64_t i = 0; i < 30; i++) {
			uint64_t from = next_random(&random) % 250;

			path_operate(i, i % 2, from, from + next_random(&random) % 20);
		}
		path_load();
		assert_int_equal(mr_analyse_critical_path(path_model, &findings), 0);
		assert_int_equal(findings.list.count, 1);
		mr_findings_free(&findings);
		path_unload();
	}
}

/* MAIN waits for a thread that waits for another and so on, and the last one for MAIN: at each of many
 * instants. */
static void test_long_circles(void **state)
{
	enum {
		THREADS = 100,
		ROUNDS = 400
	};
	struct mr_critical_path path;

	(void)state;
	path_start(true);
	path_live_main();
	for (uint32_t i = 1; i < THREADS; i++) {
		path_live(1, MAIN + i, 1);
		path_block(1, MAIN + i, 1);
	}
	for (uint32_t i = 1; i < ROUNDS; i++) {
		path_block(0, MAIN, 10 * i);
		interrupt(MAIN, 10 * i + 5);
		path_resume(0, MAIN, 10 * i + 5);
	}
	for (uint32_t i = 1; i < THREADS; i++)
		interrupt(MAIN + i, 10 * ROUNDS);
	path_leave(0, MAIN, 10 * ROUNDS + 10);
	path_load();
	for (uint32_t i = 0; i < THREADS; i++)
		blame(MAIN + (i + 1) % THREADS, MAIN + i);
	assert_int_equal(mr_critical_path_make(path_model, &path), 0);
	assert_in_range(path.segments.count, 10, 2 * ROUNDS + 10);
	assert_int_equal(path.segments.items[0].start_ns, TRACE_BEGIN);
	mr_critical_path_free(&path);
	path_unload();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_circle_of_operations),
		cmocka_unit_test(test_circle_of_threads),
		cmocka_unit_test(test_nonsense),
		cmocka_unit_test(test_long_circles),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
