/* SPDX-License-Identifier: Apache-2.0
 *
 * String table and region: equal bytes have equal numbers, and nothing moves.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/strings.h"

static uint32_t intern(struct mr_strings *strings, const void *bytes, size_t count)
{
	uint32_t number = UINT32_MAX;

	assert_int_equal(mr_strings_intern(strings, bytes, count, &number), 0);
	return number;
}

static void test_numbers_in_order(void **state)
{
	struct mr_strings strings = {0};

	(void)state;
	assert_int_equal(intern(&strings, "", 0), 0);
	assert_int_equal(intern(&strings, "a", 1), 1);
	assert_int_equal(intern(&strings, "a\0b", 3), 2);
	assert_int_equal(intern(&strings, "a\0c", 3), 3);
	assert_int_equal(intern(&strings, "a", 1), 1);
	assert_int_equal(intern(&strings, "", 0), 0);
	assert_int_equal(mr_strings_count(&strings), 4);
	assert_memory_equal(mr_strings_text(&strings, 3), "a\0c", 4);
	mr_strings_free(&strings);
}

/* Many: found again by number and by text, through all the growing. */
static void test_many(void **state)
{
	enum {
		COUNT = 50000
	};
	struct mr_strings strings = {0};
	const char *early = NULL;
	char text[32];
	uint32_t number;

	(void)state;
	for (uint32_t i = 0; i < COUNT; i++) {
		int length = snprintf(text, sizeof text, "name %u", i * 7919);

		assert_int_equal(intern(&strings, text, (size_t)length), i);
		if (i == 5)
			early = mr_strings_text(&strings, 5);
	}
	assert_ptr_equal(mr_strings_text(&strings, 5), early);
	for (uint32_t i = 0; i < COUNT; i++) {
		int length = snprintf(text, sizeof text, "name %u", i * 7919);

		assert_true(mr_strings_find(&strings, text, (size_t)length, &number));
		assert_int_equal(number, i);
		assert_string_equal(mr_strings_text(&strings, i), text);
	}
	assert_false(mr_strings_find(&strings, "name", 4, &number));
	mr_strings_free(&strings);
	assert_false(mr_strings_find(&strings, "name", 4, &number));
}

static void test_region(void **state)
{
	struct mr_region region = {0};
	unsigned char *blocks[200];

	(void)state;
	for (size_t i = 0; i < 200; i++) {
		blocks[i] = mr_region_allocate(&region, i * 37);
		assert_non_null(blocks[i]);
		assert_int_equal((uintptr_t)blocks[i] % _Alignof(max_align_t), 0);
		for (size_t j = 0; j < i * 37; j++)
			assert_int_equal(blocks[i][j], 0);
		memset(blocks[i], (int)i, i * 37);
	}
	for (size_t i = 0; i < 200; i++)
		for (size_t j = 0; j < i * 37; j++)
			assert_int_equal(blocks[i][j], i);
	assert_null(mr_region_allocate(&region, SIZE_MAX - 5));
	assert_string_equal(mr_region_print(&region, "%d-%s", 7, "x"), "7-x");
	assert_string_equal(mr_region_copy(&region, "abcdef", 3), "abc");
	mr_region_free(&region);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers_in_order),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_region),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
