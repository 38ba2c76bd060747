/* SPDX-License-Identifier: Apache-2.0
 *
 * The critical path, rule by rule of doc/causes.md: small traces of all levels whose paths are known, and traces
 * that contradict themselves.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/analysis.h"
#include "analysis/critical_path.h"
#include "kernel_trace.h"
#include "runtime_trace.h"
#include "trace_writer.h"

/* Times of the tests are in microseconds from here. */
#define BASE   UINT64_C(1010000000)
#define AT(us) (BASE + 1000 * (uint64_t)(us))

enum {
	BEFORE = -10000, /* begin of the trace */
	AFTER = 90000,   /* its end */
	MAIN = 102,      /* thread of the user streams */
	WORKER = 103,    /* threads that only the kernel level knows */
	OTHER = 104,
	FOREIGN = 900, /* not traced */
	ON_DEVICE = 0, /* instead of a tid */
};

static struct mr_model *model;
static uint32_t device, queues[2], launch_name, sync_name;
static bool has_kernel;

/* ---- writing ------------------------------------------------------------------------------------ */

static void start(bool kernel)
{
	has_kernel = kernel;
	if (kernel) {
		kernel_trace_begin(3);
		runtime_trace_start_in((char *)kernel_trace_directory());
	} else {
		runtime_trace_start();
	}
	device = define_device("gpu0", 0);
	queues[0] = define_queue(device, "queue0", MR_queue_order_in_order, false);
	queues[1] = define_queue(device, "queue1", MR_queue_order_in_order, false);
	launch_name = define_string("launch");
	sync_name = define_string("cudaDeviceSynchronize");
}

static void load(void)
{
	if (!has_kernel) {
		model = runtime_trace_load();
		return;
	}
	runtime_trace_finish();
	model = kernel_trace_load(TRACE_END);
}

static void unload(void)
{
	if (has_kernel)
		kernel_trace_end(model);
	else
		runtime_trace_end(model);
}

/* MAIN is there from the begin of the trace on, and runs from 0 on. */
static void live_main(void)
{
	kernel_born(0, TRACE_BEGIN, 0, MAIN, MAIN, "main");
	kernel_switch(0, AT(0), 0, MAIN, 0);
}

/* A thread that MAIN makes, and that runs at once on a CPU of its own. */
static void live(uint32_t cpu, uint32_t tid, uint64_t us)
{
	kernel_born(cpu, AT(us), MAIN, tid, MAIN, "thread");
	kernel_switch(cpu, AT(us), 0, tid, 0);
}

static void leave(uint32_t cpu, uint32_t tid, uint64_t us)
{
	kernel_switch(cpu, AT(us), tid, 0, MR_switch_reason_exited);
}

static void block(uint32_t cpu, uint32_t tid, uint64_t us)
{
	kernel_switch(cpu, AT(us), tid, 0, MR_switch_reason_interruptible);
}

static void resume(uint32_t cpu, uint32_t tid, uint64_t us)
{
	kernel_switch(cpu, AT(us), 0, tid, 0);
}

static void wake(uint32_t cpu, uint32_t tid, uint32_t waker, uint64_t us)
{
	kernel_wake(cpu, AT(us), tid, waker);
}

static void launch(uint64_t from, uint64_t until, uint64_t correlation, uint32_t queue,
		   bool is_blocking)
{
	EMIT(runtime_launch, AT(until), .function = launch_name,
	     .duration_ticks = mr_u48_from(1000 * (until - from)), .correlation = correlation,
	     .queue = queues[queue], .is_blocking = is_blocking,
	     .kind = MR_operation_kind_copy_from_device);
}

static void synchronise(uint64_t from, uint64_t until)
{
	EMIT(runtime_call, AT(until), .function = sync_name,
	     .duration_ticks = mr_u48_from(1000 * (until - from)));
}

