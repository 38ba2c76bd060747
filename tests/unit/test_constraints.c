/* SPDX-License-Identifier: Apache-2.0
 *
 * What must hold between calls and what devices say: constraints are checked against how well the device's clock is
 * known, and not enforced.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "runtime_trace.h"
#include "trace_writer.h"

#define AT(ns) (UINT64_C(1010000000) + (uint64_t)(ns))

static struct mr_model *model;
static uint32_t device, queue, function;

static void start(void)
{
	runtime_trace_start();
	device = define_device("gpu0", 0);
	queue = define_queue(device, "queue0", MR_queue_order_in_order, false);
	function = define_string("clEnqueueWriteBuffer");
}

static void launch(uint64_t ns, uint64_t correlation)
{
	emit_copy_launch(AT(ns), function, queue, correlation);
}

static void operate(uint64_t ns, uint64_t correlation, uint64_t from, uint64_t until)
{
	emit_copy(AT(ns), queue, correlation, AT(from), AT(until));
}

static uint32_t find_operation(uint64_t correlation)
{
	for (uint32_t row = 0; row < model->device_operations.table.count; row++)
		if (model->device_operations.correlation[row] == correlation)
			return row;
	return MR_NO_ROW;
}

static void check_constraint(enum mr_constraint_kind kind, uint64_t checked, uint64_t uncertain,
			     uint64_t broken, int64_t least_slack_ns)
{
	const struct mr_constraint *constraint = &model->constraints[kind];

	assert_int_equal(constraint->checked, checked);
	assert_int_equal(constraint->uncertain, uncertain);
	assert_int_equal(constraint->broken, broken);
	assert_int_equal(constraint->least_slack_ns, least_slack_ns);
}

/* The clock is known to SAMPLE_HALF_NS and a little more. */
static void test_launch_constraint(void **state)
{
	(void)state;
	start();
	for (uint64_t i = 1; i <= 4; i++)
		launch(100000 * i, i);
	operate(900000, 1, 100000 + 20, 100100);
	operate(900001, 2, 200000 - 100 - 400, 200100); /* 400 early: perhaps */
	operate(900002, 3, 300000 - 100 - 90000, 300100);
	operate(900003, 4, 400000 - 100, 400100);
	model = runtime_trace_load();
	assert_in_range(model->device_clocks[1].bound_ns, SAMPLE_HALF_NS, 4 * SAMPLE_HALF_NS);
	check_constraint(MR_CONSTRAINT_LAUNCH, 4, 1, 1, -90000);
	/* Nothing was moved. */
	uint32_t row = find_operation(3);
	assert_int_equal(model->device_operations.start_ns[row], AT(300000 - 100 - 90000));
	assert_int_equal(model->device_operations.raw_start[row],
			 DEVICE_TIME(AT(300000 - 100 - 90000)));
	assert_int_equal(model->device_operations.raw_end[row], DEVICE_TIME(AT(300100)));
	assert_in_range(model->device_operations.bound_ns[row], SAMPLE_HALF_NS,
			model->device_clocks[1].bound_ns);
	for (uint64_t i = 1; i <= 4; i++)
		assert_int_equal(model->device_operations.flags[find_operation(i)],
				 i == 3 ? MR_ROW_VIOLATED : 0);
	runtime_trace_end(model);
}

static void test_wait_constraints(void **state)
{
	(void)state;
	start();
	launch(1000, 1);
	EMIT(runtime_launch, AT(20000), .function = function, .duration_ticks = mr_u48_from(10000),
	     .correlation = 2, .queue = queue, .is_blocking = 1);
	EMIT(runtime_call_on, AT(30000), .function = function, .duration_ticks = mr_u48_from(1000),
	     .correlation = 3);
	EMIT(runtime_wait, AT(30000), .correlation = 3, .awaited = 1);
	EMIT(runtime_wait, AT(30000), .correlation = 3, .awaited = 2);
	EMIT(runtime_wait, AT(30001), .correlation = 2, .awaited = 1);
	operate(40000, 1, 2000, 5000);
	operate(40001, 2, 4990, 20400); /* before 1 has ended; 400 after its call has returned */
	model = runtime_trace_load();
	check_constraint(MR_CONSTRAINT_WAIT, 3, 1, 0, -400);
	check_constraint(MR_CONSTRAINT_DEPENDENCY, 1, 0, 1, -10);
	check_constraint(MR_CONSTRAINT_QUEUE_ORDER, 1, 0, 1, -10);
	assert_int_equal(model->device_operations.flags[find_operation(1)], 0);
	assert_int_equal(model->device_operations.flags[find_operation(2)], MR_ROW_VIOLATED);
	runtime_trace_end(model);
}

