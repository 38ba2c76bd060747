/* SPDX-License-Identifier: Apache-2.0
 *
 * Requests of the viewer: how a target is taken apart, and what is none.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/macros.h"
#include "serve/request.h"

static struct mr_request parse(const char *target)
{
	struct mr_request request;

	assert_int_equal(mr_request_parse(target, &request), 0);
	return request;
}

static void assert_refused(const char *target)
{
	struct mr_request request = {.token = "untouched"};

	assert_int_equal(mr_request_parse(target, &request), -EINVAL);
	assert_string_equal(request.token, "untouched");
	assert_true(strlen(mr_error_text()) > 0);
}

static void test_parts(void **state)
{
	(void)state;
	struct mr_request request = parse("/abc/traces/0/slices?bands=3,4&from=-5&empty=&bare");

	assert_string_equal(request.token, "abc");
	assert_string_equal(request.path, "traces/0/slices");
	assert_int_equal(request.parameter_count, 4);
	assert_string_equal(mr_request_text(&request, "bands"), "3,4");
	assert_string_equal(mr_request_text(&request, "from"), "-5");
	assert_string_equal(mr_request_text(&request, "empty"), "");
	assert_string_equal(mr_request_text(&request, "bare"), "");
	assert_null(mr_request_text(&request, "to"));
	assert_null(mr_request_text(&request, "band"));
	mr_request_free(&request);
}

static void test_short_targets(void **state)
{
	(void)state;
	struct mr_request request = parse("/");

	assert_string_equal(request.token, "");
	assert_null(request.path);
	mr_request_free(&request);
	request = parse("/abc");
	assert_string_equal(request.token, "abc");
	assert_null(request.path);
	mr_request_free(&request);
	request = parse("/abc/?");
	assert_string_equal(request.path, "");
	assert_int_equal(request.parameter_count, 0);
	mr_request_free(&request);
	request = parse("//api");
	assert_string_equal(request.token, "");
	assert_string_equal(request.path, "api");
	mr_request_free(&request);
}

static void test_decoding(void **state)
{
	(void)state;
	struct mr_request request =
		parse("/a%62/x+%2e%2E%2f?na%6De=a+b%2Bc%26d%3De%25%c3%a9&q=?/=");

	assert_string_equal(request.token, "a%62"); /* a token has nothing to decode */
	assert_string_equal(request.path, "x+../");
	assert_string_equal(mr_request_text(&request, "name"), "a b+c&d=e%\xc3\xa9");
	assert_string_equal(mr_request_text(&request, "q"), "?/=");
	mr_request_free(&request);
}

/* Once only: what is decoded is not decoded again. */
static void test_double_encoding(void **state)
{
	(void)state;
	struct mr_request request = parse("/t/%252e%252e?a=%2541");

	assert_string_equal(request.path, "%2e%2e");
	assert_string_equal(mr_request_text(&request, "a"), "%41");
	mr_request_free(&request);
}

static void test_every_byte(void **state)
{
	char target[16];

	(void)state;
	for (int byte = 1; byte < 256; byte++) {
		snprintf(target, sizeof target, "/t/%%%02x?v=%%%02X", byte, byte);
		struct mr_request request = parse(target);

		assert_int_equal((unsigned char)request.path[0], byte);
		assert_int_equal((unsigned char)mr_request_text(&request, "v")[0], byte);
		assert_int_equal(strlen(mr_request_text(&request, "v")), 1);
		mr_request_free(&request);
	}
}

static void test_what_is_no_request(void **state)
{
	static const char *const targets[] = {"",
					      "*",
					      "http://127.0.0.1/t/",
					      "t/",
					      "/t/%",
					      "/t/%4",
					      "/t/%4g",
					      "/t/%g4",
					      "/t/%00",
					      "/t/?a=%00",
					      "/t/?%00=a",
					      "/t/?a=%",
					      "/t/?=1",
					      "/t/?a=1&&",
					      "/t/?a=1&a=2",
					      "/t/?&a=1",
					      "/t/?a&a",
					      "/t/?a=1&%61=2",
					      "/t/?a=%-1",
					      "/t/?a=%+1",
					      "?",
					      "/t/?a=%u0041"};

	(void)state;
	for (size_t i = 0; i < mr_countof(targets); i++)
		assert_refused(targets[i]);
}

