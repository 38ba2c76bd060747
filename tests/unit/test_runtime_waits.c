/* SPDX-License-Identifier: Apache-2.0
 *
 * What calls and device operations waited for, and the executions around calls: by hand, and random programs
 * against a look at every pair.
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
static uint32_t device, queues[3], function, synchronise;

static void start(void)
{
	runtime_trace_start();
	device = define_device("gpu0", 0);
	queues[0] = define_queue(device, "queue0", MR_queue_order_in_order, false);
	queues[1] = define_queue(device, "queue1", MR_queue_order_in_order, false);
	queues[2] = define_queue(device, "queue2", MR_queue_order_out_of_order, false);
	function = define_string("launch");
	synchronise = define_string("cudaStreamSynchronize");
}

/* A call that ends at `ns` and took 100. */
static void launch(uint64_t ns, uint64_t correlation, uint32_t queue)
{
	EMIT(runtime_launch, AT(ns), .function = function, .duration_ticks = mr_u48_from(100),
	     .correlation = correlation, .queue = queues[queue],
	     .kind = MR_operation_kind_copy_to_device);
}

static void operate(uint64_t correlation, uint32_t queue, uint64_t from, uint64_t until)
{
	EMIT(device_operation, AT(90000000), .queue = queues[queue], .correlation = correlation,
	     .start = DEVICE_TIME(AT(from)), .end = DEVICE_TIME(AT(until)),
	     .kind = MR_operation_kind_copy_to_device);
}

static void wait_for(uint64_t ns, uint64_t correlation, uint64_t awaited)
{
	EMIT(runtime_wait, AT(ns), .correlation = correlation, .awaited = awaited);
}

/* A call that synchronises; queue 0 of the trace means all of the process. */
static void wait_in_call(uint64_t from, uint64_t until, uint64_t correlation, uint32_t of_queue)
{
	EMIT(runtime_call_on, AT(until), .function = synchronise, .correlation = correlation,
	     .duration_ticks = mr_u48_from(until - from), .queue = of_queue);
}

static uint64_t correlation_of(uint32_t row)
{
	return row == MR_NO_ROW ? 0 : model->device_operations.correlation[row];
}

/* Correlation of what the call that began then waited for; 0 for nothing. */
static uint64_t awaited_at(uint64_t from)
{
	for (uint32_t row = 0; row < model->calls.table.count; row++)
		if (model->calls.start_ns[row] == (int64_t)AT(from))
			return correlation_of(model->calls.awaited[row]);
	fail_msg("no call at %u", (unsigned)from);
	return 0;
}

static uint64_t after_of(uint64_t correlation)
{
	for (uint32_t row = 0; row < model->device_operations.table.count; row++)
		if (model->device_operations.correlation[row] == correlation)
			return correlation_of(model->device_operations.after[row]);
	fail_msg("no operation %u", (unsigned)correlation);
	return 0;
}

static void test_calls_without_list(void **state)
{
	(void)state;
	start();
	launch(10000, 5, 0);
	launch(10200, 4, 0);
	launch(10400, 3, 1);
	wait_in_call(11000, 80000, 0, queues[0]);
	launch(81000, 2, 1); /* runs after the next two calls */
	wait_in_call(81500, 90000, 0, queues[1]);
	wait_in_call(91000, 99000, 0, 0);
	wait_in_call(99100, 150000, 0, 0);
	launch(150100, 1, 1);
	wait_in_call(150500, 160000, 0, queues[0]); /* works on the other queue only */
	wait_in_call(200100, 200200, 0, 0);
	operate(5, 0, 20000, 30000);
	operate(4, 0, 30000, 70000);
	operate(3, 1, 20000, 75000);
	operate(2, 1, 100000, 140000);
	operate(1, 1, 155000, 156000);
	model = runtime_trace_load();
	assert_int_equal(awaited_at(11000), 4);
	assert_int_equal(awaited_at(81500), 0);
	assert_int_equal(awaited_at(91000), 0);
	assert_int_equal(awaited_at(99100), 2);
	assert_int_equal(awaited_at(150500), 0);
	assert_int_equal(awaited_at(200100), 0);
	assert_int_equal(awaited_at(9900), 0); /* launches wait for nothing */
	assert_int_equal(model->calls.role[3], MR_CALL_WAIT);
	assert_int_equal(after_of(5), 0);
	assert_int_equal(after_of(4), 5);
	assert_int_equal(after_of(3), 0);
	assert_int_equal(after_of(2), 3);
	runtime_trace_end(model);
}