static void operate(uint64_t correlation, uint32_t queue, uint64_t from, uint64_t until)
{
	EMIT(device_operation, AT(80000), .queue = queues[queue], .correlation = correlation,
	     .start = DEVICE_TIME(AT(from)), .end = DEVICE_TIME(AT(until)),
	     .kind = MR_operation_kind_kernel);
}

/* ---- checking ----------------------------------------------------------------------------------- */

/* A segment ends where the next one begins, the last one at the end of the window. */
struct expected {
	int64_t from_us;
	const char *cause;
	uint32_t who; /* tid, or correlation of an operation, or 0 for neither */
};

static uint32_t who_of(const struct mr_path_segment *segment)
{
	if (segment->operation != MR_NO_ROW)
		return (uint32_t)model->device_operations.correlation[segment->operation];
	return segment->track == MR_NO_TRACK ? 0 : model->survey->tracks.items[segment->track].tid;
}

static void print_path(const struct mr_critical_path *path)
{
	for (size_t i = 0; i < path->segments.count; i++) {
		const struct mr_path_segment *segment = &path->segments.items[i];

		print_error("%8lld %8lld  %s %u\n",
			    (long long)((segment->start_ns - (int64_t)BASE) / 1000),
			    (long long)(segment->duration_ns / 1000),
			    mr_cause_name((enum mr_cause_kind)segment->link.kind), who_of(segment));
	}
}

static void check_segments(const struct mr_model *looked_at, const struct expected *expected,
			   size_t count)
{
	struct mr_critical_path path;
	struct mr_window window = mr_model_window(looked_at);
	bool is_right;

	assert_int_equal(mr_critical_path_make(looked_at, &path), 0);
	is_right = path.segments.count == count;
	for (size_t i = 0; is_right && i < count; i++) {
		const struct mr_path_segment *segment = &path.segments.items[i];
		int64_t until_ns = i + 1 < count ? (int64_t)BASE + 1000 * expected[i + 1].from_us
						 : window.last_ns;

		is_right = segment->start_ns == (int64_t)BASE + 1000 * expected[i].from_us &&
			   segment->start_ns + segment->duration_ns == until_ns &&
			   strcmp(mr_cause_name((enum mr_cause_kind)segment->link.kind),
				  expected[i].cause) == 0 &&
			   who_of(segment) == expected[i].who;
	}
	if (!is_right)
		print_path(&path);
	assert_true(is_right);
	mr_critical_path_free(&path);
}

#define CHECK_PATH(...)                                                   \
	do {                                                              \
		static const struct expected expected_[] = {__VA_ARGS__}; \
		load();                                                   \
		check_segments(model, expected_, mr_countof(expected_));  \
		unload();                                                 \
	} while (0)

/* ---- device and thread -------------------------------------------------------------------------- */

static void test_launch_and_synchronise(void **state)
{
	(void)state;
	start(true);
	live_main();
	launch(100, 200, 1, 0, false);
	synchronise(300, 500);
	operate(1, 0, 210, 400);
	leave(0, MAIN, 600);
	CHECK_PATH({BEFORE, "wake-up", MAIN}, {0, "cpu", MAIN}, {100, "launch", MAIN},
		   {200, "dispatch", 1}, {210, "device", 1}, {400, "sync", MAIN},
		   {500, "cpu", MAIN}, {600, "untraced", 0});
}

/* Whichever ended last: the launch, what ran before in the queue, what the launch waits for. */
static void test_latest_enabler(void **state)
{
	(void)state;
	start(true);
	live_main();
	launch(100, 110, 1, 0, false);
	launch(120, 130, 2, 0, false);
	launch(140, 150, 3, 1, false);
	EMIT(runtime_wait, AT(150), .correlation = 4, .awaited = 3);
	launch(160, 170, 4, 0, false);
	synchronise(180, 605);
	operate(1, 0, 130, 300);
	operate(2, 0, 300, 400);
	operate(3, 1, 200, 500);
	operate(4, 0, 505, 600);
	leave(0, MAIN, 610);
	CHECK_PATH({BEFORE, "wake-up", MAIN}, {0, "cpu", MAIN}, {100, "launch", MAIN},
		   {110, "cpu", MAIN}, {120, "launch", MAIN}, {130, "cpu", MAIN},
		   {140, "launch", MAIN}, {150, "device busy", 3}, {200, "device", 3},
		   {500, "dispatch", 4}, {505, "device", 4}, {600, "sync", MAIN},
		   {605, "cpu", MAIN}, {610, "untraced", 0});
}

