/* SPDX-License-Identifier: Apache-2.0
 *
 * Problems of devices and of memory: programs with each and one that looks similar and is none.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "problem_answer.h"

enum {
	MIB = 1 << 20,
	SMALL = 50, /* operations of a round, if they are small */
	SMALL_KERNELS = 5200,
	LARGE_KERNELS = 5200,
};

static uint64_t next_correlation(void)
{
	static uint64_t correlation = 0;

	return ++correlation;
}

/* A device kernel, launched just before it begins. */
static void compute(uint32_t queue, int64_t from_ns, int64_t to_ns, const char *name)
{
	uint64_t correlation = next_correlation();

	hand_operation(queue, from_ns, to_ns, name, correlation);
	hand_launch(0, from_ns - 1000, from_ns, correlation);
}

static void run_main(void)
{
	hand_run(0, 0, ROUND(ROUNDS));
}

/* ---- communication ------------------------------------------------------------------------------- */

/* Device kernels compute in [10, 50) of each round, and a collective goes on in [from, to). */
static void exchange(const char *name, int64_t from_ms, int64_t to_ms)
{
	run_main();
	for (int64_t i = 0; i < ROUNDS; i++) {
		compute(QUEUE_A, ROUND(i) + 10 * MS, ROUND(i) + 50 * MS, "matmul");
		compute(QUEUE_B, ROUND(i) + from_ms * MS, ROUND(i) + to_ms * MS, name);
	}
}

static void exchange_after(struct mr_model *model)
{
	(void)model;
	exchange("ncclDevKernel_AllReduce_Sum_f32_RING_LL", 50, 80);
}

static void exchange_partly_hidden(struct mr_model *model)
{
	(void)model;
	exchange("ncclKernel_ReduceScatter", 40, 95);
}

static void exchange_by_another_library(struct mr_model *model)
{
	(void)model;
	exchange("rcclGenericKernel", 60, 70);
}

static void exchange_hidden(struct mr_model *model)
{
	(void)model;
	exchange("ncclDevKernel_AllGather", 15, 45);
}

/* An operation of the framework exchanges data, on the host. */
static void exchange_on_host(struct mr_model *model)
{
	struct mr_definitions *definitions = &model->survey->definitions;

	run_main();
	for (int64_t i = 0; i < ROUNDS; i++) {
		hand_node(0, ROUND(i) + 20 * MS, ROUND(i) + 55 * MS, "all_reduce");
		definitions->nodes.items[definitions->nodes.count - 1].purpose =
			MR_PURPOSE_COMMUNICATE;
	}
}

static void test_communication(void **state)
{
	(void)state;
	PROBLEM_CHECK(
		{"after", exchange_after, "communication", ROUNDS * 30 * MS, "AllReduce"},
		{"partly", exchange_partly_hidden, "communication", ROUNDS * 45 * MS, NULL},
		{"other library", exchange_by_another_library, "communication", ROUNDS * 10 * MS,
		 "rccl"},
		{"on the host", exchange_on_host, "communication", ROUNDS * 35 * MS, "all_reduce"},
		{"hidden", exchange_hidden, "communication", 0, NULL});
}

/* ---- copies -------------------------------------------------------------------------------------- */

static void copy_in(struct mr_model *model)
{
	run_main();
	for (int64_t i = 0; i < ROUNDS; i++) {
		problem_copy(model, ROUND(i) + 10 * MS, ROUND(i) + 40 * MS,
			     MR_operation_kind_copy_to_device, 64 * MIB, next_correlation());
		compute(QUEUE_B, ROUND(i) + 50 * MS, ROUND(i) + 70 * MS, "matmul");
	}
}

/* A copy that is partly hidden behind a device kernel. */
static void copy_beside(struct mr_model *model)
{
	run_main();
	for (int64_t i = 0; i < ROUNDS; i++) {
		problem_copy(model, ROUND(i) + 10 * MS, ROUND(i) + 60 * MS,
			     MR_operation_kind_copy_from_device, 64 * MIB, next_correlation());
		compute(QUEUE_B, ROUND(i) + 30 * MS, ROUND(i) + 90 * MS, "matmul");
	}
}

