/* SPDX-License-Identifier: Apache-2.0
 *
 * Functions of a program and the graphs that TensorFlow makes of them: names, calls, and how often graphs are made.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/function_uses.h"
#include "hand_model.h"
#include "load/tensorflow/functions.h"

/* ---- names ------------------------------------------------------------------------------------------ */

static const struct {
	const char *graph;
	const char *function;
} known[] = {
	{"__inference_train_step_133", "train_step"},
	{"__forward_train_step_133", "train_step"},
	{"__backward_train_step_9", "train_step"},
	{"__inference_step_3_45", "step_3"},
	{"__inference_<lambda>_12", "<lambda>"},
	{"__inference___call___7", "__call__"},
	{"__inference_Dataset_map_f_12", "Dataset_map_f"},
	{"__inference__5", "__inference__5"}, /* no name in it */
	{"__inference_5", "__inference_5"},
	{"__inference_train_", "__inference_train_"},
	{"__inference_train", "__inference_train"},
	{"__inference_", "__inference_"},
	{"train_step_133", "train_step_133"},
	{"SessionRun", "SessionRun"},
	{"eager", "eager"},
	{"", ""},
};

static void names(void **state)
{
	(void)state;
	for (size_t i = 0; i < mr_countof(known); i++) {
		struct mr_slice name = mr_tensorflow_function(known[i].graph);

		if (!mr_slice_is(name, known[i].function))
			fail_msg("%s: %.*s", known[i].graph, (int)name.length, name.at);
	}
}

/* ---- calls ------------------------------------------------------------------------------------------ */

static struct mr_model *model;
static struct mr_function_uses uses;

static int make(void **state)
{
	(void)state;
	model = hand_model_start();
	uses = (struct mr_function_uses){0};
	return 0;
}

static int unmake(void **state)
{
	(void)state;
	mr_function_uses_free(&uses);
	mr_model_free(model);
	return 0;
}

static void scope(uint32_t thread, int64_t start_ns, int64_t end_ns, uint32_t parent,
		  const char *name)
{
	struct mr_scopes_row row = {.track = thread,
				    .start_ns = start_ns,
				    .duration_ns = end_ns - start_ns,
				    .parent = parent};

	assert_int_equal(mr_strings_intern(&model->survey->definitions.strings, name, strlen(name),
					   &row.name),
			 0);
	assert_int_equal(mr_scopes_append(&model->scopes, row), 0);
}

static void find_calls(void)
{
	struct mr_loader loader = {.model = model};
	struct mr_tensorflow tensorflow = {.loader = &loader, .model = model};

	assert_int_equal(mr_tensorflow_add_function_calls(&tensorflow), 0);
	assert_int_equal(mr_function_uses_make(model, &uses), 0);
}

static void check_use(uint32_t place, const char *function, uint32_t calls, uint32_t graphs,
		      int64_t call_ns, int64_t preparation_ns)
{
	const struct mr_function_use *use = &uses.list.items[place];

	assert_string_equal(mr_model_text(model, use->function), function);
	assert_int_equal(use->call_count, calls);
	assert_int_equal(use->graph_count, graphs);
	assert_int_equal(use->call_ns, call_ns);
	assert_int_equal(use->preparation_ns, preparation_ns);
}

/* Each scope stands after the one around it, by thread. The graph 2 is called first by thread 1. */
static void calls(void **state)
{
	(void)state;
	scope(0, 100, 150, MR_NO_ROW, "EagerLocalExecute: __inference_train_1");
	scope(0, 130, 150, 0, "EagerKernelExecute");
	scope(0, 200, 220, MR_NO_ROW, "EagerLocalExecute: __inference_train_1");
	scope(0, 201, 219, 2, "EagerKernelExecute");
	scope(0, 300, 340, MR_NO_ROW, "EagerLocalExecute: __inference_train_2");
	scope(0, 302, 303, 4, "something else");
	scope(0, 303, 304, 5, "EagerKernelExecute"); /* of what is nested in it */
	scope(0, 310, 340, 4, "EagerKernelExecute");
	scope(0, 400, 410, MR_NO_ROW, "EagerLocalExecute: MatMul");
	scope(0, 500, 507, MR_NO_ROW, "SessionRun");
	scope(1, 250, 260, MR_NO_ROW, "EagerLocalExecute: __inference_train_2");
	scope(1, 254, 260, 10, "EagerKernelExecute");
	find_calls();
	assert_int_equal(model->function_calls.table.count, 5);
	assert_int_equal(model->function_calls.executed_ns[2], 310);
	assert_int_equal(model->function_calls.executed_ns[3], MR_NO_TIME);
	assert_int_equal(model->function_calls.is_first[2], 0);
	assert_string_equal(mr_model_text(model, model->function_calls.graph[4]),
			    "__inference_train_2");
	assert_int_equal(uses.list.count, 2);
	check_use(0, "train", 4, 2, 50 + 20 + 40 + 10, 30 + 4);
	check_use(1, "SessionRun", 1, 1, 7, 0);
}

static void retracing(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 60; i++) {
		char name[80];

		snprintf(name, sizeof name, "EagerLocalExecute: __inference_train_step_%u",
			 40 + 27 * i);
		scope(0, 1000 * i, 1000 * i + 500, MR_NO_ROW, name);
		scope(0, 1000 * i + 400, 1000 * i + 500, 2 * i, "EagerKernelExecute");
	}
	find_calls();
	assert_int_equal(uses.list.count, 1);
	check_use(0, "train_step", 60, 60, 60 * 500, 60 * 400);
}

static void nothing(void **state)
{
	(void)state;
	scope(0, 100, 110, MR_NO_ROW, "EagerLocalExecute: MatMul");
	find_calls();
	assert_int_equal(uses.list.count, 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make, unmake)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names),
		TEST(calls),
		TEST(retracing),
		TEST(nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