static void test_long_slack(void **state)
{
	(void)state;
	start(true);
	live_main();
	launch(100, 110, 1, 0, false);
	synchronise(120, 400);
	operate(1, 0, 300, 400);
	operate(2, 1, 150, 180); /* its launch is lost */
	leave(0, MAIN, 410);
	/* The device was free at 180, and has 20 us to begin. */
	CHECK_PATH({BEFORE, "wake-up", MAIN}, {0, "cpu", MAIN}, {100, "launch", MAIN},
		   {110, "device unknown", 1}, {150, "device busy", 1}, {180, "dispatch", 1},
		   {200, "device unknown", 1}, {300, "device", 1}, {400, "cpu", MAIN},
		   {410, "untraced", 0});
}

static void test_nothing_launched_it(void **state)
{
	(void)state;
	start(true);
	live_main();
	leave(0, MAIN, 410);
	operate(7, 0, 300, 500);
	CHECK_PATH({BEFORE, "unlaunched", 7}, {300, "device", 7}, {500, "untraced", 0});
}

/* A blocking launch returns when its operation has ended; what it waited for before is the queue. */
static void test_blocking_launch(void **state)
{
	(void)state;
	start(true);
	live_main();
	launch(100, 110, 1, 0, false);
	launch(200, 500, 2, 0, true);
	operate(1, 0, 115, 400);
	operate(2, 0, 405, 480);
	leave(0, MAIN, 510);
	CHECK_PATH({BEFORE, "wake-up", MAIN}, {0, "cpu", MAIN}, {100, "launch", MAIN},
		   {110, "dispatch", 1}, {115, "device", 1}, {400, "dispatch", 2},
		   {405, "device", 2}, {480, "sync", MAIN}, {500, "cpu", MAIN},
		   {510, "untraced", 0});

	start(true);
	live_main();
	launch(100, 110, 1, 0, false);
	launch(200, 500, 2, 0, true);
	operate(1, 0, 115, 190); /* over by then: the launch took so long */
	operate(2, 0, 405, 480);
	leave(0, MAIN, 510);
	CHECK_PATH({BEFORE, "wake-up", MAIN}, {0, "cpu", MAIN}, {100, "launch", MAIN},
		   {110, "cpu", MAIN}, {200, "launch", MAIN}, {405, "device", 2},
		   {480, "sync", MAIN}, {500, "cpu", MAIN}, {510, "untraced", 0});
}

static void test_synchronising_without_need(void **state)
{
	(void)state;
	start(true);
	live_main();
	launch(100, 110, 1, 0, false);
	synchronise(300, 310); /* 1 has long ended */
	operate(1, 0, 115, 190);
	leave(0, MAIN, 400);
	CHECK_PATH({BEFORE, "wake-up", MAIN}, {0, "cpu", MAIN}, {100, "launch", MAIN},
		   {110, "cpu", MAIN}, {300, "sync", MAIN}, {310, "cpu", MAIN},
		   {400, "untraced", 0});
}

/* ---- threads ------------------------------------------------------------------------------------ */

