/* SPDX-License-Identifier: Apache-2.0
 *
 * What the viewer says of one slice, and with what it hangs together.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "ask_json.h"
#include "hand_view.h"
#include "load/messages.h"
#include "load/operations.h"
#include "load/tensorflow/tensorflow.h"
#include "timeline/arrows.h"

/* How many arrows of a slice lead so. */
static uint32_t count_arrows(const char *of, uint32_t row, const char *kind, const char *from_table,
			     int64_t from_ns, const char *to_table, int64_t to_ns)
{
	json_t *answer = ask_json(hand_view, "row?table=%s&row=%u", of, row);
	uint32_t count = 0;
	size_t i;
	json_t *arrow;

	json_array_foreach(json_object_get(answer, "arrows"), i, arrow)
	{
		const json_t *from = json_object_get(arrow, "from"),
			     *to = json_object_get(arrow, "to");

		count += strcmp(text_of(arrow, "kind"), kind) == 0 &&
			 strcmp(text_of(from, "table"), from_table) == 0 &&
			 strcmp(text_of(to, "table"), to_table) == 0 &&
			 number_of(from, "time") == from_ns && number_of(to, "time") == to_ns;
	}
	json_decref(answer);
	return count;
}

static size_t all_arrows(const char *of, uint32_t row)
{
	json_t *answer = ask_json(hand_view, "row?table=%s&row=%u", of, row);
	size_t count = json_array_size(json_object_get(answer, "arrows"));

	json_decref(answer);
	return count;
}

/* ---- operation, call, device operation --------------------------------------------------------------- */

/*     thread 0   ├──── outer 100 to 500 ─────────────┤
 *                  ├ inner 150 to 300 ┤    ├wait 400 to 460┤
 *                    ├launch 200┤            ▲
 *     queue A                 ├── matmul 250 to 450
 */
static void launch_in_nested(void)
{
	hand_node(0, 100, 500, "outer");
	hand_node(0, 150, 300, "inner");
	hand_launch(0, 200, 220, 1);
	hand_call(0, 400, 460, "finish", 0, MR_CALL_WAIT, 1);
	hand_operation(QUEUE_A, 250, 450, "matmul", 1);
	hand_view_look();
	hand_made->calls.execution[row_at(&hand_made->calls.table, 200)] =
		row_at(&hand_made->node_executions.table, 150);
	hand_made->calls.execution[row_at(&hand_made->calls.table, 400)] =
		row_at(&hand_made->node_executions.table, 100);
	assert_int_equal(mr_operations_link(hand_made), 0);
}

static void launches_are_seen_from_every_end(void **state)
{
	(void)state;
	launch_in_nested();
	static const char executions[] = "node_executions", operations[] = "device_operations";
	const struct {
		const char *table;
		uint32_t row;
	} ends[] = {{executions, row_at(&hand_made->node_executions.table, 150)},
		    {"calls", row_at(&hand_made->calls.table, 200)},
		    {operations, 0}};

	for (size_t i = 0; i < mr_countof(ends); i++) {
		assert_int_equal(count_arrows(ends[i].table, ends[i].row, "runs", executions, 200,
					      "calls", 200),
				 1);
		assert_int_equal(count_arrows(ends[i].table, ends[i].row, "launched", "calls", 200,
					      operations, 250),
				 1);
	}
	uint32_t wait = row_at(&hand_made->calls.table, 400);
	assert_int_equal(count_arrows("calls", wait, "waits for", operations, 450, "calls", 460),
			 1);
	assert_int_equal(count_arrows(operations, 0, "waits for", operations, 450, "calls", 460),
			 1);
}

static void nested_launches_count_for_the_outer_operation(void **state)
{
	(void)state;
	launch_in_nested();
	json_t *answer = ask_json(hand_view, "row?table=node_executions&row=%u",
				  row_at(&hand_made->node_executions.table, 100));
	size_t i;
	json_t *field;
	int seen = 0;

	json_array_foreach(json_object_get(answer, "fields"), i, field)
	{
		if (strcmp(text_of(field, "name"), "launched") == 0 && ++seen)
			assert_int_equal(number_of(field, "value"), 1);
		if (strcmp(text_of(field, "name"), "device time") == 0 && ++seen)
			assert_int_equal(number_of(field, "value"), 200);
	}
	assert_int_equal(seen, 2);
	json_decref(answer);
}

