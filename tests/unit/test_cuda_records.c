/* SPDX-License-Identifier: Apache-2.0
 *
 * Records of CUPTI as they should be, and as they should not: truncated, repeated, out of order, with impossible times, of
 * unknown kinds, longer than any version has them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cupti_records.h"
#include "memory_arena.h"

enum {
	SLOTS = 64,
	BUFFER_BYTES = 1 << 20,
	FUTURE_BYTES = 512,
};

static uint8_t buffer[BUFFER_BYTES], input[BUFFER_BYTES];
static size_t input_bytes;

static int start(void **state)
{
	(void)state;
	test_arena_attach(SLOTS);
	cupti_records_start();
	input_bytes = 0;
	return 0;
}

static int stop(void **state)
{
	free(mr_cuda);
	mr_cuda = NULL;
	return test_arena_detach(state);
}

/* If the record has such a member. */
static void put(uint8_t *record, uint16_t place, uint64_t value, size_t bytes)
{
	if (place)
		memcpy(record + place, &value, bytes);
}

/* Appends a record of so many bytes. */
static void add(uint8_t kind, const struct mr_cupti_layout *layout, size_t bytes,
		uint32_t correlation, uint64_t start_ns, uint64_t end_ns)
{
	uint8_t *record = input + input_bytes + 2;

	record[-2] = kind;
	record[-1] = (uint8_t)(bytes / 8);
	memset(record, 0, bytes);
	put(record, layout->start, start_ns, 8);
	put(record, layout->end, end_ns, 8);
	put(record, layout->stream, 7, 4);
	put(record, layout->context, 1, 4);
	put(record, layout->correlation, correlation, 4);
	put(record, layout->bytes, 4096, 8);
	put(record, layout->graph_node, 77, 8);
	put(record, layout->graph, 5, 4);
	put(record, layout->registers, 40, 2);
	put(record, layout->static_bytes, 512, 4);
	put(record, layout->dynamic_bytes, 1024, 4);
	put(record, layout->what, 1, 4);
	put(record, layout->address, 0x1000, 8);
	put(record, layout->pool, 0x2000, 8);
	put(record, layout->time, start_ns, 8);
	put(record, layout->event, 9, 4);
	put(record, layout->number, 123, 8);
	if (layout->copy_kind)
		record[layout->copy_kind] = 1;
	input_bytes += 2 + bytes;
}

static void kernel(uint32_t correlation, uint64_t start_ns, uint64_t end_ns)
{
	add(MR_CUPTI_KIND_CONCURRENT_KERNEL, &mr_cupti_kernel, 208, correlation, start_ns, end_ns);
}

struct seen {
	uint32_t operations, unfinished, waits, overheads, numbers, memory;
	uint64_t correlations;
	struct mr_event_device_kernel kernel;
	struct mr_event_device_transfer transfer;
	struct mr_event_runtime_synchronisation wait;
	struct mr_event_runtime_memory piece;
	struct mr_event_runtime_overhead overhead;
};

static void see(const struct test_event *event, void *data)
{
	struct seen *seen = data;

	switch (event->id) {
	case MR_EVENT_device_operation_unfinished:
		seen->unfinished++;
		break;
	case MR_EVENT_device_kernel:
		memcpy(&seen->kernel, event->payload, sizeof seen->kernel);
		seen->operations++;
		seen->correlations += seen->kernel.correlation & UINT32_MAX;
		break;
	case MR_EVENT_device_transfer:
		memcpy(&seen->transfer, event->payload, sizeof seen->transfer);
		seen->operations++;
		seen->correlations += seen->transfer.correlation & UINT32_MAX;
		break;
	case MR_EVENT_runtime_synchronisation:
		memcpy(&seen->wait, event->payload, sizeof seen->wait);
		seen->waits++;
		break;
	case MR_EVENT_runtime_overhead:
		memcpy(&seen->overhead, event->payload, sizeof seen->overhead);
		seen->overheads++;
		break;
	case MR_EVENT_runtime_external:
		seen->numbers++;
		break;
	case MR_EVENT_runtime_memory:
		memcpy(&seen->piece, event->payload, sizeof seen->piece);
		seen->memory++;
		break;
	default:
		break;
	}
}

