/* SPDX-License-Identifier: Apache-2.0
 *
 * Ranges of NVTX of which beginnings or ends were not recorded, and ranges that are the steps.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "framework_trace.h"
#include "small_trace.h"

enum {
	A = 1,
	B,
	C,
	DOMAIN,
};
static const char *const texts[] = {"a", "b", "c", "domain"};

static struct mr_model *model;

static void begin_trace(void)
{
	framework_start(texts, 4);
	framework_begin(2, 2, 100, MR_PACKET_EVENTS);
	framework_process_start();
}

static void begin(uint32_t name, uint64_t ms, uint32_t depth, uint32_t domain)
{
	EMIT(nvtx_begin, MS(ms), NULL, .name = name, .domain = domain, .depth = depth);
}

static void end(uint64_t ms, uint32_t depth, uint32_t domain)
{
	EMIT(nvtx_end, MS(ms), NULL, .domain = domain, .depth = depth);
}

static void load(const char *step_range, int expected)
{
	framework_end("ctf/main");
	assert_int_equal(mr_model_load_steps(framework_directory, step_range, &model), expected);
	directory_remove(framework_directory);
}

static void check(uint32_t row, const char *name, int64_t start_ms, int64_t duration_ms,
		  uint8_t flags)
{
	const struct mr_scopes *scopes = &model->scopes;

	assert_string_equal(mr_model_text(model, scopes->name[row]), name);
	assert_int_equal(scopes->start_ns[row] - scopes->start_ns[0], start_ms * 1000000);
	assert_int_equal(scopes->duration_ns[row], duration_ms * 1000000);
	assert_int_equal(scopes->flags[row] & MR_ROW_UNFINISHED, flags);
}

/* Ends of deeper ranges are missing, as if the recording had been off: others keep their own ends. */
static void test_missing_halves(void **state)
{
	(void)state;
	begin_trace();
	begin(A, 10, 0, 0);
	begin(B, 20, 1, 0); /* has no end */
	begin(C, 30, 1, 0);
	end(40, 1, 0);
	end(45, 7, 0); /* has no beginning */
	end(50, 0, 0);
	load(NULL, 0);
	assert_int_equal(model->scopes.table.count, 3);
	check(0, "a", 0, 40, 0);
	assert_true(model->scopes.flags[1] & MR_ROW_UNFINISHED);
	check(2, "c", 20, 10, 0);
	assert_int_equal(model->anomalies.unfinished, 1);
	mr_model_free(model);
}

/* Each domain nests for itself. */
static void test_domains(void **state)
{
	(void)state;
	begin_trace();
	begin(A, 10, 0, 0);
	begin(B, 20, 0, DOMAIN);
	end(30, 0, 0);
	end(40, 0, DOMAIN);
	load(NULL, 0);
	assert_int_equal(model->scopes.table.count, 2);
	check(0, "a", 0, 20, 0);
	check(1, "b", 10, 20, 0);
	assert_string_equal(mr_model_text(model, model->scopes.detail[1]), "domain=domain");
	mr_model_free(model);
}

static void test_numbered(void **state)
{
	(void)state;
	begin_trace();
	EMIT(nvtx_begin, MS(10), NULL, .name = A, .range = 7);
	EMIT(nvtx_begin, MS(12), NULL, .name = B, .range = 8,
	     .payload_kind = MR_payload_kind_integer, .payload = (uint64_t)-3);
	EMIT(nvtx_end, MS(20), NULL, .range = 7);
	EMIT(nvtx_end, MS(30), NULL, .range = 8);
	EMIT(nvtx_end, MS(31), NULL, .range = 9);
	load(NULL, 0);
	assert_int_equal(model->scopes.table.count, 2);
	check(0, "a", 0, 10, 0);
	check(1, "b", 2, 18, 0);
	assert_string_equal(mr_model_text(model, model->scopes.detail[1]), "payload=-3");
	mr_model_free(model);
}

static void put_steps(void)
{
	begin_trace();
	for (uint64_t i = 0; i < 4; i++) {
		EMIT(step_interval, MS(10 + 10 * i), NULL, .step = 50 + i, .duration_ticks = 2);
		begin(i % 2 ? B : A, 11 + 10 * i, 0, 0);
		end(15 + 10 * i, 0, 0);
	}
}

/* What the user calls steps replaces what the program marks. */
static void test_steps(void **state)
{
	(void)state;
	put_steps();
	load("b*", 0);
	assert_int_equal(model->steps.table.count, 2);
	for (uint32_t i = 0; i < 2; i++) {
		assert_int_equal(model->steps.step[i], i);
		assert_int_equal(model->steps.duration_ns[i], 4000000);
		assert_int_equal(model->steps.start_ns[i], model->scopes.start_ns[2 * i + 1]);
	}
	mr_model_free(model);
	put_steps();
	load("nothing", -ENOENT);
	put_steps();
	load(NULL, 0);
	assert_int_equal(model->steps.table.count, 4);
	mr_model_free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_missing_halves),
		cmocka_unit_test(test_domains),
		cmocka_unit_test(test_numbered),
		cmocka_unit_test(test_steps),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
