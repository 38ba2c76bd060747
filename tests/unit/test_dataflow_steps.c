/* SPDX-License-Identifier: Apache-2.0
 *
 * Steps of programs that mark none: calls of the function that is called most often, with what led to them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "hand_model.h"
#include "load/called_steps.h"

static struct mr_model *model;

static int make(void **state)
{
	(void)state;
	model = hand_model_start();
	return 0;
}

static int unmake(void **state)
{
	(void)state;
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

static void call(uint32_t thread, int64_t start_ns, int64_t end_ns, const char *function)
{
	assert_int_equal(mr_function_calls_append(
				 &model->function_calls,
				 (struct mr_function_calls_row){.track = thread,
								.start_ns = start_ns,
								.duration_ns = end_ns - start_ns,
								.function = text(function)}),
			 0);
}

/* The program, or another stage, takes an element. */
static void request(uint32_t thread, int64_t start_ns, uint64_t iterator, uint64_t consumer)
{
	assert_int_equal(mr_input_work_append(&model->input_work,
					      (struct mr_input_work_row){.track = thread,
									 .start_ns = start_ns,
									 .duration_ns = 1,
									 .kind = MR_INPUT_REQUEST,
									 .parent = MR_NO_ROW,
									 .iterator = iterator,
									 .consumer = consumer}),
			 0);
}

static void find_steps(void)
{
	uint32_t track_count = (uint32_t)model->survey->tracks.count;

	assert_int_equal(mr_table_sort(&model->node_executions.table, track_count), 0);
	assert_int_equal(mr_table_sort(&model->function_calls.table, track_count), 0);
	assert_int_equal(mr_table_sort(&model->input_work.table, track_count), 0);
	assert_int_equal(mr_called_steps_add(model), 0);
}

static void check(uint32_t row, uint32_t thread, int64_t start_ns, int64_t end_ns, uint64_t number,
		  const char *function)
{
	const struct mr_steps *steps = &model->steps;

	assert_in_range(row, 0, steps->table.count - 1);
	assert_int_equal(steps->track[row], thread);
	assert_int_equal(steps->start_ns[row], start_ns);
	assert_int_equal(steps->start_ns[row] + steps->duration_ns[row], end_ns);
	assert_int_equal(steps->step[row], number);
	assert_string_equal(mr_model_text(model, steps->function[row]), function);
}

/* Threads may take turns. */
static void function_called_most_often(void **state)
{
	(void)state;
	call(0, 100, 110, "restore");
	call(0, 200, 210, "train");
	call(1, 250, 260, "train");
	call(0, 300, 310, "train");
	find_steps();
	assert_int_equal(model->steps.table.count, 3);
	check(0, 0, 200, 210, 0, "train");
	check(1, 1, 210, 260, 1, "train");
	check(2, 0, 260, 310, 2, "train");
	assert_int_equal(model->steps.origin[2], MR_STEP_CALLED);
}

static void threads_side_by_side(void **state)
{
	(void)state;
	call(0, 100, 150, "train");
	call(1, 120, 170, "train");
	call(0, 160, 200, "train");
	call(1, 190, 240, "train");
	find_steps();
	assert_int_equal(model->steps.table.count, 4);
	check(2, 0, 150, 200, 2, "train");
	check(3, 1, 170, 240, 3, "train");
}

/* A log is written in every step; that is usual. An evaluation is not. */
static void evaluation_between_steps(void **state)
{
	(void)state;
	for (int64_t i = 0; i < 30; i++) {
		int64_t ns = 1000 * i;

		call(0, ns, ns + 100, "train");
		call(0, ns + 200, ns + 210, "log");
		for (int64_t j = 0; i % 10 == 9 && j < 5; j++)
			call(0, ns + 300 + 50 * j, ns + 340 + 50 * j, "evaluate");
	}
	find_steps();
	assert_int_equal(model->steps.table.count, 30);
	check(0, 0, 0, 100, 0, "train");
	check(1, 0, 100, 1100, 1, "train");
	check(10, 0, 9540, 10100, 10, "train");
	check(11, 0, 10100, 11100, 11, "train");
}

/* `record --steps 7..8` has counted the ones before. */
static void those_before_the_trace_count(void **state)
{
	(void)state;
	model->manifest->first_step = 7;
	call(0, 100, 110, "train");
	call(0, 200, 210, "train");
	find_steps();
	assert_int_equal(model->steps.table.count, 2);
	check(0, 0, 100, 110, 7, "train");
	check(1, 0, 110, 210, 8, "train");
}

