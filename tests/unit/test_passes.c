/* SPDX-License-Identifier: Apache-2.0
 *
 * Passes run in an order in which each finds what it needs, or not at all.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "load/passes.h"

static char ran[8];

static int note(char letter, int result)
{
	ran[strlen(ran)] = letter;
	return result;
}

static int run_a(struct mr_loader *loader)
{
	(void)loader;
	return note('a', 0);
}

static int run_b(struct mr_loader *loader)
{
	(void)loader;
	return note('b', 0);
}

static int run_failing(struct mr_loader *loader)
{
	(void)loader;
	return note('f', -ENOMEM);
}

static const struct mr_pass a = {"a", run_a, 0, MR_LOADED_ROWS};
static const struct mr_pass b = {"b", run_b, MR_LOADED_ROWS, MR_LOADED_NODES};
static const struct mr_pass f = {"f", run_failing, MR_LOADED_ROWS, MR_LOADED_ORDER};

static int reset(void **state)
{
	(void)state;
	memset(ran, 0, sizeof ran);
	return 0;
}

static void test_order_is_kept(void **state)
{
	const struct mr_pass passes[] = {a, b};

	(void)state;
	assert_null(mr_passes_find_misplaced(passes, 2));
	assert_int_equal(mr_passes_run(NULL, passes, 2), 0);
	assert_string_equal(ran, "ab");
}

static void test_wrong_order_is_refused(void **state)
{
	const struct mr_pass passes[] = {b, a};

	(void)state;
	assert_ptr_equal(mr_passes_find_misplaced(passes, 2), &passes[0]);
	assert_int_equal(mr_passes_run(NULL, passes, 2), -EINVAL);
	assert_string_equal(ran, "");
}

static void test_failure_ends_it(void **state)
{
	const struct mr_pass passes[] = {a, f, b};

	(void)state;
	assert_int_equal(mr_passes_run(NULL, passes, 3), -ENOMEM);
	assert_string_equal(ran, "af");
}

/* Whatever pass is moved to the front, somebody's needs are not met, unless it needs nothing. */
static void test_passes_of_a_trace(void **state)
{
	struct mr_pass *moved = calloc(mr_load_pass_count, sizeof *moved);

	(void)state;
	assert_non_null(moved);
	assert_null(mr_passes_find_misplaced(mr_load_passes, mr_load_pass_count));
	assert_int_equal(mr_load_passes[0].needs, 0);
	for (uint32_t first = 1; first < mr_load_pass_count; first++) {
		moved[0] = mr_load_passes[first];
		for (uint32_t i = 0, to = 1; i < mr_load_pass_count; i++)
			if (i != first)
				moved[to++] = mr_load_passes[i];
		assert_ptr_equal(mr_passes_find_misplaced(moved, mr_load_pass_count), moved);
	}
	free(moved);
}

/* What a pass fills in has a name, which others can need, and no other pass fills it in. */
static void test_each_gives_something_of_its_own(void **state)
{
	uint32_t given = 0;

	(void)state;
	for (uint32_t i = 0; i < mr_load_pass_count; i++) {
		assert_int_not_equal(mr_load_passes[i].gives, 0);
		assert_int_equal(mr_load_passes[i].gives & given, 0);
		given |= mr_load_passes[i].gives;
	}
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup(name, reset)
	const struct CMUnitTest tests[] = {
		TEST(test_order_is_kept),
		TEST(test_wrong_order_is_refused),
		TEST(test_failure_ends_it),
		TEST(test_passes_of_a_trace),
		TEST(test_each_gives_something_of_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
