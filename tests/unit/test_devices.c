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
#include "finding_lookup.h"
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
		int row = findings_row(table, "device", device_names[device], NULL, NULL);

		if (row < 0) {
			assert_int_equal(truth.count, 0);
			continue;
		}
		uint32_t at = (uint32_t)row;
		assert_int_equal(findings_number(table, at, "operations"), truth.count);
		assert_int_equal(findings_number(table, at, "span_ns"), truth.span);
		assert_int_equal(findings_number(table, at, "busy_ns"), truth.busy);
		assert_int_equal(findings_number(table, at, "idle_ns"), truth.span - truth.busy);
		assert_int_equal(findings_number(table, at, "compute_ns"), truth.compute);
		assert_int_equal(findings_number(table, at, "transfer_ns"), truth.transfer);
		assert_int_equal(findings_number(table, at, "hidden_ns"), truth.hidden);
		assert_int_equal(findings_number(table, at, "exposed_ns"),
				 truth.transfer - truth.hidden);
		assert_int_equal(findings_number(table, at, "longest_idle_ns"), truth.longest_idle);
		whole += truth.span;
	}
	assert_int_equal(states->wholes[3], whole);
	for (uint32_t queue = 0; queue < QUEUES; queue++) {
		struct truth truth = ask_oracle(device_of_queue(queue), (int)queue);
		int row = findings_row(queues, "queue", queue_names[queue], NULL, NULL);

		if (row >= 0) {
			assert_int_equal(findings_number(queues, (uint32_t)row, "busy_ns"),
					 truth.busy);
			assert_int_equal(findings_number(queues, (uint32_t)row, "operations"),
					 truth.count);
			assert_int_equal(findings_number(queues, (uint32_t)row, "empty_ns"),
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
			int row = findings_row(table, "direction", kinds[i].name, "device",
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
			assert_int_equal(findings_number(table, (uint32_t)row, "bytes"), bytes);
			assert_int_equal(findings_number(table, (uint32_t)row, "count"), count);
			assert_int_equal(findings_number(table, (uint32_t)row, "total_ns"), total);
			assert_int_equal(findings_number(table, (uint32_t)row, "bytes_per_second"),
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
		int row = findings_row(table, "delay", "call to start", "device",
				       device_names[device]);
		assert_int_equal(row >= 0, launch_count > 0);
		if (launch_count) {
			assert_int_equal(findings_number(table, (uint32_t)row, "count"),
					 launch_count);
			assert_int_equal(findings_number(table, (uint32_t)row, "p50_ns"),
					 launches[(launch_count * 50 + 99) / 100 - 1]);
			assert_int_equal(findings_number(table, (uint32_t)row, "p95_ns"),
					 launches[(launch_count * 95 + 99) / 100 - 1]);
			assert_int_equal(findings_number(table, (uint32_t)row, "max_ns"),
					 launches[launch_count - 1]);
		}
		row = findings_row(table, "delay", "submitted to start", "device",
				   device_names[device]);
		assert_int_equal(row >= 0, submitted_count > 0);
		if (submitted_count)
			assert_int_equal(findings_number(table, (uint32_t)row, "p99_ns"),
					 submitted[(submitted_count * 99 + 99) / 100 - 1]);
		assert_int_equal(findings_row(table, "delay", "queued to submitted", "device",
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
		int row = findings_row(table, "name", names[i], "kind", "kernel");

		if (row >= 0)
			assert_int_equal(findings_number(table, (uint32_t)row, "total_ns"),
					 totals[i]);
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
	assert_true(findings_say(
		&findings,
		"gpu0 was busy 80.0% of its 0.001 ms, 60.0% with device kernels, 20.0% with "
		"copies alone; copies of another 10.0% were hidden behind device kernels."));
	assert_true(findings_say(
		&findings, "gpu1 was busy 100.0% of its 0.000 ms, 100.0% with copies alone."));
	const struct mr_finding_table *delays = findings_table(&findings, "delays");
	int row = findings_row(delays, "delay", "call to start, queue empty", "device", "gpu0");
	/* The third was launched while the first ran. */
	assert_int_equal(findings_number(delays, (uint32_t)row, "count"), 2);
	assert_int_equal(findings_number(delays, (uint32_t)row, "max_ns"), 200);
	const struct mr_evidence *longest = &findings.list.items[0]->evidence.items[0];
	assert_string_equal(longest->what, "gpu0 idle before scale");
	assert_int_equal(longest->start_ns, BASE + 1600);
	assert_int_equal(longest->duration_ns, 200);
	unload();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_operations),
		cmocka_unit_test(test_sentences),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
