/* SPDX-License-Identifier: Apache-2.0
 *
 * Why a device was idle, rule by rule of doc/causes.md, on models made by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analysis/analysis.h"
#include "analysis/idle.h"
#include "hand_model.h"

static struct mr_model *model;

static int start(void **state)
{
	(void)state;
	model = hand_model_start();
	return 0;
}

static int end(void **state)
{
	(void)state;
	mr_model_free(model);
	return 0;
}

static const struct mr_idle_device *device_of(const struct mr_idle *idle, const char *name)
{
	for (size_t i = 0; i < idle->devices.count; i++) {
		const struct mr_idle_device *device = &idle->devices.items[i];
		uint32_t string = model->survey->definitions.devices.items[device->device].name;

		if (strcmp(mr_model_text(model, string), name) == 0)
			return device;
	}
	fail_msg("no device %s", name);
	return NULL;
}

/* The pieces of a device as text: "10-20 dispatch; 20-30 device unknown". */
static char *print(const struct mr_idle *idle, const char *name)
{
	const struct mr_idle_device *device = device_of(idle, name);
	struct mr_region region = {0};
	size_t bytes;
	char *printed = NULL;
	FILE *to = open_memstream(&printed, &bytes);

	for (uint32_t i = 0; i < device->piece_count; i++) {
		const struct mr_idle_piece *piece = &idle->pieces.items[device->first_piece + i];

		fprintf(to, "%s%" PRId64 "-%" PRId64 " %s", i ? "; " : "", piece->start_ns,
			piece->start_ns + piece->duration_ns,
			mr_chain_text(model, &region, &idle->chains, piece->chain));
	}
	fclose(to);
	mr_region_free(&region);
	return printed;
}

static void expect(const char *name, const char *wanted)
{
	mr_auto(idle) struct mr_idle idle = {0};

	hand_model_load();
	assert_int_equal(mr_idle_make(model, &idle), 0);
	mr_auto(free) char *found = print(&idle, name);
	assert_string_equal(found, wanted);
}

/* Work of gpu0 in [0, 100) and, launched in [2000, 2100) by thread 0, in [3000, 3100). What thread 0 does in
 * [100, 2000) is the gap's cause then. */
static void work_around_gap(void)
{
	hand_operation(QUEUE_A, 0, 100, "first", 1);
	hand_operation(QUEUE_A, 3000, 3100, "second", 2);
	hand_launch(0, 2000, 2100, 2);
}

#define AFTER_GAP "; 2000-2100 launch (launch); 2100-3000 dispatch"

static void expect_gap(const char *wanted)
{
	mr_auto(free) char *all = NULL;

	assert_true(asprintf(&all, "%s" AFTER_GAP, wanted) > 0);
	expect("gpu0", all);
}

/* ---- delay and device --------------------------------------------------------------------------- */

static void test_without_launch(void **state)
{
	(void)state;
	hand_operation(QUEUE_A, 0, 100, "first", 1);
	hand_operation(QUEUE_A, 250, 300, "second", 2);
	expect("gpu0", "100-250 unlaunched (second (gpu0))");
}

static void test_without_kernel_level(void **state)
{
	(void)state;
	work_around_gap();
	hand_call(0, 500, 700, "outer", 0, MR_CALL_PLAIN, 0);
	hand_call(0, 550, 600, "inner", 0, MR_CALL_PLAIN, 0);
	hand_node(0, 50, 400, "matmul");
	expect_gap(
		"100-400 untraced (matmul (thread 100)); 400-500 untraced; 500-550 call (outer); "
		"550-600 call (inner); 600-700 call (outer); 700-2000 untraced");
}

