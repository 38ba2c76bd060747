/* SPDX-License-Identifier: Apache-2.0
 *
 * The critical path, rule by rule of doc/causes.md: small traces of all levels whose paths are known.
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
#include "analysis/cause/critical_path.h"
#include "path_trace.h"

/* ---- device and thread -------------------------------------------------------------------------- */

static void test_launch_and_synchronise(void **state)
{
	(void)state;
	path_start(true);
	path_live_main();
	path_launch(100, 200, 1, 0, false);
	path_synchronise(300, 500);
	path_operate(1, 0, 210, 400);
	path_leave(0, MAIN, 600);
	CHECK_PATH({BEFORE, "wake-up", MAIN}, {0, "cpu", MAIN}, {100, "launch", MAIN},
		   {200, "dispatch", 1}, {210, "device", 1}, {400, "sync", MAIN},
		   {500, "cpu", MAIN}, {600, "untraced", 0});
}

/* Whichever ended last: the launch, what ran before in the queue, what the launch waits for. */
static void test_latest_enabler(void **state)
{
	(void)state;
	path_start(true);
	path_live_main();
	path_launch(100, 110, 1, 0, false);
	path_launch(120, 130, 2, 0, false);
	path_launch(140, 150, 3, 1, false);
	EMIT(runtime_wait, AT(150), .correlation = 4, .awaited = 3);
	path_launch(160, 170, 4, 0, false);
	path_synchronise(180, 605);
	path_operate(1, 0, 130, 300);
	path_operate(2, 0, 300, 400);
	path_operate(3, 1, 200, 500);
	path_operate(4, 0, 505, 600);
	path_leave(0, MAIN, 610);
	CHECK_PATH({BEFORE, "wake-up", MAIN}, {0, "cpu", MAIN}, {100, "launch", MAIN},
		   {110, "cpu", MAIN}, {120, "launch", MAIN}, {130, "cpu", MAIN},
		   {140, "launch", MAIN}, {150, "device busy", 3}, {200, "device", 3},
		   {500, "dispatch", 4}, {505, "device", 4}, {600, "sync", MAIN},
		   {605, "cpu", MAIN}, {610, "untraced", 0});
}

static void test_long_slack(void **state)
{
	(void)state;
	path_start(true);
	path_live_main();
	path_launch(100, 110, 1, 0, false);
	path_synchronise(120, 400);
	path_operate(1, 0, 300, 400);
	path_operate(2, 1, 150, 180); /* its launch is lost */
	path_leave(0, MAIN, 410);
	/* The device was free at 180, and has 20 us to begin. */
	CHECK_PATH({BEFORE, "wake-up", MAIN}, {0, "cpu", MAIN}, {100, "launch", MAIN},
		   {110, "device unknown", 1}, {150, "device busy", 1}, {180, "dispatch", 1},
		   {200, "device unknown", 1}, {300, "device", 1}, {400, "cpu", MAIN},
		   {410, "untraced", 0});
}

static void test_nothing_launched_it(void **state)
{
	(void)state;
	path_start(true);
	path_live_main();
	path_leave(0, MAIN, 410);
	path_operate(7, 0, 300, 500);
	CHECK_PATH({BEFORE, "unlaunched", 7}, {300, "device", 7}, {500, "untraced", 0});
}

/* A blocking launch returns when its operation has ended; what it waited for before is the queue. */
static void test_blocking_launch(void **state)
{
	(void)state;
	path_start(true);
	path_live_main();
	path_launch(100, 110, 1, 0, false);
	path_launch(200, 500, 2, 0, true);
	path_operate(1, 0, 115, 400);
	path_operate(2, 0, 405, 480);
	path_leave(0, MAIN, 510);
	CHECK_PATH({BEFORE, "wake-up", MAIN}, {0, "cpu", MAIN}, {100, "launch", MAIN},
		   {110, "dispatch", 1}, {115, "device", 1}, {400, "dispatch", 2},
		   {405, "device", 2}, {480, "sync", MAIN}, {500, "cpu", MAIN},
		   {510, "untraced", 0});

	path_start(true);
	path_live_main();
	path_launch(100, 110, 1, 0, false);
	path_launch(200, 500, 2, 0, true);
	path_operate(1, 0, 115, 190); /* over by then: the launch took so long */
	path_operate(2, 0, 405, 480);
	path_leave(0, MAIN, 510);
	CHECK_PATH({BEFORE, "wake-up", MAIN}, {0, "cpu", MAIN}, {100, "launch", MAIN},
		   {110, "cpu", MAIN}, {200, "launch", MAIN}, {405, "device", 2},
		   {480, "sync", MAIN}, {500, "cpu", MAIN}, {510, "untraced", 0});
}