static void many_arrows_are_bounded(void **state)
{
	enum {
		LAUNCHES = 300
	};

	(void)state;
	hand_node(0, 0, 9000, "loop");
	for (uint32_t i = 0; i < LAUNCHES; i++) {
		hand_launch(0, 10 + 20 * i, 20 + 20 * i, i + 1);
		hand_operation(QUEUE_A, 20 + 20 * i, 30 + 20 * i, "kernel", i + 1);
	}
	hand_view_look();
	for (uint32_t i = 0; i < LAUNCHES; i++)
		hand_made->calls.execution[i] = 0;
	json_t *answer = ask_json(hand_view, "row?table=node_executions&row=0");
	size_t count = json_array_size(json_object_get(answer, "arrows"));
	assert_int_equal(count, MR_ARROWS_MAX);
	assert_int_equal(number_of(answer, "arrows_left_out"), 2 * LAUNCHES - MR_ARROWS_MAX);
	json_decref(answer);
}

static void wait_lists_are_followed(void **state)
{
	(void)state;
	hand_operation(QUEUE_A, 100, 200, "first", 1);
	hand_operation(QUEUE_C, 100, 300, "second", 2);
	hand_operation(QUEUE_B, 310, 400, "third", 3);
	hand_launch(0, 10, 20, 1);
	hand_launch(0, 30, 40, 2);
	hand_call(0, 50, 60, "launch", 3, MR_CALL_LAUNCH, 2);
	for (uint64_t awaited = 1; awaited <= 2; awaited++)
		assert_int_equal(
			mr_dependencies_append(&hand_made->dependencies,
					       (struct mr_dependencies_row){
						       .start_ns = 55,
						       .call = 2,
						       .awaited_call = (uint32_t)awaited - 1}),
			0);
	hand_view_look();
	uint32_t third = row_at(&hand_made->device_operations.table, 310);

	assert_int_equal(count_arrows("device_operations", third, "waits for", "device_operations",
				      200, "device_operations", 310),
			 1);
	assert_int_equal(count_arrows("device_operations", third, "waits for", "device_operations",
				      300, "device_operations", 310),
			 1);
	assert_int_equal(all_arrows("device_operations", third), 3);
}

/* By their times one may begin before what it waits for has ended: no sentence has a negative time. */
static void overlaps_are_said_so(void **state)
{
	(void)state;
	hand_operation(QUEUE_A, 100, 200, "first", 1);
	hand_operation(QUEUE_A, 150, 300, "second", 2);
	hand_launch(0, 10, 20, 1);
	hand_launch(0, 160, 170, 2);
	hand_view_look();
	json_t *answer = ask_json(hand_view, "row?table=device_operations&row=%u",
				  row_at(&hand_made->device_operations.table, 150));
	const json_t *sentences = json_object_get(answer, "sentences");
	assert_string_equal(json_string_value(json_array_get(sentences, 0)),
			    "It began 10 ns before launch launched it.");
	assert_string_equal(json_string_value(json_array_get(sentences, 1)),
			    "It had to wait for first, which ended 50 ns after it began.");
	json_decref(answer);
}

/* ---- threads ----------------------------------------------------------------------------------------- */

static void wakers_and_woken_see_each_other(void **state)
{
	(void)state;
	hand_run(0, 0, 100);
	hand_blocked(0, 100, 500, "futex", 0);
	hand_runnable(0, 500, 510, MR_REASON_WOKEN);
	hand_run(0, 510, 600);
	hand_run(1, 0, 600);
	hand_woken(0, 500, MR_wake_context_task, 1, "");
	hand_view_look();
	for (uint32_t row = 1; row <= 3; row++)
		assert_int_equal(
			count_arrows("states", row, "woken by", "states", 500, "states", 500), 1);
	assert_int_equal(count_arrows("states", 4, "woke", "states", 500, "states", 500), 1);
	assert_int_equal(count_arrows("system_calls", 0, "woken by", "states", 500, "states", 500),
			 1);
	assert_int_equal(all_arrows("states", 0), 0);

	json_t *answer = ask_json(hand_view, "row?table=states&row=1");
	const json_t *sentences = json_object_get(answer, "sentences");
	assert_string_equal(json_string_value(json_array_get(sentences, 0)),
			    "Thread 100 waited for thread 101.");
	assert_string_equal(json_string_value(json_array_get(sentences, 1)),
			    "It was woken by thread 101 and ran 10 ns later.");
	json_decref(answer);
}

/* ---- messages and inputs ----------------------------------------------------------------------------- */

static void message(uint32_t thread, int64_t ns, uint64_t key, bool is_receive)
{
	const struct mr_messages_row row = {.track = thread,
					    .start_ns = ns,
					    .key = key,
					    .execution = MR_NO_ROW,
					    .peer = MR_NO_ROW,
					    .is_receive = is_receive};

	assert_int_equal(mr_messages_append(&hand_made->messages, row), 0);
}

