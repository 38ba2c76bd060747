/* SPDX-License-Identifier: Apache-2.0
 *
 * Why a device was idle, rule by rule of doc/causes.md, on models made by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "idle_answer.h"

/* ---- delay and device --------------------------------------------------------------------------- */

static void test_without_launch(void **state)
{
	(void)state;
	hand_operation(QUEUE_A, 0, 100, "first", 1);
	hand_operation(QUEUE_A, 250, 300, "second", 2);
	idle_expect("gpu0", "100-250 unlaunched (second (gpu0))");
}

static void test_without_kernel_level(void **state)
{
	(void)state;
	idle_work_around_gap();
	hand_call(0, 500, 700, "outer", 0, MR_CALL_PLAIN, 0);
	hand_call(0, 550, 600, "inner", 0, MR_CALL_PLAIN, 0);
	hand_node(0, 50, 400, "matmul");
	idle_expect_gap(
		"100-400 untraced (matmul (thread 100)); 400-500 untraced; 500-550 call (outer); "
		"550-600 call (inner); 600-700 call (outer); 700-2000 untraced");
}

static void test_dispatch_and_unknown(void **state)
{
	(void)state;
	hand_operation(QUEUE_A, 0, 100, "first", 1);
	hand_operation(QUEUE_A, 50000, 50100, "second", 2);
	hand_launch(0, 10, 20, 2);
	idle_expect("gpu0", "100-20100 dispatch; 20100-50000 device unknown");
}

/* 100 gaps of ready work, 1 to 100 ns long: the 95th percentile is 95. */
static void test_dispatch_is_calibrated(void **state)
{
	mr_auto(idle) struct mr_idle idle = {0};
	int64_t ns = 1000;

	(void)state;
	hand_operation(QUEUE_A, 0, 1000, "first", 1);
	for (uint64_t i = 1; i <= 100; i++) {
		hand_launch(0, (int64_t)i, (int64_t)i + 1, 1 + i);
		hand_operation(QUEUE_A, ns + (int64_t)i, ns + 200, "next", 1 + i);
		ns += 200;
	}
	hand_model_load();
	assert_int_equal(mr_idle_make(idle_model, &idle), 0);
	assert_int_equal(idle.devices.items[0].dispatch_ns, 95);
	assert_int_equal(idle.devices.items[0].dispatch_gaps, 100);
	const struct mr_idle_piece *last = &idle.pieces.items[idle.pieces.count - 1];
	assert_int_equal(mr_chain_link(&idle.chains, last->chain)->kind, MR_CAUSE_DEVICE_UNKNOWN);
	assert_int_equal(last->duration_ns, 5);
	assert_int_equal(idle.devices.items[0].idle_ns, 5050);
	assert_int_equal(idle.devices.items[0].explained_ns, 5050 - 1 - 2 - 3 - 4 - 5);
}

static void test_launch_states(void **state)
{
	(void)state;
	hand_operation(QUEUE_A, 0, 100, "first", 1);
	hand_operation(QUEUE_A, 1000, 1100, "second", 2);
	hand_launch(0, 100, 1000, 2);
	hand_run(0, 0, 300);
	hand_interrupt(0, 150, 200, 9);
	hand_blocked(0, 300, 500, "nanosleep", 0);
	hand_runnable(0, 500, 600, MR_REASON_WOKEN);
	hand_run(0, 600, 1000);
	idle_expect("gpu0", "100-300 launch (launch); 300-500 sleep (thread 100); 500-600 wake-up; "
			    "600-1000 launch (launch)");
}

/* What ends a gap: of operations that start together the one launched first; unlaunched ones come last. */
static void test_ties_at_the_end(void **state)
{
	(void)state;
	hand_operation(QUEUE_A, 0, 100, "first", 1);
	hand_operation(QUEUE_A, 1000, 1100, "late", 2);
	hand_operation(QUEUE_B, 1000, 1100, "early", 3);
	hand_operation(QUEUE_C, 0, 100, "first of gpu1", 4);
	hand_operation(QUEUE_C, 500, 600, "other", 5);
	hand_launch(0, 800, 900, 2);
	hand_launch(1, 700, 750, 3);
	idle_expect("gpu0", "100-700 untraced; 700-750 launch (launch); 750-1000 dispatch");
	idle_expect("gpu1", "100-500 unlaunched (other (gpu1))");
}

