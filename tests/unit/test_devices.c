/* SPDX-License-Identifier: Apache-2.0
 *
 * What devices did, against an oracle that marks every nanosecond of random operations one by one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/analysis.h"
#include "runtime_trace.h"
#include "trace_writer.h"

enum {
	DEVICES = 2,
	QUEUES = 5, /* the first two are of device 0 */
	NANOSECONDS = 3000,
	OPERATIONS = 120,
	ROUNDS = 40,
	BASE = 1010000000,
};

struct operation {
	uint32_t device, queue; /* numbers from 0 */
	uint64_t call, submitted, start, end, bytes;
	uint8_t kind;
	bool has_launch, is_unfinished;
};

static struct operation operations[OPERATIONS];
static uint32_t operation_count;
static struct mr_model *model;
static struct mr_findings findings;

static const char *const device_names[DEVICES] = {"gpu0", "gpu1"};
static const char *const queue_names[QUEUES] = {"q0", "q1", "q2", "q3", "q4"};

static uint32_t device_of_queue(uint32_t queue)
{
	return queue < 2 ? 0 : 1;
}

/* ---- making a trace ----------------------------------------------------------------------------- */

static struct operation draw_operation(uint64_t *random)
{
	struct operation drawn = {.queue = (uint32_t)(next_random(random) % QUEUES),
				  .kind = (uint8_t)(next_random(random) % 13),
				  .bytes = next_random(random) % 5000,
				  .has_launch = next_random(random) % 8 != 0};

	drawn.device = device_of_queue(drawn.queue);
	drawn.is_unfinished = drawn.has_launch && next_random(random) % 10 == 0;
	drawn.start = 200 + next_random(random) % (NANOSECONDS - 400);
	/* Many are empty, many touch or overlap. */
	drawn.end = drawn.start + (next_random(random) % 3 ? next_random(random) % 60 : 0);
	drawn.call = drawn.start - next_random(random) % 200;
	drawn.submitted = drawn.start - next_random(random) % 100;
	return drawn;
}

static int compare_calls(const void *left, const void *right)
{
	const struct operation *a = left, *b = right;

	return (a->call > b->call) - (a->call < b->call);
}

static void draw(uint64_t *random)
{
	operation_count = 1 + (uint32_t)(next_random(random) % OPERATIONS);
	for (uint32_t i = 0; i < operation_count; i++)
		operations[i] = draw_operation(random);
	qsort(operations, operation_count, sizeof *operations, compare_calls);
}

static void emit_operations(const uint32_t *queues, uint32_t function, const uint32_t *names)
{
	for (uint32_t i = 0; i < operation_count; i++)
		if (operations[i].has_launch)
			EMIT(runtime_launch, BASE + operations[i].call, .function = function,
			     .correlation = i + 1, .queue = queues[operations[i].queue],
			     .kind = operations[i].kind);
	for (uint32_t i = 0; i < operation_count; i++) {
		const struct operation *one = &operations[i];

		if (!one->is_unfinished)
			EMIT(device_operation, BASE + NANOSECONDS, .queue = queues[one->queue],
			     .name = one->kind == MR_operation_kind_kernel ? names[i % 2] : 0,
			     .correlation = i + 1, .submitted = DEVICE_TIME(BASE + one->submitted),
			     .start = DEVICE_TIME(BASE + one->start),
			     .end = DEVICE_TIME(BASE + one->end), .bytes = one->bytes,
			     .kind = one->kind);
	}
}

static void load(void)
{
	uint32_t devices[DEVICES], queues[QUEUES];

	runtime_trace_start();
	for (uint32_t i = 0; i < DEVICES; i++)
		devices[i] = define_device(device_names[i], 0);
	for (uint32_t i = 0; i < QUEUES; i++)
		queues[i] = define_queue(devices[device_of_queue(i)], queue_names[i],
					 MR_queue_order_out_of_order, false);
	const uint32_t names[] = {define_string("scale"), define_string("add")};
	emit_operations(queues, define_string("clEnqueue"), names);
	model = runtime_trace_load();
	findings = (struct mr_findings){0};
	assert_int_equal(mr_analyse_devices(model, &findings), 0);
	assert_int_equal(mr_analyse_device_operations(model, &findings), 0);
	assert_int_equal(mr_analyse_calls(model, &findings), 0);
}

static void unload(void)
{
	mr_findings_free(&findings);
	runtime_trace_end(model);
}

/* ---- looking at findings ------------------------------------------------------------------------ */