/* The key 9 is sent twice: who got what is not known. */
static void messages_lead_to_their_receivers(void **state)
{
	static const char executions[] = "node_executions";

	(void)state;
	hand_node(0, 100, 200, "send");
	hand_node(1, 300, 400, "receive");
	hand_run(1, 0, 1000);
	message(0, 150, 7, false);
	message(1, 350, 7, true);
	message(0, 160, 8, false);
	message(1, 450, 8, true);
	message(0, 170, 9, false);
	message(0, 180, 9, false);
	message(1, 360, 9, true);
	hand_view_look();
	assert_int_equal(mr_messages_link(hand_made), 0);
	assert_int_equal(count_arrows(executions, 0, "sent", executions, 150, executions, 350), 1);
	assert_int_equal(count_arrows(executions, 0, "sent", executions, 160, "states", 450), 1);
	assert_int_equal(all_arrows(executions, 0), 2);
	assert_int_equal(count_arrows(executions, 1, "received", executions, 150, executions, 350),
			 1);
	assert_int_equal(all_arrows(executions, 1), 1);
	assert_int_equal(count_arrows("states", 0, "received", executions, 160, "states", 450), 1);
}

static void inputs_feed_within_a_step(void **state)
{
	(void)state;
	hand_node(0, 100, 200, "a"); /* node 1 */
	hand_node(0, 300, 400, "b"); /* node 2 */
	hand_node(0, 500, 600, "a in the next step");
	hand_node(0, 700, 800, "b in the next step");
	assert_int_equal(mr_vec_push(&hand_made->survey->definitions.edges,
				     ((struct mr_edge){.source = 1, .target = 2})),
			 0);
	hand_view_look();
	for (uint32_t row = 2; row < 4; row++) {
		hand_made->node_executions.node[row] = row - 1;
		hand_made->node_executions.step[row] = 1;
	}
	static const char executions[] = "node_executions";

	for (uint32_t row = 0; row < 4; row++) {
		int64_t ns = row < 2 ? 200 : 600;

		assert_int_equal(all_arrows(executions, row), 1);
		assert_int_equal(count_arrows(executions, row, "feeds", executions, ns, executions,
					      ns + 100),
				 1);
	}
}

/* ---- fields, places, refusals -------------------------------------------------------------------------- */

/* Every column has a field that explains it. */
static void check_columns(const char *name, const struct mr_table_desc *desc)
{
	json_t *answer = ask_json(hand_view, "row?table=%s&row=0", name);
	const json_t *fields = json_object_get(answer, "fields");

	for (uint32_t i = 0; i < desc->column_count; i++) {
		bool is_there = false;
		size_t j;
		json_t *field;

		json_array_foreach(fields, j, field) is_there |=
			strcmp(text_of(field, "about"), desc->columns[i].doc) == 0;
		if (!is_there)
			fail_msg("%s has no field for %s", name, desc->columns[i].name);
	}
	assert_string_equal(text_of(answer, "table"), name);
	json_decref(answer);
}

static void all_columns_are_fields(void **state)
{
	(void)state;
	hand_node(0, 100, 500, "outer");
	hand_launch(0, 200, 220, 1);
	hand_operation(QUEUE_A, 250, 450, "matmul", 1);
	hand_blocked(0, 500, 600, "read", hand_file("/data/x"));
	hand_cpu(0, 500, 100, 0);
	hand_interrupt(0, 300, 310, 4);
	assert_int_equal(
		mr_scopes_append(&hand_made->scopes, (struct mr_scopes_row){.start_ns = 5}), 0);
	assert_int_equal(
		mr_block_io_append(&hand_made->block_io, (struct mr_block_io_row){.start_ns = 5}),
		0);
	assert_int_equal(mr_major_faults_append(&hand_made->major_faults,
						(struct mr_major_faults_row){.start_ns = 5}),
			 0);
	hand_view_look();
#define TABLE(name, ...) check_columns(#name, &mr_##name##_desc);
#define DERIVED(...)
#include "timeline/tables.def"
#undef TABLE
#undef DERIVED
}

static void ids_have_no_sign(void **state)
{
	const struct mr_scopes_row scope = {.start_ns = 5, .run = UINT64_C(0xca5a5a5a5a5a5a5a)};
	json_t *field;
	size_t i;
	int seen = 0;

	(void)state;
	assert_int_equal(mr_scopes_append(&hand_made->scopes, scope), 0);
	hand_view_look();
	json_t *answer = ask_json(hand_view, "row?table=scopes&row=0");
	json_array_foreach(json_object_get(answer, "fields"), i, field)
	{
		if (strcmp(text_of(field, "name"), "run") == 0 && ++seen)
			assert_string_equal(text_of(field, "text"), "14581066087674829402");
	}
	assert_int_equal(seen, 1);
	json_decref(answer);
}