/* All but `missing` bytes of what was added. */
static struct seen read_all(size_t missing)
{
	struct seen seen = {0};
	size_t used = cupti_records_make(input, input_bytes, buffer, sizeof buffer);

	cupti_records_read(buffer, used - missing);
	test_arena_visit(test_arena, see, &seen);
	return seen;
}

static uint64_t lost(void)
{
	return test_arena_lost(test_arena, MR_loss_reason_device_records);
}

static void test_sound(void **state)
{
	(void)state;
	kernel(1, 100, 200);
	add(MR_CUPTI_KIND_MEMCPY, &mr_cupti_copy, 88, 2, 200, 300);
	add(MR_CUPTI_KIND_MEMCPY2, &mr_cupti_peer_copy, 96, 3, 300, 400);
	add(MR_CUPTI_KIND_MEMSET, &mr_cupti_fill, 88, 4, 400, 500);
	const struct seen seen = read_all(0);
	assert_int_equal(seen.operations, 4);
	assert_int_equal(seen.correlations, 1 + 2 + 3 + 4);
	assert_int_equal(seen.transfer.start, 400);
	assert_int_equal(seen.transfer.bytes, 4096);
	assert_int_equal(seen.transfer.kind, MR_operation_kind_fill);
	assert_int_equal(seen.transfer.graph_node, 77);
	assert_int_equal(seen.kernel.registers, 40);
	assert_int_equal(seen.kernel.static_bytes, 512);
	assert_int_equal(seen.kernel.dynamic_bytes, 1024);
	assert_int_equal(seen.kernel.graph, 5);
	assert_int_equal(lost(), 0);
}

static void test_truncated(void **state)
{
	(void)state;
	kernel(1, 100, 200);
	kernel(2, 200, 300);
	assert_int_equal(read_all(208 - 159).operations, 1);
	assert_int_equal(lost(), 1);
}

/* Too few bytes to say what it is. */
static void test_cut_in_kind(void **state)
{
	(void)state;
	kernel(1, 100, 200);
	kernel(2, 200, 300);
	assert_int_equal(read_all(208 - 3).operations, 1);
	assert_int_equal(lost(), 1);
}

/* The trace has what CUPTI says; whoever loads it judges. */
static void test_impossible_times(void **state)
{
	(void)state;
	kernel(1, 500, 400);
	kernel(2, UINT64_MAX, 1);
	kernel(2, 100, 200);
	kernel(3, 0, 0);
	const struct seen seen = read_all(0);
	assert_int_equal(seen.operations, 3);
	assert_int_equal(seen.unfinished, 1);
	assert_int_equal(lost(), 0);
}

static void test_unknown_kinds(void **state)
{
	(void)state;
	add(200, &mr_cupti_kernel, 128, 1, 100, 200);
	kernel(2, 100, 200);
	add(0, &mr_cupti_kernel, 128, 3, 100, 200);
	add(255, &mr_cupti_kernel, 128, 4, 100, 200);
	assert_int_equal(read_all(0).correlations, 2);
	assert_int_equal(lost(), 0);
}

static void test_future_version(void **state)
{
	(void)state;
	for (uint32_t i = 1; i <= 3; i++)
		add(MR_CUPTI_KIND_CONCURRENT_KERNEL, &mr_cupti_kernel, FUTURE_BYTES, i, 100, 200);
	assert_int_equal(read_all(0).correlations, 1 + 2 + 3);
	assert_int_equal(lost(), 0);
}

