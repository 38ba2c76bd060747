/* SPDX-License-Identifier: Apache-2.0
 *
 * Steps without markers: sequences that are made of known rounds, and programs whose step boundaries are known.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analysis/analysis.h"
#include "analysis/steps.h"
#include "finding_lookup.h"
#include "load/period.h"
#include "runtime_trace.h"
#include "trace_writer.h"

enum {
	ROOM = 20000,
	SEEDS = 200,
};

/* ---- sequences ------------------------------------------------------------------------------------ */

static uint32_t ids[ROOM];
static uint32_t count;

static void add_random(uint64_t *random, uint32_t length, uint32_t kinds)
{
	for (uint32_t i = 0; i < length; i++)
		ids[count++] = (uint32_t)(next_random(random) % kinds);
}

/* A random round, and then copies of it. */
static void add_rounds(uint64_t *random, uint32_t length, uint32_t kinds, uint32_t rounds)
{
	uint32_t first = count;

	add_random(random, length, kinds);
	for (uint32_t i = length; i < rounds * length; i++)
		ids[count++] = ids[first + i % length];
}

static struct mr_period find(void)
{
	struct mr_period period;

	/* Ids must be below the count. */
	for (uint32_t i = 0; i < count; i++)
		ids[i] %= count;
	assert_int_equal(mr_period_find(ids, count, &period), 0);
	return period;
}

/* The shortest length that repeats perfectly, tried one after the other. */
static uint32_t shortest_length(uint32_t first, uint32_t end)
{
	for (uint32_t length = 1; length < end - first; length++) {
		uint32_t i = first;

		while (i + length < end && ids[i] == ids[i + length])
			i++;
		if (i + length == end)
			return length;
	}
	return 0;
}

static void test_rounds(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		uint64_t random = seed;
		uint32_t length = 2 + (uint32_t)(next_random(&random) % 300);
		uint32_t rounds = 4 + (uint32_t)(next_random(&random) % 20);

		count = 0;
		add_rounds(&random, length, 3 + (uint32_t)(next_random(&random) % 50), rounds);
		if (shortest_length(0, count) == 1)
			continue; /* nothing distinguishes one launch from the next */
		struct mr_period period = find();
		assert_int_equal(period.length, shortest_length(0, count));
		assert_int_equal(period.first, 0);
		assert_int_equal(period.end, count);
		assert_int_equal(period.confidence_permille, 1000);
	}
}

/* Things that occur only before and after: the part that repeats is found exactly. */
static void test_rounds_between_others(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		uint64_t random = seed;
		uint32_t length = 20 + (uint32_t)(next_random(&random) % 100);
		uint32_t before = (uint32_t)(next_random(&random) % 100), after = before / 2;

		count = 0;
		for (uint32_t i = 0; i < before; i++)
			ids[count++] = 100 + i;
		add_rounds(&random, length, 100, 10);
		for (uint32_t i = 0; i < after; i++)
			ids[count++] = 100 + before + i;
		struct mr_period period = find();
		assert_int_equal(period.length, length);
		assert_int_equal(period.first, before);
		assert_int_equal(period.end, before + 10 * length);
	}
}

/* One in fifty is another than it should be. */
static void test_rounds_with_noise(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		uint64_t random = seed;
		uint32_t length = 40 + (uint32_t)(next_random(&random) % 100);

		count = 0;
		add_rounds(&random, length, 30, 20);
		for (uint32_t i = 0; i < count / 50; i++)
			ids[next_random(&random) % count] = (uint32_t)(next_random(&random) % 30);
		struct mr_period period = find();
		assert_int_equal(period.length, length);
		assert_in_range(period.confidence_permille, 900, 999);
	}
}

/* One thing in between now and then, far fewer than what repeats. */
static void test_mostly_the_same(void **state)
{
	(void)state;
	count = 0;
	for (uint32_t i = 0; i < 2000; i++)
		ids[count++] = i % 40 == 7;
	assert_int_equal(find().length, 40);
}

static void test_no_rounds(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		uint64_t random = seed;

		count = 0;
		add_random(&random, 5 + (uint32_t)(next_random(&random) % 3000),
			   2 + (uint32_t)(next_random(&random) % 100));
		assert_int_equal(find().length, 0);
	}
	/* Mostly the same, at random. */
	uint64_t random = 1;
	count = 0;
	for (uint32_t i = 0; i < 3000; i++)
		ids[count++] = next_random(&random) % 50 == 0;
	assert_int_equal(find().length, 0);
	/* All the same: no launch differs from another. */
	for (uint32_t i = 0; i < count; i++)
		ids[i] = 1;
	assert_int_equal(find().length, 0);
	count = 0;
	assert_int_equal(find().length, 0);
}