/* Nothing but its record says that the call waits. */
static void test_lists_of_a_whole_queue(void **state)
{
	(void)state;
	start();
	synchronise = define_string("finish");
	launch(10000, 1, 0);
	launch(10200, 2, 0);
	launch(10400, 3, 1);
	wait_for(11000, 9, 0);
	wait_in_call(11000, 50000, 9, queues[0]);
	wait_for(51000, 10, 0);
	wait_in_call(51000, 90000, 10, 0);
	wait_in_call(91000, 99000, 11, queues[0]); /* an ordinary call */
	operate(1, 0, 20000, 30000);
	operate(2, 0, 30000, 40000);
	operate(3, 1, 20000, 80000);
	model = runtime_trace_load();
	assert_int_equal(awaited_at(11000), 2);
	assert_int_equal(awaited_at(51000), 3);
	assert_int_equal(model->calls.role[4], MR_CALL_WAIT);
	assert_int_equal(model->calls.role[5], MR_CALL_PLAIN);
	runtime_trace_end(model);
}

static void test_lists_and_blocking_launches(void **state)
{
	(void)state;
	start();
	launch(10000, 1, 0);
	launch(10200, 2, 1);
	launch(10400, 3, 1);
	wait_for(10500, 4, 3);
	wait_for(10500, 4, 1);
	wait_for(10500, 4, 4);  /* itself */
	wait_for(10500, 4, 77); /* not in the trace */
	launch(10700, 4, 2);
	wait_for(11000, 9, 1);
	wait_for(11000, 9, 2);
	wait_in_call(11000, 50000, 9, queues[2]); /* the list counts, not the queue */
	wait_for(51000, 10, 1);                   /* long over: then nothing is awaited */
	wait_in_call(51000, 60000, 10, queues[2]);
	EMIT(runtime_launch, AT(90000), .function = function, .duration_ticks = mr_u48_from(20000),
	     .correlation = 6, .queue = queues[2], .is_blocking = 1);
	operate(1, 0, 20000, 30000);
	operate(2, 1, 20000, 25000);
	operate(3, 1, 25000, 30000); /* ends with 1, which has the smaller correlation */
	operate(4, 2, 40000, 58000);
	operate(6, 2, 80000, 89000);
	model = runtime_trace_load();
	assert_int_equal(after_of(3), 2);
	assert_int_equal(after_of(4), 1);
	assert_int_equal(after_of(6), 0); /* its queue has no order */
	assert_int_equal(awaited_at(11000), 1);
	assert_int_equal(awaited_at(51000), 0);
	assert_int_equal(awaited_at(70000), 6);
	runtime_trace_end(model);
}

/* Of operations 1 and 3 the launches are lost: lists name operations, so they hold all the same. */
static void test_lost_launches(void **state)
{
	(void)state;
	start();
	wait_for(10500, 2, 1);
	launch(10700, 2, 2);
	wait_for(10800, 3, 2);
	wait_for(11000, 9, 1); /* a launch that is not in the trace came before it */
	wait_in_call(11000, 60000, 9, 0);
	operate(1, 0, 20000, 30000);
	operate(2, 2, 40000, 50000);
	operate(3, 2, 55000, 58000);
	model = runtime_trace_load();
	assert_int_equal(after_of(2), 1);
	assert_int_equal(after_of(3), 2);
	assert_int_equal(awaited_at(11000), 1);
	runtime_trace_end(model);
}

/* Launched before the trace began: a call that waits for all waits for these, too. */
static void test_launched_before_the_trace(void **state)
{
	(void)state;
	start();
	wait_in_call(10000, 60000, 0, 0);
	launch(61000, 3, 0);
	wait_in_call(61000, 62000, 0, 0);
	operate(1, 0, 5000, 30000);
	operate(2, 0, 30000, 59000);
	operate(3, 0, 61500, 63000);
	model = runtime_trace_load();
	assert_int_equal(awaited_at(10000), 2);
	assert_int_equal(awaited_at(61000), 0);
	runtime_trace_end(model);
}

/* The clock of a device is exact to a bound: so much may it seem to end late, or early. */
static void test_bound_counts(void **state)
{
	(void)state;
	start();
	launch(10000, 1, 0);
	wait_in_call(20000, 50000, 0, queues[0]);
	launch(60000, 2, 0);
	wait_in_call(70000, 80000, 0, queues[0]);
	operate(1, 0, 30000, 50000 + SAMPLE_HALF_NS - 100);
	operate(2, 0, 71000, 80000 + 100 * SAMPLE_HALF_NS);
	model = runtime_trace_load();
	assert_int_equal(awaited_at(20000), 1);
	assert_int_equal(awaited_at(70000), 0);
	runtime_trace_end(model);
}