/* A record that CUPTI cannot step over. */
static void test_stuck(void **state)
{
	(void)state;
	kernel(1, 100, 200);
	input[input_bytes++] = 99;
	input[input_bytes++] = 0;
	assert_int_equal(read_all(0).operations, 1);
	assert_int_equal(lost(), 1);
}

static void test_impossible_copies(void **state)
{
	(void)state;
	for (int i = 0; i < 256; i++) {
		add(MR_CUPTI_KIND_MEMCPY, &mr_cupti_copy, 88, 1, 100, 200);
		uint8_t *record = input + input_bytes - 88;
		record[mr_cupti_copy.copy_kind] = record[mr_cupti_copy.source_kind] =
			record[mr_cupti_copy.target_kind] = (uint8_t)i;
	}
	assert_int_equal(read_all(0).operations, 256);
}

/* Of what is not an operation. */
static void add_reports(void)
{
	add(MR_CUPTI_KIND_SYNCHRONIZATION, &mr_cupti_synchronisation, 40, 1, 100, 200);
	add(MR_CUPTI_KIND_OVERHEAD, &mr_cupti_overhead, 40, 0, 100, 200);
	add(MR_CUPTI_KIND_OVERHEAD, &mr_cupti_newer_overhead, 56, 2, 100, 200);
	add(MR_CUPTI_KIND_EXTERNAL_CORRELATION, &mr_cupti_external, 24, 3, 0, 0);
	add(MR_CUPTI_KIND_MEMORY2, &mr_cupti_memory, 120, 4, 100, 0);
}

static void test_reports(void **state)
{
	(void)state;
	add_reports();
	const struct seen seen = read_all(0);
	assert_int_equal(seen.waits, 1);
	assert_int_equal(seen.wait.kind, MR_synchronisation_kind_event);
	assert_int_equal(seen.wait.event, 9);
	assert_int_equal(seen.overheads, 2);
	assert_int_equal(seen.overhead.correlation & UINT32_MAX, 2);
	assert_int_equal(seen.numbers, 1);
	assert_int_equal(seen.memory, 1);
	assert_int_equal(seen.piece.pool, 0x2000);
	assert_int_equal(seen.piece.bytes, 4096);
	assert_int_equal(lost(), 0);
}

/* Each of them without its last byte. */
static void test_short_reports(void **state)
{
	static const uint8_t kinds[] = {MR_CUPTI_KIND_SYNCHRONIZATION, MR_CUPTI_KIND_OVERHEAD,
					MR_CUPTI_KIND_EXTERNAL_CORRELATION, MR_CUPTI_KIND_MEMORY2};
	static const struct mr_cupti_layout *const layouts[] = {
		&mr_cupti_synchronisation, &mr_cupti_overhead, &mr_cupti_external,
		&mr_cupti_memory};
	(void)state;
	for (size_t i = 0; i < mr_countof(kinds); i++) {
		input_bytes = 0;
		add(kinds[i], layouts[i], layouts[i]->length, 1, 100, 200);
		read_all(1);
		assert_int_equal(lost(), i + 1);
	}
}

/* Whatever CUPTI may say of them. */
static void test_impossible_reports(void **state)
{
	(void)state;
	for (int i = 0; i < 256; i++) {
		add_reports();
		memset(input + input_bytes - 120 + 4, i, 120 - 4);
		memset(input + input_bytes - 122 - 24 + 4, i, 24 - 4);
	}
	const struct seen seen = read_all(0);
	assert_int_equal(seen.waits, 256);
	assert_int_equal(seen.numbers, 256);
	assert_true(seen.memory <= 256);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)
int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_sound),
		TEST(test_truncated),
		TEST(test_cut_in_kind),
		TEST(test_impossible_times),
		TEST(test_unknown_kinds),
		TEST(test_future_version),
		TEST(test_stuck),
		TEST(test_impossible_copies),
		TEST(test_reports),
		TEST(test_short_reports),
		TEST(test_impossible_reports),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