/* ---- programs ------------------------------------------------------------------------------------- */

struct program {
	uint32_t first; /* launches of the first step that is recorded: those before are left out */
	uint32_t left;  /* launches of the last step that are left out */
	uint32_t steps;
	uint32_t length;
	bool has_nodes; /* long gaps lie inside operations of the graph */
	bool is_marked;
};

static int64_t boundaries[64]; /* of the steps, and where the last one ends */

/* Between steps 300 ns pass, between launches 100; in the middle of a step 1000, but inside a node. */
static void write_program(const struct program *program)
{
	uint64_t ns = TRACE_BEGIN + 1000, correlation = 0;

	runtime_trace_start();
	uint32_t queue =
		define_queue(define_device("gpu0", 0), "q", MR_queue_order_in_order, false);
	uint32_t names[64];
	for (uint32_t i = 0; i < program->length; i++)
		names[i] = define_string((char[]){'k', (char)('0' + i), 0});
	for (uint32_t step = 0; step < program->steps; step++) {
		uint64_t begin = ns;
		uint32_t end = program->length - (step + 1 == program->steps ? program->left : 0);

		for (uint32_t i = step == 0 ? program->first : 0; i < end; i++) {
			bool is_middle = program->has_nodes && i == program->length / 2;

			if (is_middle) {
				ns += 1000;
				EMIT(node_interval, ns, .node = 0,
				     .duration_ticks = mr_u48_from(1000));
			}
			if (i == (step == 0 ? program->first : 0))
				boundaries[step] = (int64_t)ns;
			EMIT(runtime_launch, ns + 50, .function = names[i],
			     .correlation = ++correlation, .queue = queue,
			     .duration_ticks = mr_u48_from(50), .kind = MR_operation_kind_kernel);
			ns += 150;
		}
		ns += 300;
		if (program->is_marked)
			EMIT(step_interval, ns - 100, .step = 10 + step,
			     .duration_ticks = ns - 100 - begin);
	}
}

static struct mr_step_list infer(const struct program *program, struct mr_model **ret_model)
{
	struct mr_step_list list = {0};

	write_program(program);
	*ret_model = runtime_trace_load();
	assert_int_equal(mr_step_list_make(*ret_model, NULL, &list), 0);
	return list;
}

static void test_whole_steps(void **state)
{
	const struct program program = {.steps = 10, .length = 20, .has_nodes = true};
	struct mr_model *model;
	struct mr_step_list list = infer(&program, &model);

	(void)state;
	assert_int_equal(list.inferences.count, 1);
	assert_int_equal(list.inferences.items[0].period.length, 20);
	assert_int_equal(list.inferences.items[0].item_count, 200);
	assert_int_equal(list.inferences.items[0].step_count, 10);
	assert_int_equal(list.steps.count, 10);
	assert_int_equal(model->steps.table.count, 10);
	for (uint32_t i = 0; i < 10; i++) {
		const struct mr_step *step = &list.steps.items[i];

		assert_int_equal(model->steps.origin[i], MR_STEP_INFERRED);

		assert_int_equal(step->number, i);
		assert_int_equal(step->start_ns, boundaries[i]);
		if (i < 9)
			assert_int_equal(step->start_ns + step->duration_ns, boundaries[i + 1]);
	}
	mr_step_list_free(&list);
	runtime_trace_end(model);
}

/* The recording begins and ends in the middle of a step: the gaps show where steps begin. */
static void test_parts_of_steps(void **state)
{
	(void)state;
	for (uint32_t first = 1; first < 20; first += 3)
		for (uint32_t left = 2; left < 19; left += 4) {
			const struct program program = {.first = first,
							.left = left,
							.steps = 8,
							.length = 20,
							.has_nodes = true};
			struct mr_model *model;
			struct mr_step_list list = infer(&program, &model);

			if (first + left == 20) {
				/* By chance a whole number of rounds: they begin with the first. */
				assert_int_equal(list.steps.items[0].start_ns, boundaries[0]);
			} else {
				assert_int_equal(list.steps.count, 6);
				for (uint32_t i = 0; i < 6; i++)
					assert_int_equal(list.steps.items[i].start_ns,
							 boundaries[i + 1]);
			}
			mr_step_list_free(&list);
			runtime_trace_end(model);
		}
}

