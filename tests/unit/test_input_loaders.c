/* SPDX-License-Identifier: Apache-2.0
 *
 * Loaders in processes of their own: every nanosecond that a program waits for them, and that they spend, in models
 * made by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/analysis.h"
#include "analysis/input_loaders.h"
#include "finding_lookup.h"
#include "hand_model.h"

enum {
	MAIN = 0,     /* of the program; it has the steps */
	READER = 1,   /* another thread of the program */
	LOADER = 2,   /* main thread of process 1 */
	FEEDER = 3,   /* another thread of process 1 */
	LOADER_B = 4, /* main thread of process 2, which process 1 started */
	STRANGER = 5, /* main thread of process 3, which nobody of them started */
	ROUNDS = 4,
};

static struct mr_model *model;
static struct mr_input_loaders loaders;

static void add_process(uint32_t pid, uint32_t parent, uint32_t main_thread)
{
	uint32_t number = (uint32_t)model->survey->processes.count;
	struct mr_process process = {.pid = pid, .parent = parent};

	assert_int_equal(mr_vec_push(&model->survey->processes, process), 0);
	model->survey->tracks.items[main_thread].process = number;
	model->survey->tracks.items[main_thread].tid = pid;
}

static int make(void **state)
{
	(void)state;
	model = hand_model_start();
	loaders = (struct mr_input_loaders){0};
	model->survey->tracks.items[MAIN].tid = model->survey->processes.items[0].pid;
	add_process(1001, 0, LOADER);
	add_process(1002, 1, LOADER_B);
	add_process(1003, 3, STRANGER);
	model->survey->tracks.items[FEEDER].process = 1;
	return 0;
}

static int unmake(void **state)
{
	(void)state;
	mr_input_loaders_free(&loaders);
	mr_model_free(model);
	return 0;
}

static void step(int64_t start_ns, int64_t end_ns)
{
	struct mr_steps_row row = {
		.track = MAIN, .start_ns = start_ns, .duration_ns = end_ns - start_ns};

	assert_int_equal(mr_steps_append(&model->steps, row), 0);
}

static void wait_for(uint32_t thread, int64_t start_ns, int64_t end_ns, const char *call,
		     uint32_t waker)
{
	hand_blocked(thread, start_ns, end_ns, call, 0);
	hand_woken(thread, end_ns, MR_wake_context_task, waker, "");
}

static void find(void)
{
	hand_model_load();
	assert_int_equal(mr_input_loaders_make(model, &loaders), 0);
}

static void check_times(const struct mr_input_loader *loader, int64_t runs, int64_t runnable,
			int64_t disk, int64_t for_program, int64_t blocked)
{
	const int64_t expected[MR_LOADER_TIMES] = {runs, runnable, disk, for_program, blocked, 0};

	for (int i = 0; i < MR_LOADER_TIMES; i++)
		assert_int_equal(loader->ns[i], expected[i]);
}

/* In each round of 1000 the program waits 600, of which 100 lie before the step. */
static void make_rounds(void)
{
	for (int64_t at = 0; at < ROUNDS * 1000; at += 1000) {
		wait_for(MAIN, at, at + 600, "read", FEEDER);
		hand_run(MAIN, at + 600, at + 1000);
		step(at + 100, at + 1000);
		hand_run(LOADER, at, at + 200);
		hand_state(LOADER, at + 200, at + 300, MR_STATE_BLOCKED, MR_REASON_DISK);
		hand_blocked(LOADER, at + 300, at + 550, "nanosleep", 0);
		hand_runnable(LOADER, at + 550, at + 600, MR_REASON_WOKEN);
		wait_for(LOADER, at + 600, at + 1000, "read", MAIN);
	}
}

static void test_direct(void **state)
{
	(void)state;
	make_rounds();
	find();
	assert_int_equal(loaders.teams.count, 1);
	const struct mr_loader_team *team = &loaders.teams.items[0];
	assert_int_equal(team->process, 0);
	assert_int_equal(team->thread, MAIN);
	assert_true(team->has_steps);
	assert_int_equal(team->whole_ns, ROUNDS * 900);
	assert_int_equal(team->wait_ns, ROUNDS * 500);
	assert_int_equal(team->loaders.count, 1);
	assert_int_equal(team->loaders.items[0].process, 1);
	assert_int_equal(team->loaders.items[0].given, ROUNDS);
	assert_int_equal(team->loaders.items[0].waited_ns, ROUNDS * 600);
	check_times(&team->loaders.items[0], ROUNDS * 200, ROUNDS * 50, ROUNDS * 100, ROUNDS * 400,
		    ROUNDS * 250);
	assert_int_equal(team->blocked_ns[MR_WAIT_SLEEP], ROUNDS * 250);
}

