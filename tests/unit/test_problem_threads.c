/* SPDX-License-Identifier: Apache-2.0
 *
 * Problems of threads: at least three programs with each and one that looks similar and is none.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "problem_answer.h"

#define GIL  UINT64_C(0x1000)
#define WORD UINT64_C(0x7000)

enum {
	FUTEX_LOCK_PI = 6,
	WAIT_BITSET = 9,
};

/* ---- locks -------------------------------------------------------------------------------------- */

/* The main thread waits for 40 of 100 ms for a mutex, and the other for the same mutex later. */
static void take_turns(struct mr_model *model)
{
	(void)model;
	for (int64_t i = 0; i < ROUNDS; i++) {
		problem_lock(0, ROUND(i), ROUND(i) + 40 * MS, WORD, 1, ROUND(i) + 90 * MS);
		hand_run(0, ROUND(i) + 40 * MS, ROUND(i + 1));
		hand_run(1, ROUND(i), ROUND(i) + 60 * MS);
		problem_lock(1, ROUND(i) + 60 * MS, ROUND(i) + 90 * MS, WORD, 0,
			     ROUND(i) + 99 * MS);
		hand_run(1, ROUND(i) + 90 * MS, ROUND(i + 1));
	}
}

/* A lock with priority inheritance, whose holder waits for a disk. */
static void wait_for_disk(struct mr_model *model)
{
	uint32_t file = hand_file("/data/log");

	(void)model;
	for (int64_t i = 0; i < ROUNDS; i++) {
		hand_futex(0, ROUND(i), ROUND(i) + 70 * MS, WORD, FUTEX_LOCK_PI, true);
		hand_woken(0, ROUND(i) + 70 * MS, MR_wake_context_task, 1, "");
		hand_run(0, ROUND(i) + 70 * MS, ROUND(i + 1));
		hand_blocked(1, ROUND(i), ROUND(i) + 70 * MS, "read", file);
		hand_run(1, ROUND(i) + 70 * MS, ROUND(i + 1));
	}
}

/* The main thread has set a worker to work, which waits for a mutex. */
static void wait_for_waiting(struct mr_model *model)
{
	(void)model;
	for (int64_t i = 0; i < ROUNDS; i++) {
		hand_run(0, ROUND(i), ROUND(i) + 10 * MS);
		problem_wait(0, ROUND(i) + 10 * MS, ROUND(i) + 60 * MS, WORD, 1);
		hand_run(0, ROUND(i) + 60 * MS, ROUND(i + 1));
		problem_wait(1, ROUND(i), ROUND(i) + 10 * MS, WORD + 64, 0);
		problem_lock(1, ROUND(i) + 10 * MS, ROUND(i) + 60 * MS, WORD + 128, 2,
			     ROUND(i) + 61 * MS);
		hand_run(1, ROUND(i) + 60 * MS, ROUND(i + 1));
		hand_run(2, ROUND(i), ROUND(i + 1));
	}
}

/* The main thread waits for what a thread hands over that works by itself. */
static void take_input(struct mr_model *model)
{
	(void)model;
	for (int64_t i = 0; i < ROUNDS; i++) {
		problem_wait(0, ROUND(i), ROUND(i) + 80 * MS, WORD, 1);
		hand_run(0, ROUND(i) + 80 * MS, ROUND(i + 1));
		hand_run(1, ROUND(i), ROUND(i + 1));
	}
}

static void test_locks(void **state)
{
	(void)state;
	PROBLEM_CHECK(
		{"turns", take_turns, "lock_contention", ROUNDS * 40 * MS, "thread 101 holds it"},
		{"disk", wait_for_disk, "lock_contention", ROUNDS * 70 * MS, "waits for the disk"},
		{"worker", wait_for_waiting, "lock_contention", ROUNDS * 50 * MS,
		 "thread 102 holds it"},
		{"input", take_input, "lock_contention", 0, NULL},
		{"input", take_input, "input_bound", ROUNDS * 80 * MS, "thread 101"});
}

/* ---- the interpreter ---------------------------------------------------------------------------- */

static void wait_for_gil(struct mr_model *model)
{
	(void)model;
	hand_interpreter(GIL, 0x100);
	for (int64_t i = 0; i < ROUNDS; i++) {
		problem_wait(0, ROUND(i), ROUND(i) + 30 * MS, GIL + 16, 1);
		hand_run(0, ROUND(i) + 30 * MS, ROUND(i + 1));
		hand_run(1, ROUND(i), ROUND(i + 1));
	}
}

/* It asks again every 5 ms. */
static void ask_for_gil(struct mr_model *model)
{
	(void)model;
	hand_interpreter(GIL, 0x100);
	for (int64_t i = 0; i < ROUNDS; i++) {
		for (int64_t ns = ROUND(i); ns < ROUND(i) + 60 * MS; ns += 5 * MS) {
			hand_futex(0, ns, ns + 5 * MS, GIL + 16, WAIT_BITSET, true);
			if (ns < ROUND(i) + 55 * MS)
				hand_woken(0, ns + 5 * MS, MR_wake_context_hrtimer, MR_NO_TRACK,
					   "hrtimer_wakeup");
			else
				hand_woken(0, ns + 5 * MS, MR_wake_context_task, 2, "");
		}
		hand_run(0, ROUND(i) + 60 * MS, ROUND(i + 1));
		hand_run(2, ROUND(i), ROUND(i + 1));
	}
}

