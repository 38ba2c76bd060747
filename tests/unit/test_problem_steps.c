/* SPDX-License-Identifier: Apache-2.0
 *
 * Problems of steps, functions and processes: programs with each and one that looks similar and is none.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "problem_answer.h"

/* A thread marks a step of so many milliseconds; the times of the next. */
static int64_t mark_step(struct mr_model *model, uint32_t thread, int64_t from_ns, int64_t ms)
{
	const struct mr_steps_row step = {
		.track = thread, .start_ns = from_ns, .duration_ns = ms * MS};

	assert_int_equal(mr_steps_append(&model->steps, step), 0);
	return from_ns + ms * MS;
}

/* Makes an iterator in each round, and computes 20 ms of the graph. */
static void make_iterators(struct mr_model *model)
{
	struct mr_definitions *definitions = &model->survey->definitions;

	hand_run(0, 0, ROUND(ROUNDS));
	for (int64_t i = 0; i < ROUNDS; i++) {
		mark_step(model, 0, ROUND(i), ROUND_MS);
		hand_node(0, ROUND(i) + 10 * MS, ROUND(i) + 30 * MS, "make");
		definitions->nodes.items[definitions->nodes.count - 1].purpose =
			MR_PURPOSE_BEGIN_INPUT;
		hand_node(0, ROUND(i) + 50 * MS, ROUND(i) + 70 * MS, "matmul");
		model->node_executions.run[model->node_executions.table.count - 1] = 1;
	}
}

static void make_one_iterator(struct mr_model *model)
{
	hand_run(0, 0, ROUND(ROUNDS));
	hand_node(0, 10 * MS, 30 * MS, "make");
	model->survey->definitions.nodes.items[1].purpose = MR_PURPOSE_BEGIN_INPUT;
}

static void test_call_overhead(void **state)
{
	(void)state;
	PROBLEM_CHECK({"each", make_iterators, "call_overhead", ROUNDS * 80 * MS, "10 calls"},
		      {"one", make_one_iterator, "call_overhead", 0, NULL});
}

/* Calls of a function, in [20, 80) of each round; its graph is prepared until 60. */
static void call_functions(struct mr_model *model, bool is_traced_again)
{
	hand_run(0, 0, ROUND(ROUNDS));
	for (int64_t i = 0; i < ROUNDS; i++) {
		const struct mr_function_calls_row row = {.start_ns = ROUND(i) + 20 * MS,
							  .duration_ns = 60 * MS,
							  .executed_ns = ROUND(i) + 60 * MS,
							  .is_first = i == 0 || is_traced_again};

		assert_int_equal(mr_function_calls_append(&model->function_calls, row), 0);
	}
}

static void trace_again(struct mr_model *model)
{
	call_functions(model, true);
}

static void trace_once(struct mr_model *model)
{
	call_functions(model, false);
}

static void test_retracing(void **state)
{
	(void)state;
	PROBLEM_CHECK(
		{"again", trace_again, "retracing", (ROUNDS - 1) * 80 * MS, "traced again 9 times"},
		{"once", trace_once, "retracing", 0, NULL});
}

/* Two processes do a collective in each round; the first comes when `late_ms` have passed, the second at once. */
static void meet(struct mr_model *model, int64_t late_ms, int64_t other_ms)
{
	struct mr_survey *survey = model->survey;

	assert_int_equal(mr_vec_push(&survey->processes, ((struct mr_process){.pid = 101})), 0);
	survey->tracks.items[1].process = 1;
	hand_run(0, 0, ROUND(ROUNDS));
	hand_run(1, 0, ROUND(ROUNDS));
	for (int64_t i = 0; i < ROUNDS; i++)
		for (uint32_t thread = 0; thread < 2; thread++) {
			int64_t from_ns = ROUND(i) + (thread ? other_ms : late_ms) * MS;
			const struct mr_collectives_row row = {.track = thread,
							       .start_ns = from_ns,
							       .duration_ns =
								       ROUND(i) + 90 * MS - from_ns,
							       .group_key = 1,
							       .instance_key = (uint64_t)i};

			assert_int_equal(mr_collectives_append(&model->collectives, row), 0);
		}
}

static void come_late(struct mr_model *model)
{
	meet(model, 80, 10);
}

static void come_a_little_late(struct mr_model *model)
{
	meet(model, 85, 75);
}

static void come_together(struct mr_model *model)
{
	meet(model, 50, 50);
}

static void test_late_process(void **state)
{
	(void)state;
	PROBLEM_CHECK(
		{"late", come_late, "slow_worker", ROUNDS * 70 * MS,
		 "Rank 0 arrives late at 10 of 10 collectives, by 70.0 ms"},
		{"a little", come_a_little_late, "slow_worker", ROUNDS * 10 * MS, "by 10.0 ms"},
		{"together", come_together, "slow_worker", 0, NULL});
}

/* The first steps take so long, all others 50 ms. */
static void warm_up(struct mr_model *model, uint32_t thread, const int64_t *first_ms, size_t count)
{
	int64_t ns = 0;

	hand_run(thread, 0, ROUND(ROUNDS));
	for (size_t i = 0; i < count; i++)
		ns = mark_step(model, thread, ns, first_ms[i]);
	while (ns < ROUND(ROUNDS))
		ns = mark_step(model, thread, ns, 50);
}

static void warm_up_once(struct mr_model *model)
{
	warm_up(model, 0, (const int64_t[]){300}, 1);
}

static void warm_up_twice(struct mr_model *model)
{
	warm_up(model, 0, (const int64_t[]){300, 200}, 2);
}

static void warm_up_in_thread(struct mr_model *model)
{
	warm_up(model, 3, (const int64_t[]){400}, 1);
}

static void warm_up_little(struct mr_model *model)
{
	warm_up(model, 0, (const int64_t[]){100}, 1);
}

static void test_warm_up(void **state)
{
	(void)state;
	PROBLEM_CHECK_OF_STEPS(
		{"once", warm_up_once, "warm_up", 250 * MS, "The first step took 250 ms"},
		{"twice", warm_up_twice, "warm_up", 400 * MS, "The first steps took"},
		{"thread", warm_up_in_thread, "warm_up", 350 * MS, NULL},
		{"little", warm_up_little, "warm_up", 0, NULL});
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_call_overhead),
		cmocka_unit_test(test_retracing),
		cmocka_unit_test(test_late_process),
		cmocka_unit_test(test_warm_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