static void test_dispatch_and_unknown(void **state)
{
	(void)state;
	hand_operation(QUEUE_A, 0, 100, "first", 1);
	hand_operation(QUEUE_A, 50000, 50100, "second", 2);
	hand_launch(0, 10, 20, 2);
	expect("gpu0", "100-20100 dispatch; 20100-50000 device unknown");
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
	assert_int_equal(mr_idle_make(model, &idle), 0);
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
	expect("gpu0", "100-300 launch (launch); 300-500 sleep (thread 100); 500-600 wake-up; "
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
	expect("gpu0", "100-700 untraced; 700-750 launch (launch); 750-1000 dispatch");
	expect("gpu1", "100-500 unlaunched (other (gpu1))");
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
	expect("gpu0", "100-200 dependency (marker (gpu0)) > dispatch; "
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
	expect("gpu0", "100-300 dependency (producer (gpu1)) > untraced; "
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
	expect("gpu0", "100-150 dependency (three (gpu1)) > untraced; "
		       "150-250 dependency (three (gpu1)) > launch (launch); "
		       "250-300 dependency (two (gpu1)) > dispatch; "
		       "300-400 dependency (two (gpu1)); 400-900 dependency (three (gpu1)); "
		       "900-1000 dispatch");
}

/* The producer's device is busy with something that the producer does not wait for. */
static void test_other_device_busy(void **state)
{
	(void)state;
	model->survey->definitions.queues.items[QUEUE_B].device = 2;
	hand_operation(QUEUE_A, 0, 100, "first", 1);
	hand_operation(QUEUE_A, 1000, 1100, "consumer", 2);
	hand_call(0, 10, 20, "launch", 2, MR_CALL_LAUNCH, 3);
	hand_operation(QUEUE_C, 600, 900, "producer", 3);
	hand_launch(1, 20, 30, 3);
	hand_operation(QUEUE_B, 50, 300, "stranger", 4);
	expect("gpu0", "100-300 dependency (producer (gpu1)) > device busy (stranger (gpu1)); "
		       "300-600 dependency (producer (gpu1)) > dispatch; "
		       "600-900 dependency (producer (gpu1)); 900-1000 dispatch");
}

/* ---- waiting for a device ----------------------------------------------------------------------- */

/* gpu1 works for thread 0, which waits for that before it gives gpu0 something to do. */
static void wait_for_other_device(void)
{
	work_around_gap();
	hand_operation(QUEUE_C, 600, 900, "awaited", 3);
	hand_launch(0, 20, 30, 3);
	hand_call(0, 200, 1500, "finish", 4, MR_CALL_WAIT, 3);
	hand_call(0, 300, 1400, "nested", 0, MR_CALL_WAIT, 0);
}

static void test_synchronising_call(void **state)
{
	(void)state;
	wait_for_other_device();
	expect_gap("100-200 untraced; 200-600 dependency (awaited (gpu1)) > dispatch; "
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
	expect_gap("100-200 cpu (thread 100); 200-600 dependency (awaited (gpu1)) > dispatch; "
		   "600-900 dependency (awaited (gpu1)); 900-1000 sync (finish); "
		   "1000-1200 wake-up; 1200-1500 sync (finish); 1500-2000 cpu (thread 100)");
}

static void test_synchronising_call_for_nothing(void **state)
{
	(void)state;
	work_around_gap();
	hand_call(0, 200, 1500, "finish", 4, MR_CALL_WAIT, 0);
	expect_gap("100-200 untraced; 200-1500 sync (finish); 1500-2000 untraced");
}

/* A blocking launch is a call like others until its operation starts. */
static void test_blocking_launch(void **state)
{
	(void)state;
	work_around_gap();
	hand_operation(QUEUE_C, 600, 900, "copied", 3);
	hand_call(0, 200, 1000, "copy", 3, MR_CALL_LAUNCH, 3);
	expect_gap("100-200 untraced; 200-600 call (copy); 600-900 dependency (copied (gpu1)); "
		   "900-1000 sync (copy); 1000-2000 untraced");
}

/* ---- as the kernel sees it ---------------------------------------------------------------------- */

static void test_running(void **state)
{
	(void)state;
	work_around_gap();
	hand_run(0, 0, 3000);
	hand_call(0, 500, 700, "malloc", 0, MR_CALL_PLAIN, 0);
	hand_node(0, 50, 600, "matmul");
	hand_interrupt(0, 800, 900, 24);
	hand_interrupt(0, 820, 850, 25);
	expect_gap("100-500 cpu (matmul (thread 100)); 500-700 cpu (malloc (thread 100)); "
		   "700-800 cpu (thread 100); 800-900 interrupt (interrupt 24); "
		   "900-2000 cpu (thread 100)");
}

static void test_runnable(void **state)
{
	(void)state;
	work_around_gap();
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
	expect_gap(
		"100-200 cpu (thread 100); 200-300 throttled; "
		"300-400 preempted (thread 900 'cc' (not traced)); 400-600 preempted (thread 101); "
		"600-1000 wake-up; 1000-1200 preempted; 1200-1300 wake-up; "
		"1300-2000 cpu (thread 100)");
}

static void test_blocked(void **state)
{
	uint32_t data, socket;

	(void)state;
	work_around_gap();
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
	hand_run(0, 1000, 3000);
	hand_run(1, 0, 3000);
	expect_gap(
		"100-200 disk (/data/a); 200-400 sleep (thread 100); "
		"400-500 lock (thread 900 'cc' (not traced)); 500-600 network (TCP 10.0.0.1:80); "
		"600-700 poll (nvme0); 700-800 lock; 800-900 unknown; "
		"900-1000 unknown (thread 101) > cpu (thread 101); 1000-2000 cpu (thread 100)");
}

static void test_blocked_by_thread(void **state)
{
	(void)state;
	work_around_gap();
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
	expect_gap("100-300 lock (thread 101) > cpu (thread 101); "
		   "300-700 lock (thread 101) > ipc (thread 102) > disk (/data/a); "
		   "700-800 lock (thread 101) > ipc (thread 102) > cpu (thread 102); "
		   "800-850 lock (thread 101) > cpu (thread 101); "
		   "850-900 lock (thread 101) > cpu (decode (thread 101)); "
		   "900-1000 lock (thread 101) > cpu (thread 101); 1000-2000 cpu (thread 100)");
}

static void test_unknown_state(void **state)
{
	(void)state;
	work_around_gap();
	hand_run(0, 0, 500);
	hand_state(0, 500, 700, MR_STATE_UNKNOWN, MR_REASON_LOST);
	hand_run(0, 700, 900);
	hand_call(0, 600, 650, "free", 0, MR_CALL_PLAIN, 0);
	expect_gap("100-500 cpu (thread 100); 500-600 untraced; 600-650 call (free); "
		   "650-700 untraced; 700-900 cpu (thread 100); 900-2000 untraced");
}

/* Thread 0 waits for 1, that for 2, and so on; and threads that wait for each other. */
static void test_long_and_circular_chains(void **state)
{
	mr_auto(idle) struct mr_idle idle = {0};
	uint32_t links = 0;

	(void)state;
	work_around_gap();
	for (uint32_t i = 0; i < THREADS - 1; i++) {
		hand_blocked(i, 0, 1500, "futex", 0);
		hand_woken(i, 1500, MR_wake_context_task, i == THREADS - 2 ? 30 : i + 1, "");
	}
	hand_model_load();
	assert_int_equal(mr_idle_make(model, &idle), 0);
	uint32_t chain = idle.pieces.items[0].chain;
	const struct mr_link *root =
		mr_chain_link(&idle.chains, mr_chain_root(&idle.chains, chain));
	assert_int_equal(root->kind, MR_CAUSE_UNKNOWN);
	for (; chain != MR_NO_CHAIN; chain = mr_chain_link(&idle.chains, chain)->next)
		links++;
	assert_int_equal(links, 32);
	assert_int_equal(idle.pieces.items[0].duration_ns, 1400);
}

/* ---- causes ------------------------------------------------------------------------------------- */

static void test_headlines(void **state)
{
	static const struct {
		uint16_t kinds[4]; /* of a chain; ends with 0, which no chain of idle time has */
		uint32_t links;    /* of its headline */
		bool is_explained;
	} cases[] = {
		{{MR_CAUSE_CPU}, 1, true},
		{{MR_CAUSE_UNTRACED}, 1, false},
		{{MR_CAUSE_UNKNOWN}, 1, false},
		{{MR_CAUSE_UNLAUNCHED}, 1, false},
		{{MR_CAUSE_DEPENDENCY, MR_CAUSE_DEVICE_UNKNOWN}, 1, false},
		{{MR_CAUSE_DEPENDENCY}, 1, true},
		{{MR_CAUSE_LOCK, MR_CAUSE_CPU}, 2, true},
		{{MR_CAUSE_LOCK, MR_CAUSE_DISK}, 1, true},
		{{MR_CAUSE_LOCK, MR_CAUSE_IPC, MR_CAUSE_SLEEP}, 2, true},
		{{MR_CAUSE_NETWORK, MR_CAUSE_OTHER, MR_CAUSE_UNTRACED}, 3, true},
		{{MR_CAUSE_OTHER, MR_CAUSE_CPU}, 1, true},
		{{MR_CAUSE_POLL, MR_CAUSE_PREEMPTED}, 1, true},
		{{MR_CAUSE_CHILD, MR_CAUSE_CALL}, 2, true},
	};
	struct mr_chains chains = {0};

	(void)state;
	for (size_t i = 0; i < mr_countof(cases); i++) {
		uint32_t chain = MR_NO_CHAIN, links = 0;

		for (int at = 3; at >= 0; at--) {
			struct mr_link link = mr_link_bare(cases[i].kinds[at]);

			link.next = chain;
			if (cases[i].kinds[at])
				assert_int_equal(mr_chain_intern(&chains, link, &chain), 0);
		}
		uint32_t headline = mr_chain_headline(&chains, chain);
		for (; headline != MR_NO_CHAIN; headline = mr_chain_link(&chains, headline)->next)
			links++;
		assert_int_equal(links, cases[i].links);
		assert_int_equal(mr_chain_is_explained(&chains, chain), cases[i].is_explained);
	}
	mr_chains_free(&chains);
}

static void test_causes_add_up(void **state)
{
	mr_auto(idle) struct mr_idle idle = {0};
	mr_auto(free) struct mr_idle_cause *causes = NULL;
	uint32_t count;

	(void)state;
	work_around_gap();
	hand_operation(QUEUE_A, 9000, 9100, "third", 3);
	hand_launch(1, 2500, 2600, 3);
	hand_model_load();
	assert_int_equal(mr_idle_make(model, &idle), 0);
	assert_int_equal(mr_idle_causes(&idle, 0, (uint32_t)idle.pieces.count, &causes, &count), 0);
	assert_int_equal(count, 3);
	assert_int_equal(mr_chain_link(&idle.chains, causes[0].headline)->kind, MR_CAUSE_DISPATCH);
	assert_int_equal(causes[0].total_ns, 900 + 5900);
	assert_int_equal(causes[0].max_ns, 5900);
	assert_int_equal(causes[0].count, 2);
	assert_int_equal(causes[0].thread, MR_NO_TRACK);
	assert_int_equal(causes[1].total_ns, 1900);
	assert_int_equal(causes[1].thread, 0);
	assert_int_equal(causes[2].total_ns, 100);
	assert_int_equal(idle.devices.items[0].idle_ns, 2900 + 5900);
	assert_int_equal(mr_idle_busy_ns(&idle.devices.items[0]), 300);
}

/* In chains threads that are not traced go by tid, in causes by name. */
static void test_causes_by_name(void **state)
{
	mr_auto(idle) struct mr_idle idle = {0};
	mr_auto(free) struct mr_idle_cause *causes = NULL;
	struct mr_region region = {0};
	uint32_t count;

	(void)state;
	work_around_gap();
	hand_runnable(0, 0, 2000, MR_REASON_PREEMPTED);
	hand_cpu(0, 500, FOREIGN_TID, MR_NO_TRACK);
	hand_cpu(500, 2000, FOREIGN_TID + 1, MR_NO_TRACK);
	expect_gap("100-500 preempted (thread 900 'cc' (not traced)); "
		   "500-2000 preempted (thread 901 'cc' (not traced))");
	assert_int_equal(mr_idle_make(model, &idle), 0);
	assert_int_equal(mr_idle_causes(&idle, 0, (uint32_t)idle.pieces.count, &causes, &count), 0);
	assert_int_equal(count, 3);
	assert_int_equal(causes[0].total_ns, 1900);
	assert_string_equal(mr_chain_culprit(model, &region, &idle.chains, causes[0].headline),
			    "'cc' threads (not traced)");
	mr_region_free(&region);
}

/* Ends of gaps are as exact as the device's clock, begins and ends of launches are exact. */
static void test_uncertainty(void **state)
{
	mr_auto(idle) struct mr_idle idle = {0};

	(void)state;
	work_around_gap();
	hand_operation(QUEUE_A, 3105, 4000, "third", 3);
	model->device_clocks[1].bound_ns = 10;
	hand_model_load();
	assert_int_equal(mr_idle_make(model, &idle), 0);
	const struct mr_idle_piece *piece = idle.pieces.items;
	assert_int_equal(idle.pieces.count, 4);
	assert_int_equal(piece[0].uncertain_ns, 10); /* untraced, from the end of the work */
	assert_int_equal(piece[1].uncertain_ns, 0);  /* the launch */
	assert_int_equal(piece[2].uncertain_ns, 10); /* dispatch */
	assert_int_equal(piece[3].uncertain_ns, 5);  /* a gap that may not be */
}

static void test_window(void **state)
{
	mr_auto(idle) struct mr_idle idle = {0};
	struct mr_model cut = {.whole = model,
			       .survey = model->survey,
			       .part.window = {.first_ns = 1500, .last_ns = 4000}};

	(void)state;
	work_around_gap();
	hand_model_load();
	assert_int_equal(mr_idle_make(&cut, &idle), 0);
	mr_auto(free) char *found = print(&idle, "gpu0");
	assert_string_equal(found, "1500-2000 untraced; 2000-2100 launch (launch); "
				   "2100-3000 dispatch; 3100-4000 no more work");
	assert_int_equal(mr_idle_busy_ns(&idle.devices.items[0]), 100);
}

static void test_nothing(void **state)
{
	mr_auto(idle) struct mr_idle idle = {0};
	struct mr_findings findings = {0};

	(void)state;
	hand_model_load();
	assert_int_equal(mr_idle_make(model, &idle), 0);
	assert_int_equal(idle.devices.count, 0);
	assert_int_equal(mr_analyse_idle(model, &findings), 0);
	assert_int_equal(findings.list.count, 0);
	mr_findings_free(&findings);
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, start, end)

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
		TEST(headlines),
		TEST(causes_add_up),
		TEST(causes_by_name),
		TEST(uncertainty),
		TEST(window),
		TEST(nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
