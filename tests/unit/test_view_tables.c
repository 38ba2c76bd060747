/* SPDX-License-Identifier: Apache-2.0
 *
 * Entries of tables.def: what they name is there, and the page gets them all.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ask_json.h"
#include "hand_model.h"
#include "kernel_trace.h"

static void columns_are_there(void **state)
{
	struct mr_model *model = hand_model_start();

	(void)state;
	hand_model_load();
	for (uint32_t i = 0; i < MR_SLICED_COUNT; i++) {
		const struct mr_column_desc *desc = NULL;

		if (mr_sliced[i].is_derived)
			continue;
		const struct mr_table *table = mr_sliced_table(model, i);
		assert_string_equal(table->desc->name, mr_sliced[i].name);
		assert_true(mr_table_is_interval(table));
		if (!mr_sliced[i].label)
			continue;
		mr_sliced_column(table, mr_sliced[i].label, &desc);
		assert_non_null(desc);
		assert_true(desc->bytes == 1 || desc->bytes == 4);
	}
	mr_model_free(model);
}

static void columns_that_are_not_there(void **state)
{
	struct mr_model *model = hand_model_start();
	const struct mr_column_desc *desc;

	(void)state;
	assert_null(mr_sliced_column(&model->calls.table, "weather", &desc));
	mr_model_free(model);
}

static void entries_are_complete(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < MR_SLICED_COUNT; i++) {
		const struct mr_sliced_desc *table = &mr_sliced[i];
		enum mr_sliced found;

		assert_true(mr_sliced_find(table->name, &found));
		assert_int_equal(found, i);
		assert_true(table->noun && *table->noun && table->nouns && *table->nouns);
		assert_true(!table->report || strchr(table->report, '.'));
		for (const char *at = table->same; at && *at; at += strspn(at, " ")) {
			size_t length = strcspn(at, " ");
			const char *is = memchr(at, '=', length);

			assert_true(is && is > at && is + 1 < at + length);
			at += length;
		}
	}
}

static void page_gets_the_entries(void **state)
{
	struct mr_view *view;

	(void)state;
	kernel_trace_begin(1);
	kernel_trace_cut(0, 1, 0);
	struct mr_model *model = kernel_trace_load(1000);
	assert_int_equal(mr_view_make(model, &view), 0);
	json_t *trace = ask_json(view, "trace");
	const json_t *tables = json_object_get(trace, "tables");
	assert_int_equal(json_array_size(tables), MR_SLICED_COUNT);
	const json_t *calls = json_array_get(tables, MR_SLICED_system_calls);
	assert_string_equal(text_of(calls, "table"), "system_calls");
	assert_string_equal(text_of(calls, "nouns"), "system calls");
	assert_string_equal(text_of(calls, "group"), "thread");
	assert_string_equal(text_of(calls, "report"), "system_calls.by_call");
	const json_t *names = json_object_get(calls, "names");
	assert_int_equal(json_array_size(names), 2);
	assert_string_equal(json_string_value(json_array_get(names, 1)), "file");
	const json_t *same = json_array_get(json_object_get(calls, "same"), 0);
	assert_string_equal(json_string_value(json_array_get(same, 0)), "call");
	assert_string_equal(json_string_value(json_array_get(same, 1)), "title");
	assert_true(json_is_true(
		json_object_get(json_array_get(tables, MR_SLICED_path), "is_shaded_by_track")));
	json_decref(trace);
	mr_view_free(view);
	kernel_trace_end(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(columns_are_there),
		cmocka_unit_test(columns_that_are_not_there),
		cmocka_unit_test(entries_are_complete),
		cmocka_unit_test(page_gets_the_entries),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