/* A function that takes three elements in each call; its iterator is fed by another. */
static void several_steps_in_a_call(void **state)
{
	(void)state;
	for (int64_t i = 0; i < 4; i++) {
		int64_t ns = 1000 * i;

		call(0, ns, ns + 600, "fit");
		for (int64_t j = 0; j < 3; j++) {
			request(1, ns + 10 + 200 * j, 7, 0);
			request(1, ns + 12 + 200 * j, 8, 7);
		}
	}
	find_steps();
	assert_int_equal(model->steps.table.count, 12);
	check(0, 0, 0, 210, 0, "fit");
	check(1, 0, 210, 410, 1, "fit");
	check(2, 0, 410, 600, 2, "fit");
	check(3, 0, 600, 1210, 3, "fit");
	assert_int_equal(model->steps.origin[3], MR_STEP_TAKEN);
}

/* A loop over a data set inside a function: the last request finds it empty. */
static void whole_epochs(void **state)
{
	(void)state;
	for (int64_t i = 0; i < 2; i++) {
		call(0, 1000 * i, 1000 * i + 815, "epoch");
		for (int64_t j = 0; j < 5; j++)
			request(0, 1000 * i + 10 + 200 * j, (uint64_t)(7 + i), 0);
		for (int64_t j = 0; j < 800; j += 50)
			hand_node(1, 1000 * i + j, 1000 * i + j + 5, "MatMul");
	}
	find_steps();
	assert_int_equal(model->steps.table.count, 8);
	check(3, 0, 610, 815, 3, "epoch");
	check(4, 0, 815, 1210, 4, "epoch");
}

/* One call that takes several elements, the last of which is a step like the others. */
static void one_call(void **state)
{
	(void)state;
	call(0, 0, 850, "epoch");
	for (int64_t j = 0; j < 5; j++)
		request(0, 10 + 200 * j, 7, 0);
	for (int64_t j = 0; j < 20; j++)
		hand_node(1, 20 + 200 * (j / 4) + j % 4, 21 + 200 * (j / 4) + j % 4, "MatMul");
	find_steps();
	assert_int_equal(model->steps.table.count, 5);
}

static void marked_steps_stay_alone(void **state)
{
	(void)state;
	call(0, 100, 110, "train");
	call(0, 200, 210, "train");
	assert_int_equal(mr_steps_append(&model->steps, (struct mr_steps_row){.step = 41}), 0);
	find_steps();
	assert_int_equal(model->steps.table.count, 1);
	assert_int_equal(model->steps.function[0], 0);
}

/* What happens once is not repeated. */
static void nothing_repeats(void **state)
{
	(void)state;
	call(0, 100, 110, "restore");
	call(0, 200, 210, "train");
	find_steps();
	assert_int_equal(model->steps.table.count, 0);
}

/* Of a recording of single steps one call is enough. */
static void one_step_was_recorded(void **state)
{
	(void)state;
	model->survey->event_counts[MR_EVENT_recording_switched] = 2;
	call(0, 100, 110, "train");
	find_steps();
	assert_int_equal(model->steps.table.count, 1);
}

/* A call belongs to a step that was open when it began, on whatever thread of the process. */
static void calls_outside_marked_steps(void **state)
{
	(void)state;
	for (int64_t ns = 100; ns < 1100; ns += 100)
		call((uint32_t)(ns / 100 % 2), ns, ns + 10, "train");
	call(0, 120, 130, "other");
	struct mr_steps_row marked[] = {
		{.start_ns = 300, .duration_ns = 1},   /* with 300 */
		{.start_ns = 450, .duration_ns = 60},  /* with 500 */
		{.start_ns = 460, .duration_ns = 10},  /* in the one before */
		{.start_ns = 650, .duration_ns = 50},  /* ends when 700 begins */
		{.start_ns = 790, .duration_ns = 200}, /* with 800 and 900 */
		{.start_ns = 2000, .duration_ns = 5}};
	for (size_t i = 0; i < mr_countof(marked); i++)
		assert_int_equal(mr_steps_append(&model->steps, marked[i]), 0);
	find_steps();
	assert_int_equal(model->calls_marked.count, 10);
	assert_int_equal(model->calls_marked.outside, 6);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make, unmake)
	const struct CMUnitTest tests[] = {
		TEST(function_called_most_often),
		TEST(threads_side_by_side),
		TEST(evaluation_between_steps),
		TEST(those_before_the_trace_count),
		TEST(several_steps_in_a_call),
		TEST(whole_epochs),
		TEST(one_call),
		TEST(marked_steps_stay_alone),
		TEST(nothing_repeats),
		TEST(one_step_was_recorded),
		TEST(calls_outside_marked_steps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