static void test_blocking_copies(void **state)
{
	static const struct {
		const char *function;
		const char *name;
		enum mr_operation_kind kind;
		uint64_t end; /* the call ends at 50000 */
		bool is_blocking;
	} cases[] = {
#define FROM MR_operation_kind_copy_from_device
#define TO   MR_operation_kind_copy_to_device
		{"cudaMemcpy", "Memcpy DtoH (Device -> Pinned)", FROM, 49500, true},
		{"cudaMemcpy", "Memcpy HtoD", TO, 49500, true},
		{"cudaMemcpy", "Memcpy HtoD", TO, 90000, false},
		{"cudaMemcpyAsync", "Memcpy DtoH (Device -> Pageable)", FROM, 49500, true},
		{"cudaMemcpyAsync", "Memcpy DtoH (Device -> Pinned)", FROM, 49500, false},
		{"cudaMemcpyAsync", "Memcpy HtoD (Pageable -> Device)", TO, 49500, true},
		{"cudaMemcpyAsync", "Memcpy HtoD (Pageable -> Device)", TO, 90000, false},
		{"cudaMemcpyAsync", "Memcpy HtoD (Pinned -> Device)", TO, 49500, false},
		{"hipMemcpyWithStream", "CopyHostToDevice", TO, 49500, true},
#undef FROM
#undef TO
	};

	(void)state;
	start();
	for (uint64_t i = 0; i < mr_countof(cases); i++)
		EMIT(runtime_call, AT(100000 * i + 50000),
		     .function = define_string(cases[i].function),
		     .duration_ticks = mr_u48_from(50000), .correlation = i + 1);
	for (uint64_t i = 0; i < mr_countof(cases); i++)
		EMIT(device_operation, AT(2000000), .queue = queues[0],
		     .name = define_string(cases[i].name), .correlation = i + 1,
		     .start = DEVICE_TIME(AT(100000 * i + 49000)),
		     .end = DEVICE_TIME(AT(100000 * i + cases[i].end)),
		     .kind = (uint8_t)cases[i].kind);
	model = runtime_trace_load();
	for (uint64_t i = 0; i < mr_countof(cases); i++)
		assert_int_equal(awaited_at(100000 * i), cases[i].is_blocking ? i + 1 : 0);
	runtime_trace_end(model);
}

/* ---- random programs ---------------------------------------------------------------------------- */

enum {
	STEPS = 120,
};

/* As doc/causes.md says it, for one call. */
static uint32_t find_awaited(uint32_t call, int64_t bound_ns)
{
	const struct mr_calls *calls = &model->calls;
	const struct mr_device_operations *operations = &model->device_operations;
	int64_t begin_ns = calls->start_ns[call], end_ns = begin_ns + calls->duration_ns[call];
	uint32_t best = MR_NO_ROW;

	for (uint32_t row = 0; row < operations->table.count; row++) {
		int64_t ended_ns = operations->start_ns[row] + operations->duration_ns[row];
		uint32_t queue = model->survey->tracks.items[operations->track[row]].queue;

		if (calls->queue[call] && calls->queue[call] != queue)
			continue;
		if (calls->start_ns[operations->call[row]] >= begin_ns ||
		    ended_ns <= begin_ns - bound_ns || ended_ns > end_ns + bound_ns)
			continue;
		if (best == MR_NO_ROW ||
		    ended_ns > operations->start_ns[best] + operations->duration_ns[best] ||
		    (ended_ns == operations->start_ns[best] + operations->duration_ns[best] &&
		     operations->correlation[row] < operations->correlation[best]))
			best = row;
	}
	return best;
}

/* What a random program does: a launch, or a call that waits. They may overlap, as if by several threads. */
struct action {
	uint64_t until, took; /* of the call */
	uint64_t correlation; /* of a launch; 0: it waits */
	uint32_t queue;       /* of three; 3: all */
};

static int compare_actions(const void *left, const void *right)
{
	const struct action *a = left, *b = right;

	return (a->until > b->until) - (a->until < b->until);
}

