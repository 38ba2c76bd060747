/* SPDX-License-Identifier: Apache-2.0
 *
 * The kernel level takes a bounded part of the memory that a control group leaves.
 */
#include "kernel/sizes.h"

#include <stdarg.h>
#include <stddef.h>

#include <setjmp.h>

#include <cmocka.h>

#define MIB (UINT64_C(1) << 20)

static void test_machine(void **state)
{
	(void)state;
	const struct mr_memory_room large = {.limit = 65536 * MIB, .left = 65536 * MIB};
	struct mr_kernel_sizes sizes = mr_kernel_sizes(&large, 8);
	assert_int_equal(sizes.event_ring_bytes, 16 * MIB);
	assert_int_equal(sizes.definition_ring_bytes, MIB / 2);
	assert_int_equal(sizes.table_parts, 1);
}

/* 8 MiB is what all tables take together, and a sixteenth of them is the least. */
static void test_groups(void **state)
{
	(void)state;
	for (uint64_t mib = 64; mib <= 65536; mib *= 2) {
		const struct mr_memory_room room = {
			.limit = mib * MIB, .left = mib * MIB, .is_in_group = true};
		for (uint32_t cpus = 1; cpus <= 64; cpus *= 4) {
			struct mr_kernel_sizes sizes = mr_kernel_sizes(&room, cpus);
			uint64_t rings =
				cpus * (sizes.event_ring_bytes + sizes.definition_ring_bytes);
			uint64_t least = cpus * (MIB / 4 + MIB / 16);
			uint64_t most = mib * MIB / 64 + mib * MIB / 512;
			assert_true(rings <= (most > least ? most : least));
			assert_true(sizes.event_ring_bytes >= MIB / 4);
			assert_true(sizes.definition_ring_bytes >= MIB / 16);
			assert_true(sizes.table_parts >= 1 && sizes.table_parts <= 16);
			assert_true(sizes.table_parts == 16 ||
				    8 * MIB / sizes.table_parts <= mib * MIB / 256);
		}
	}
}

/* A group that has no memory left gets the least, on any number of CPUs. */
static void test_no_memory_left(void **state)
{
	(void)state;
	const struct mr_memory_room room = {.limit = 256 * MIB, .left = 0, .is_in_group = true};
	struct mr_kernel_sizes sizes = mr_kernel_sizes(&room, 0);
	assert_int_equal(sizes.event_ring_bytes, MIB / 4);
	assert_int_equal(sizes.definition_ring_bytes, MIB / 16);
	assert_int_equal(sizes.table_parts, 16);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_machine),
		cmocka_unit_test(test_groups),
		cmocka_unit_test(test_no_memory_left),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
