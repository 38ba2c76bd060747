/* SPDX-License-Identifier: Apache-2.0
 *
 * Reading the kernel's rings, without any BPF: rings are plain memory that the test fills as the kernel would.
 */
#include "kernel/ring.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>

#include <cmocka.h>

#include "base/macros.h"

enum {
	RING_BYTES = 4096,
	BUSY = 1u << 31, /* as the kernel's documentation has it */
	DISCARDED = 1u << 30,
};

/* A ring as the kernel shows it: the data twice in a row. */
struct test_ring {
	_Atomic uint64_t consumer, producer;
	_Alignas(8) uint8_t data[2 * RING_BYTES];
	struct mr_ring ring;
	struct mr_ring_batch batch;
};

static struct test_ring *new_ring(void)
{
	struct test_ring *ring = calloc(1, sizeof *ring);
	ring->ring = (struct mr_ring){.consumer = &ring->consumer,
				      .producer = &ring->producer,
				      .data = ring->data,
				      .mask = RING_BYTES - 1};
	return ring;
}

static void write_byte(struct test_ring *ring, uint64_t at, uint8_t byte)
{
	ring->data[at % RING_BYTES] = ring->data[at % RING_BYTES + RING_BYTES] = byte;
}

static void write_bytes(struct test_ring *ring, uint64_t at, const void *bytes, size_t count)
{
	for (size_t i = 0; i < count; i++)
		write_byte(ring, at + i, ((const uint8_t *)bytes)[i]);
}

/* Reserves room, as the kernel does; the flags say what has become of it. Returns where it stands. */
static uint64_t write_record(struct test_ring *ring, uint64_t time_ns, uint32_t bytes,
			     uint32_t flags)
{
	uint64_t at = ring->producer;
	uint32_t header[2] = {bytes | flags, 0};
	struct mr_record record = {.time_ns = time_ns, .type = MR_RECORD_MIGRATE};
	write_bytes(ring, at, header, sizeof header);
	write_bytes(ring, at + sizeof header, &record, sizeof record);
	ring->producer = at + sizeof header + mr_align_up(bytes, 8u);
	return at;
}

static void expect_times(struct test_ring *ring, const uint64_t *times, uint32_t count)
{
	mr_ring_read(&ring->ring, &ring->batch);
	assert_int_equal(ring->batch.count, count);
	for (uint32_t i = 0; i < count; i++)
		assert_int_equal(ring->batch.records[i]->time_ns, times[i]);
	mr_ring_release(&ring->ring, &ring->batch);
}

static void batches_are_sorted(void **state)
{
	(void)state;
	static const uint64_t written[] = {100, 250, 210, 220, 300, 290, 240, 301};
	static const uint64_t sorted[] = {100, 210, 220, 240, 250, 290, 300, 301};
	struct test_ring *ring = new_ring();
	for (size_t i = 0; i < mr_countof(written); i++)
		write_record(ring, written[i], 32, 0);
	expect_times(ring, sorted, mr_countof(sorted));
	expect_times(ring, NULL, 0);
	assert_int_equal(ring->consumer, ring->producer);
	free(ring);
}

static void equal_times_keep_their_order(void **state)
{
	(void)state;
	struct test_ring *ring = new_ring();
	uint64_t first = write_record(ring, 500, 32, 0);
	uint64_t second = write_record(ring, 500, 40, 0);
	mr_ring_read(&ring->ring, &ring->batch);
	assert_ptr_equal(ring->batch.records[0], ring->data + first + 8);
	assert_ptr_equal(ring->batch.records[1], ring->data + second + 8);
	free(ring);
}

static void unfinished_records_hold_back_the_rest(void **state)
{
	(void)state;
	struct test_ring *ring = new_ring();
	write_record(ring, 100, 24, 0);
	uint64_t busy = write_record(ring, 0, 24, BUSY);
	write_record(ring, 110, 24, 0); /* an interrupt */
	expect_times(ring, (const uint64_t[]){100}, 1);
	expect_times(ring, NULL, 0);
	struct mr_record record = {.time_ns = 120, .type = MR_RECORD_MIGRATE};
	uint32_t header = 24;
	write_bytes(ring, busy + 8, &record, sizeof record);
	write_bytes(ring, busy, &header, sizeof header);
	expect_times(ring, (const uint64_t[]){110, 120}, 2);
	free(ring);
}

static void discarded_records_are_skipped(void **state)
{
	(void)state;
	struct test_ring *ring = new_ring();
	write_record(ring, 100, 24, 0);
	write_record(ring, 101, 104, DISCARDED);
	write_record(ring, 102, 24, 0);
	expect_times(ring, (const uint64_t[]){100, 102}, 2);
	free(ring);
}

static void rings_go_round(void **state)
{
	(void)state;
	struct test_ring *ring = new_ring();
	for (uint64_t i = 0; i < 1000; i++) {
		write_record(ring, i, 40 + (uint32_t)(i % 5) * 8, 0);
		expect_times(ring, &i, 1);
	}
	assert_true(ring->consumer > 5 * RING_BYTES);
	free(ring);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(batches_are_sorted),
		cmocka_unit_test(equal_times_keep_their_order),
		cmocka_unit_test(unfinished_records_hold_back_the_rest),
		cmocka_unit_test(discarded_records_are_skipped),
		cmocka_unit_test(rings_go_round),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