static void copy_small(struct mr_model *model)
{
	run_main();
	for (int64_t i = 0; i < ROUNDS; i++)
		for (int64_t j = 0; j < SMALL; j++)
			problem_copy(model, ROUND(i) + j * MS, ROUND(i) + j * MS + MS / 2,
				     MR_operation_kind_copy_to_device, 1000, next_correlation());
}

static void copy_hidden(struct mr_model *model)
{
	run_main();
	for (int64_t i = 0; i < ROUNDS; i++) {
		problem_copy(model, ROUND(i) + 10 * MS, ROUND(i) + 60 * MS,
			     MR_operation_kind_copy_to_device, 64 * MIB, next_correlation());
		compute(QUEUE_B, ROUND(i) + 5 * MS, ROUND(i) + 90 * MS, "matmul");
	}
}

static void test_copies(void **state)
{
	(void)state;
	PROBLEM_CHECK({"in", copy_in, "copies", ROUNDS * 30 * MS, "10 copies of 64.0 MiB"},
		      {"beside", copy_beside, "copies", ROUNDS * 20 * MS, NULL},
		      {"small", copy_small, "copies", ROUNDS * SMALL * MS / 2, "are small"},
		      {"hidden", copy_hidden, "copies", 0, NULL});
}

/* ---- memory -------------------------------------------------------------------------------------- */

/* Asks for memory in [from, to) of each round. */
static void allocate(struct mr_model *model, int64_t from_ms, int64_t to_ms, int64_t rounds)
{
	uint32_t function;

	run_main();
	assert_int_equal(mr_strings_intern(&model->survey->definitions.strings, "allocate",
					   strlen("allocate"), &function),
			 0);
	for (int64_t i = 0; i < rounds; i++) {
		const struct mr_memory_row row = {.start_ns = ROUND(i) + to_ms * MS - 1,
						  .allocator = function,
						  .address = (uint64_t)i + 1,
						  .bytes = MIB,
						  .teller = MR_MEMORY_RUNTIME};

		assert_int_equal(mr_memory_append(&model->memory, row), 0);
		hand_call(0, ROUND(i) + from_ms * MS, ROUND(i) + to_ms * MS, "allocate", 0,
			  MR_CALL_PLAIN, 0);
	}
}

static void allocate_in_steps(struct mr_model *model)
{
	allocate(model, 5, 35, ROUNDS);
}

/* A device kernel hides most of it. */
static void allocate_beside(struct mr_model *model)
{
	allocate(model, 10, 60, ROUNDS);
	for (int64_t i = 0; i < ROUNDS; i++)
		compute(QUEUE_A, ROUND(i) + 20 * MS, ROUND(i) + 70 * MS, "matmul");
}

static void allocate_shortly(struct mr_model *model)
{
	allocate(model, 0, 8, ROUNDS);
}

static void allocate_at_begin(struct mr_model *model)
{
	allocate(model, 0, 90, 2);
}

static void test_allocation(void **state)
{
	(void)state;
	PROBLEM_CHECK({"in steps", allocate_in_steps, "allocation", ROUNDS * 30 * MS, "10 times"},
		      {"beside", allocate_beside, "allocation", ROUNDS * 10 * MS, "allocate"},
		      {"shortly", allocate_shortly, "allocation", ROUNDS * 8 * MS, NULL},
		      {"at the begin", allocate_at_begin, "allocation", 0, NULL});
}

/* Each round keeps so many bytes more. */
static void keep(struct mr_model *model, uint64_t bytes, bool is_released)
{
	run_main();
	for (int64_t i = 0; i < ROUNDS; i++) {
		const struct mr_steps_row step = {.start_ns = ROUND(i), .duration_ns = ROUND(1)};
		struct mr_memory_row row = {
			.start_ns = ROUND(i) + 5 * MS, .address = (uint64_t)i + 1, .bytes = bytes};

		assert_int_equal(mr_steps_append(&model->steps, step), 0);
		assert_int_equal(mr_memory_append(&model->memory, row), 0);
		row.start_ns += 50 * MS;
		row.is_free = 1;
		if (is_released)
			assert_int_equal(mr_memory_append(&model->memory, row), 0);
	}
}