static void test_waker_and_maker(void **state)
{
	(void)state;
	start(true);
	live_main();
	live(1, WORKER, 50);
	block(0, MAIN, 100);
	kernel_switch(1, AT(200), WORKER, 0, MR_switch_reason_disk);
	KERNEL(2, kernel_waking, AT(300), NULL, .tid = WORKER, .context = MR_wake_context_irq);
	resume(1, WORKER, 310);
	wake(1, MAIN, WORKER, 400);
	resume(0, MAIN, 420);
	kernel_switch(1, AT(450), WORKER, 0, MR_switch_reason_disk);
	leave(0, MAIN, 500);
	/* WORKER goes on waiting, until the end of what is known. */
	load();
	static const struct expected expected[] = {{BEFORE, "wake-up", MAIN}, {0, "cpu", MAIN},
						   {50, "cpu", WORKER},       {200, "disk", WORKER},
						   {300, "wake-up", WORKER},  {310, "cpu", WORKER},
						   {450, "unknown", WORKER}};
	check_segments(model, expected, mr_countof(expected));
	/* Of a window that ends with MAIN's end MAIN comes first. */
	struct mr_part part = {{(int64_t)AT(0), (int64_t)AT(500)}, NULL};
	struct mr_model *cut;
	assert_int_equal(mr_model_cut(model, &part, &cut), 0);
	static const struct expected of_main[] = {{0, "cpu", MAIN},      {50, "cpu", WORKER},
						  {200, "disk", WORKER}, {300, "wake-up", WORKER},
						  {310, "cpu", WORKER},  {400, "wake-up", MAIN},
						  {420, "cpu", MAIN}};
	check_segments(cut, of_main, mr_countof(of_main));
	mr_model_free(cut);
	/* And of one that ends while it is blocked, what it waited for. */
	part.window.last_ns = (int64_t)AT(250);
	assert_int_equal(mr_model_cut(model, &part, &cut), 0);
	check_segments(cut, of_main, 3);
	mr_model_free(cut);
	unload();
}

static void test_processors(void **state)
{
	(void)state;
	start(true);
	live_main();
	KERNEL(0, kernel_interrupt, AT(60), NULL, .tid = MAIN, .number = 3,
	       .duration_ns = mr_u48_from(10000), .kind = MR_interrupt_kind_softirq);
	kernel_switch(0, AT(100), MAIN, FOREIGN, MR_switch_reason_preempted);
	kernel_switch(0, AT(150), FOREIGN, MAIN, 0);
	kernel_switch(0, AT(200), MAIN, 0, MR_switch_reason_throttled);
	kernel_switch(0, AT(250), 0, MAIN, 0);
	leave(0, MAIN, 300);
	CHECK_PATH({BEFORE, "wake-up", MAIN}, {0, "cpu", MAIN}, {50, "interrupt", MAIN},
		   {60, "cpu", MAIN}, {100, "preempted", MAIN}, {150, "cpu", MAIN},
		   {200, "throttled", MAIN}, {250, "cpu", MAIN}, {300, "untraced", 0});
}

/* A thread that wakes another from inside a call that waits: why it waits is another matter. */
static void test_waker_inside_waiting_call(void **state)
{
	(void)state;
	start(true);
	live_main();
	live(1, WORKER, 10);
	block(1, WORKER, 20);
	launch(30, 40, 1, 0, false);
	wake(0, WORKER, MAIN, 60);
	resume(1, WORKER, 65);
	synchronise(50, 210);
	operate(1, 0, 50, 200);
	leave(0, MAIN, 220);
	leave(1, WORKER, 300);
	CHECK_PATH({BEFORE, "wake-up", MAIN}, {0, "cpu", MAIN}, {30, "launch", MAIN},
		   {40, "cpu", MAIN}, {50, "cpu", MAIN} /* in the call */, {60, "wake-up", WORKER},
		   {65, "cpu", WORKER}, {300, "untraced", 0});
}

static void test_exec(void **state)
{
	(void)state;
	start(true);
	kernel_born(0, AT(0), 0, OTHER, OTHER, "other");
	kernel_switch(0, AT(0), 0, OTHER, 0);
	KERNEL(0, kernel_exec, AT(100), "program", .tid = OTHER, .old_tid = OTHER);
	leave(0, OTHER, 200);
	CHECK_PATH({BEFORE, "untraced", OTHER}, {0, "cpu", OTHER}, {100, "cpu", OTHER},
		   {200, "untraced", 0});
}