static void test_synchronising_without_need(void **state)
{
	(void)state;
	path_start(true);
	path_live_main();
	path_launch(100, 110, 1, 0, false);
	path_synchronise(300, 310); /* 1 has long ended */
	path_operate(1, 0, 115, 190);
	path_leave(0, MAIN, 400);
	CHECK_PATH({BEFORE, "wake-up", MAIN}, {0, "cpu", MAIN}, {100, "launch", MAIN},
		   {110, "cpu", MAIN}, {300, "sync", MAIN}, {310, "cpu", MAIN},
		   {400, "untraced", 0});
}

/* ---- threads ------------------------------------------------------------------------------------ */

static void test_waker_and_maker(void **state)
{
	(void)state;
	path_start(true);
	path_live_main();
	path_live(1, WORKER, 50);
	path_block(0, MAIN, 100);
	kernel_switch(1, AT(200), WORKER, 0, MR_switch_reason_disk);
	KERNEL(2, kernel_waking, AT(300), NULL, .tid = WORKER, .context = MR_wake_context_irq);
	path_resume(1, WORKER, 310);
	path_wake(1, MAIN, WORKER, 400);
	path_resume(0, MAIN, 420);
	kernel_switch(1, AT(450), WORKER, 0, MR_switch_reason_disk);
	path_leave(0, MAIN, 500);
	/* WORKER goes on waiting, until the end of what is known. */
	path_load();
	static const struct path_expected expected[] = {
		{BEFORE, "wake-up", MAIN}, {0, "cpu", MAIN},         {50, "cpu", WORKER},
		{200, "disk", WORKER},     {300, "wake-up", WORKER}, {310, "cpu", WORKER},
		{450, "unknown", WORKER}};
	path_check(path_model, expected, mr_countof(expected));
	/* Of a window that ends with MAIN's end MAIN comes first. */
	struct mr_part part = {{(int64_t)AT(0), (int64_t)AT(500)}, NULL};
	struct mr_model *cut;
	assert_int_equal(mr_model_cut(path_model, &part, &cut), 0);
	static const struct path_expected of_main[] = {
		{0, "cpu", MAIN},         {50, "cpu", WORKER},  {200, "disk", WORKER},
		{300, "wake-up", WORKER}, {310, "cpu", WORKER}, {400, "wake-up", MAIN},
		{420, "cpu", MAIN}};
	path_check(cut, of_main, mr_countof(of_main));
	mr_model_free(cut);
	/* And of one that ends while it is blocked, what it waited for. */
	part.window.last_ns = (int64_t)AT(250);
	assert_int_equal(mr_model_cut(path_model, &part, &cut), 0);
	path_check(cut, of_main, 3);
	mr_model_free(cut);
	path_unload();
}

static void test_processors(void **state)
{
	(void)state;
	path_start(true);
	path_live_main();
	KERNEL(0, kernel_interrupt, AT(60), NULL, .tid = MAIN, .number = 3,
	       .duration_ns = mr_u48_from(10000), .kind = MR_interrupt_kind_softirq);
	kernel_switch(0, AT(100), MAIN, FOREIGN, MR_switch_reason_preempted);
	kernel_switch(0, AT(150), FOREIGN, MAIN, 0);
	kernel_switch(0, AT(200), MAIN, 0, MR_switch_reason_throttled);
	kernel_switch(0, AT(250), 0, MAIN, 0);
	path_leave(0, MAIN, 300);
	CHECK_PATH({BEFORE, "wake-up", MAIN}, {0, "cpu", MAIN}, {50, "interrupt", MAIN},
		   {60, "cpu", MAIN}, {100, "preempted", MAIN}, {150, "cpu", MAIN},
		   {200, "throttled", MAIN}, {250, "cpu", MAIN}, {300, "untraced", 0});
}

