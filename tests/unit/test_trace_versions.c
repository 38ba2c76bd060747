/* SPDX-License-Identifier: Apache-2.0
 *
 * Reading traces of other versions of millrace: other fields, other events, other enumerations.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "trace/trace.h"
#include "trace_writer.h"

static struct packet packet; /* too large for the stack */

/* The trace of one file with one packet, under this metadata. Frees the text. */
static struct mr_trace *open_packet(char *directory, char *metadata)
{
	directory_write(directory, "ctf/metadata", metadata, strlen(metadata));
	directory_write(directory, "ctf/stream", packet.bytes, packet.size);
	free(metadata);
	return directory_open(directory);
}

/* A packet with one node_interval of node 11, step 22, duration 33 in the layout of the test, and
 * one ordinary node_instant after it, which must be read whatever the first one is. */
static void make_packet(const uint8_t *payload, size_t size)
{
	uint8_t instant[8] = {77};
	packet = (struct packet){.begin = 100, .end = 200};
	packet_start(&packet);
	packet_event(&packet, MR_EVENT_node_interval, 150, payload, size);
	packet_event(&packet, MR_EVENT_node_instant, 160, instant, sizeof instant);
	packet_finish(&packet);
}

/* With the end of the list: other events begin with the same fields. */
#define INTERVAL_FIELDS "\t\tu32 _node;\n\t\tu32 _step;\n\t\tu48 _duration_ticks;\n\t}"

/* Reads that packet with node_interval's fields described as `fields`. */
static void check_interval(const char *fields, const uint8_t *payload, size_t size, uint32_t node,
			   uint32_t step, uint64_t duration)
{
	char *directory = directory_make();
	char described[256];
	make_packet(payload, size);
	snprintf(described, sizeof described, "%s\t}", fields);
	mr_auto(trace) struct mr_trace *trace =
		open_packet(directory, text_replace(metadata_text(), INTERVAL_FIELDS, described));
	struct mr_cursor cursor;
	struct mr_event event;
	mr_cursor_start(&cursor, trace, &trace->streams[0]);
	assert_true(mr_cursor_next(&cursor, &event));
	assert_int_equal(event.desc->id, MR_EVENT_node_interval);
	const struct mr_event_node_interval *interval = event.payload;
	assert_int_equal(interval->node, node);
	assert_int_equal(interval->step, step);
	assert_int_equal(mr_u48_value(interval->duration_ticks), duration);
	assert_null(event.text);
	assert_true(mr_cursor_next(&cursor, &event));
	assert_int_equal(event.desc->id, MR_EVENT_node_instant);
	assert_int_equal(event.ticks, 160);
	assert_false(mr_cursor_next(&cursor, &event));
	assert_int_equal(cursor.malformed_packets, 0);
	directory_remove(directory);
}

static void test_other_layouts_are_rearranged(void **state)
{
	(void)state;
	/* reordered */
	check_interval("u48 _duration_ticks; u32 _step; u32 _node;",
		       (uint8_t[14]){33, 0, 0, 0, 0, 0, 22, 0, 0, 0, 11}, 14, 11, 22, 33);
	/* more, a text among them */
	check_interval("u64 _colour; u32 _node; f64 _heat; u32 _step; u48 _duration_ticks; str _x;",
		       (uint8_t[32]){1, 2, 3, 4, 5,  6, 7, 8, 11, 0, 0, 0, 9, 9, 9,   9,
				     9, 9, 9, 9, 22, 0, 0, 0, 33, 0, 0, 0, 0, 0, 'a', 0},
		       32, 11, 22, 33);
	/* fewer */
	check_interval("u32 _step;", (uint8_t[4]){22}, 4, 0, 22, 0);
	check_interval("", NULL, 0, 0, 0, 0);
	/* narrower than today */
	check_interval("u8 _node; u16 _step; u32 _duration_ticks;",
		       (uint8_t[7]){200, 22, 1, 0, 0, 0, 0xff}, 7, 200, 278, 0xff000000);
}

static void test_signs_are_kept(void **state)
{
	(void)state;
	char *directory = directory_make();
	packet = (struct packet){.begin = 1, .end = 1};
	packet_start(&packet);
	packet_event(&packet, MR_EVENT_counter, 1, (uint8_t[8]){0xfe, 0xff, 0xff, 0xff, 5, 0, 0, 0},
		     8);
	packet_finish(&packet);
	char *metadata = text_replace(metadata_text(), "u32 _name;\n\t\ti64 _value;",
				      "i32 _value;\n\t\tu32 _name;");
	mr_auto(trace) struct mr_trace *trace = open_packet(directory, metadata);
	struct mr_cursor cursor;
	struct mr_event event;
	mr_cursor_start(&cursor, trace, &trace->streams[0]);
	assert_true(mr_cursor_next(&cursor, &event));
	const struct mr_event_counter *counter = event.payload;
	assert_int_equal(counter->value, -2);
	assert_int_equal(counter->name, 5);
	directory_remove(directory);
}

