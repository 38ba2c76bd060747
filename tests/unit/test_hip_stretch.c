/* SPDX-License-Identifier: Apache-2.0
 *
 * Which call of HIP an operation belongs to where only order is known: by examples, and by streams made at random, of which
 * the test knows the answer. Nothing decided may be wrong.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/macros.h"
#include "load/hip/stretch.h"
#include "trace_writer.h"

enum {
	ROOM = 64,
	SEEDS = 2000,
	OF_GRAPH = 100, /* names of its device kernels */
};

static struct mr_hip_stretch_call calls[ROOM];
static struct mr_hip_stretch_operation operations[8 * ROOM];
static uint32_t wanted[8 * ROOM];
static uint32_t call_count, operation_count;

static int start(void **state)
{
	(void)state;
	call_count = operation_count = 0;
	return 0;
}

static void call(enum mr_hip_work work, uint32_t name, uint64_t object, uint64_t bytes)
{
	calls[call_count++] = (struct mr_hip_stretch_call){work, name, object, bytes};
}

/* An operation of the last call. */
static void done(enum mr_hip_work work, uint32_t name, uint64_t bytes)
{
	wanted[operation_count] = call_count - 1;
	operations[operation_count++] = (struct mr_hip_stretch_operation){work, name, bytes, 0};
}

static void launch(uint32_t name)
{
	call(MR_HIP_WORK_KERNEL, name, 0, 0);
	done(MR_HIP_WORK_KERNEL, name, 0);
}

static void copy(uint64_t bytes)
{
	call(MR_HIP_WORK_COPY, 0, 0, bytes);
	done(MR_HIP_WORK_COPY, 0, bytes);
}

static void launch_graph(uint64_t graph, uint32_t kernels)
{
	call(MR_HIP_WORK_GRAPH, 0, graph, 0);
	for (uint32_t i = 0; i < kernels; i++)
		done(MR_HIP_WORK_KERNEL, OF_GRAPH + i, 0);
}

static uint32_t decide(void)
{
	uint32_t decided = 0;

	mr_hip_stretch_decide(calls, call_count, operations, operation_count);
	for (uint32_t i = 0; i < operation_count; i++) {
		if (operations[i].call == MR_HIP_UNDECIDED)
			continue;
		assert_int_equal(operations[i].call, wanted[i]);
		decided++;
	}
	return decided;
}

static void test_kernels(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 10; i++)
		launch(1 + i % 2);
	calls[3].name = 0; /* not known */
	assert_int_equal(decide(), 10);
}

/* One is missing: nobody can say which. */
static void test_other_count(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 10; i++)
		launch(1);
	operation_count--;
	assert_int_equal(decide(), 0);
	operation_count = 10;
	call_count--;
	assert_int_equal(decide(), 0);
}

static void test_other_names(void **state)
{
	(void)state;
	launch(1);
	launch(2);
	operations[0].name = 2;
	operations[1].name = 1;
	assert_int_equal(decide(), 0);
}

/* Two fills each by one call, as they stand apart. */
static void test_fills(void **state)
{
	(void)state;
	call(MR_HIP_WORK_FILL, 0, 0, 100);
	done(MR_HIP_WORK_FILL, 9, 0);
	done(MR_HIP_WORK_FILL, 9, 0);
	launch(1);
	call(MR_HIP_WORK_FILL, 0, 0, 100);
	done(MR_HIP_WORK_FILL, 9, 0);
	copy(5);
	assert_int_equal(decide(), 5);
}

/* Three fills of two calls: undecided, and what stands around them is not. */
static void test_undecided_fills(void **state)
{
	(void)state;
	launch(1);
	call(MR_HIP_WORK_FILL, 0, 0, 100);
	done(MR_HIP_WORK_FILL, 9, 0);
	done(MR_HIP_WORK_FILL, 9, 0);
	call(MR_HIP_WORK_FILL, 0, 0, 100);
	done(MR_HIP_WORK_FILL, 9, 0);
	launch(2);
	assert_int_equal(decide(), 2);
}

static void test_copies_by_size(void **state)
{
	(void)state;
	call(MR_HIP_WORK_COPY, 0, 0, 1000);
	done(MR_HIP_WORK_COPY, 0, 600);
	done(MR_HIP_WORK_COPY, 0, 400);
	copy(70);
	assert_int_equal(decide(), 3);
}

/* As many, but their sizes contradict: one call has copied in two parts, the other nothing. */
static void test_contradicting_sizes(void **state)
{
	(void)state;
	call(MR_HIP_WORK_COPY, 0, 0, 1000);
	done(MR_HIP_WORK_COPY, 0, 600);
	done(MR_HIP_WORK_COPY, 0, 400);
	call(MR_HIP_WORK_COPY, 0, 0, 70);
	assert_int_equal(decide(), 0);
}

static void test_graphs(void **state)
{
	(void)state;
	launch(1);
	for (int i = 0; i < 3; i++)
		launch_graph(7, 4);
	launch(2);
	copy(10);
	assert_int_equal(decide(), 15);
}

static void test_different_graphs(void **state)
{
	(void)state;
	launch(1);
	launch_graph(7, 4);
	launch_graph(8, 2);
	launch(2);
	assert_int_equal(decide(), 2);
}

static void test_nothing(void **state)
{
	(void)state;
	mr_hip_stretch_decide(NULL, 0, NULL, 0);
	call(MR_HIP_WORK_OTHER, 0, 0, 0);
	assert_int_equal(decide(), 0);
	call_count = 0;
	done(MR_HIP_WORK_COPY, 0, 1);
	assert_int_equal(decide(), 0);
}

static void add_random(uint64_t *random)
{
	switch (next_random(random) % 6) {
	case 0:
		launch_graph(7, 3);
		break;
	case 1:
		copy(1 + next_random(random) % 3);
		break;
	case 2:
		call(MR_HIP_WORK_FILL, 0, 0, 100);
		for (uint64_t i = next_random(random) % 2 + 1; i > 0; i--)
			done(MR_HIP_WORK_FILL, 9, 0);
		break;
	default:
		launch(1 + (uint32_t)(next_random(random) % 3));
	}
}

/* Fills are by one device kernel or two: so with as many fills as calls, each has one. */
static void test_random(void **state)
{
	uint64_t decided = 0, all = 0;

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		uint64_t random = seed;

		start(state);
		for (uint64_t i = next_random(&random) % 12; i > 0; i--)
			add_random(&random);
		decided += decide();
		all += operation_count;
	}
	assert_true(decided > all / 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_kernels, start),
		cmocka_unit_test_setup(test_other_count, start),
		cmocka_unit_test_setup(test_other_names, start),
		cmocka_unit_test_setup(test_fills, start),
		cmocka_unit_test_setup(test_undecided_fills, start),
		cmocka_unit_test_setup(test_copies_by_size, start),
		cmocka_unit_test_setup(test_contradicting_sizes, start),
		cmocka_unit_test_setup(test_graphs, start),
		cmocka_unit_test_setup(test_different_graphs, start),
		cmocka_unit_test_setup(test_nothing, start),
		cmocka_unit_test_setup(test_random, start),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