/* A thread that wakes another from inside a call that waits: why it waits is another matter. */
static void test_waker_inside_waiting_call(void **state)
{
	(void)state;
	path_start(true);
	path_live_main();
	path_live(1, WORKER, 10);
	path_block(1, WORKER, 20);
	path_launch(30, 40, 1, 0, false);
	path_wake(0, WORKER, MAIN, 60);
	path_resume(1, WORKER, 65);
	path_synchronise(50, 210);
	path_operate(1, 0, 50, 200);
	path_leave(0, MAIN, 220);
	path_leave(1, WORKER, 300);
	CHECK_PATH({BEFORE, "wake-up", MAIN}, {0, "cpu", MAIN}, {30, "launch", MAIN},
		   {40, "cpu", MAIN}, {50, "cpu", MAIN} /* in the call */, {60, "wake-up", WORKER},
		   {65, "cpu", WORKER}, {300, "untraced", 0});
}

static void test_exec(void **state)
{
	(void)state;
	path_start(true);
	kernel_born(0, AT(0), 0, OTHER, OTHER, "other");
	kernel_switch(0, AT(0), 0, OTHER, 0);
	KERNEL(0, kernel_exec, AT(100), "program", .tid = OTHER, .old_tid = OTHER);
	path_leave(0, OTHER, 200);
	CHECK_PATH({BEFORE, "untraced", OTHER}, {0, "cpu", OTHER}, {100, "cpu", OTHER},
		   {200, "untraced", 0});
}

/* ---- without the kernel level ------------------------------------------------------------------- */

static void test_two_levels(void **state)
{
	(void)state;
	path_start(false);
	EMIT(node_interval, AT(50), .node = 0, .duration_ticks = mr_u48_from(20000));
	path_launch(100, 200, 1, 0, false);
	path_call(250, 260);
	path_synchronise(300, 500);
	/* Another process, whose thread only looks on, and ends last. */
	path_operate(1, 0, 205, 400);
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
	path_start(false);
	EMIT(node_interval, AT(400), .duration_ticks = mr_u48_from(400000));
	runtime_trace_process(3);
	EMIT(step_interval, AT(300), .step = 7, .duration_ticks = 200000);
	EMIT(node_interval, AT(500), .duration_ticks = mr_u48_from(500000));
	path_load();
	struct mr_part part = {{(int64_t)AT(100), (int64_t)AT(300)}, NULL};
	assert_int_equal(mr_model_cut(path_model, &part, &cut), 0);
	path_check(cut, &(struct path_expected){100, "untraced", 103}, 1);
	mr_model_free(cut);
	part.window.first_ns = (int64_t)AT(101);
	assert_int_equal(mr_model_cut(path_model, &part, &cut), 0);
	path_check(cut, &(struct path_expected){101, "untraced", MAIN}, 1);
	mr_model_free(cut);
	path_unload();
}

/* ---- uncertain order ------------------------------------------------------------------------------ */

static void test_uncertain_decisions(void **state)
{
	struct mr_critical_path path;

	(void)state;
	path_start(true);
	path_live_main();
	path_launch(100, 110, 1, 0, false);
	path_launch(290, 300, 2, 0, false); /* ends with operation 1 */
	path_launch(310, 320, 3, 0, false);
	path_synchronise(330, 510);
	path_operate(1, 0, 115, 300);
	path_operate(2, 0, 305, 400);
	path_operate(3, 0, 400, 500);
	path_leave(0, MAIN, 600);
	path_load();
	assert_int_equal(mr_critical_path_make(path_model, &path), 0);
	assert_int_equal(path.decisions, 2);
	assert_int_equal(path.uncertain, 1);
	mr_critical_path_free(&path);
	static const struct path_expected expected[] = {
		{BEFORE, "wake-up", MAIN}, {0, "cpu", MAIN},    {100, "launch", MAIN},
		{110, "dispatch", 1},      {115, "device", 1},  {300, "dispatch", 2},
		{305, "device", 2},        {400, "device", 3},  {500, "sync", MAIN},
		{510, "cpu", MAIN},        {600, "untraced", 0}};
	path_check(path_model, expected, mr_countof(expected));
	path_unload();
}

/* ---- findings ------------------------------------------------------------------------------------ */

