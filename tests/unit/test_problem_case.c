/* SPDX-License-Identifier: Apache-2.0
 *
 * What the rules of problems share.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analysis/problem/problem.h"

static const char *name_nothing(struct mr_case *of, const struct mr_moment *moment)
{
	(void)of, (void)moment;
	return "";
}

/* A program may give what it executes an empty name. It lasts as long as the findings, as any other does. */
static void test_empty_name(void **state)
{
	struct mr_moment moment = {.duration_ns = 5, .claimed_ns = 5, .station_count = 1};
	struct mr_findings findings = {0};
	struct mr_case of = {.findings = &findings,
			     .subject.moments = {.items = &moment, .count = 1}};
	struct mr_share share;

	(void)state;
	assert_int_equal(mr_case_most(&of, name_nothing, &share), 0);
	assert_int_equal(share.time_ns, 5);
	assert_int_equal(share.count, 1);
	assert_string_equal(share.name, "");
	mr_findings_free(&findings);
}

/* What the user wrote, wherever it lies; not what Python or a package brought. */
static void test_own_files(void **state)
{
	static const char *const own[] = {"train.py", "/home/me/lib/train.py", "<stdin>",
					  "/srv/library/python/model.py",
					  "/tmp/ipykernel_812/1234.py"};
	static const char *const foreign[] = {
		"",
		"<frozen importlib._bootstrap>",
		"/usr/lib/python3.11/threading.py",
		"/usr/lib/python3/dist-packages/torch/nn/modules/linear.py",
		"/home/me/venv/lib/python3.12/site-packages/numpy/core/_methods.py",
		"/usr/lib64/python3.9/json/decoder.py"};

	(void)state;
	for (size_t i = 0; i < mr_countof(own); i++)
		assert_int_equal(mr_code_origin(own[i]), MR_CODE_PROGRAM);
	for (size_t i = 0; i < mr_countof(foreign); i++)
		assert_int_not_equal(mr_code_origin(foreign[i]), MR_CODE_PROGRAM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_empty_name),
		cmocka_unit_test(test_own_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