static void test_markers_and_empty_operations(void **state)
{
	(void)state;
	hand_operation(QUEUE_A, 0, 100, "first", 1);
	hand_marker(QUEUE_A, 200, 400, 2);
	hand_operation(QUEUE_A, 500, 500, "empty", 3);
	hand_operation(QUEUE_A, 600, 700, "last", 4);
	hand_marker(QUEUE_A, 800, 900, 5);
	hand_launch(0, 10, 20, 2);
	hand_launch(0, 20, 30, 3);
	hand_launch(0, 30, 40, 4);
	idle_expect("gpu0", "100-200 dependency (marker (gpu0)) > dispatch; "
			    "200-400 dependency (marker (gpu0)); "
			    "400-500 dependency (empty (gpu0)) > dispatch; 500-600 dispatch; "
			    "700-900 no more work");
}

static void test_dependency_on_other_device(void **state)
{
	(void)state;
	hand_operation(QUEUE_A, 0, 100, "first", 1);
	hand_operation(QUEUE_A, 1000, 1100, "consumer", 2);
	hand_call(0, 10, 20, "launch", 2, MR_CALL_LAUNCH, 3);
	hand_operation(QUEUE_C, 600, 900, "producer", 3);
	hand_launch(1, 300, 400, 3);
	idle_expect("gpu0", "100-300 dependency (producer (gpu1)) > untraced; "
			    "300-400 dependency (producer (gpu1)) > launch (launch); "
			    "400-600 dependency (producer (gpu1)) > dispatch; "
			    "600-900 dependency (producer (gpu1)); 900-1000 dispatch");
}

/* Dependencies along a queue are one link, which names the head of the queue. */
static void test_dependency_along_queue(void **state)
{
	(void)state;
	hand_operation(QUEUE_A, 0, 100, "first", 1);
	hand_operation(QUEUE_A, 1000, 1100, "consumer", 2);
	hand_call(0, 10, 20, "launch", 2, MR_CALL_LAUNCH, 13);
	hand_operation(QUEUE_C, 50, 200, "one", 11);
	hand_operation(QUEUE_C, 300, 400, "two", 12);
	hand_operation(QUEUE_C, 400, 900, "three", 13);
	hand_launch(1, 20, 21, 11);
	hand_launch(1, 30, 31, 12);
	hand_launch(1, 150, 250, 13);
	idle_expect("gpu0", "100-150 dependency (three (gpu1)) > untraced; "
			    "150-250 dependency (three (gpu1)) > launch (launch); "
			    "250-300 dependency (two (gpu1)) > dispatch; "
			    "300-400 dependency (two (gpu1)); 400-900 dependency (three (gpu1)); "
			    "900-1000 dispatch");
}

/* The producer's device is busy with something that the producer does not wait for. */
static void test_other_device_busy(void **state)
{
	(void)state;
	idle_model->survey->definitions.queues.items[QUEUE_B].device = 2;
	hand_operation(QUEUE_A, 0, 100, "first", 1);
	hand_operation(QUEUE_A, 1000, 1100, "consumer", 2);
	hand_call(0, 10, 20, "launch", 2, MR_CALL_LAUNCH, 3);
	hand_operation(QUEUE_C, 600, 900, "producer", 3);
	hand_launch(1, 20, 30, 3);
	hand_operation(QUEUE_B, 50, 300, "stranger", 4);
	idle_expect("gpu0", "100-300 dependency (producer (gpu1)) > device busy (stranger (gpu1)); "
			    "300-600 dependency (producer (gpu1)) > dispatch; "
			    "600-900 dependency (producer (gpu1)); 900-1000 dispatch");
}

/* ---- waiting for a device ----------------------------------------------------------------------- */

/* gpu1 works for thread 0, which waits for that before it gives gpu0 something to do. */
static void wait_for_other_device(void)
{
	idle_work_around_gap();
	hand_operation(QUEUE_C, 600, 900, "awaited", 3);
	hand_launch(0, 20, 30, 3);
	hand_call(0, 200, 1500, "finish", 4, MR_CALL_WAIT, 3);
	hand_call(0, 300, 1400, "nested", 0, MR_CALL_WAIT, 0);
}

static void test_synchronising_call(void **state)
{
	(void)state;
	wait_for_other_device();
	idle_expect_gap("100-200 untraced; 200-600 dependency (awaited (gpu1)) > dispatch; "
			"600-900 dependency (awaited (gpu1)); 900-1500 sync (finish); "
			"1500-2000 untraced");
}