/* ---- without the kernel level ------------------------------------------------------------------- */

static void test_two_levels(void **state)
{
	(void)state;
	start(false);
	EMIT(node_interval, AT(50), .node = 0, .duration_ticks = mr_u48_from(20000));
	launch(100, 200, 1, 0, false);
	EMIT(runtime_call, AT(260), .function = launch_name, .duration_ticks = mr_u48_from(10000));
	synchronise(300, 500);
	/* Another process, whose thread only looks on, and ends last. */
	operate(1, 0, 205, 400);
	runtime_trace_process(3);
	EMIT(runtime_call, AT(700), .function = define_string("cudaEventQuery"),
	     .duration_ticks = mr_u48_from(1000));
	CHECK_PATH({BEFORE, "untraced", MAIN}, {30, "untraced", MAIN}, {50, "untraced", MAIN},
		   {100, "launch", MAIN}, {200, "dispatch", 1}, {205, "device", 1},
		   {400, "sync", MAIN}, {500, "untraced", 0});
}

static void test_step_comes_first(void **state)
{
	struct mr_model *cut;

	(void)state;
	start(false);
	EMIT(node_interval, AT(400), .duration_ticks = mr_u48_from(400000));
	runtime_trace_process(3);
	EMIT(step_interval, AT(300), .step = 7, .duration_ticks = 200000);
	EMIT(node_interval, AT(500), .duration_ticks = mr_u48_from(500000));
	load();
	struct mr_part part = {{(int64_t)AT(100), (int64_t)AT(300)}, NULL};
	assert_int_equal(mr_model_cut(model, &part, &cut), 0);
	check_segments(cut, &(struct expected){100, "untraced", 103}, 1);
	mr_model_free(cut);
	part.window.first_ns = (int64_t)AT(101);
	assert_int_equal(mr_model_cut(model, &part, &cut), 0);
	check_segments(cut, &(struct expected){101, "untraced", MAIN}, 1);
	mr_model_free(cut);
	unload();
}

/* ---- uncertain order ------------------------------------------------------------------------------ */

static void test_uncertain_decisions(void **state)
{
	struct mr_critical_path path;

	(void)state;
	start(true);
	live_main();
	launch(100, 110, 1, 0, false);
	launch(290, 300, 2, 0, false); /* ends with operation 1 */
	launch(310, 320, 3, 0, false);
	synchronise(330, 510);
	operate(1, 0, 115, 300);
	operate(2, 0, 305, 400);
	operate(3, 0, 400, 500);
	leave(0, MAIN, 600);
	load();
	assert_int_equal(mr_critical_path_make(model, &path), 0);
	assert_int_equal(path.decisions, 2);
	assert_int_equal(path.uncertain, 1);
	mr_critical_path_free(&path);
	static const struct expected expected[] = {
		{BEFORE, "wake-up", MAIN}, {0, "cpu", MAIN},    {100, "launch", MAIN},
		{110, "dispatch", 1},      {115, "device", 1},  {300, "dispatch", 2},
		{305, "device", 2},        {400, "device", 3},  {500, "sync", MAIN},
		{510, "cpu", MAIN},        {600, "untraced", 0}};
	check_segments(model, expected, mr_countof(expected));
	unload();
}

/* ---- traces that contradict themselves -------------------------------------------------------------- */

/* Operations wait for each other. */
static void test_circle_of_operations(void **state)
{
	(void)state;
	start(true);
	EMIT(runtime_wait, AT(1), .correlation = 1, .awaited = 2);
	EMIT(runtime_wait, AT(1), .correlation = 2, .awaited = 1);
	launch(10, 15, 1, 0, false);
	launch(20, 25, 2, 1, false);
	operate(1, 0, 100, 200);
	operate(2, 1, 100, 200);
	CHECK_PATH({BEFORE, "unknown", 0}, {100, "device", 1}, {200, "untraced", 0});
}

