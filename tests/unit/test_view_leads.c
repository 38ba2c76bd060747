/* SPDX-License-Identifier: Apache-2.0
 *
 * What the viewer says of a piece of a gap, and where it leads: to the gap, to what is on no track, to files.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "ask_json.h"
#include "hand_view.h"
#include "load/operations.h"

static const char *sentence_of(const json_t *answer, size_t number)
{
	return json_string_value(json_array_get(json_object_get(answer, "sentences"), number));
}

/* The causes sum to the gap, and the chain leads to the thread that should have launched something, as it was then. */
static void check_gap(const json_t *answer)
{
	const json_t *gap = json_object_get(answer, "gap"), *cause, *first;
	json_int_t sum_ns = 0;
	size_t i;

	assert_int_equal(number_of(gap, "from"), 200);
	assert_int_equal(number_of(gap, "to"), 1000);
	json_array_foreach(json_object_get(gap, "causes"), i, cause) sum_ns +=
		number_of(cause, "ns");
	assert_int_equal(sum_ns, 800);
	cause = json_array_get(json_object_get(gap, "causes"), 0);
	assert_string_equal(text_of(cause, "cause"), "cpu");
	assert_int_equal(number_of(cause, "ns"), 610);
	assert_int_equal(number_of(cause, "pieces"), 4);
	assert_int_equal(number_of(cause, "row"), number_of(answer, "row"));
	first = json_object_get(json_array_get(json_object_get(answer, "chain"), 0), "at");
	assert_string_equal(text_of(first, "table"), "states");
	assert_true(number_of(first, "time") >= 200 && number_of(first, "time") < 1000);
}

/* Interrupts cut what the gap waits for into pieces: sentences and links are about the whole. */
static void a_gap_is_told_as_a_whole(void **state)
{
	(void)state;
	hand_operation(QUEUE_A, 100, 200, "first", 1);
	hand_operation(QUEUE_A, 1000, 1100, "copy", 2);
	hand_operation(QUEUE_A, 1400, 1500, "third", 3);
	hand_launch(0, 50, 60, 1);
	hand_launch(0, 900, 950, 2);
	hand_launch(0, 1380, 1390, 3);
	hand_node(0, 260, 1000, "variables");
	hand_run(0, 0, 1500);
	for (int64_t ns = 250; ns < 900; ns += 200)
		hand_interrupt(0, ns, ns + 10, 4);
	hand_view_look();
	hand_made->calls.execution[row_at(&hand_made->calls.table, 900)] =
		row_at(&hand_made->node_executions.table, 260);
	assert_int_equal(mr_operations_link(hand_made), 0);
	/* The longest piece is of another gap, and has no node. */
	uint32_t cause = MR_CAUSE_CPU;
	json_t *answer = ask_json(hand_view, "label?table=idle&label=%u", cause);
	const json_t *gap = json_object_get(answer, "gap");
	uint32_t row = (uint32_t)number_of(gap, "row");

	assert_int_equal(number_of(json_object_get(answer, "longest"), "time"), 1100);
	assert_int_equal(number_of(gap, "from"), 200);
	assert_int_equal(number_of(gap, "to"), 1000);
	json_decref(answer);
	answer = ask_json(hand_view, "row?table=idle&row=%u", row);
	assert_int_equal(number_of(answer, "from"), 260);
	assert_string_equal(sentence_of(answer, 0),
			    "gpu0 was idle for 800 ns; 610 ns of it because "
			    "thread 100 was running variables.");
	assert_string_equal(sentence_of(answer, 1),
			    "The gap ended when copy, launched by variables, began.");
	check_gap(answer);
	json_decref(answer);
	/* The gap as findings name it. */
	answer = ask_json(hand_view, "at?track=%u&from=200&duration=800", THREADS);
	assert_string_equal(text_of(answer, "table"), "idle");
	assert_int_equal(number_of(answer, "row"), row);
	json_decref(answer);
	answer = ask_json(hand_view, "label?table=calls&label=%u", hand_made->calls.function[0]);
	assert_true(json_is_null(json_object_get(answer, "gap")));
	json_decref(answer);
}

/* What the critical path consists of where nothing was traced is on no track. */
static void what_is_nowhere_is_found_on_the_path(void **state)
{
	(void)state;
	hand_run(0, 0, 500);
	hand_view_look();
	json_t *answer = ask_json(hand_view, "at?from=500&duration=9500");

	assert_string_equal(text_of(answer, "table"), "path");
	json_decref(answer);
}

static void files_are_links(void **state)
{
	(void)state;
	uint32_t file = hand_file("/data/x");
	hand_blocked(0, 500, 600, "read", file);
	hand_view_look();
	json_t *answer = ask_json(hand_view, "row?table=system_calls&row=0");
	json_t *field;
	size_t i;
	bool is_there = false;

	json_array_foreach(json_object_get(answer, "fields"), i,
			   field) if (strcmp(text_of(field, "text"), "/data/x") == 0)
	{
		is_there = true;
		assert_int_equal(number_of(json_object_get(field, "link"), "file"), file);
	}
	assert_true(is_there);
	json_decref(answer);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, hand_view_start, hand_view_end)
	const struct CMUnitTest tests[] = {
		TEST(a_gap_is_told_as_a_whole),
		TEST(what_is_nowhere_is_found_on_the_path),
		TEST(files_are_links),
	};
#undef TEST

	return cmocka_run_group_tests(tests, NULL, NULL);
}