/* Whether it spins or sleeps, it waits for the device; once that is over only a CPU can be missing. */
static void test_synchronising_call_with_states(void **state)
{
	(void)state;
	wait_for_other_device();
	hand_run(0, 0, 650);
	hand_blocked(0, 650, 1000, "ioctl", 0);
	hand_woken(0, 1000, MR_wake_context_irq, MR_NO_TRACK, "gpu");
	hand_runnable(0, 1000, 1200, MR_REASON_WOKEN);
	hand_run(0, 1200, 3000);
	idle_expect_gap("100-200 cpu (thread 100); 200-600 dependency (awaited (gpu1)) > dispatch; "
			"600-900 dependency (awaited (gpu1)); 900-1000 sync (finish); "
			"1000-1200 wake-up; 1200-1500 sync (finish); 1500-2000 cpu (thread 100)");
}

static void test_synchronising_call_for_nothing(void **state)
{
	(void)state;
	idle_work_around_gap();
	hand_call(0, 200, 1500, "finish", 4, MR_CALL_WAIT, 0);
	idle_expect_gap("100-200 untraced; 200-1500 sync (finish); 1500-2000 untraced");
}

/* A blocking launch is a call like others until its operation starts. */
static void test_blocking_launch(void **state)
{
	(void)state;
	idle_work_around_gap();
	hand_operation(QUEUE_C, 600, 900, "copied", 3);
	hand_call(0, 200, 1000, "copy", 3, MR_CALL_LAUNCH, 3);
	idle_expect_gap(
		"100-200 untraced; 200-600 call (copy); 600-900 dependency (copied (gpu1)); "
		"900-1000 sync (copy); 1000-2000 untraced");
}

/* ---- as the kernel sees it ---------------------------------------------------------------------- */

static void test_running(void **state)
{
	(void)state;
	idle_work_around_gap();
	hand_run(0, 0, 3000);
	hand_call(0, 500, 700, "malloc", 0, MR_CALL_PLAIN, 0);
	hand_node(0, 50, 600, "matmul");
	hand_interrupt(0, 800, 900, 24);
	hand_interrupt(0, 820, 850, 25);
	idle_expect_gap("100-500 cpu (matmul (thread 100)); 500-700 cpu (malloc (thread 100)); "
			"700-800 cpu (thread 100); 800-900 interrupt (interrupt 24); "
			"900-2000 cpu (thread 100)");
}

static void test_runnable(void **state)
{
	(void)state;
	idle_work_around_gap();
	hand_run(0, 0, 200);
	hand_runnable(0, 200, 300, MR_REASON_THROTTLED);
	hand_runnable(0, 300, 1000, MR_REASON_WOKEN);
	hand_runnable(0, 1000, 1200, MR_REASON_PREEMPTED);
	hand_runnable(0, 1200, 1300, MR_REASON_NEW);
	hand_run(0, 1300, 3000);
	hand_cpu(200, 400, FOREIGN_TID, MR_NO_TRACK);
	hand_cpu(400, 600, 101, 1);
	hand_cpu(600, 700, 0, MR_NO_TRACK);
	hand_cpu(700, 800, 100, 0);
	idle_expect_gap("100-200 cpu (thread 100); 200-300 throttled; "
			"300-400 preempted (thread 900 'cc' of another process); 400-600 preempted "
			"(thread 101); "
			"600-1000 wake-up; 1000-1200 preempted; 1200-1300 wake-up; "
			"1300-2000 cpu (thread 100)");
}

static void test_blocked(void **state)
{
	uint32_t data, socket;

	(void)state;
	idle_work_around_gap();
	data = hand_file("/data/a");
	socket = hand_file("TCP 10.0.0.1:80");
	hand_blocked(0, 0, 200, "read", data);
	hand_woken(0, 200, MR_wake_context_task, 1, "");
	hand_blocked(0, 200, 300, "nanosleep", 0);
	hand_woken(0, 300, MR_wake_context_task, 1, "");
	hand_blocked(0, 300, 400, "futex", 0);
	hand_woken(0, 400, MR_wake_context_hrtimer, MR_NO_TRACK, "timeout");
	hand_blocked(0, 400, 500, "futex", 0);
	hand_woken(0, 500, MR_wake_context_task, MR_NO_TRACK, "");
	hand_blocked(0, 500, 600, "recvfrom", socket);
	hand_woken(0, 600, MR_wake_context_softirq, MR_NO_TRACK, "NET_RX");
	hand_blocked(0, 600, 700, "poll", 0);
	hand_woken(0, 700, MR_wake_context_irq, MR_NO_TRACK, "nvme0");
	hand_blocked(0, 700, 800, "futex", 0);
	hand_blocked(0, 800, 900, NULL, 0);
	hand_blocked(0, 900, 1000, NULL, 0);
	hand_woken(0, 1000, MR_wake_context_task, 1, "");
	hand_blocked(0, 1000, 1100, "nanosleep", 0);
	hand_woken(0, 1100, MR_wake_context_task, MR_NO_TRACK, "");
	hand_run(0, 1100, 3000);
	hand_run(1, 0, 3000);
	idle_expect_gap(
		"100-200 disk (/data/a); 200-300 signal (thread 101) > cpu (thread 101); "
		"300-400 sleep (thread 100); "
		"400-500 lock (thread 900 'cc' of another process); 500-600 network (TCP "
		"10.0.0.1:80); "
		"600-700 poll (nvme0); 700-800 lock; 800-900 unknown; "
		"900-1000 unknown (thread 101) > cpu (thread 101); 1000-1100 sleep (thread 100); "
		"1100-2000 cpu (thread 100)");
}

