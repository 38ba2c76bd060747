/* SPDX-License-Identifier: Apache-2.0
 *
 * The JSON walk: numbers against integers they were printed from, brackets against a walk byte by byte,
 * and every text cut off at every byte.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/macros.h"
#include "import/chrome/json.h"

static uint64_t state = 1;

static uint32_t random_below(uint32_t limit)
{
	state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (uint32_t)(state >> 33) % limit;
}

static struct mr_json_value number(const char *text)
{
	return (struct mr_json_value){text, strlen(text), MR_JSON_NUMBER, false};
}

static void assert_integer(const char *text, int power, int64_t expected)
{
	const struct mr_json_value value = number(text);
	int64_t found;

	if (!mr_json_integer(&value, power, &found) || found != expected)
		fail_msg("%s became %" PRId64 ", not %" PRId64, text, found, expected);
}

/* ---- numbers -------------------------------------------------------------------------------------- */

static void test_numbers(void **unused)
{
	(void)unused;
	assert_integer("0", 3, 0);
	assert_integer("-0", 3, 0);
	assert_integer("1.5", 3, 1500);
	assert_integer("-1.5", 3, -1500);
	assert_integer("1.4994", 3, 1499);
	assert_integer("1.4995", 3, 1500);
	assert_integer("-1.4995", 3, -1500);
	assert_integer("0.00049999999999999999999999", 3, 0);
	assert_integer("0.0005", 3, 1);
	assert_integer("5e-4", 3, 1);
	assert_integer("1e3", 0, 1000);
	assert_integer("1E+3", 0, 1000);
	assert_integer("12345678901234567890e-10", 0, 1234567890);
	assert_integer("0.000000000000000000000000000001e30", 0, 1);
	assert_integer("9223372036854775807", 0, INT64_MAX);
	assert_integer("9223372036854775.807", 3, INT64_MAX);
	assert_integer("0e999999999999999999999", 0, 0);
	assert_integer("1e-999999999999999999999", 0, 0);
}

static void test_no_numbers(void **unused)
{
	static const char *const texts[] = {
		"",     "-",
		".5",   "1.e",
		"e5",   "1e",
		"1e+",  "--1",
		"1-2",  "1.2.3",
		"0x10", "9223372036854775808",
		"1e19", "1e999999999999",
		"nan",  "1 ",
		"+1",
	};

	(void)unused;
	for (size_t i = 0; i < mr_countof(texts); i++) {
		const struct mr_json_value value = number(texts[i]);
		int64_t found = 77;

		if (mr_json_integer(&value, 0, &found))
			fail_msg("'%s' became %" PRId64, texts[i], found);
		assert_int_equal(found, 77);
	}
}

/* Nanoseconds printed as microseconds, in any way that JSON allows. */
static void print_microseconds(char *text, size_t room, int64_t ns)
{
	switch (random_below(3)) {
	case 0:
		snprintf(text, room, "%" PRId64 ".%03" PRId64 "%.*s", ns / 1000, ns % 1000,
			 (int)random_below(5), "00000");
		break;
	case 1:
		snprintf(text, room, "%" PRId64 "e-3", ns);
		break;
	default: /* all digits behind the point, and the exponent brings them back */
		snprintf(text, room, "0.%020" PRId64 "E+17", ns);
	}
}

static void test_random_numbers(void **unused)
{
	(void)unused;
	for (int i = 0; i < 100000; i++) {
		int64_t ns = (int64_t)(((uint64_t)random_below(1u << 31) << 32 |
					(uint64_t)random_below(1u << 31) << 1) >>
				       random_below(63));
		char text[80];

		print_microseconds(text, sizeof text, ns);
		assert_integer(text, 3, ns);
	}
}

static void test_identifiers(void **unused)
{
	struct mr_json_value value = {"0xFf", 4, MR_JSON_STRING, false};
	uint64_t found;

	(void)unused;
	assert_true(mr_json_unsigned(&value, &found));
	assert_int_equal(found, 255);
	value = number("18446744073709551615");
	assert_true(mr_json_unsigned(&value, &found));
	assert_true(found == UINT64_MAX);
	static const char *const wrong[] = {"18446744073709551616", "-1", "1.5", "", "0x", "f"};
	for (size_t i = 0; i < mr_countof(wrong); i++) {
		value = number(wrong[i]);
		assert_false(mr_json_unsigned(&value, &found));
	}
}

/* ---- strings -------------------------------------------------------------------------------------- */

static void assert_unescaped(const char *text, const char *expected)
{
	const struct mr_json_value value = {text, strlen(text), MR_JSON_STRING, true};
	char *room = malloc(value.length + 1); /* exactly: a sanitizer sees more */
	size_t length = mr_json_unescape(&value, room);

	assert_true(length <= value.length);
	room[length] = 0;
	assert_string_equal(room, expected);
	free(room);
}