/* Who must hand something over waits for it. */
static void wait_for_asking(struct mr_model *model)
{
	(void)model;
	hand_interpreter(GIL, 0x100);
	for (int64_t i = 0; i < ROUNDS; i++) {
		hand_run(0, ROUND(i), ROUND(i) + 10 * MS);
		problem_wait(0, ROUND(i) + 10 * MS, ROUND(i) + 50 * MS, WORD, 1);
		hand_run(0, ROUND(i) + 50 * MS, ROUND(i + 1));
		problem_wait(1, ROUND(i), ROUND(i) + 10 * MS, WORD + 64, 0);
		problem_wait(1, ROUND(i) + 10 * MS, ROUND(i) + 50 * MS, GIL + 16, 2);
		hand_run(1, ROUND(i) + 50 * MS, ROUND(i + 1));
		hand_run(2, ROUND(i), ROUND(i + 1));
	}
}

/* Nobody else wants it. */
static void run_alone(struct mr_model *model)
{
	(void)model;
	hand_interpreter(GIL, 0x100);
	hand_run(0, 0, ROUND(ROUNDS));
}

static void test_gil(void **state)
{
	(void)state;
	PROBLEM_CHECK(
		{"wait", wait_for_gil, "gil_bound", ROUNDS * 30 * MS, "thread 101 has it"},
		{"ask", ask_for_gil, "gil_bound", ROUNDS * 60 * MS, "thread 102 has it"},
		{"worker", wait_for_asking, "gil_bound", ROUNDS * 40 * MS, "thread 102 has it"},
		{"alone", run_alone, "gil_bound", 0, NULL});
}

/* ---- the CPUs ----------------------------------------------------------------------------------- */

static void throttle(int64_t from_ms, int64_t to_ms, uint32_t thread)
{
	for (int64_t i = 0; i < ROUNDS; i++) {
		hand_runnable(thread, ROUND(i) + from_ms * MS, ROUND(i) + to_ms * MS,
			      MR_REASON_THROTTLED);
		hand_run(thread, ROUND(i) + to_ms * MS, ROUND(i + 1));
	}
}

static void throttle_main(struct mr_model *model)
{
	(void)model;
	throttle(0, 60, 0);
}

static void throttle_shortly(struct mr_model *model)
{
	(void)model;
	throttle(0, 7, 0);
}

/* The main thread waits for one that is throttled. */
static void throttle_worker(struct mr_model *model)
{
	(void)model;
	for (int64_t i = 0; i < ROUNDS; i++) {
		hand_run(0, ROUND(i), ROUND(i) + 10 * MS);
		problem_wait(0, ROUND(i) + 10 * MS, ROUND(i) + 90 * MS, WORD, 1);
		hand_run(0, ROUND(i) + 90 * MS, ROUND(i + 1));
		problem_wait(1, ROUND(i), ROUND(i) + 10 * MS, WORD + 64, 0);
		hand_runnable(1, ROUND(i) + 10 * MS, ROUND(i) + 80 * MS, MR_REASON_THROTTLED);
		hand_run(1, ROUND(i) + 80 * MS, ROUND(i + 1));
	}
}

static void preempt(int64_t to_ms, uint32_t tid)
{
	for (int64_t i = 0; i < ROUNDS; i++) {
		problem_preempt(0, ROUND(i), ROUND(i) + to_ms * MS, tid);
		hand_run(0, ROUND(i) + to_ms * MS, ROUND(i + 1));
		hand_cpu(ROUND(i) + to_ms * MS, ROUND(i + 1), 100, 0);
	}
}

static void preempt_by_other(struct mr_model *model)
{
	(void)model;
	preempt(45, FOREIGN_TID);
}

static void preempt_shortly(struct mr_model *model)
{
	(void)model;
	preempt(6, FOREIGN_TID + 1);
}

/* Two take it from the worker that the main thread waits for. */
static void preempt_worker(struct mr_model *model)
{
	(void)model;
	for (int64_t i = 0; i < ROUNDS; i++) {
		hand_run(0, ROUND(i), ROUND(i) + 10 * MS);
		problem_wait(0, ROUND(i) + 10 * MS, ROUND(i) + 90 * MS, WORD, 1);
		hand_run(0, ROUND(i) + 90 * MS, ROUND(i + 1));
		problem_wait(1, ROUND(i), ROUND(i) + 10 * MS, WORD + 64, 0);
		problem_preempt(1, ROUND(i) + 10 * MS, ROUND(i) + 50 * MS, FOREIGN_TID);
		problem_preempt(1, ROUND(i) + 50 * MS, ROUND(i) + 70 * MS, FOREIGN_TID + 1);
		hand_run(1, ROUND(i) + 70 * MS, ROUND(i + 1));
		hand_cpu(ROUND(i) + 70 * MS, ROUND(i + 1), 101, 1);
	}
}