/* A thread of the program reads what a grandchild sends, and needs 100 to hand it on. */
static void test_through_thread(void **state)
{
	(void)state;
	for (int64_t at = 0; at < ROUNDS * 1000; at += 1000) {
		wait_for(MAIN, at, at + 600, "futex", READER);
		hand_run(MAIN, at + 600, at + 1000);
		wait_for(READER, at, at + 500, "read", LOADER_B);
		hand_run(READER, at + 500, at + 1000);
		hand_run(LOADER_B, at, at + 1000);
	}
	find();
	assert_int_equal(loaders.teams.count, 1);
	const struct mr_loader_team *team = &loaders.teams.items[0];
	assert_false(team->has_steps);
	assert_int_equal(team->whole_ns, ROUNDS * 1000);
	assert_int_equal(team->wait_ns, ROUNDS * 500);
	assert_int_equal(team->loaders.items[0].process, 2);
	check_times(&team->loaders.items[0], ROUNDS * 1000, 0, 0, 0, 0);
}

/* Waits for the end of a process, for a process that was not started by the program, for a thread of the program. */
static void test_others(void **state)
{
	(void)state;
	for (int64_t at = 0; at < ROUNDS * 1000; at += 1000) {
		wait_for(MAIN, at, at + 200, "wait4", LOADER);
		wait_for(MAIN, at + 200, at + 400, "read", STRANGER);
		wait_for(MAIN, at + 400, at + 600, "futex", READER);
		hand_run(MAIN, at + 600, at + 1000);
		hand_run(READER, at, at + 1000);
		hand_run(LOADER, at, at + 1000);
		hand_run(STRANGER, at, at + 1000);
	}
	find();
	assert_int_equal(loaders.teams.count, 0);
}

/* A command whose output the program reads: its waits do not count, those for the loader do. */
static void test_command(void **state)
{
	(void)state;
	make_rounds();
	wait_for(MAIN, ROUNDS * 1000, ROUNDS * 1000 + 900, "read", LOADER_B);
	step(ROUNDS * 1000, ROUNDS * 1000 + 900);
	find();
	assert_int_equal(loaders.teams.items[0].loaders.count, 1);
	assert_int_equal(loaders.teams.items[0].whole_ns, ROUNDS * 900 + 900);
	assert_int_equal(loaders.teams.items[0].wait_ns, ROUNDS * 500);
}

static void test_finding(void **state)
{
	struct mr_findings findings = {0};

	(void)state;
	make_rounds();
	hand_model_load();
	assert_int_equal(mr_analyse_input(model, &findings), 0);
	const struct mr_finding_table *table =
		mr_findings_find_table(&findings, "input", "loaders");
	assert_non_null(table);
	assert_int_equal(table->row_count, 1);
	assert_int_equal(findings_number(table, 0, "pid"), 1001);
	assert_int_equal(findings_number(table, 0, "total_ns"), ROUNDS * 1000);
	assert_int_equal(findings_number(table, 0, "disk_ns"), ROUNDS * 100);
	assert_true(findings_say(&findings, "The steps of process 7 spent 55.6% of their time "
					    "(2.00 \u00b5s of 3.60 \u00b5s) waiting for 1 loader "
					    "process."));
	assert_true(findings_say(
		&findings, "The loaders spent their time like this: running 20.0%, waiting for "
			   "a CPU 5.0%, for a disk 10.0%, for the program 40.0%, otherwise "
			   "blocked 25.0% (mostly sleep)."));
	mr_findings_free(&findings);
}

#define loader_test(function) cmocka_unit_test_setup_teardown(function, make, unmake)

int main(void)
{
	const struct CMUnitTest tests[] = {
		loader_test(test_direct),  loader_test(test_through_thread),
		loader_test(test_others),  loader_test(test_command),
		loader_test(test_finding),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