static void test_escapes(void **unused)
{
	(void)unused;
	assert_unescaped("plain", "plain");
	assert_unescaped("\\\"\\\\\\/\\b\\f\\n\\r\\t", "\"\\/\b\f\n\r\t");
	assert_unescaped("\\u0041\\u00e9\\u20AC\\ud83d\\ude00",
			 "A\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80");
	assert_unescaped("\\u0000", "\xEF\xBF\xBD");
	assert_unescaped("\\ud83d", "\xEF\xBF\xBD");
	assert_unescaped("\\ude00x", "\xEF\xBF\xBDx");
	assert_unescaped("\\ud83d\\u0041", "\xEF\xBF\xBD"
					   "A");
	assert_unescaped("\\u", "?");
	assert_unescaped("\\uzzzz", "?zzzz");
	assert_unescaped("\\u12", "?12");
	assert_unescaped("\\x", "x");
	assert_unescaped("end\\", "end\\");
}

/* ---- walking -------------------------------------------------------------------------------------- */

/* Where the value that begins with a bracket ends; NULL if that is not in the text. */
static const char *end_of_brackets(const char *at, const char *end)
{
	bool in_string = false;
	int depth = 0;

	for (; at < end; at++) {
		if (in_string) {
			if (*at == '\\')
				at++;
			else if (*at == '"')
				in_string = false;
		} else if (*at == '"') {
			in_string = true;
		} else if (*at == '[' || *at == '{') {
			depth++;
		} else if ((*at == ']' || *at == '}') && --depth == 0) {
			return at + 1;
		}
	}
	return NULL;
}

/* Brackets, strings and escapes at random; escapes only where JSON has them. */
static void make_brackets(char *text, size_t length)
{
	static const char bytes[] = "[]{}\"\\a[]\"\"  ";
	bool in_string = false, is_escaped = false;

	text[0] = "[{"[random_below(2)];
	for (size_t i = 1; i < length; i++) {
		text[i] = bytes[random_below(sizeof bytes - 1)];
		if (text[i] == '\\' && !in_string)
			text[i] = ' ';
		in_string ^= text[i] == '"' && !is_escaped;
		is_escaped = text[i] == '\\' && !is_escaped;
	}
}

static void test_random_brackets(void **unused)
{
	static char text[512 + MR_SCAN_PADDING];

	(void)unused;
	for (int i = 0; i < 200000; i++) {
		size_t length = 2 + random_below(300);

		memset(text, 0, sizeof text);
		make_brackets(text, length);
		const char *expected = end_of_brackets(text, text + length);
		struct mr_scan scan = {text, text + length};
		struct mr_json_value value;
		enum mr_scan_result result = mr_scan_value(&scan, &value);

		assert_int_equal(result, expected ? MR_SCAN_OK : MR_SCAN_MORE);
		if (expected)
			assert_ptr_equal(scan.at, expected);
	}
}

/* Counts the members of all objects in an array of them. */
static enum mr_scan_result count_members(struct mr_scan *scan, int *ret_count)
{
	struct mr_json_value key, value;
	bool first_element = true;
	enum mr_scan_result result = mr_scan_enter(scan, '[');

	*ret_count = 0;
	while (result == MR_SCAN_OK &&
	       (result = mr_scan_element(scan, &first_element)) == MR_SCAN_OK) {
		bool first_member = true;

		result = mr_scan_enter(scan, '{');
		while (result == MR_SCAN_OK &&
		       (result = mr_scan_member(scan, &first_member, &key, &value)) == MR_SCAN_OK)
			++*ret_count;
		result = result == MR_SCAN_LAST ? MR_SCAN_OK : result;
	}
	return result;
}

static void test_every_prefix_wants_more(void **unused)
{
	static const char whole[] =
		" [ {\"a\" : 1.5e3 , \"b\\\"\": \"x\\\\\", \"c\":[{\"d\":\"]\"}]}, {} ,"
		"{\"e\":true,\"f\":null}\n]";
	static char text[sizeof whole + MR_SCAN_PADDING];
	int count;

	(void)unused;
	for (size_t length = 0; length < sizeof whole; length++) {
		memset(text, 0, sizeof text);
		memcpy(text, whole, length);
		struct mr_scan scan = {text, text + length};
		enum mr_scan_result result = count_members(&scan, &count);

		assert_int_equal(result, length == sizeof whole - 1 ? MR_SCAN_LAST : MR_SCAN_MORE);
	}
	assert_int_equal(count, 5);
}

static void test_what_is_not_json(void **unused)
{
	static const char *const texts[] = {
		"[{a:1}]",         "[{\"a\" 1}]", "[{\"a\":}]", "[{\"a\":1 \"b\":2}]", "[{,}]",
		"[{\"a\":1},,{}]", "[{\"a\":?}]", "{\"a\":1}",  "[{\"a\":1]",          "[}",
	};

	(void)unused;
	for (size_t i = 0; i < mr_countof(texts); i++) {
		char text[64 + MR_SCAN_PADDING] = {0};
		struct mr_scan scan = {text, text + strlen(texts[i])};
		int count;

		strcpy(text, texts[i]);
		if (count_members(&scan, &count) != MR_SCAN_BAD)
			fail_msg("%s was taken for JSON", text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_no_numbers),
		cmocka_unit_test(test_random_numbers),
		cmocka_unit_test(test_identifiers),
		cmocka_unit_test(test_escapes),
		cmocka_unit_test(test_random_brackets),
		cmocka_unit_test(test_every_prefix_wants_more),
		cmocka_unit_test(test_what_is_not_json),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
