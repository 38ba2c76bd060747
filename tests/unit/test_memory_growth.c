/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory that grows from step to step, and who holds it, in models made by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/analysis.h"
#include "analysis/memory_growth.h"
#include "finding_lookup.h"
#include "hand_model.h"
#include "load/memory.h"
#include "model/memory_accounts.h"

enum {
	STEPS = 50,
	MIB = 1 << 20,
};

static struct mr_model *model;
static struct mr_memory_growth growths[64];

static int make(void **state)
{
	(void)state;
	model = hand_model_start();
	for (int64_t i = 0; i < STEPS; i++)
		assert_int_equal(
			mr_steps_append(&model->steps, (struct mr_steps_row){.start_ns = 1000 * i,
									     .duration_ns = 1000}),
			0);
	return 0;
}

static int unmake(void **state)
{
	(void)state;
	mr_model_free(model);
	return 0;
}

static void allocate(int64_t ns, uint64_t address, uint64_t bytes)
{
	assert_int_equal(mr_memory_append(&model->memory, (struct mr_memory_row){.start_ns = ns,
										 .address = address,
										 .bytes = bytes}),
			 0);
}

static void release(int64_t ns, uint64_t address)
{
	assert_int_equal(mr_memory_append(&model->memory, (struct mr_memory_row){.start_ns = ns,
										 .address = address,
										 .is_free = 1}),
			 0);
}

static const struct mr_memory_growth *measure(void)
{
	hand_model_load();
	assert_int_equal(mr_memory_join(model), 0);
	assert_in_range(mr_memory_account_count(model), 1, 64);
	assert_int_equal(mr_memory_growth_make(model, growths), 0);
	return &growths[mr_memory_account_of(model, 0)];
}

/* Each step keeps 16 MiB, and has 5 MiB more for a while. */
static void kept_tensors(void **state)
{
	struct mr_findings findings = {0};

	(void)state;
	for (int64_t i = 0; i < STEPS; i++) {
		allocate(1000 * i + 100, (uint64_t)(100 + i), 16 * MIB);
		allocate(1000 * i + 200, 1, 5 * MIB);
		release(1000 * i + 300, 1);
	}
	const struct mr_memory_growth *growth = measure();
	assert_true(growth->is_growing);
	assert_int_equal(growth->bytes_per_step, 16 * MIB);
	assert_int_equal(growth->step_count, STEPS);
	assert_int_equal(growth->last_bytes - growth->first_bytes,
			 (STEPS - 1) * UINT64_C(16) * MIB);
	assert_int_equal(mr_analyse_memory(model, &findings), 0);
	const struct mr_finding_table *table =
		mr_findings_find_table(&findings, "memory", "memory");
	assert_int_equal(findings_number(table, 0, "growth_bytes"), 16 * MIB);
	assert_int_equal(findings_number(table, 0, "peak_bytes"),
			 STEPS * INT64_C(16) * MIB + 5 * MIB);
	table = mr_findings_find_table(&findings, "memory", "holders");
	assert_int_equal(findings_number(table, 0, "bytes"), STEPS * INT64_C(16) * MIB + 5 * MIB);
	table = mr_findings_find_table(&findings, "memory", "growth");
	assert_int_equal(findings_number(table, 0, "pieces"), STEPS - 1);
	mr_findings_free(&findings);
}

/* A cache that fills in the first steps is no growth, nor is what comes and goes. */
static void warm_up(void **state)
{
	(void)state;
	for (int64_t i = 0; i < 5; i++)
		allocate(1000 * i + 100, (uint64_t)(100 + i), 16 * MIB);
	for (int64_t i = 0; i < STEPS; i++) {
		allocate(1000 * i + 200, 1, (uint64_t)(1 + i % 7) * MIB);
		if (i % 3)
			release(1000 * i + 300, 1);
	}
	assert_false(measure()->is_growing);
}

static void growth_with_noise(void **state)
{
	(void)state;
	for (int64_t i = 0; i < STEPS; i++) {
		allocate(1000 * i + 100, (uint64_t)(100 + i), 2 * MIB);
		if (i % 7 == 0)
			allocate(1000 * i + 200, 1, 3 * MIB);
		if (i % 7 == 1)
			release(1000 * i + 200, 1);
	}
	assert_true(measure()->is_growing);
	assert_int_equal(measure()->bytes_per_step, 2 * MIB);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make, unmake)
	const struct CMUnitTest tests[] = {
		TEST(kept_tensors),
		TEST(warm_up),
		TEST(growth_with_noise),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