static uint32_t track_of(uint32_t tid)
{
	for (uint32_t i = 0; i < model->survey->tracks.count; i++)
		if (model->survey->tracks.items[i].tid == tid)
			return i;
	fail_msg("no thread %u", tid);
	return 0;
}

/* Says that this thread woke that one, each time. The reader believes no such thing of a thread that does not
 * run, so it cannot come from a trace. */
static void blame(uint32_t waker, uint32_t tid)
{
	const uint32_t *first = &model->wakeups.table.first_of_track[track_of(tid)];

	for (uint32_t row = first[0]; row < first[1]; row++) {
		model->wakeups.waker[row] = track_of(waker);
		model->wakeups.context[row] = MR_wake_context_task;
	}
}

static void interrupt(uint32_t tid, uint64_t us)
{
	KERNEL(2, kernel_waking, AT(us), NULL, .tid = tid, .context = MR_wake_context_irq);
}

static void test_circle_of_threads(void **state)
{
	static const struct expected expected[] = {
		{BEFORE, "wake-up", MAIN}, {0, "cpu", MAIN},   {100, "unknown", MAIN},
		{200, "wake-up", MAIN},    {210, "cpu", MAIN}, {300, "untraced", 0}};

	(void)state;
	start(true);
	live_main();
	live(1, WORKER, 10);
	block(0, MAIN, 100);
	block(1, WORKER, 110);
	interrupt(MAIN, 200);
	interrupt(WORKER, 200);
	resume(0, MAIN, 210);
	resume(1, WORKER, 210);
	leave(1, WORKER, 250);
	leave(0, MAIN, 300);
	load();
	blame(WORKER, MAIN);
	blame(MAIN, WORKER);
	check_segments(model, expected, mr_countof(expected));
	unload();
}