static const char *text_of(const struct mr_finding_table *table, uint32_t row, const char *key)
{
	for (uint32_t column = 0; column < table->column_count; column++)
		if (strcmp(table->columns[column].key, key) == 0)
			return mr_finding_value(table, row, column)->text;
	fail_msg("no column %s", key);
	return NULL;
}

static int64_t number_of(const struct mr_finding_table *table, uint32_t row, const char *key)
{
	for (uint32_t column = 0; column < table->column_count; column++)
		if (strcmp(table->columns[column].key, key) == 0)
			return mr_finding_value(table, row, column)->number;
	fail_msg("no column %s", key);
	return 0;
}

/* The row where two columns hold these texts; -1 if there is none. */
static int find_row(const struct mr_finding_table *table, const char *key, const char *text,
		    const char *other_key, const char *other_text)
{
	for (uint32_t row = 0; table && row < table->row_count; row++)
		if (strcmp(text_of(table, row, key), text) == 0 &&
		    (!other_key || strcmp(text_of(table, row, other_key), other_text) == 0))
			return (int)row;
	return -1;
}

/* ---- the oracle --------------------------------------------------------------------------------- */

enum {
	COMPUTE = 1,
	TRANSFER = 2,
};

static int class_of(uint8_t kind)
{
	static const int classes[13] = {COMPUTE,  COMPUTE,  TRANSFER, TRANSFER, TRANSFER,
					TRANSFER, TRANSFER, 0,        0,        TRANSFER,
					TRANSFER, COMPUTE,  TRANSFER};

	return classes[kind];
}

struct truth {
	int64_t span, busy, compute, transfer, hidden, longest_idle;
	uint32_t count;
};

/* Of a device's operations, or of one of its queues. */
static struct truth ask_oracle(uint32_t device, int queue)
{
	static uint8_t marks[NANOSECONDS];
	struct truth truth = {0};
	uint64_t first = NANOSECONDS, end = 0, last_work = 0;
	int64_t idle = 0;

	memset(marks, 0, sizeof marks);
	for (uint32_t i = 0; i < operation_count; i++) {
		const struct operation *one = &operations[i];

		if (one->is_unfinished || one->device != device ||
		    (queue >= 0 && one->queue != (uint32_t)queue))
			continue;
		truth.count++;
		first = one->start < first ? one->start : first;
		end = one->end > end ? one->end : end;
		if (class_of(one->kind) && one->start > last_work)
			last_work = one->start;
		for (uint64_t ns = one->start; ns < one->end; ns++)
			marks[ns] |= (uint8_t)class_of(one->kind);
	}
	for (uint64_t ns = first; ns < end; ns++) {
		truth.span++;
		truth.busy += marks[ns] != 0;
		truth.compute += (marks[ns] & COMPUTE) != 0;
		truth.transfer += (marks[ns] & TRANSFER) != 0;
		truth.hidden += marks[ns] == (COMPUTE | TRANSFER);
		idle = marks[ns] || ns >= last_work ? 0 : idle + 1;
		truth.longest_idle = mr_max(truth.longest_idle, idle);
	}
	return truth;
}

static void check_devices(void)
{
	const struct mr_finding_table *table = findings_table(&findings, "devices"),
				      *states = findings_table(&findings, "states");
	const struct mr_finding_table *queues = findings_table(&findings, "queues");
	int64_t whole = 0;

	for (uint32_t device = 0; device < DEVICES; device++) {
		struct truth truth = ask_oracle(device, -1);
		int row = find_row(table, "device", device_names[device], NULL, NULL);

		if (row < 0) {
			assert_int_equal(truth.count, 0);
			continue;
		}
		uint32_t at = (uint32_t)row;
		assert_int_equal(number_of(table, at, "operations"), truth.count);
		assert_int_equal(number_of(table, at, "span_ns"), truth.span);
		assert_int_equal(number_of(table, at, "busy_ns"), truth.busy);
		assert_int_equal(number_of(table, at, "idle_ns"), truth.span - truth.busy);
		assert_int_equal(number_of(table, at, "compute_ns"), truth.compute);
		assert_int_equal(number_of(table, at, "transfer_ns"), truth.transfer);
		assert_int_equal(number_of(table, at, "hidden_ns"), truth.hidden);
		assert_int_equal(number_of(table, at, "exposed_ns"), truth.transfer - truth.hidden);
		assert_int_equal(number_of(table, at, "longest_idle_ns"), truth.longest_idle);
		whole += truth.span;
	}
	assert_int_equal(states->wholes[3], whole);
	for (uint32_t queue = 0; queue < QUEUES; queue++) {
		struct truth truth = ask_oracle(device_of_queue(queue), (int)queue);
		int row = find_row(queues, "queue", queue_names[queue], NULL, NULL);

		if (row >= 0) {
			assert_int_equal(number_of(queues, (uint32_t)row, "busy_ns"), truth.busy);
			assert_int_equal(number_of(queues, (uint32_t)row, "operations"),
					 truth.count);
			assert_int_equal(number_of(queues, (uint32_t)row, "empty_ns"),
					 ask_oracle(device_of_queue(queue), -1).span - truth.busy);
		} else {
			assert_int_equal(truth.count, 0);
		}
	}
}

