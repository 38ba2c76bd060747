/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory of two processes that use the same addresses: each has an account of its own, in the table, the report of the
 * whole and of parts, and the viewer.
 *
 *     ns         10     20     30     40     50     60     70
 *     process 0  +100          -100                 free of what was never allocated
 *     process 1         +50           +0     -0            -50
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/analysis.h"
#include "analysis/live_set.h"
#include "ask_json.h"
#include "finding_lookup.h"
#include "hand_model.h"
#include "load/memory.h"
#include "load/runtime.h"
#include "model/memory_accounts.h"

static const struct mr_memory_row rows[] = {
	{.track = 0, .start_ns = 10, .address = 1, .bytes = 100},
	{.track = 0, .start_ns = 30, .address = 1, .is_free = 1},
	{.track = 0, .start_ns = 60, .address = 9, .is_free = 1},
	{.track = 1, .start_ns = 20, .address = 1, .bytes = 50},
	{.track = 1, .start_ns = 40, .address = 2, .bytes = 0},
	{.track = 1, .start_ns = 50, .address = 2, .is_free = 1},
	{.track = 1, .start_ns = 70, .address = 1, .is_free = 1},
};

static struct mr_model *model;

static int load(void **state)
{
	(void)state;
	model = hand_model_start();
	assert_int_equal(mr_vec_push(&model->survey->processes, ((struct mr_process){.pid = 8})),
			 0);
	model->survey->tracks.items[1].process = 1;
	for (size_t i = 0; i < mr_countof(rows); i++)
		assert_int_equal(mr_memory_append(&model->memory, rows[i]), 0);
	hand_model_load();
	model->survey->last_ns = 100;
	return mr_memory_join(model);
}

static int unload(void **state)
{
	(void)state;
	mr_model_free(model);
	return 0;
}

static void test_live_bytes(void **state)
{
	static const uint64_t live[] = {100, 0, 0, 50, 50, 50, 0};

	(void)state;
	for (uint32_t row = 0; row < mr_countof(live); row++)
		assert_int_equal(model->memory.live_bytes[row], live[row]);
}

/* Nothing was allocated is not the same as that nobody knows. */
static void test_sizes_of_frees(void **state)
{
	(void)state;
	assert_int_equal(model->memory.bytes[1], 100);
	assert_int_equal(model->memory.bytes[2], MR_NO_SIZE);
	assert_int_equal(model->memory.bytes[5], 0);
	assert_int_equal(model->memory.bytes[6], 50);
}

struct expected {
	int64_t pid, allocations, frees, peak_bytes, peak_after_ns, live_bytes;
};

static void check_report(const struct mr_model *part, const struct expected *expected,
			 uint32_t count)
{
	struct mr_findings findings = {0};

	assert_int_equal(mr_analyse_memory(part, &findings), 0);
	const struct mr_finding_table *table =
		mr_findings_find_table(&findings, "memory", "memory");
	assert_int_equal(table ? table->row_count : 0, count);
	for (uint32_t i = 0; i < count; i++) {
		assert_string_equal(findings_text(table, i, "device"), "host");
		assert_int_equal(findings_number(table, i, "pid"), expected[i].pid);
		assert_int_equal(findings_number(table, i, "allocations"), expected[i].allocations);
		assert_int_equal(findings_number(table, i, "frees"), expected[i].frees);
		assert_int_equal(findings_number(table, i, "peak_bytes"), expected[i].peak_bytes);
		assert_int_equal(findings_number(table, i, "peak_after_ns"),
				 expected[i].peak_after_ns);
		assert_int_equal(findings_number(table, i, "live_bytes"), expected[i].live_bytes);
	}
	mr_findings_free(&findings);
}

static void check_part(int64_t first_ns, int64_t last_ns, const bool *processes,
		       const struct expected *expected, uint32_t count)
{
	const struct mr_part part = {{first_ns, last_ns}, processes};
	struct mr_model *cut;

	assert_int_equal(mr_model_cut(model, &part, &cut), 0);
	check_report(cut, expected, count);
	mr_model_free(cut);
}

static void test_report(void **state)
{
	static const struct expected whole[] = {{7, 1, 2, 100, 10, 0}, {8, 2, 2, 50, 20, 0}};
	static const bool first[] = {true, false}, second[] = {false, true};

	(void)state;
	check_report(model, whole, 2);
	check_part(0, 100, first, &whole[0], 1);
	check_part(0, 100, second, &whole[1], 1);
}

/* What was live when a part begins is its peak until more is; and is live although no event says so. */
static void test_report_of_windows(void **state)
{
	static const struct expected falling[] = {{7, 0, 1, 100, 25, 0}, {8, 1, 0, 50, 25, 50}};
	static const struct expected quiet[] = {{8, 0, 0, 50, 52, 50}};
	static const bool first[] = {true, false};

	(void)state;
	check_part(25, 45, NULL, falling, 2);
	check_part(25, 45, first, falling, 1);
	check_part(52, 58, NULL, quiet, 1);
	check_part(52, 58, first, NULL, 0);
}

static void test_viewer(void **state)
{
	struct mr_view *view;

	(void)state;
	assert_int_equal(mr_view_make(model, &view), 0);
	json_t *memory = ask_json(view, "memory");
	const json_t *series = json_object_get(memory, "series");
	assert_int_equal(json_array_size(series), 2);
	for (size_t i = 0; i < 2; i++) {
		const json_t *one = json_array_get(series, i);
		json_t *live = ask_json(view, "live?band=%lld&time=25", number_of(one, "band"));

		assert_int_equal(number_of(one, "pid"), i ? 8 : 7);
		assert_string_equal(text_of(one, "title"),
				    i ? "host of process 8, in the framework"
				      : "host of process 7, in the framework");
		assert_int_equal(number_of(one, "peak_bytes"), i ? 50 : 100);
		assert_int_equal(number_of(one, "end_bytes"), 0);
		assert_int_equal(number_of(live, "bytes"), i ? 50 : 100);
		json_decref(live);
	}
	json_decref(memory);
	mr_view_free(view);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_live_bytes, load, unload),
		cmocka_unit_test_setup_teardown(test_sizes_of_frees, load, unload),
		cmocka_unit_test_setup_teardown(test_report, load, unload),
		cmocka_unit_test_setup_teardown(test_report_of_windows, load, unload),
		cmocka_unit_test_setup_teardown(test_viewer, load, unload),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
