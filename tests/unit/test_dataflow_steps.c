/* SPDX-License-Identifier: Apache-2.0
 *
 * Steps of programs that mark none: calls of the function that is called most often.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "hand_model.h"
#include "load/tensorflow/tensorflow.h"

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

static void scope(uint32_t thread, int64_t start_ns, const char *name)
{
	struct mr_scopes_row row = {.track = thread, .start_ns = start_ns, .duration_ns = 10};

	assert_int_equal(mr_strings_intern(&model->survey->definitions.strings, name, strlen(name),
					   &row.name),
			 0);
	assert_int_equal(mr_scopes_append(&model->scopes, row), 0);
}

static void find_steps(void)
{
	struct mr_loader loader = {.model = model};
	struct mr_tensorflow tensorflow = {.loader = &loader, .model = model};

	assert_int_equal(mr_table_sort(&model->scopes.table, (uint32_t)model->survey->tracks.count),
			 0);
	assert_int_equal(mr_tensorflow_add_steps(&tensorflow), 0);
}

static void check(uint32_t row, uint32_t thread, int64_t start_ns, uint64_t number,
		  const char *function)
{
	const struct mr_steps *steps = &model->steps;

	assert_int_equal(steps->track[row], thread);
	assert_int_equal(steps->start_ns[row], start_ns);
	assert_int_equal(steps->duration_ns[row], 10);
	assert_int_equal(steps->step[row], number);
	assert_string_equal(mr_model_text(model, steps->function[row]), function);
}

/* Operations are no functions, however often they are executed; threads may take turns. */
static void function_called_most_often(void **state)
{
	(void)state;
	scope(0, 100, "EagerLocalExecute: __inference_restore_1");
	scope(0, 200, "EagerLocalExecute: __inference_train_2");
	scope(1, 250, "EagerLocalExecute: __inference_train_2");
	scope(0, 300, "EagerLocalExecute: __inference_train_2");
	for (int64_t ns = 400; ns < 450; ns += 10)
		scope(0, ns, "EagerLocalExecute: MatMul");
	scope(2, 500, "");
	find_steps();
	assert_int_equal(model->steps.table.count, 3);
	check(0, 0, 200, 0, "__inference_train_2");
	check(1, 1, 250, 1, "__inference_train_2");
	check(2, 0, 300, 2, "__inference_train_2");
}

static void runs_of_sessions(void **state)
{
	(void)state;
	scope(0, 100, "EagerLocalExecute: __inference_1");
	scope(0, 200, "SessionRun");
	scope(0, 300, "SessionRun");
	find_steps();
	assert_int_equal(model->steps.table.count, 2);
	check(1, 0, 300, 1, "SessionRun");
}

/* `record --steps 7..8` has counted the ones before. */
static void those_before_the_trace_count(void **state)
{
	(void)state;
	model->manifest->first_step = 7;
	scope(0, 100, "EagerLocalExecute: __inference_1");
	scope(0, 200, "EagerLocalExecute: __inference_1");
	find_steps();
	assert_int_equal(model->steps.table.count, 2);
	assert_int_equal(model->steps.origin[0], MR_STEP_CALLED);
	check(0, 0, 100, 7, "__inference_1");
	check(1, 0, 200, 8, "__inference_1");
}

static void marked_steps_stay_alone(void **state)
{
	(void)state;
	scope(0, 100, "EagerLocalExecute: __inference_1");
	assert_int_equal(mr_steps_append(&model->steps, (struct mr_steps_row){.step = 41}), 0);
	find_steps();
	assert_int_equal(model->steps.table.count, 1);
	assert_int_equal(model->steps.function[0], 0);
}

static void nothing(void **state)
{
	(void)state;
	scope(0, 100, "Iterator::Prefetch");
	find_steps();
	assert_int_equal(model->steps.table.count, 0);
}

/* A call belongs to a step that was open when it began, on whatever thread of the process. */
static void calls_outside_marked_steps(void **state)
{
	(void)state;
	for (int64_t ns = 100; ns < 1100; ns += 100)
		scope((uint32_t)(ns / 100 % 2), ns, "EagerLocalExecute: __inference_1");
	scope(0, 120, "EagerLocalExecute: __inference_other");
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
		TEST(function_called_most_often),   TEST(runs_of_sessions),
		TEST(those_before_the_trace_count), TEST(marked_steps_stay_alone),
		TEST(calls_outside_marked_steps),   TEST(nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
