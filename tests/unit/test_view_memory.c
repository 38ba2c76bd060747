/* SPDX-License-Identifier: Apache-2.0
 *
 * What the viewer says of memory: the series, and what is live at a time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "ask_json.h"
#include "hand_model.h"
#include "load/memory.h"

static void live_answers_as_the_series_does(void **state)
{
	struct mr_model *model = hand_model_start();
	struct mr_view *view;

	(void)state;
	hand_node(0, 0, 5, "conv");
	const struct mr_memory_row rows[] = {
		{.start_ns = 10, .device = 1, .node = 1, .address = 1, .bytes = 100},
		{.start_ns = 20, .device = 1, .address = 2, .bytes = 50},
		{.start_ns = 30, .device = 1, .address = 1, .is_free = 1},
	};
	for (size_t i = 0; i < mr_countof(rows); i++)
		assert_int_equal(mr_memory_append(&model->memory, rows[i]), 0);
	hand_model_load();
	assert_int_equal(mr_memory_join(model), 0);
	model->survey->last_ns = 100;
	assert_int_equal(mr_view_make(model, &view), 0);

	json_t *memory = ask_json(view, "memory");
	const json_t *series = json_array_get(json_object_get(memory, "series"), 0);
	long long band = number_of(series, "band");
	assert_int_equal(json_array_size(json_object_get(memory, "series")), 1);
	assert_int_equal(number_of(series, "peak_bytes"), 150);
	assert_int_equal(number_of(series, "peak_at"), 20);
	assert_int_equal(number_of(series, "end_bytes"), 50);
	json_decref(memory);

	json_t *live = ask_json(view, "live?band=%lld&time=20", band);
	const json_t *shares = json_object_get(live, "rows");
	assert_int_equal(number_of(live, "bytes"), 150);
	assert_int_equal(number_of(live, "count"), 2);
	assert_string_equal(text_of(json_array_get(shares, 0), "text"), "conv");
	assert_int_equal(number_of(json_array_get(shares, 1), "bytes"), 50);
	assert_true(json_is_null(json_object_get(json_array_get(shares, 1), "node")));
	json_decref(live);
	live = ask_json(view, "live?band=%lld&time=9", band);
	assert_int_equal(number_of(live, "bytes"), 0);
	json_decref(live);
	mr_view_free(view);
	mr_model_free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(live_answers_as_the_series_does),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