/* Reads the packet of make_packet() with the metadata changed: the interval must be skipped. */
static void check_unknown(const char *from, const char *to, size_t size)
{
	char *directory = directory_make();
	make_packet((uint8_t[32]){11}, size);
	mr_auto(trace) struct mr_trace *trace =
		open_packet(directory, text_replace(metadata_text(), from, to));
	struct mr_cursor cursor;
	struct mr_event event;
	mr_cursor_start(&cursor, trace, &trace->streams[0]);
	assert_true(mr_cursor_next(&cursor, &event));
	assert_int_equal(event.desc->id, MR_EVENT_node_instant);
	assert_int_equal(event.ticks, 160);
	assert_int_equal(((const struct mr_event_node_instant *)event.payload)->node, 77);
	assert_int_equal(cursor.unknown_events, 1);
	assert_int_equal(cursor.malformed_packets, 0);
	assert_false(mr_cursor_next(&cursor, &event));
	directory_remove(directory);
}

static void test_unknown_events_are_skipped(void **state)
{
	(void)state;
	check_unknown("\"node_interval\"", "\"from_the_future\"", 14);
	check_unknown(INTERVAL_FIELDS, "u64 _node; u32 _step; u48 _duration_ticks;}", 18);
	check_unknown(INTERVAL_FIELDS, "i32 _node; u32 _step; u48 _duration_ticks;}", 14);
	check_unknown(INTERVAL_FIELDS, "u32 _node; str _step;}", 5);
}

static void test_ids_may_differ(void **state)
{
	(void)state;
	char *directory = directory_make();
	packet = (struct packet){.begin = 1, .end = 1};
	packet_start(&packet);
	packet_event(&packet, 200, 1, (uint8_t[14]){11}, 14);
	packet_finish(&packet);
	mr_auto(trace) struct mr_trace *trace =
		open_packet(directory, text_replace(metadata_text(), "id = 48;", "id = 200;"));
	struct mr_cursor cursor;
	struct mr_event event;
	mr_cursor_start(&cursor, trace, &trace->streams[0]);
	assert_true(mr_cursor_next(&cursor, &event));
	assert_int_equal(event.desc->id, MR_EVENT_node_interval);
	directory_remove(directory);
}

/* Reads one event of the given kind under changed metadata; false if it was skipped. */
static bool read_one(char *directory, uint8_t id, const void *payload, size_t size, char *metadata,
		     struct mr_trace **ret_trace, struct mr_event *event)
{
	packet = (struct packet){.begin = 1, .end = 1};
	packet_start(&packet);
	packet_event(&packet, id, 1, payload, size);
	packet_finish(&packet);
	*ret_trace = open_packet(directory, metadata);
	static struct mr_cursor cursor; /* the event may point into it */
	mr_cursor_start(&cursor, *ret_trace, &(*ret_trace)->streams[0]);
	bool found = mr_cursor_next(&cursor, event);
	assert_int_equal(cursor.malformed_packets, 0);
	assert_int_equal(cursor.unknown_events, !found);
	return found;
}

static void test_texts_of_other_versions(void **state)
{
	(void)state;
	char *directory = directory_make();
	struct mr_trace *trace;
	struct mr_event event;
	assert_true(read_one(directory, MR_EVENT_thread_name, "abc", 4,
			     text_replace(metadata_text(), "str _name;", "str _label;"), &trace,
			     &event));
	assert_string_equal(event.text, "");
	mr_trace_close(trace);
	assert_true(read_one(directory, MR_EVENT_thread_name, "\5abc", 5,
			     text_replace(metadata_text(), "str _name;", "u8 _age; str _name;"),
			     &trace, &event));
	assert_string_equal(event.text, "abc");
	mr_trace_close(trace);
	assert_true(read_one(directory, MR_EVENT_thread_name, "", 0,
			     text_replace(metadata_text(), "str _name;", ""), &trace, &event));
	assert_string_equal(event.text, "");
	mr_trace_close(trace);
	directory_remove(directory);
}

static void test_enumerations_of_other_versions(void **state)
{
	(void)state;
	uint8_t edge[13] = {[12] = 9};
	char *directory = directory_make();
	struct mr_trace *trace;
	struct mr_event event;
	/* A value more is no obstacle. */
	assert_true(
		read_one(directory, MR_EVENT_def_edge, edge, sizeof edge,
			 text_replace(metadata_text(), "control = 1", "control = 1, spooky = 9"),
			 &trace, &event));
	assert_int_equal(((const struct mr_event_def_edge *)event.payload)->kind, 9);
	mr_trace_close(trace);
	/* Another meaning of the same number is. */
	assert_false(read_one(
		directory, MR_EVENT_def_edge, edge, sizeof edge,
		text_replace(metadata_text(), "data = 0, control = 1", "control = 0, data = 1"),
		&trace, &event));
	mr_trace_close(trace);
	directory_remove(directory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_other_layouts_are_rearranged),
		cmocka_unit_test(test_signs_are_kept),
		cmocka_unit_test(test_unknown_events_are_skipped),
		cmocka_unit_test(test_ids_may_differ),
		cmocka_unit_test(test_texts_of_other_versions),
		cmocka_unit_test(test_enumerations_of_other_versions),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
