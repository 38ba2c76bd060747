/* SPDX-License-Identifier: Apache-2.0
 *
 * The metadata parser: what it takes, and what it refuses with which words.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <errno.h>

#include "base/error.h"
#include "trace/metadata.h"
#include "trace_writer.h"

static void check_clock(const struct mr_metadata_clock *read, const struct mr_metadata_clock *given)
{
	assert_string_equal(read->description, given->description);
	assert_int_equal(read->frequency, given->frequency);
	assert_int_equal(read->offset_s, given->offset_s);
	assert_int_equal(read->offset_ticks, given->offset_ticks);
	assert_int_equal(read->precision_ns, given->precision_ns);
}

/* Parses the text, which is freed, and checks that it says what the writer gave. */
static void check_taken(char *text)
{
	struct mr_trace_metadata *metadata = NULL;
	if (mr_trace_metadata_parse(text, strlen(text), &metadata) < 0)
		fail_msg("%s", mr_error_text());
	assert_memory_equal(metadata->identity.trace_uuid, writer_metadata.trace_uuid, 16);
	assert_string_equal(metadata->identity.host, writer_metadata.host);
	assert_int_equal(metadata->identity.user_clock, writer_metadata.user_clock);
	check_clock(&metadata->identity.user, &writer_metadata.user);
	check_clock(&metadata->identity.monotonic, &writer_metadata.monotonic);
	for (int class = 0; class < MR_STREAM_CLASSES; class ++)
		for (int id = 0; id < 256; id++) {
			const struct mr_layout *layout = &metadata->layouts[class][id];
			const struct mr_event_desc *desc = &mr_event_table[id];
			assert_int_equal(layout->declared, desc->name != NULL);
			assert_ptr_equal(layout->desc, desc->name ? desc : NULL);
			assert_null(layout->moves);
			assert_int_equal(layout->fixed_bytes, desc->fixed_bytes);
			assert_int_equal(layout->has_text, desc->has_text);
		}
	mr_trace_metadata_free(metadata);
	free(text);
}

static void test_own_text_is_taken(void **state)
{
	(void)state;
	check_taken(metadata_text());
}

static void test_blanks_and_comments_are_free(void **state)
{
	(void)state;
	check_taken(text_replace(metadata_text(), "\n", " "));
	check_taken(text_replace(metadata_text(), ";", "\n\t ;\n // so ; it } goes\n"));
	check_taken(text_replace(metadata_text(), " = ", "/* a\n * b /* c ** */=\n\n"));
	check_taken(text_replace(metadata_text(), "tracer_name",
				 "more = 5; other = \"x\"; tracer_name"));
}

static void test_negative_offset(void **state)
{
	(void)state;
	char *text = text_replace(metadata_text(), "offset_s = 1700000000", "offset_s = -17");
	struct mr_trace_metadata *metadata = NULL;
	assert_int_equal(mr_trace_metadata_parse(text, strlen(text), &metadata), 0);
	assert_int_equal(metadata->identity.user.offset_s, -17);
	mr_trace_metadata_free(metadata);
	free(text);
}