/* The second and the third both start while the first runs. */
static void test_queue_order(void **state)
{
	(void)state;
	start();
	operate(10000, 1, 100, 1000);
	operate(10001, 2, 200, 300);
	operate(10002, 3, 500, 600);
	operate(10003, 4, 1000, 1100);
	queue = define_queue(device, "queue1", MR_queue_order_out_of_order, false);
	operate(10004, 5, 100, 1000);
	operate(10005, 6, 200, 300);
	model = runtime_trace_load();
	check_constraint(MR_CONSTRAINT_QUEUE_ORDER, 3, 0, 2, -800);
	runtime_trace_end(model);
}

static void test_own_times(void **state)
{
	(void)state;
	start();
	for (uint64_t i = 0; i < 3; i++)
		EMIT(device_operation, AT(10000 + i), .queue = queue, .correlation = i,
		     .queued = DEVICE_TIME(AT(100)), .submitted = DEVICE_TIME(AT(200 + 100 * i)),
		     .start = DEVICE_TIME(AT(300)), .end = DEVICE_TIME(AT(300)));
	model = runtime_trace_load();
	check_constraint(MR_CONSTRAINT_OWN_TIMES, 3, 0, 1, -100);
	assert_int_equal(model->device_operations.queued_ns[0], AT(100));
	runtime_trace_end(model);
}

/* With samples that are off by what their brackets allow, truth is never farther than the bound, so
 * that no constraint that holds in truth is called broken. */
static void test_jitter_breaks_nothing(void **state)
{
	uint64_t random = 11;

	(void)state;
	for (int round = 0; round < 20; round++) {
		uint64_t truth[201];

		runtime_trace_start();
		/* The generator of the jitter starts anew: give each round another part of it. */
		for (int i = 0; i <= round; i++)
			device = define_device("gpu0", SAMPLE_HALF_NS);
		queue = define_queue(device, "queue0", MR_queue_order_in_order, false);
		function = define_string("clEnqueueWriteBuffer");
		uint64_t ns = 0;
		for (uint64_t i = 1; i <= 200; i++) {
			ns += 1 + next_random(&random) % 300000;
			truth[i] = ns + next_random(&random) % 50;
			EMIT(runtime_launch, AT(ns + 60), .function = function,
			     .duration_ticks = mr_u48_from(60), .correlation = i, .queue = queue,
			     .is_blocking = 1);
			operate(ns + 60, i, truth[i], truth[i] + next_random(&random) % 10);
			ns += 60;
		}
		model = runtime_trace_load();
		for (uint32_t row = 0; row < 200; row++) {
			uint64_t i = model->device_operations.correlation[row];
			int64_t error =
				model->device_operations.start_ns[row] - (int64_t)AT(truth[i]);

			assert_true(llabs(error) <=
				    (int64_t)model->device_clocks[round + 1].bound_ns);
		}
		assert_int_equal(model->constraints[MR_CONSTRAINT_LAUNCH].checked, 200);
		for (int kind = 0; kind < MR_CONSTRAINTS; kind++)
			assert_int_equal(model->constraints[kind].broken, 0);
		runtime_trace_end(model);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_launch_constraint),
		cmocka_unit_test(test_wait_constraints),
		cmocka_unit_test(test_queue_order),
		cmocka_unit_test(test_own_times),
		cmocka_unit_test(test_jitter_breaks_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
