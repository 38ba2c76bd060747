/* SPDX-License-Identifier: Apache-2.0
 *
 * What hooks keep in mind about objects of a runtime, against a plain array of the same.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "hook/shared/handles.h"

enum {
	HANDLES = 2000,
	STEPS = 200000,
};

static struct mr_handle_map map;
static char objects[HANDLES]; /* their addresses are the handles */
static struct mr_handle expected[HANDLES];

static void put(int i, uint32_t references, uint32_t flags)
{
	expected[i] = (struct mr_handle){.handle = &objects[i],
					 .value = (uint64_t)rand(),
					 .owner = &objects[i],
					 .references = references,
					 .flags = flags};
	assert_true(mr_handle_put(&map, &expected[i]));
}

static void check(int i)
{
	struct mr_handle found;
	bool is_there = expected[i].references > 0 || expected[i].flags & MR_HANDLE_IS_HELD;
	assert_int_equal(mr_handle_get(&map, &objects[i], &found), is_there);
	if (is_there)
		assert_memory_equal(&found, &expected[i], sizeof found);
}

static void change(int i, int by, uint32_t flags)
{
	struct mr_handle found;
	bool is_there = expected[i].references > 0 || expected[i].flags & MR_HANDLE_IS_HELD;
	bool is_possible = is_there && (int)expected[i].references + by >= 0;
	assert_int_equal(mr_handle_change(&map, &objects[i], by, flags, &found), is_possible);
	if (!is_possible)
		return;
	expected[i].references += (uint32_t)by;
	expected[i].flags &= ~flags;
	assert_memory_equal(&found, &expected[i], sizeof found);
}

static void test_random_steps(void **state)
{
	(void)state;
	srand(1);
	for (int step = 0; step < STEPS; step++) {
		int i = rand() % HANDLES;
		switch (rand() % 4) {
		case 0:
			put(i, 1, rand() % 2 ? MR_HANDLE_IS_HELD : 0);
			break;
		case 1:
			change(i, 1, 0);
			break;
		case 2:
			change(i, -1, rand() % 2 ? MR_HANDLE_IS_HELD : 0);
			break;
		default:
			check(i);
		}
	}
	for (int i = 0; i < HANDLES; i++)
		check(i);
}

static void test_nothing(void **state)
{
	(void)state;
	static struct mr_handle_map empty;
	struct mr_handle found;
	assert_false(mr_handle_get(&empty, NULL, &found));
	assert_false(mr_handle_get(&empty, &found, &found));
	assert_false(mr_handle_change(&empty, &found, -1, 0, &found));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_steps),
		cmocka_unit_test(test_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