/* Anything may wait for anything, at any time. The path tiles the window (it asserts so), soon. */
static void test_nonsense(void **state)
{
	uint64_t random = 41;

	(void)state;
	for (int round = 0; round < 150; round++) {
		struct mr_findings findings = {0};
		uint64_t us = 0;

		start(true);
		for (uint32_t tid = MAIN; tid < MAIN + 4; tid++)
			kernel_born(0, AT(0), MAIN + (uint32_t)next_random(&random) % 4, tid, MAIN,
				    "thread");
		for (uint64_t i = 1; i <= 60; i++) {
			uint32_t tid = MAIN + (uint32_t)next_random(&random) % 4;
			uint32_t other = MAIN + (uint32_t)next_random(&random) % 4;

			us += next_random(&random) % 3;
			if (next_random(&random) % 2)
				wake((uint32_t)i % 3, tid, other, us);
			else
				kernel_switch((uint32_t)i % 3, AT(us), tid,
					      next_random(&random) % 2 ? other : 0,
					      next_random(&random) % 9);
			EMIT(runtime_wait, AT(us), .correlation = next_random(&random) % 30,
			     .awaited = next_random(&random) % 30);
			if (next_random(&random) % 3)
				launch(us, us + next_random(&random) % 3, i % 30, i % 2,
				       i % 5 == 0);
			else
				synchronise(us, us + next_random(&random) % 9);
		}
		for (uint64_t i = 0; i < 30; i++) {
			uint64_t from = next_random(&random) % 250;

			operate(i, i % 2, from, from + next_random(&random) % 20);
		}
		load();
		assert_int_equal(mr_analyse_critical_path(model, &findings), 0);
		assert_int_equal(findings.list.count, 1);
		mr_findings_free(&findings);
		unload();
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
	start(true);
	live_main();
	for (uint32_t i = 1; i < THREADS; i++) {
		live(1, MAIN + i, 1);
		block(1, MAIN + i, 1);
	}
	for (uint32_t i = 1; i < ROUNDS; i++) {
		block(0, MAIN, 10 * i);
		interrupt(MAIN, 10 * i + 5);
		resume(0, MAIN, 10 * i + 5);
	}
	for (uint32_t i = 1; i < THREADS; i++)
		interrupt(MAIN + i, 10 * ROUNDS);
	leave(0, MAIN, 10 * ROUNDS + 10);
	load();
	for (uint32_t i = 0; i < THREADS; i++)
		blame(MAIN + (i + 1) % THREADS, MAIN + i);
	assert_int_equal(mr_critical_path_make(model, &path), 0);
	assert_in_range(path.segments.count, 10, 2 * ROUNDS + 10);
	assert_int_equal(path.segments.items[0].start_ns, TRACE_BEGIN);
	mr_critical_path_free(&path);
	unload();
}

/* ---- findings ------------------------------------------------------------------------------------ */

static void test_tables(void **state)
{
	struct mr_findings findings = {0};

	(void)state;
	start(true);
	live_main();
	launch(100, 200, 1, 0, false);
	EMIT(node_interval, AT(250), .duration_ticks = mr_u48_from(200000));
	synchronise(300, 500);
	operate(1, 0, 210, 400);
	leave(0, MAIN, 600);
	load();
	assert_int_equal(mr_analyse_critical_path(model, &findings), 0);
	const struct mr_finding *finding = findings.list.items[0];
	static const struct {
		const char *id;
		uint32_t time; /* its column */
		int64_t rows;
	} tables[] = {{"levels", 2, 6}, {"shares", 5, 8}, {"by_node", 3, 2}, {"by_place", 4, 3}};
	assert_int_equal(finding->tables.count, mr_countof(tables));
	for (size_t i = 0; i < mr_countof(tables); i++) {
		const struct mr_finding_table *table = finding->tables.items[i];
		int64_t sum = 0;

		assert_string_equal(table->id, tables[i].id);
		assert_string_equal(table->columns[tables[i].time].key, "time_ns");
		assert_int_equal(table->row_count, tables[i].rows);
		for (uint32_t row = 0; row < table->row_count; row++)
			sum += mr_finding_value(table, row, tables[i].time)->number;
		assert_int_equal(sum, TRACE_END - TRACE_BEGIN);
	}
	const struct mr_finding_table *levels = finding->tables.items[0];
	static const struct {
		const char *name;
		int64_t us;
	} rows[] = {{"unknown", 89400}, {"kernel", 10000}, {"runtime", 200},
		    {"device", 200},    {"program", 150},  {"dataflow", 50}};
	for (uint32_t i = 0; i < mr_countof(rows); i++) {
		assert_string_equal(mr_finding_value(levels, i, 0)->text, rows[i].name);
		assert_int_equal(mr_finding_value(levels, i, 2)->number, 1000 * rows[i].us);
	}
	assert_int_equal(finding->evidence.count, 4); /* of five, one has no place */
	mr_findings_free(&findings);
	unload();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_launch_and_synchronise),
		cmocka_unit_test(test_latest_enabler),
		cmocka_unit_test(test_long_slack),
		cmocka_unit_test(test_nothing_launched_it),
		cmocka_unit_test(test_blocking_launch),
		cmocka_unit_test(test_synchronising_without_need),
		cmocka_unit_test(test_waker_and_maker),
		cmocka_unit_test(test_processors),
		cmocka_unit_test(test_waker_inside_waiting_call),
		cmocka_unit_test(test_exec),
		cmocka_unit_test(test_two_levels),
		cmocka_unit_test(test_step_comes_first),
		cmocka_unit_test(test_uncertain_decisions),
		cmocka_unit_test(test_circle_of_operations),
		cmocka_unit_test(test_circle_of_threads),
		cmocka_unit_test(test_nonsense),
		cmocka_unit_test(test_long_circles),
		cmocka_unit_test(test_tables),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