static void test_blocked_by_thread(void **state)
{
	(void)state;
	idle_work_around_gap();
	hand_blocked(0, 0, 1000, "futex", 0);
	hand_woken(0, 1000, MR_wake_context_task, 1, "");
	hand_run(0, 1000, 3000);
	hand_run(1, 0, 300);
	hand_blocked(1, 300, 800, "read", hand_file("pipe:[5]"));
	hand_woken(1, 800, MR_wake_context_task, 2, "");
	hand_run(1, 800, 3000);
	hand_node(1, 850, 900, "decode");
	hand_blocked(2, 0, 700, "pread64", hand_file("/data/a"));
	hand_woken(2, 700, MR_wake_context_irq, MR_NO_TRACK, "nvme0");
	hand_run(2, 700, 3000);
	idle_expect_gap(
		"100-300 hand-over (thread 101) > cpu (thread 101); "
		"300-700 hand-over (thread 101) > ipc (thread 102) > disk (/data/a); "
		"700-800 hand-over (thread 101) > ipc (thread 102) > cpu (thread 102); "
		"800-850 hand-over (thread 101) > cpu (thread 101); "
		"850-900 hand-over (thread 101) > cpu (decode (thread 101)); "
		"900-1000 hand-over (thread 101) > cpu (thread 101); 1000-2000 cpu (thread 100)");
}

static void test_unknown_state(void **state)
{
	(void)state;
	idle_work_around_gap();
	hand_run(0, 0, 500);
	hand_state(0, 500, 700, MR_STATE_UNKNOWN, MR_REASON_LOST);
	hand_run(0, 700, 900);
	hand_call(0, 600, 650, "free", 0, MR_CALL_PLAIN, 0);
	idle_expect_gap("100-500 cpu (thread 100); 500-600 untraced; 600-650 call (free); "
			"650-700 untraced; 700-900 cpu (thread 100); 900-2000 untraced");
}

/* Thread 0 waits for 1, that for 2, and so on; and threads that wait for each other. */
static void test_long_and_circular_chains(void **state)
{
	mr_auto(idle) struct mr_idle idle = {0};
	uint32_t links = 0;

	(void)state;
	idle_work_around_gap();
	for (uint32_t i = 0; i < THREADS - 1; i++) {
		hand_blocked(i, 0, 1500, "futex", 0);
		hand_woken(i, 1500, MR_wake_context_task, i == THREADS - 2 ? 30 : i + 1, "");
	}
	hand_model_load();
	assert_int_equal(mr_idle_make(idle_model, &idle), 0);
	uint32_t chain = idle.pieces.items[0].chain;
	const struct mr_link *root =
		mr_chain_link(&idle.chains, mr_chain_root(&idle.chains, chain));
	assert_int_equal(root->kind, MR_CAUSE_UNKNOWN);
	for (; chain != MR_NO_CHAIN; chain = mr_chain_link(&idle.chains, chain)->next)
		links++;
	assert_int_equal(links, 32);
	assert_int_equal(idle.pieces.items[0].duration_ns, 1400);
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, idle_start, idle_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(without_launch),
		TEST(without_kernel_level),
		TEST(dispatch_and_unknown),
		TEST(dispatch_is_calibrated),
		TEST(launch_states),
		TEST(ties_at_the_end),
		TEST(markers_and_empty_operations),
		TEST(dependency_on_other_device),
		TEST(dependency_along_queue),
		TEST(other_device_busy),
		TEST(synchronising_call),
		TEST(synchronising_call_with_states),
		TEST(synchronising_call_for_nothing),
		TEST(blocking_launch),
		TEST(running),
		TEST(runnable),
		TEST(blocked),
		TEST(blocked_by_thread),
		TEST(unknown_state),
		TEST(long_and_circular_chains),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