/* Threads that all want the one CPU take turns, each for `slice_ms` of each round. */
static void share_cpu(uint32_t threads, int64_t slice_ms)
{
	for (int64_t i = 0; i < ROUNDS; i++)
		for (uint32_t thread = 0; thread < threads; thread++) {
			int64_t from_ns = ROUND(i) + thread * slice_ms * MS;
			int64_t to_ns = from_ns + slice_ms * MS;

			if (from_ns > ROUND(i))
				hand_runnable(thread, ROUND(i), from_ns, MR_REASON_PREEMPTED);
			hand_run(thread, from_ns, to_ns);
			if (to_ns < ROUND(i + 1))
				hand_runnable(thread, to_ns, ROUND(i + 1), MR_REASON_PREEMPTED);
			hand_cpu(from_ns, to_ns, 100 + thread, thread);
		}
}

static void share_by_four(struct mr_model *model)
{
	(void)model;
	share_cpu(4, 25);
}

static void share_by_twenty(struct mr_model *model)
{
	(void)model;
	share_cpu(20, 5);
}

static void share_by_two(struct mr_model *model)
{
	(void)model;
	share_cpu(2, 50);
}

/* One other thread has the CPU at times, and sleeps otherwise: that is no crowd. */
static void share_at_times(struct mr_model *model)
{
	(void)model;
	preempt(20, 101);
	for (int64_t i = 0; i < ROUNDS; i++) {
		hand_run(1, ROUND(i), ROUND(i) + 20 * MS);
		hand_blocked(1, ROUND(i) + 20 * MS, ROUND(i + 1), "nanosleep", 0);
	}
}

static void test_throttled(void **state)
{
	(void)state;
	PROBLEM_CHECK({"main", throttle_main, "throttled", ROUNDS * 60 * MS, NULL},
		      {"shortly", throttle_shortly, "throttled", ROUNDS * 7 * MS, NULL},
		      {"worker", throttle_worker, "throttled", ROUNDS * 70 * MS, NULL},
		      {"other", preempt_by_other, "throttled", 0, NULL});
}

static void test_other_process(void **state)
{
	(void)state;
	PROBLEM_CHECK({"main", preempt_by_other, "other_process", ROUNDS * 45 * MS, "'cc'"},
		      {"shortly", preempt_shortly, "other_process", ROUNDS * 6 * MS, "'cc'"},
		      {"worker", preempt_worker, "other_process", ROUNDS * 60 * MS, "'cc': 600 ms"},
		      {"throttled", throttle_main, "other_process", 0, NULL},
		      {"own", share_by_four, "other_process", 0, NULL});
}

static void test_oversubscribed(void **state)
{
	(void)state;
	PROBLEM_CHECK(
		{"four", share_by_four, "oversubscribed", ROUNDS * 75 * MS,
		 "4 of them run on 1 CPU"},
		{"twenty", share_by_twenty, "oversubscribed", ROUNDS * 95 * MS,
		 "20 of them run on 1 CPU"},
		{"two", share_by_two, "oversubscribed", ROUNDS * 50 * MS, "2 of them run on 1 CPU"},
		{"at times", share_at_times, "oversubscribed", 0, NULL},
		{"other", preempt_by_other, "oversubscribed", 0, NULL});
}

/* ---- page faults -------------------------------------------------------------------------------- */

/* The thread runs all the time, and touches so many new pages in each round. */
static void touch(struct mr_model *model, uint32_t thread, uint32_t faults)
{
	for (int64_t i = 0; i < ROUNDS; i++) {
		hand_run(thread, ROUND(i), ROUND(i + 1));
		model->states.minor_faults[model->states.table.count - 1] = faults;
	}
}

static void touch_many(struct mr_model *model)
{
	touch(model, 0, 100000);
}

static void touch_some(struct mr_model *model)
{
	touch(model, 0, 12000);
}

/* In the worker that the main thread waits for; half of its pages it touches when nobody waits. */
static void touch_in_worker(struct mr_model *model)
{
	touch(model, 1, 160000);
	for (int64_t i = 0; i < ROUNDS; i++) {
		hand_run(0, ROUND(i), ROUND(i) + 50 * MS);
		problem_wait(0, ROUND(i) + 50 * MS, ROUND(i + 1), WORD, 1);
	}
}

static void touch_few(struct mr_model *model)
{
	touch(model, 0, 1000);
}

static void test_page_faults(void **state)
{
	(void)state;
	PROBLEM_CHECK(
		{"many", touch_many, "page_faults", ROUNDS * 50 * MS, "1,000,000 page faults"},
		{"some", touch_some, "page_faults", ROUNDS * 6 * MS, "120,000 page faults"},
		{"worker", touch_in_worker, "page_faults", ROUNDS * 40 * MS, "800,000 page faults"},
		{"few", touch_few, "page_faults", 0, NULL});
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_locks),          cmocka_unit_test(test_gil),
		cmocka_unit_test(test_throttled),      cmocka_unit_test(test_other_process),
		cmocka_unit_test(test_oversubscribed), cmocka_unit_test(test_page_faults),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
