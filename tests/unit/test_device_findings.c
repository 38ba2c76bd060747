/* SPDX-License-Identifier: Apache-2.0
 *
 * What reports say about devices besides how they spent their time (test_devices.c): calls that wait, health, memory; and
 * values that no device gives.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/analysis.h"
#include "finding_lookup.h"
#include "runtime_trace.h"
#include "trace_writer.h"

enum {
	BASE = 1010000000,
};

static struct mr_model *model;
static struct mr_findings findings;

static void unload(void)
{
	mr_findings_free(&findings);
	runtime_trace_end(model);
}

static void test_waiting_calls(void **state)
{
	(void)state;
	runtime_trace_start();
	uint32_t device = define_device("gpu0", 0);
	uint32_t queue = define_queue(device, "queue0", MR_queue_order_in_order, false);
	uint32_t read = define_string("clEnqueueReadBuffer"), finish = define_string("clFinish");
	for (uint32_t i = 0; i < 4; i++)
		EMIT(runtime_launch, BASE + 1000 * i, .function = read,
		     .duration_ticks = mr_u48_from(10 + i), .correlation = i + 1, .queue = queue,
		     .is_blocking = i % 2);
	EMIT(runtime_wait, BASE + 5000, .correlation = 9, .awaited = 1);
	EMIT(runtime_call_on, BASE + 6000, .function = finish, .duration_ticks = mr_u48_from(500),
	     .correlation = 9, .queue = queue);
	EMIT(runtime_call_on, BASE + 7000, .function = finish, .duration_ticks = mr_u48_from(100),
	     .queue = queue); /* nothing to wait for */
	model = runtime_trace_load();
	findings = (struct mr_findings){0};
	assert_int_equal(mr_analyse_calls(model, &findings), 0);
	const struct mr_finding_table *waiting = findings_table(&findings, "waiting");
	assert_int_equal(waiting->row_count, 2);
	int row = findings_row(waiting, "function", "clFinish", NULL, NULL);
	assert_int_equal(findings_number(waiting, (uint32_t)row, "count"), 1);
	assert_int_equal(findings_number(waiting, (uint32_t)row, "total_ns"), 500);
	row = findings_row(waiting, "function", "clEnqueueReadBuffer", NULL, NULL);
	assert_int_equal(findings_number(waiting, (uint32_t)row, "count"), 2);
	assert_int_equal(findings_number(waiting, (uint32_t)row, "total_ns"), 24);
	assert_int_equal(waiting->wholes[2], 524);
	unload();
}

static void test_health(void **state)
{
	(void)state;
	runtime_trace_start();
	uint32_t device = define_device("gpu0", 0);
	uint32_t queue = define_queue(device, "queue0", MR_queue_order_in_order, false);
	uint32_t untimed = define_queue(device, "queue1", MR_queue_order_in_order, true);
	EMIT(runtime_launch, BASE, .correlation = 1, .queue = queue);
	EMIT(runtime_launch, BASE + 1, .correlation = 2, .queue = untimed);
	EMIT(runtime_launch, BASE + 900000, .correlation = 3, .queue = queue);
	EMIT(device_operation, BASE + 900001, .correlation = 3, .queue = queue,
	     .start = DEVICE_TIME(BASE), .end = DEVICE_TIME(BASE + 10));
	EMIT(device_operation, BASE + 900002, .queue = queue, .start = DEVICE_TIME(BASE + 20),
	     .end = DEVICE_TIME(BASE + 30));
	model = runtime_trace_load();
	findings = (struct mr_findings){0};
	assert_int_equal(mr_analyse_health(model, &findings), 0);
	assert_true(findings_say(
		&findings,
		"1 device operation was launched but not seen to end; it counts as taking no "
		"time."));
	assert_true(findings_say(
		&findings, "1 device operation counts as taking no time: the runtime gave no times "
			   "for it, or its clock was never sampled."));
	assert_true(findings_say(
		&findings, "1 device operation cannot be tied to the call that launched it."));
	assert_true(findings_say(
		&findings, "1 of 1 device operations started before their launch began, by up to "
			   "900000 ns."));
	unload();
}

