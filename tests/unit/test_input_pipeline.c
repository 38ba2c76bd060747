/* SPDX-License-Identifier: Apache-2.0
 *
 * The input pipeline: every nanosecond of threads that work for stages, in traces made by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/analysis.h"
#include "analysis/input_pipeline.h"
#include "finding_lookup.h"
#include "hand_model.h"
#include "model/nesting.h"

enum {
	CONSUMER = 0,
	PRODUCER = 1,
	WORKER = 2,
};

static struct mr_model *model;
static struct mr_input_pipeline pipeline;

static int make(void **state)
{
	(void)state;
	model = hand_model_start();
	pipeline = (struct mr_input_pipeline){0};
	return 0;
}

static int unmake(void **state)
{
	(void)state;
	mr_input_pipeline_free(&pipeline);
	mr_model_free(model);
	return 0;
}

static uint32_t text(const char *of)
{
	uint32_t string;

	assert_int_equal(
		mr_strings_intern(&model->survey->definitions.strings, of, strlen(of), &string), 0);
	return string;
}

static struct mr_input_work_row work_row(uint32_t thread, int64_t start_ns, int64_t end_ns,
					 enum mr_input_kind kind, const char *path)
{
	return (struct mr_input_work_row){.track = thread,
					  .start_ns = start_ns,
					  .duration_ns = end_ns - start_ns,
					  .kind = (uint8_t)kind,
					  .path = text(path),
					  .consumer = strcmp(path, "Root") != 0,
					  .iterator = 7,
					  .parallelism = MR_NO_ORDINAL,
					  .buffer_limit = MR_NO_ORDINAL,
					  .buffered = MR_NO_ORDINAL,
					  .is_autotuned = MR_NO_TRUTH};
}

static void work(uint32_t thread, int64_t start_ns, int64_t end_ns, enum mr_input_kind kind,
		 const char *path)
{
	assert_int_equal(mr_input_work_append(&model->input_work,
					      work_row(thread, start_ns, end_ns, kind, path)),
			 0);
}

static void step(int64_t start_ns, int64_t end_ns)
{
	assert_int_equal(mr_steps_append(&model->steps,
					 (struct mr_steps_row){.track = CONSUMER,
							       .start_ns = start_ns,
							       .duration_ns = end_ns - start_ns}),
			 0);
}

static void load(void)
{
	const struct mr_input_work *rows = &model->input_work;
	struct mr_nesting_faults faults = {0};

	hand_model_load();
	const struct mr_nesting nesting = {rows->start_ns, rows->duration_ns, rows->self_ns,
					   rows->parent, rows->flags};
	for (uint32_t i = 0; i < model->survey->tracks.count; i++)
		assert_int_equal(mr_nest(&nesting, rows->table.first_of_track[i],
					 rows->table.first_of_track[i + 1], &faults),
				 0);
	assert_int_equal(mr_input_pipeline_make(model, &pipeline), 0);
}

static const struct mr_input_stage *stage_of(const char *path)
{
	for (size_t i = 0; i < pipeline.stages.count; i++)
		if (strcmp(mr_model_text(model, pipeline.stages.items[i].path), path) == 0)
			return &pipeline.stages.items[i];
	fail_msg("there is no stage %s", path);
	return NULL;
}

static void check_times(const char *path, int64_t runs, int64_t runnable, int64_t blocked,
			int64_t unknown, int64_t calls, int64_t waits)
{
	const struct mr_input_stage *stage = stage_of(path);
	const int64_t expected[MR_INPUT_TIMES] = {runs, runnable, blocked, unknown, calls, waits};

	for (int i = 0; i < MR_INPUT_TIMES; i++)
		assert_int_equal(stage->ns[i], expected[i]);
}

/* A prefetched generator: 1000 ns of sleep and 100 of work for each element. */
static void prefetched_generator(void **state)
{
	(void)state;
	for (int64_t i = 0; i < 4; i++) {
		int64_t ns = 2000 * i;
		struct mr_input_work_row buffer =
			work_row(CONSUMER, ns + 10, ns + 1110, MR_INPUT_REQUEST, "Root::Prefetch");

		buffer.buffer_limit = 2;
		buffer.buffered = i == 3;
		work(CONSUMER, ns, ns + 1120, MR_INPUT_REQUEST, "Root");
		assert_int_equal(mr_input_work_append(&model->input_work, buffer), 0);
		hand_run(CONSUMER, ns, ns + 20);
		hand_blocked(CONSUMER, ns + 20, ns + 1100, "futex", 0);
		hand_run(CONSUMER, ns + 1100, ns + 2000);
		step(ns, ns + 2000);
		work(PRODUCER, ns, ns + 1100, MR_INPUT_PRODUCE, "Root::Prefetch");
		work(PRODUCER, ns + 20, ns + 1090, MR_INPUT_REQUEST, "Root::Prefetch::Generator");
		hand_run(PRODUCER, ns, ns + 80);
		hand_blocked(PRODUCER, ns + 80, ns + 1080, "nanosleep", 0);
		hand_runnable(PRODUCER, ns + 1080, ns + 1084, MR_REASON_WOKEN);
		hand_run(PRODUCER, ns + 1084, ns + 1100);
	}
	load();
	assert_int_equal(pipeline.stages.count, 3);
	check_times("Root", 4 * 20, 0, 0, 0, 0, 0);
	check_times("Root::Prefetch", 4 * 30, 0, 0, 0, 0, 4 * 1100);
	check_times("Root::Prefetch::Generator", 4 * (60 + 6), 4 * 4, 4 * 1000, 0, 0, 0);
	assert_true(stage_of("Root::Prefetch")->is_ahead);
	assert_int_equal(stage_of("Root::Prefetch")->buffer_limit, 2);
	assert_int_equal(stage_of("Root::Prefetch")->buffered, 1);
	assert_int_equal(stage_of("Root::Prefetch::Generator")->depth, 2);
	assert_int_equal(pipeline.taken.count, 1);
	assert_int_equal(pipeline.taken.items[0].take_count, 4);
	assert_int_equal(pipeline.taken.items[0].step_ns, 8000);
	assert_int_equal(pipeline.taken.items[0].wait_step_ns, 4 * 1120);
	uint32_t slowest = mr_input_slowest_stage(&pipeline, pipeline.taken.items[0].process);
	assert_ptr_equal(&pipeline.stages.items[slowest], stage_of("Root::Prefetch::Generator"));
	assert_int_equal(mr_input_stage_pace_ns(&pipeline, &pipeline.stages.items[slowest]), 1070);
}