static void write_random_program(uint64_t *random)
{
	struct action actions[STEPS];

	for (uint64_t i = 0; i < STEPS; i++) {
		uint64_t until = 20000 + next_random(random) % 300000;

		actions[i] = (struct action){until, 100, STEPS - i, (uint32_t)(i % 3)};
		if (next_random(random) % 4 == 0)
			actions[i] = (struct action){until, next_random(random) % 20000, 0,
						     (uint32_t)(next_random(random) % 4)};
	}
	qsort(actions, STEPS, sizeof *actions, compare_actions);
	for (size_t i = 0; i < STEPS; i++)
		if (actions[i].correlation)
			launch(actions[i].until, actions[i].correlation, actions[i].queue);
		else
			wait_in_call(actions[i].until - actions[i].took, actions[i].until, 0,
				     actions[i].queue < 3 ? queues[actions[i].queue] : 0);
	for (size_t i = 0; i < STEPS; i++) {
		uint64_t from = actions[i].until + next_random(random) % 9000;

		if (actions[i].correlation) /* many end together */
			operate(actions[i].correlation, actions[i].queue, from,
				(from + 1500) / 1500 * 1500);
	}
}

static void test_random_programs(void **state)
{
	uint64_t random = 17;
	unsigned awaited = 0;

	(void)state;
	for (int round = 0; round < 30; round++) {
		start();
		write_random_program(&random);
		model = runtime_trace_load();
		uint64_t *bounds_ns = mr_order_bounds_make(model);
		for (uint32_t call = 0; call < model->calls.table.count; call++) {
			bool waits = model->calls.role[call] == MR_CALL_WAIT;
			uint32_t expected =
				waits ? find_awaited(call, (int64_t)bounds_ns[1]) : MR_NO_ROW;

			assert_int_equal(model->calls.awaited[call], expected);
			awaited += expected != MR_NO_ROW;
		}
		free(bounds_ns);
		runtime_trace_end(model);
	}
	assert_in_range(awaited, 200, 900);
}

/* ---- executions around calls ---------------------------------------------------------------------- */

/* Of those that enclose the call the one that starts last, of equal ones the shortest. */
static uint32_t find_execution(uint32_t call)
{
	const struct mr_node_executions *executions = &model->node_executions;
	int64_t begin_ns = model->calls.start_ns[call];
	uint32_t best = MR_NO_ROW;

	for (uint32_t row = 0; row < executions->table.count; row++)
		if (executions->track[row] == model->calls.track[call] &&
		    executions->start_ns[row] <= begin_ns &&
		    executions->start_ns[row] + executions->duration_ns[row] > begin_ns &&
		    executions->start_ns[row] + executions->duration_ns[row] >=
			    begin_ns + model->calls.duration_ns[call])
			best = row; /* rows are in that order */
	return best;
}

static uint64_t emit_nested(uint64_t *random, uint64_t ns, int depth)
{
	uint64_t begin = ns;

	for (uint64_t i = next_random(random) % 4; depth < 6 && i > 0; i--)
		ns = emit_nested(random, ns + next_random(random) % 3, depth + 1);
	ns += next_random(random) % 5;
	if (next_random(random) % 2)
		EMIT(node_interval, AT(ns), .duration_ticks = mr_u48_from(ns - begin));
	else
		EMIT(runtime_call, AT(ns), .function = function,
		     .duration_ticks = mr_u48_from(ns - begin));
	return ns;
}

static void test_executions_around_calls(void **state)
{
	uint64_t random = 23;
	unsigned enclosed = 0;

	(void)state;
	for (int round = 0; round < 30; round++) {
		uint64_t ns = 0;

		start();
		while (ns < 400)
			ns = emit_nested(&random, ns + 1, 0);
		model = runtime_trace_load();
		for (uint32_t call = 0; call < model->calls.table.count; call++) {
			uint32_t expected = find_execution(call);

			assert_int_equal(model->calls.execution[call], expected);
			enclosed += expected != MR_NO_ROW;
		}
		runtime_trace_end(model);
	}
	assert_in_range(enclosed, 200, 20000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_calls_without_list),
		cmocka_unit_test(test_lists_of_a_whole_queue),
		cmocka_unit_test(test_lists_and_blocking_launches),
		cmocka_unit_test(test_lost_launches),
		cmocka_unit_test(test_launched_before_the_trace),
		cmocka_unit_test(test_bound_counts),
		cmocka_unit_test(test_blocking_copies),
		cmocka_unit_test(test_random_programs),
		cmocka_unit_test(test_executions_around_calls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