static void check_copies(void)
{
	static const struct {
		uint8_t kind;
		const char *name;
	} kinds[] = {{MR_operation_kind_copy_to_device, "copy_to_device"},
		     {MR_operation_kind_copy_from_device, "copy_from_device"},
		     {MR_operation_kind_fill, "fill"}};
	const struct mr_finding_table *table = findings_table(&findings, "copies");

	for (uint32_t device = 0; device < DEVICES; device++)
		for (size_t i = 0; i < mr_countof(kinds); i++) {
			int row = find_row(table, "direction", kinds[i].name, "device",
					   device_names[device]);
			int64_t bytes = 0, total = 0, count = 0;

			for (uint32_t j = 0; j < operation_count; j++) {
				if (operations[j].kind != kinds[i].kind ||
				    operations[j].device != device || operations[j].is_unfinished)
					continue;
				bytes += (int64_t)operations[j].bytes;
				total += (int64_t)(operations[j].end - operations[j].start);
				count++;
			}
			assert_int_equal(row >= 0, count > 0);
			if (row < 0)
				continue;
			assert_int_equal(number_of(table, (uint32_t)row, "bytes"), bytes);
			assert_int_equal(number_of(table, (uint32_t)row, "count"), count);
			assert_int_equal(number_of(table, (uint32_t)row, "total_ns"), total);
			assert_int_equal(number_of(table, (uint32_t)row, "bytes_per_second"),
					 bytes && total ? bytes * 1000000000 / total : MR_NO_VALUE);
		}
}

static int compare_numbers(const void *left, const void *right)
{
	int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;

	return (a > b) - (a < b);
}

static void check_delays(void)
{
	const struct mr_finding_table *table = findings_table(&findings, "delays");

	for (uint32_t device = 0; device < DEVICES; device++) {
		int64_t launches[OPERATIONS], submitted[OPERATIONS];
		uint32_t launch_count = 0, submitted_count = 0;

		for (uint32_t i = 0; i < operation_count; i++) {
			const struct operation *one = &operations[i];

			if (one->device != device || one->is_unfinished)
				continue;
			submitted[submitted_count++] = (int64_t)(one->start - one->submitted);
			if (one->has_launch)
				launches[launch_count++] = (int64_t)(one->start - one->call);
		}
		qsort(launches, launch_count, sizeof *launches, compare_numbers);
		qsort(submitted, submitted_count, sizeof *submitted, compare_numbers);
		int row = find_row(table, "delay", "call to start", "device", device_names[device]);
		assert_int_equal(row >= 0, launch_count > 0);
		if (launch_count) {
			assert_int_equal(number_of(table, (uint32_t)row, "count"), launch_count);
			assert_int_equal(number_of(table, (uint32_t)row, "p50_ns"),
					 launches[(launch_count * 50 + 99) / 100 - 1]);
			assert_int_equal(number_of(table, (uint32_t)row, "p95_ns"),
					 launches[(launch_count * 95 + 99) / 100 - 1]);
			assert_int_equal(number_of(table, (uint32_t)row, "max_ns"),
					 launches[launch_count - 1]);
		}
		row = find_row(table, "delay", "submitted to start", "device",
			       device_names[device]);
		assert_int_equal(row >= 0, submitted_count > 0);
		if (submitted_count)
			assert_int_equal(number_of(table, (uint32_t)row, "p99_ns"),
					 submitted[(submitted_count * 99 + 99) / 100 - 1]);
		assert_int_equal(find_row(table, "delay", "queued to submitted", "device",
					  device_names[device]),
				 -1);
	}
}

static void check_names(void)
{
	const struct mr_finding_table *table = findings_table(&findings, "by_name");
	int64_t totals[2] = {0}, whole = 0;
	static const char *const names[] = {"scale", "add"};

	for (uint32_t i = 0; i < operation_count; i++) {
		int64_t duration = (int64_t)(operations[i].end - operations[i].start);

		if (operations[i].is_unfinished)
			continue;
		whole += duration;
		if (operations[i].kind == MR_operation_kind_kernel)
			totals[i % 2] += duration;
	}
	for (int i = 0; i < 2; i++) {
		int row = find_row(table, "name", names[i], "kind", "kernel");

		if (row >= 0)
			assert_int_equal(number_of(table, (uint32_t)row, "total_ns"), totals[i]);
		else
			assert_int_equal(totals[i], 0);
	}
	assert_int_equal(table->wholes[3], whole);
}