/* A map whose function other threads execute: the wait for it is no work of the stage. */
static void function_on_another_thread(void **state)
{
	struct mr_input_work_row map = work_row(CONSUMER, 0, 500, MR_INPUT_REQUEST, "Root::Map");

	(void)state;
	map.parallelism = 2;
	work(CONSUMER, 0, 600, MR_INPUT_REQUEST, "Root");
	assert_int_equal(mr_input_work_append(&model->input_work, map), 0);
	work(CONSUMER, 100, 450, MR_INPUT_CALL, "Root::Map");
	hand_run(CONSUMER, 0, 120);
	hand_blocked(CONSUMER, 120, 440, "futex", 0);
	hand_run(CONSUMER, 440, 600);
	work(WORKER, 130, 430, MR_INPUT_FUNCTION, "Root::Map");
	load();
	check_times("Root", 100, 0, 0, 0, 0, 0);
	/* Whether the worker had a CPU is not known. */
	check_times("Root::Map", 180, 0, 0, 300, 320, 0);
	assert_int_equal(mr_input_stage_work_ns(stage_of("Root::Map")), 480);
	assert_int_equal(mr_input_stage_pace_ns(&pipeline, stage_of("Root::Map")), 240);
	assert_int_equal(pipeline.taken.items[0].step_ns, 0);
}

/* An interval that reaches out of the one it began in counts only inside of it. */
static void overlapping_work(void **state)
{
	(void)state;
	work(CONSUMER, 0, 100, MR_INPUT_REQUEST, "Root");
	work(CONSUMER, 50, 150, MR_INPUT_REQUEST, "Root::Map");
	load();
	check_times("Root", 0, 0, 0, 50, 0, 0);
	check_times("Root::Map", 0, 0, 0, 50, 0, 0);
}

static void words(void **state)
{
	struct mr_findings findings = {0};

	(void)state;
	prefetched_generator(NULL);
	assert_int_equal(mr_analyse_input(model, &findings), 0);
	const struct mr_finding_table *table = mr_findings_find_table(&findings, "input", "stages");
	assert_non_null(table);
	int row = findings_row(table, "stage", "  Generator", NULL, NULL);
	assert_int_equal(row, 2);
	assert_int_equal(findings_number(table, 2, "blocked_ns"), 4000);
	assert_int_equal(findings_number(table, 2, "total_ns"), 4 * 1070);
	assert_int_equal(findings_number(table, 1, "buffered_thousandths"), 250);
	table = mr_findings_find_table(&findings, "input", "taken");
	assert_int_equal(findings_number(table, 0, "step_wait_permille"), 560);
	mr_findings_free(&findings);
}

static void nothing(void **state)
{
	struct mr_findings findings = {0};

	(void)state;
	step(0, 100);
	load();
	assert_int_equal(mr_analyse_input(model, &findings), 0);
	assert_int_equal(findings.list.count, 0);
	mr_findings_free(&findings);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make, unmake)
	const struct CMUnitTest tests[] = {
		TEST(prefetched_generator),
		TEST(function_on_another_thread),
		TEST(overlapping_work),
		TEST(words),
		TEST(nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
