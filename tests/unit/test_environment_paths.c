/* SPDX-License-Identifier: Apache-2.0
 *
 * Variables of runtimes that do not exist: one that holds a single path, and a list with separators of its own.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "environment_text.h"
#include "hook/hooks.h"

/* In place of the library's own table. */
const struct mr_hook mr_hooks[MR_HOOKS] = {
	{.name = "one", .variables = {{"ONE_PATH", NULL, false}}},
	{.name = "tools", .variables = {{"TOOLS_LIST", " ,", false}, {"TOOLS_PATH", NULL, false}}},
};

static void test_free_paths(void **state)
{
	(void)state;
	const char *all = "ONE_PATH=/m.so|TOOLS_LIST=/m.so|TOOLS_PATH=/m.so|MILLRACE_ARENA=/a";
	assert_string_equal(build(NULL, &in), all);
	assert_string_equal(build(entries("ONE_PATH="), &in), all);
	assert_string_equal(build(entries("ONE_PATH=/m.so", "TOOLS_PATH=/m.so"), &in), all);
}

static void test_path_of_another_stays(void **state)
{
	(void)state;
	assert_string_equal(
		build(entries("ONE_PATH=/other.so"), &in),
		"ONE_PATH=/other.so|TOOLS_LIST=/m.so|TOOLS_PATH=/m.so|MILLRACE_ARENA=/a");
	assert_string_equal(build(entries("ONE_PATH=/m.so:/other.so", "TOOLS_PATH=/m.so.1"), &in),
			    "ONE_PATH=/m.so:/other.so|TOOLS_LIST=/m.so|TOOLS_PATH=/m.so.1|"
			    "MILLRACE_ARENA=/a");
}

static void test_taking_out(void **state)
{
	(void)state;
	assert_string_equal(build(entries("ONE_PATH=/m.so", "A=1"), &out), "A=1");
	assert_string_equal(build(entries("ONE_PATH=/other.so", "A=1"), &out),
			    "A=1|ONE_PATH=/other.so");
	assert_string_equal(build(entries("ONE_PATH="), &out), "ONE_PATH=");
	assert_string_equal(build(NULL, &out), "");
}

static void test_separators(void **state)
{
	(void)state;
	assert_string_equal(build(entries("TOOLS_LIST=/a:b.so,/c.so /m.so"), &in),
			    "ONE_PATH=/m.so|TOOLS_LIST=/m.so /a:b.so /c.so|TOOLS_PATH=/m.so|"
			    "MILLRACE_ARENA=/a");
	assert_string_equal(build(entries("TOOLS_LIST=/m.so,/c.so"), &out), "TOOLS_LIST=/c.so");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_free_paths),
		cmocka_unit_test(test_path_of_another_stays),
		cmocka_unit_test(test_taking_out),
		cmocka_unit_test(test_separators),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