static void test_random_operations(void **state)
{
	uint64_t random = 1;

	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		draw(&random);
		load();
		check_devices();
		check_copies();
		check_delays();
		check_names();
		unload();
	}
}

/* ---- by hand ------------------------------------------------------------------------------------ */

static bool says(const char *text)
{
	for (size_t i = 0; i < findings.list.count; i++)
		for (size_t j = 0; j < findings.list.items[i]->sentences.count; j++)
			if (strcmp(findings.list.items[i]->sentences.items[j].text, text) == 0)
				return true;
	return false;
}

static void test_sentences(void **state)
{
	static const struct operation drawn[] = {
		{.queue = 0, .call = 1000, .start = 1200, .end = 1600, .kind = 1},
		{.queue = 1, .call = 1000, .start = 1000, .end = 1300, .kind = 2},
		{.queue = 0, .call = 1500, .start = 1800, .end = 2000, .kind = 1},
		{.queue = 2, .call = 1500, .start = 1500, .end = 1600, .kind = 6},
	};

	(void)state;
	memcpy(operations, drawn, sizeof drawn);
	operation_count = mr_countof(drawn);
	for (uint32_t i = 0; i < operation_count; i++) {
		operations[i].has_launch = true;
		operations[i].submitted = operations[i].start;
		operations[i].device = device_of_queue(operations[i].queue);
	}
	load();
	assert_true(says("gpu0 was busy 80.0 % of its 0.001 ms, 60.0 % with kernels, 20.0 % with "
			 "copies alone; copies of another 10.0 % were hidden behind kernels."));
	assert_true(says("gpu1 was busy 100.0 % of its 0.000 ms, 100.0 % with copies alone."));
	const struct mr_finding_table *delays = findings_table(&findings, "delays");
	int row = find_row(delays, "delay", "call to start, queue empty", "device", "gpu0");
	/* The third was launched while the first ran. */
	assert_int_equal(number_of(delays, (uint32_t)row, "count"), 2);
	assert_int_equal(number_of(delays, (uint32_t)row, "max_ns"), 200);
	const struct mr_evidence *longest = &findings.list.items[0]->evidence.items[0];
	assert_string_equal(longest->what, "idle of gpu0 before scale");
	assert_int_equal(longest->start_ns, BASE + 1600);
	assert_int_equal(longest->duration_ns, 200);
	unload();
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
	int row = find_row(waiting, "function", "clFinish", NULL, NULL);
	assert_int_equal(number_of(waiting, (uint32_t)row, "count"), 1);
	assert_int_equal(number_of(waiting, (uint32_t)row, "total_ns"), 500);
	row = find_row(waiting, "function", "clEnqueueReadBuffer", NULL, NULL);
	assert_int_equal(number_of(waiting, (uint32_t)row, "count"), 2);
	assert_int_equal(number_of(waiting, (uint32_t)row, "total_ns"), 24);
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
	assert_true(says("1 device operation was launched and not seen to end; it takes no time."));
	assert_true(says("1 device operation takes no time, as its times are not known: the "
			 "runtime gave none, or its clock was never sampled."));
	assert_true(says("1 device operation cannot be tied to the call that launched it."));
	assert_true(says("1 of 1 device operations started before their launch began, by up to "
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
	int row = find_row(table, "device", "gpu0", "teller", "runtime");
	assert_int_equal(number_of(table, (uint32_t)row, "peak_bytes"), 150);
	assert_int_equal(number_of(table, (uint32_t)row, "peak_after_ns"), BASE + 10 - TRACE_BEGIN);
	assert_int_equal(number_of(table, (uint32_t)row, "live_bytes"), 130);
	assert_int_equal(number_of(table, (uint32_t)row, "allocated_bytes"), 230);
	assert_int_equal(number_of(table, (uint32_t)row, "allocations"), 4);
	row = find_row(table, "device", "host", "teller", "framework");
	assert_int_equal(number_of(table, (uint32_t)row, "live_bytes"), 7);
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
		cmocka_unit_test(test_random_operations),
		cmocka_unit_test(test_sentences),
		cmocka_unit_test(test_waiting_calls),
		cmocka_unit_test(test_health),
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_wild_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