static int64_t time_of_node(const struct mr_finding_table *table, const char *name)
{
	for (uint32_t row = 0; row < table->row_count; row++)
		if (strcmp(mr_finding_value(table, row, 0)->text, name) == 0)
			return mr_finding_value(table, row, mr_finding_column(table, "time_ns"))
				->number;
	fail_msg("no row %s", name);
	return 0;
}

/* MAIN executes two nodes, one in the other, and waits in the inner one for WORKER, which waits for OTHER; these execute
 * none: they work for the inner one from when it began, before for the outer one, and before that for nobody.
 *
 *     MAIN      ├ cpu ─┊──┬─ outer ─┬─ inner ─┬ blocked ────────────┊wake-up┤ cpu ─┤────┤──┤
 *     WORKER           ├──┊─────────┊─────────────────┬ blocked ┬ cpu ─┤
 *     OTHER             ├─┊─ cpu ───┊─────────────────┊─────────┤
 *                     50  60        80       100     200       300    400   420   450  480 500
 */
static void test_work_for_nodes(void **state)
{
	struct mr_findings findings = {0};

	(void)state;
	path_start(true);
	uint32_t outer = define_node("outer", "Call"), inner = define_node("inner", "Product");
	path_live_main();
	path_live(1, WORKER, 50);
	path_live(2, OTHER, 55);
	path_block(0, MAIN, 100);
	path_block(1, WORKER, 200);
	path_wake(2, WORKER, OTHER, 300);
	path_leave(2, OTHER, 305);
	path_resume(1, WORKER, 310);
	path_wake(1, MAIN, WORKER, 400);
	path_resume(0, MAIN, 420);
	EMIT(node_interval, AT(450), .node = inner, .duration_ticks = mr_u48_from(370000));
	EMIT(node_interval, AT(480), .node = outer, .duration_ticks = mr_u48_from(420000));
	path_leave(1, WORKER, 490);
	path_leave(0, MAIN, 500);
	path_load();
	assert_int_equal(mr_analyse_critical_path(path_model, &findings), 0);
	const struct mr_finding_table *table = findings_table(&findings, "by_node");
	assert_int_equal(table->row_count, 3);
	assert_int_equal(time_of_node(table, "inner"), 1000 * (450 - 80));
	assert_int_equal(time_of_node(table, "outer"), 1000 * ((80 - 60) + (480 - 450)));
	assert_int_equal(time_of_node(table, "(outside any operation)"),
			 TRACE_END - TRACE_BEGIN - 1000 * (480 - 60));
	mr_findings_free(&findings);
	path_unload();
}

static void test_tables(void **state)
{
	struct mr_findings findings = {0};

	(void)state;
	path_start(true);
	path_live_main();
	path_launch(100, 200, 1, 0, false);
	EMIT(node_interval, AT(250), .duration_ticks = mr_u48_from(200000));
	path_synchronise(300, 500);
	path_operate(1, 0, 210, 400);
	path_leave(0, MAIN, 600);
	path_load();
	assert_int_equal(mr_analyse_critical_path(path_model, &findings), 0);
	const struct mr_finding *finding = findings.list.items[0];
	static const struct {
		const char *id;
		uint32_t time; /* its column */
		int64_t rows;
	} tables[] = {{"levels", 2, 6}, {"shares", 5, 8}, {"by_node", 4, 2}, {"by_place", 4, 3}};
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
	assert_int_equal(finding->evidence.count, 5);
	for (uint32_t i = 0; i < 5; i++) {
		const struct mr_evidence *evidence = &finding->evidence.items[i];

		assert_true(i == 0 || evidence->duration_ns <= evidence[-1].duration_ns);
		/* The longest is after the end of all threads: it has no place. */
		assert_int_equal(evidence->track == MR_NO_TRACK, i == 0);
		assert_int_equal(evidence->pid == 0, i == 0);
	}
	assert_string_equal(finding->evidence.items[0].what, "untraced");
	assert_string_equal(
		finding->sentences.items[2].text,
		"Nothing that was recorded lasted until the end: what happened in the last "
		"89.4 ms is not known.");
	mr_findings_free(&findings);
	path_unload();
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
		cmocka_unit_test(test_work_for_nodes),
		cmocka_unit_test(test_tables),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