static void test_marked_steps(void **state)
{
	const struct program program = {.steps = 5, .length = 20, .is_marked = true};
	struct mr_model *model;
	struct mr_step_list list = infer(&program, &model);

	(void)state;
	assert_int_equal(list.inferences.count, 0);
	assert_int_equal(list.steps.count, 5);
	for (uint32_t i = 0; i < 5; i++) {
		assert_int_equal(model->steps.origin[i], MR_STEP_MARKED);
		assert_int_equal(list.steps.items[i].number, 10 + i);
		assert_int_equal(list.steps.items[i].start_ns, boundaries[i]);
	}
	mr_step_list_free(&list);
	runtime_trace_end(model);
}

/* One launch in each round of a loop: it repeats itself, but not so that rounds could be seen. */
static void test_launches_all_alike(void **state)
{
	const struct program program = {.steps = 40, .length = 1};
	struct mr_findings findings = {0};

	(void)state;
	write_program(&program);
	struct mr_model *model = runtime_trace_load();
	assert_int_equal(mr_analyse_steps(model, &findings), 0);
	assert_true(findings_say(&findings,
				 "The program marks no steps. Its 40 launches are all alike, so "
				 "they do not show where a step begins."));
	mr_findings_free(&findings);
	runtime_trace_end(model);
}

/* In a window, those that touch it, clipped. */
static void test_steps_of_a_window(void **state)
{
	const struct program program = {.steps = 10, .length = 20};
	struct mr_model *model, *cut = NULL;
	struct mr_step_list all = infer(&program, &model), list = {0};
	const struct mr_part part = {{boundaries[3] + 70, boundaries[5] + 10}, NULL};

	(void)state;
	assert_int_equal(mr_model_cut(model, &part, &cut), 0);
	assert_int_equal(mr_step_list_make(cut, NULL, &list), 0);
	assert_int_equal(list.steps.count, 3);
	assert_int_equal(list.steps.items[0].number, 3);
	assert_int_equal(list.steps.items[0].start_ns, part.window.first_ns);
	assert_int_equal(list.steps.items[2].duration_ns, 10);
	mr_step_list_free(&all);
	mr_step_list_free(&list);
	mr_model_free(cut);
	runtime_trace_end(model);
}

/* Steps of two processes that overlap: what at least one of them is in counts once.
 *
 *     process 2      ├── 0 ──┤        ├ 1 ┤
 *     process 3           ├── 0 ──┤
 *                   100  150  200 250 300 400
 */
static void test_phases(void **state)
{
	static const int64_t wanted[MR_PHASE_COUNT] = {
		[MR_PHASE_BEFORE] = 100,
		[MR_PHASE_IN] = 150 + 100,
		[MR_PHASE_BETWEEN] = 50,
		[MR_PHASE_AFTER] = TRACE_END - TRACE_BEGIN - 400,
	};
	struct mr_findings findings = {0};

	(void)state;
	runtime_trace_start();
	EMIT(step_interval, TRACE_BEGIN + 200, .step = 0, .duration_ticks = 100);
	EMIT(step_interval, TRACE_BEGIN + 400, .step = 1, .duration_ticks = 100);
	runtime_trace_process(3);
	EMIT(step_interval, TRACE_BEGIN + 250, .step = 0, .duration_ticks = 100);
	struct mr_model *model = runtime_trace_load();
	assert_int_equal(mr_analyse_steps(model, &findings), 0);
	const struct mr_finding_table *table = findings_table(&findings, "phases");
	assert_int_equal(table->row_count, MR_PHASE_COUNT);
	for (uint32_t i = 0; i < MR_PHASE_COUNT; i++)
		assert_int_equal(mr_finding_value(table, i, 1)->number, wanted[i]);
	mr_findings_free(&findings);
	runtime_trace_end(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rounds),
		cmocka_unit_test(test_rounds_between_others),
		cmocka_unit_test(test_rounds_with_noise),
		cmocka_unit_test(test_mostly_the_same),
		cmocka_unit_test(test_no_rounds),
		cmocka_unit_test(test_whole_steps),
		cmocka_unit_test(test_parts_of_steps),
		cmocka_unit_test(test_marked_steps),
		cmocka_unit_test(test_launches_all_alike),
		cmocka_unit_test(test_steps_of_a_window),
		cmocka_unit_test(test_phases),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