static void test_memory(void **state)
{
	(void)state;
	runtime_trace_start();
	uint32_t device = define_device("gpu0", 0);
	EMIT(runtime_allocate, BASE, .device = device, .object = 1, .bytes = 100);
	EMIT(runtime_allocate, BASE + 10, .device = device, .object = 2, .bytes = 50);
	EMIT(runtime_allocate, BASE + 15, .object = 3, .parent = 2, .bytes = 9); /* a part of it */
	EMIT(runtime_free, BASE + 20, .object = 1);
	EMIT(memory_allocate, BASE + 25, .address = 1, .bytes = 7); /* of the host */
	EMIT(runtime_allocate, BASE + 30, .device = device, .object = 1, .bytes = 80);
	model = runtime_trace_load();
	findings = (struct mr_findings){0};
	assert_int_equal(mr_analyse_memory(model, &findings), 0);
	const struct mr_finding_table *table = findings_table(&findings, "memory");
	assert_int_equal(table->row_count, 2);
	int row = findings_row(table, "device", "gpu0", "teller", "runtime");
	assert_int_equal(findings_number(table, (uint32_t)row, "peak_bytes"), 150);
	assert_int_equal(findings_number(table, (uint32_t)row, "peak_after_ns"),
			 BASE + 10 - TRACE_BEGIN);
	assert_int_equal(findings_number(table, (uint32_t)row, "live_bytes"), 130);
	assert_int_equal(findings_number(table, (uint32_t)row, "allocated_bytes"), 230);
	assert_int_equal(findings_number(table, (uint32_t)row, "allocations"), 4);
	row = findings_row(table, "device", "host", "teller", "framework");
	assert_int_equal(findings_number(table, (uint32_t)row, "live_bytes"), 7);
	unload();
}

/* Any times, kinds and sizes: nothing overflows, and what sums up does (mr_finding_check()). */
static void test_wild_values(void **state)
{
	static const uint64_t times[] = {0,
					 1,
					 DEVICE_TIME(BASE),
					 DEVICE_TIME(BASE + 70),
					 UINT64_C(1) << 62,
					 UINT64_MAX - 1,
					 UINT64_MAX};
	uint64_t random = 9;

	(void)state;
	for (int round = 0; round < 20; round++) {
		runtime_trace_start();
		uint32_t device = define_device("gpu0", 0);
		uint32_t queues[] = {define_queue(device, "q0", MR_queue_order_in_order, false),
				     define_queue(device, "q1", 77, true), 0,
				     define_queue(99, "q3", MR_queue_order_in_order, false)};
#define ANY(list) list[next_random(&random) % mr_countof(list)]
		for (uint32_t i = 0; i < 200; i++) {
			uint64_t any = next_random(&random);

			EMIT(runtime_launch, BASE + i, .duration_ticks = mr_u48_from(any >> 16),
			     .correlation = any % 50, .queue = ANY(queues), .bytes = any,
			     .kind = (uint8_t)(any >> 8), .is_blocking = any % 2);
			EMIT(device_operation, BASE + i, .queue = ANY(queues),
			     .correlation = any / 7 % 50, .queued = ANY(times),
			     .submitted = ANY(times), .start = ANY(times), .end = ANY(times),
			     .bytes = any, .kind = (uint8_t)any);
			EMIT(runtime_wait, BASE + i, .correlation = any / 3 % 50,
			     .awaited = any / 5 % 50);
			EMIT(runtime_allocate, BASE + i, .device = any % 3 ? device : 7,
			     .object = any % 9, .parent = any % 4 == 0, .bytes = any);
			EMIT(runtime_free, BASE + i, .object = any / 11 % 9);
		}
#undef ANY
		model = runtime_trace_load();
		findings = (struct mr_findings){0};
		assert_int_equal(mr_analyse_health(model, &findings), 0);
		assert_int_equal(mr_analyse_contents(model, &findings), 0);
		assert_int_equal(mr_analyse_devices(model, &findings), 0);
		assert_int_equal(mr_analyse_device_operations(model, &findings), 0);
		assert_int_equal(mr_analyse_calls(model, &findings), 0);
		assert_int_equal(mr_analyse_memory(model, &findings), 0);
		unload();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_waiting_calls),
		cmocka_unit_test(test_health),
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_wild_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