static void idle_pieces_tell_their_causes(void **state)
{
	(void)state;
	hand_operation(QUEUE_A, 100, 200, "first", 1);
	hand_operation(QUEUE_A, 1000, 1100, "second", 2);
	hand_launch(0, 50, 60, 1);
	hand_launch(0, 900, 950, 2);
	hand_run(0, 0, 1100);
	hand_view_look();
	json_t *answer = ask_json(hand_view, "row?table=idle&row=0");

	assert_int_equal(number_of(answer, "from"), 200);
	assert_string_equal(
		json_string_value(json_array_get(json_object_get(answer, "sentences"), 0)),
		"gpu0 was idle for 800 ns; 700 ns of it because thread 100 was running.");
	assert_string_equal(
		json_string_value(json_array_get(json_object_get(answer, "sentences"), 1)),
		"The gap ended when second began.");
	assert_int_equal(
		count_arrows("idle", 0, "waits for", "idle", 900, "device_operations", 1000), 1);
	json_decref(answer);
}

static void slices_are_found_where_they_are(void **state)
{
	(void)state;
	hand_node(0, 100, 500, "outer");
	hand_node(0, 100, 200, "inner");
	hand_launch(0, 100, 120, 1);
	hand_view_look();
	json_t *answer = ask_json(hand_view, "at?track=0&from=100&duration=100");
	assert_string_equal(text_of(answer, "table"), "node_executions");
	assert_int_equal(number_of(answer, "row"), 1);
	json_decref(answer);
	answer = ask_json(hand_view, "at?track=0&from=100&duration=20");
	assert_string_equal(text_of(answer, "table"), "calls");
	json_decref(answer);
	answer = ask_json(hand_view, "at?track=0&from=100&duration=21");
	assert_true(json_is_null(json_object_get(answer, "row")));
	json_decref(answer);
	answer = ask_json(hand_view, "at?track=1&from=100&duration=20");
	assert_true(json_is_null(json_object_get(answer, "row")));
	json_decref(answer);
}

static void nonsense_is_refused(void **state)
{
	(void)state;
	hand_node(0, 100, 500, "outer");
	hand_view_look();
	assert_int_equal(ask_in_vain(hand_view, "row?table=calls&row=0"), -ENOENT);
	assert_int_equal(ask_in_vain(hand_view, "row?table=node_executions&row=1"), -ENOENT);
	assert_int_equal(ask_in_vain(hand_view, "row?table=node_executions&row=4294967295"),
			 -ENOENT);
	assert_int_equal(ask_in_vain(hand_view, "row?table=node_executions&row=4294967296"),
			 -EINVAL);
	assert_int_equal(ask_in_vain(hand_view, "row?table=node_executions"), -EINVAL);
	assert_int_equal(ask_in_vain(hand_view, "row?row=1"), -EINVAL);
	assert_int_equal(ask_in_vain(hand_view, "row?table=memory&row=0"), -EINVAL);
	assert_int_equal(ask_in_vain(hand_view, "at?track=44&from=0&duration=0"), -EINVAL);
	assert_int_equal(ask_in_vain(hand_view, "node?node=0"), -EINVAL);
	assert_int_equal(ask_in_vain(hand_view, "node?node=2"), -ENOENT);
	assert_int_equal(ask_in_vain(hand_view, "report?from=2&to=1"), -EINVAL);
	assert_int_equal(ask_in_vain(hand_view, "report?from=20000&to=30000"), -EINVAL);
	assert_int_equal(ask_in_vain(hand_view, "live?band=0&time=0"), -EINVAL);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, hand_view_start, hand_view_end)
	const struct CMUnitTest tests[] = {
		TEST(launches_are_seen_from_every_end),
		TEST(nested_launches_count_for_the_outer_operation),
		TEST(many_arrows_are_bounded),
		TEST(wait_lists_are_followed),
		TEST(overlaps_are_said_so),
		TEST(wakers_and_woken_see_each_other),
		TEST(messages_lead_to_their_receivers),
		TEST(inputs_feed_within_a_step),
		TEST(all_columns_are_fields),
		TEST(ids_have_no_sign),
		TEST(idle_pieces_tell_their_causes),
		TEST(slices_are_found_where_they_are),
		TEST(nonsense_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
