/* SPDX-License-Identifier: Apache-2.0
 *
 * Error chains, vectors and the JSON writer.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/json_writer.h"
#include "base/macros.h"
#include "base/sort.h"
#include "base/vector.h"

static void test_error_chain(void **state)
{
	(void)state;
	int error = mr_fail(EINVAL, "size %d exceeds %d", 9, 8);
	assert_int_equal(error, -EINVAL);
	assert_int_equal(mr_fail_more(error, "read packet %d", 3), -EINVAL);
	assert_int_equal(mr_fail_more(error, "open %s", "x.mill"), -EINVAL);
	assert_string_equal(mr_error_text(), "open x.mill: read packet 3: size 9 exceeds 8");
	assert_int_equal(mr_fail_errno(ENOENT, "a/b"), -ENOENT);
	assert_string_equal(mr_error_text(), "a/b: No such file or directory");
}

static void test_error_chain_is_bounded(void **state)
{
	char large[4096];
	(void)state;
	memset(large, 'x', sizeof large - 1);
	large[sizeof large - 1] = '\0';
	int error = mr_fail_errno(EIO, "%s", large);
	for (int i = 0; i < 10; i++)
		assert_int_equal(mr_fail_more(error, "%s", large), -EIO);
	assert_true(strlen(mr_error_text()) < sizeof large);
}

static void test_vector(void **state)
{
	mr_vec(uint32_t) numbers = {0};
	(void)state;
	for (uint32_t i = 0; i < 1000; i++)
		assert_int_equal(mr_vec_push(&numbers, i * i), 0);
	assert_int_equal(numbers.count, 1000);
	for (uint32_t i = 0; i < 1000; i++)
		assert_int_equal(numbers.items[i], i * i);
	assert_int_equal(mr_vec_reserve(&numbers, SIZE_MAX / 2), -ENOMEM);
	assert_int_equal(numbers.items[999], 999 * 999);
	mr_vec_free(&numbers);
	assert_null(numbers.items);
	assert_int_equal(numbers.count, 0);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static char *text;
static size_t text_bytes;
static FILE *memory;

static struct mr_json start(enum mr_json_style style)
{
	struct mr_json json;
	free(text);
	memory = open_memstream(&text, &text_bytes);
	mr_json_start(&json, memory, style);
	return json;
}

static void expect(struct mr_json *json, const char *expected)
{
	assert_int_equal(mr_json_finish(json), 0);
	fclose(memory);
	assert_string_equal(text, expected);
}

static void test_json_layout(void **state)
{
	(void)state;
	for (int style = MR_JSON_INDENTED; style <= MR_JSON_ONE_LINE; style++) {
		struct mr_json json = start(style);
		mr_json_begin_object(&json, NULL);
		mr_json_string(&json, "a", "b");
		mr_json_begin_array(&json, "empty");
		mr_json_end_array(&json);
		mr_json_begin_array(&json, "list");
		mr_json_uint(&json, NULL, 1);
		mr_json_begin_object(&json, NULL);
		mr_json_end_object(&json);
		mr_json_end_array(&json);
		mr_json_bool(&json, "last", false);
		mr_json_end_object(&json);
		expect(&json,
		       style == MR_JSON_ONE_LINE
			       ? "{\"a\": \"b\", \"empty\": [], \"list\": [1, {}], \"last\": "
				 "false}\n"
			       : "{\n  \"a\": \"b\",\n  \"empty\": [],\n  \"list\": [\n    1,\n"
				 "    {}\n  ],\n  \"last\": false\n}\n");
	}
}

static void test_json_numbers(void **state)
{
	(void)state;
	struct mr_json json = start(MR_JSON_ONE_LINE);
	mr_json_begin_array(&json, NULL);
	mr_json_int(&json, NULL, INT64_MIN);
	mr_json_uint(&json, NULL, UINT64_MAX);
	mr_json_null(&json, NULL);
	mr_json_string(&json, NULL, NULL);
	mr_json_end_array(&json);
	expect(&json, "[-9223372036854775808, 18446744073709551615, null, null]\n");
}

static void test_json_strings(void **state)
{
#define REPLACEMENT "\xEF\xBF\xBD"
	static const struct {
		const char *value;
		const char *written;
	} cases[] = {
		{"", ""},
		{"a\"b\\c/", "a\\\"b\\\\c/"},
		{"\n\t\r\x01\x1f\x7f", "\\n\\t\\u000d\\u0001\\u001f\\u007f"},
		{"é€😀", "é€😀"},
		{"\xff", REPLACEMENT},
		{"\x80", REPLACEMENT},
		{"a\xc3", "a" REPLACEMENT},                            /* cut short */
		{"\xc3(", REPLACEMENT "("},                            /* wrong second byte */
		{"\xc0\xaf", REPLACEMENT REPLACEMENT},                 /* over-long */
		{"\xe0\x80\xaf", REPLACEMENT REPLACEMENT REPLACEMENT}, /* over-long */
		{"\xed\xa0\x80", REPLACEMENT REPLACEMENT REPLACEMENT}, /* surrogate */
		{"\xf4\x8f\xbf\xbf", "\xf4\x8f\xbf\xbf"},              /* U+10FFFF */
		{"\xf4\x90\x80\x80", REPLACEMENT REPLACEMENT REPLACEMENT REPLACEMENT},
		{"\xf0\x9f\x98", REPLACEMENT REPLACEMENT REPLACEMENT},
	};
	(void)state;
	for (size_t i = 0; i < mr_countof(cases); i++) {
		char expected[128];
		struct mr_json json = start(MR_JSON_ONE_LINE);
		mr_json_string(&json, NULL, cases[i].value);
		snprintf(expected, sizeof expected, "\"%s\"\n", cases[i].written);
		expect(&json, expected);
	}
}

static void test_json_reports_full_disk(void **state)
{
	struct mr_json json;
	mr_auto(close_file) FILE *full = fopen("/dev/full", "w");
	(void)state;
	assert_non_null(full);
	mr_json_start(&json, full, MR_JSON_INDENTED);
	mr_json_begin_object(&json, NULL);
	mr_json_end_object(&json);
	assert_int_equal(mr_json_finish(&json), -ENOSPC);
	assert_non_null(strstr(mr_error_text(), strerror(ENOSPC)));
}

static int free_text(void **state)
{
	(void)state;
	free(text);
	return 0;
}

/* Against looking at each value in turn, whatever the guess. */
static void test_find_larger_near(void **state)
{
	static const int64_t values[] = {-7, -7, 0, 1, 1, 1, 4, 9, 9, 20, 21, 22, 40};
	const uint32_t count = mr_countof(values);

	(void)state;
	for (uint32_t low = 0; low <= count; low++)
		for (uint32_t high = low; high <= count; high++)
			for (uint32_t guess = 0; guess <= count + 2; guess++)
				for (int64_t value = -9; value < 43; value++) {
					uint32_t expected = low;

					while (expected < high && values[expected] <= value)
						expected++;
					assert_int_equal(expected,
							 mr_find_larger_near(values, low, high,
									     guess, value));
				}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_find_larger_near),
		cmocka_unit_test(test_error_chain),
		cmocka_unit_test(test_error_chain_is_bounded),
		cmocka_unit_test(test_vector),
		cmocka_unit_test(test_json_layout),
		cmocka_unit_test(test_json_numbers),
		cmocka_unit_test(test_json_strings),
		cmocka_unit_test(test_json_reports_full_disk),
	};
	return cmocka_run_group_tests(tests, NULL, free_text);
}
