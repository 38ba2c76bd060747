/* SPDX-License-Identifier: Apache-2.0
 *
 * The tables made from events.def agree with the structs and with what traces on disk rely on.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/macros.h"
#include "schema/metadata.h"
#include "schema/packet.h"
#include "schema/schema.h"

/* Written down by hand: a changed number or size would make old traces unreadable. */
static void test_known_events(void **state)
{
	static const struct {
		uint8_t id;
		const char *name;
		uint16_t fixed_bytes;
		enum mr_level level;
	} known[] = {
		{1, "process_start", 29, MR_LEVEL_core},
		{16, "def_string", 4, MR_LEVEL_core},
		{18, "def_node", 20, MR_LEVEL_core},
		{32, "clock_sample", 32, MR_LEVEL_core},
		{48, "node_interval", 14, MR_LEVEL_dataflow},
		{64, "runtime_call", 26, MR_LEVEL_runtime},
		{65, "device_operation", 57, MR_LEVEL_runtime},
		{85, "loss", 9, MR_LEVEL_core},
	};
	(void)state;
	for (size_t i = 0; i < mr_countof(known); i++) {
		const struct mr_event_desc *event = &mr_event_table[known[i].id];
		assert_non_null(event->name);
		assert_string_equal(event->name, known[i].name);
		assert_int_equal(event->fixed_bytes, known[i].fixed_bytes);
		assert_int_equal(event->level, known[i].level);
	}
}

static void check_fields(const struct mr_event_desc *event)
{
	uint32_t bytes = 0;
	bool has_text = false;
	for (uint32_t i = 0; i < event->field_count; i++) {
		const struct mr_field_desc *field = &event->fields[i];
		assert_true(field->name[0] && field->doc[0]);
		assert_false(has_text); /* a text is the last field */
		has_text = field->type == MR_str;
		bytes += mr_type_bytes(field->type);
		if (field->enumeration)
			assert_int_equal(field->type, MR_u8);
		for (uint32_t j = 0; j < i; j++)
			assert_string_not_equal(field->name, event->fields[j].name);
	}
	assert_int_equal(event->fixed_bytes, bytes);
	assert_int_equal(event->has_text, has_text);
}

static void test_tables(void **state)
{
	(void)state;
	assert_null(mr_event_table[0].name);
	assert_null(mr_event_table[MR_EVENT_EXTENDED].name);
	for (int id = 1; id < MR_EVENT_EXTENDED; id++) {
		const struct mr_event_desc *event = &mr_event_table[id];
		if (!event->name)
			continue;
		assert_int_equal(event->id, id);
		assert_true(event->doc[0]);
		assert_string_not_equal(mr_level_name(event->level), "unknown");
		check_fields(event);
		for (int other = 1; other < id; other++)
			if (mr_event_table[other].name)
				assert_string_not_equal(event->name, mr_event_table[other].name);
	}
}

static void test_enumerations(void **state)
{
	(void)state;
	assert_non_null(mr_enum_table[0].name);
	for (const struct mr_enum_desc *enumeration = mr_enum_table; enumeration->name;
	     enumeration++) {
		assert_true(enumeration->value_count > 0);
		for (uint32_t i = 0; i < enumeration->value_count; i++)
			for (uint32_t j = 0; j < i; j++)
				assert_int_not_equal(enumeration->values[i].number,
						     enumeration->values[j].number);
	}
}

static void test_u48(void **state)
{
	static const uint64_t values[] = {0, 1, UINT32_MAX, UINT64_C(1) << 32, MR_U48_MAX};
	(void)state;
	assert_int_equal(sizeof(struct mr_u48), 6);
	for (size_t i = 0; i < mr_countof(values); i++) {
		struct mr_u48 stored = mr_u48_from(values[i]);
		uint64_t bytes = 0;
		memcpy(&bytes, &stored, sizeof stored); /* little-endian, as on disk */
		assert_int_equal(bytes, values[i]);
		assert_int_equal(mr_u48_value(stored), values[i]);
	}
}

/* Offsets of the CTF packet header and context, as the manual page millrace-trace(5) gives them. */
static void test_packet_layout(void **state)
{
	(void)state;
	assert_int_equal(offsetof(struct mr_packet, header.stream_class), 20);
	assert_int_equal(offsetof(struct mr_packet, header.stream), 24);
	assert_int_equal(offsetof(struct mr_packet, context.begin_ticks), 32);
	assert_int_equal(offsetof(struct mr_packet, context.content_bits), 48);
	assert_int_equal(offsetof(struct mr_packet, context.discarded_events), 72);
	assert_int_equal(offsetof(struct mr_packet, context.tid), 88);
	assert_int_equal(offsetof(struct mr_packet, context.kind), 92);
	assert_int_equal(offsetof(struct mr_packet, events), 96);
}

static void test_metadata_names_every_event_in_both_streams(void **state)
{
	const struct mr_metadata_clock clock = {.description = "a clock", .frequency = 1000000000};
	const struct mr_metadata metadata = {.host = "host", .user = clock, .monotonic = clock};
	char *text = NULL;
	size_t bytes;
	FILE *file = open_memstream(&text, &bytes);
	(void)state;
	assert_int_equal(mr_metadata_print(&metadata, file), 0);
	fclose(file);
	assert_memory_equal(text, "/* CTF 1.8 */", strlen("/* CTF 1.8 */"));
	for (int id = 1; id < MR_EVENT_EXTENDED; id++) {
		char line[128];
		if (!mr_event_table[id].name)
			continue;
		snprintf(line, sizeof line, "name = \"%s\";\n\tid = %d;\n", mr_event_table[id].name,
			 id);
		const char *first = strstr(text, line);
		assert_non_null(first);
		assert_non_null(strstr(first + 1, line));
	}
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known_events),
		cmocka_unit_test(test_tables),
		cmocka_unit_test(test_enumerations),
		cmocka_unit_test(test_u48),
		cmocka_unit_test(test_packet_layout),
		cmocka_unit_test(test_metadata_names_every_event_in_both_streams),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