static void keep_much(struct mr_model *model)
{
	keep(model, 64 * MIB, false);
}

static void keep_little(struct mr_model *model)
{
	keep(model, 2 * MIB, false);
}

static void keep_nothing(struct mr_model *model)
{
	keep(model, 64 * MIB, true);
}

/* The cost is that of new pages: 4 KiB, 500 ns each. */
static void test_memory_growth(void **state)
{
	(void)state;
	PROBLEM_CHECK({"much", keep_much, "memory_growth", ROUNDS * INT64_C(64) * 256 * 500,
		       "holds 64.0 MiB more after each step"},
		      {"little", keep_little, "memory_growth", ROUNDS * INT64_C(2) * 256 * 500,
		       "2.00 MiB more after each step"},
		      {"nothing", keep_nothing, "memory_growth", 0, NULL});
}

/* ---- launches and waits -------------------------------------------------------------------------- */

/* Many device kernels of 2 us, each 190 us after the other. */
static void launch_small(struct mr_model *model)
{
	(void)model;
	run_main();
	for (int64_t i = 0; i < SMALL_KERNELS; i++)
		compute(QUEUE_A, MS + i * 190000, MS + i * 190000 + 2000, "add");
}

/* As many that keep the device busy. */
static void launch_large(struct mr_model *model)
{
	(void)model;
	run_main();
	for (int64_t i = 0; i < LARGE_KERNELS; i++)
		compute(QUEUE_A, MS + i * 190000, MS + i * 190000 + 189000, "matmul");
}

/* Waits for each device kernel of 60 ms, and works for 40 ms then. */
static void wait_each(struct mr_model *model)
{
	(void)model;
	run_main();
	for (int64_t i = 0; i < ROUNDS; i++) {
		uint64_t correlation = next_correlation();

		hand_operation(QUEUE_A, ROUND(i) + 10 * MS, ROUND(i) + 70 * MS, "matmul",
			       correlation);
		hand_launch(0, ROUND(i) + 9 * MS, ROUND(i) + 10 * MS, correlation);
		hand_call(0, ROUND(i) + 10 * MS, ROUND(i) + 70 * MS, "finish", 0, MR_CALL_WAIT,
			  correlation);
	}
}

/* Data leave the device, the host works on them, and they come back: 50 ms of each round. */
static void bounce_so(struct mr_model *model, bool is_same_step)
{
	run_main();
	for (int64_t i = 0; i < ROUNDS; i++) {
		const struct mr_steps_row step = {.start_ns = ROUND(i),
						  .duration_ns = is_same_step ? ROUND(1) : 30 * MS};

		assert_int_equal(mr_steps_append(&model->steps, step), 0);
		problem_copy(model, ROUND(i) + 20 * MS, ROUND(i) + 30 * MS,
			     MR_operation_kind_copy_from_device, MIB, next_correlation());
		problem_copy(model, ROUND(i) + 60 * MS, ROUND(i) + 70 * MS,
			     MR_operation_kind_copy_to_device, MIB, next_correlation());
	}
}

static void bounce(struct mr_model *model)
{
	bounce_so(model, true);
}

static void bounce_across(struct mr_model *model)
{
	bounce_so(model, false);
}

static void test_launches(void **state)
{
	(void)state;
	PROBLEM_CHECK(
		{"small", launch_small, "launch_bound", 1000 * MS - SMALL_KERNELS * 2000,
		 "one runs for 2.00"},
		{"large", launch_large, "launch_bound", 0, NULL},
		{"large", launch_large, "device_limit", LARGE_KERNELS * INT64_C(189000), "matmul"},
		{"large", launch_large, "synchronisation", 0, NULL},
		{"each", wait_each, "synchronisation", (ROUNDS - 1) * 40 * MS, "finish"},
		{"each", wait_each, "launch_bound", 0, NULL},
		{"bounce", bounce, "ping_pong", ROUNDS * 50 * MS, "10 times"},
		{"bounce in another step", bounce_across, "ping_pong", 0, NULL});
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_communication), cmocka_unit_test(test_copies),
		cmocka_unit_test(test_allocation),    cmocka_unit_test(test_memory_growth),
		cmocka_unit_test(test_launches),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