static void test_what_is_refused(void **state)
{
	(void)state;
	static const struct {
		const char *from, *to, *reason;
	} cases[] = {
		{"/* CTF 1.8 */", "/* CTF 1.8", "no end"},
		{"/* CTF 1.8 */", "$", "line 1: unexpected byte 0x24"},
		{"/* CTF 1.8 */", "callsite { };", "line 1: block 'callsite' is not known"},
		{"\"mill\"", "\"mi\\nll\"", "string"},
		{"\"mill\"", "\"mi\nll\"", "string"},
		{"\"mill\"", "5", "expected a string"},
		{"hostname = \"mill\";", "", "host"},
		{"user_clock = 1", "user_clock = 0", "user clock"},
		{"user_clock = 1", "user_clock = 3", "the number 3"},
		{"user_clock = 1", "user_clock = -1", "negative"},
		{"user_clock = 1", "user_clock = -", "the number -"},
		{"minor = 8", "minor = 9", "expected 8"},
		{"byte_order = le", "byte_order = be", "expected 'le'"},
		{"uuid = \"d", "uuid = \"x", "not a UUID"},
		{"uuid = \"d", "uuid = \"", "not a UUID"},
		{"0607-", "06070", "not a UUID"},
		{"freq = 2300000000", "freq = 0", "frequency"},
		{"freq = 2300000000", "freq = 99999999999999999999", "out of range"},
		{"freq = 2300000000", "speed = 5", "clock attribute 'speed' is not known"},
		{"offset_s = 1700000000", "offset_s = 8589934593", "out of range"},
		{"absolute = TRUE", "absolute = FALSE", "expected 'TRUE'"},
		{"name = \"user\"", "name = \"cuckoo\"", "clock 'cuckoo' is not known"},
		{"name = \"monotonic\"", "name = \"user\"", "described twice"},
		{"u32 magic", "u64 magic", "line 19: this packet.header is not millrace's"},
		{"u64 stream_instance_id;", "u64 stream_instance_id; u32 x;", "packet.header"},
		{"\t\tu64 stream_instance_id;\n", "", "packet.header"},
		{"u64 content_size", "u32 content_size", "packet.context is not millrace's"},
		{"extended = 255 }", "extended = 254 }", "event.header is not millrace's"},
		{"stream {", "stream { id = 0; }; stream {", NULL},
		{"signed = false; } := u8", "signed = true; } := u8", "no integer has this size"},
		{"signed = false; } := u8", "signed = maybe; } := u8", "expected 'false'"},
		{"size = 16;", "size = 32;", "the type u16 is not millrace's"},
		{":= u48", ":= u49", "type 'u48' is not known"},
		{":= u48", ":= u8", "defined twice"},
		{"map = clock.user.value", "map = clock.monotonic.value", "user_time32"},
		{"align = 8", "align = 1", "expected 8"},
		{"encoding = UTF8", "encoding = ASCII", "expected 'UTF8'"},
		{"mant_dig = 53", "mant_dig = 24", "expected 53"},
		{"u48 _duration_ticks", "u49 _duration_ticks", "type 'u49' is not known"},
		{"str _name", "str _name; u8 _x", "last field"},
		{"str _name", "str _name[5]", "expected ';', found '['"},
		{"name = \"counter\";", "", "needs a name"},
		{"id = 48;", "id = 49;", "two events have id 49"},
		{"id = 48;", "id = 255;", "the number 255"},
		{"id = 48;", "loglevel = 5; id = 48;", "event attribute 'loglevel'"},
		{"stream_id = 1", "stream_id = 2", "the number 2"},
		{"data = 0", "data = 256", "the number 256"},
		{"enum : u8 { data", "enum : u16 { data", "stored as u8"},
	};
	for (size_t i = 0; i < mr_countof(cases); i++) {
		char *text = text_replace(metadata_text(), cases[i].from, cases[i].to);
		struct mr_trace_metadata *metadata = NULL;
		int error = mr_trace_metadata_parse(text, strlen(text), &metadata);
		free(text);
		if (!cases[i].reason) { /* the headers of a stream may come in parts */
			assert_int_equal(error, 0);
			mr_trace_metadata_free(metadata);
			continue;
		}
		if (error != -EINVAL || metadata)
			fail_msg("taken: %s", cases[i].to);
		if (!strstr(mr_error_text(), cases[i].reason))
			fail_msg("%s: %s", cases[i].to, mr_error_text());
	}
}

static void test_too_many_fields(void **state)
{
	(void)state;
	char fields[66 * 16] = "";
	for (int i = 0; i < 65; i++)
		sprintf(fields + strlen(fields), "u64 _f%d;", i);
	char *text = text_replace(metadata_text(), "u48 _duration_ticks;", fields);
	struct mr_trace_metadata *metadata = NULL;
	assert_int_equal(mr_trace_metadata_parse(text, strlen(text), &metadata), -EINVAL);
	assert_non_null(strstr(mr_error_text(), "too many fields"));
	free(text);
}

/* Every prefix of the text that lacks something lacks an event at least, or is refused. The copy is
 * exact, so that a sanitizer sees a read past its end. */
static void test_every_prefix(void **state)
{
	(void)state;
	char *text = metadata_text();
	size_t length = strlen(text);
	for (size_t cut = 0; cut < length; cut += 1 + cut % 7) {
		char *prefix = malloc(cut + !cut);
		memcpy(prefix, text, cut);
		struct mr_trace_metadata *metadata = NULL;
		if (mr_trace_metadata_parse(prefix, cut, &metadata) == 0)
			assert_true(strstr(text, "stream {\n\tid = 1;") < text + cut);
		mr_trace_metadata_free(metadata);
		free(prefix);
	}
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_own_text_is_taken),
		cmocka_unit_test(test_blanks_and_comments_are_free),
		cmocka_unit_test(test_negative_offset),
		cmocka_unit_test(test_what_is_refused),
		cmocka_unit_test(test_too_many_fields),
		cmocka_unit_test(test_every_prefix),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