static void test_number_of_parameters(void **state)
{
	char target[256] = "/t/?";

	(void)state;
	for (int i = 0; i < MR_REQUEST_PARAMETERS; i++)
		sprintf(target + strlen(target), "%sp%d=%d", i ? "&" : "", i, i);
	struct mr_request request = parse(target);
	assert_int_equal(request.parameter_count, MR_REQUEST_PARAMETERS);
	assert_string_equal(mr_request_text(&request, "p15"), "15");
	mr_request_free(&request);
	assert_refused(strcat(target, "&more=1"));
}

static void test_integers(void **state)
{
	static const struct {
		const char *target;
		int64_t low, high;
		int result;
		int64_t value;
	} cases[] = {
		{"/t/?n=0", 0, 10, 0, 0},
		{"/t/?n=10", 0, 10, 0, 10},
		{"/t/?n=11", 0, 10, -EINVAL, 0},
		{"/t/?n=-1", 0, 10, -EINVAL, 0},
		{"/t/?n=-7", -10, 10, 0, -7},
		{"/t/?n=007", 0, 10, 0, 7},
		{"/t/?n=9223372036854775807", INT64_MIN, INT64_MAX, 0, INT64_MAX},
		{"/t/?n=-9223372036854775808", INT64_MIN, INT64_MAX, 0, INT64_MIN},
		{"/t/?n=9223372036854775808", INT64_MIN, INT64_MAX, -EINVAL, 0},
		{"/t/?n=99999999999999999999", INT64_MIN, INT64_MAX, -EINVAL, 0},
		{"/t/?n=", 0, 10, -EINVAL, 0},
		{"/t/?n=-", 0, 10, -EINVAL, 0},
		{"/t/?n=+1", 0, 10, -EINVAL, 0},
		{"/t/?n=%2B1", 0, 10, -EINVAL, 0},
		{"/t/?n=%201", 0, 10, -EINVAL, 0},
		{"/t/?n=1%20", 0, 10, -EINVAL, 0},
		{"/t/?n=0x1", 0, 10, -EINVAL, 0},
		{"/t/?n=1e1", 0, 10, -EINVAL, 0},
		{"/t/?n=1.0", 0, 10, -EINVAL, 0},
		{"/t/?n=1,2", 0, 10, -EINVAL, 0},
		{"/t/?n=1,", 0, 10, -EINVAL, 0},
		{"/t/?m=1", 0, 10, -EINVAL, 0},
	};

	(void)state;
	for (size_t i = 0; i < mr_countof(cases); i++) {
		struct mr_request request = parse(cases[i].target);
		int64_t value = 0;

		assert_int_equal(
			mr_request_integer(&request, "n", cases[i].low, cases[i].high, &value),
			cases[i].result);
		assert_int_equal(value, cases[i].value);
		mr_request_free(&request);
	}
}

static void test_cause_names_the_parameter(void **state)
{
	struct mr_request request = parse("/t/?from=x");
	int64_t value;

	(void)state;
	assert_int_equal(mr_request_integer(&request, "from", 0, 1, &value), -EINVAL);
	assert_string_equal(mr_error_text(), "from: is not a whole number");
	mr_request_free(&request);
}

static void test_lists(void **state)
{
	static const int64_t expected[] = {3, -4, 7};
	const char *list = "3,-4,7";
	int64_t value;

	(void)state;
	for (size_t i = 0; i < mr_countof(expected); i++) {
		assert_int_equal(mr_request_next_integer(&list, "bands", -9, 9, &value), 0);
		assert_int_equal(value, expected[i]);
	}
	assert_null(list);
	static const char *const wrong[] = {"", ",", ",1", "1;2", "a", "1a,2", "10"};
	for (size_t i = 0; i < mr_countof(wrong); i++) {
		list = wrong[i];
		assert_int_equal(mr_request_next_integer(&list, "bands", -9, 9, &value), -EINVAL);
		assert_ptr_equal(list, wrong[i]);
	}
	list = "1,";
	assert_int_equal(mr_request_next_integer(&list, "bands", -9, 9, &value), 0);
	assert_int_equal(mr_request_next_integer(&list, "bands", -9, 9, &value), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parts),
		cmocka_unit_test(test_short_targets),
		cmocka_unit_test(test_decoding),
		cmocka_unit_test(test_double_encoding),
		cmocka_unit_test(test_every_byte),
		cmocka_unit_test(test_what_is_no_request),
		cmocka_unit_test(test_number_of_parameters),
		cmocka_unit_test(test_integers),
		cmocka_unit_test(test_cause_names_the_parameter),
		cmocka_unit_test(test_lists),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
