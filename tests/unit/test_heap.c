/* SPDX-License-Identifier: Apache-2.0
 *
 * Lists read as one through a heap, compared with all their members sorted by the C library.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/heap.h"

enum {
	LISTS_MAX = 70,
	MEMBERS_MAX = 20,
	ROUNDS = 300,
};

struct lists {
	int64_t members[LISTS_MAX][MEMBERS_MAX]; /* each list in order */
	uint32_t lengths[LISTS_MAX];
	uint32_t count;
};

static int compare(const void *first, const void *second)
{
	const struct mr_heap_item *a = first, *b = second;

	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	return a->index < b->index ? -1 : a->index > b->index;
}

/* Few different steps, also 0 and from below 0 to above: many members are equal. */
static void make_lists(struct lists *lists, uint32_t count)
{
	lists->count = count;
	for (uint32_t list = 0; list < count; list++) {
		int64_t key = rand() % 7 - 20;

		lists->lengths[list] = (uint32_t)rand() % (MEMBERS_MAX + 1);
		for (uint32_t i = 0; i < lists->lengths[list]; i++)
			lists->members[list][i] = key += rand() % 4;
	}
}

static uint32_t sort_all(const struct lists *lists, struct mr_heap_item *sorted)
{
	uint32_t total = 0;

	for (uint32_t list = 0; list < lists->count; list++)
		for (uint32_t i = 0; i < lists->lengths[list]; i++)
			sorted[total++] = (struct mr_heap_item){lists->members[list][i], list};
	qsort(sorted, total, sizeof *sorted, compare);
	return total;
}

static void check_merge(const struct lists *lists)
{
	struct mr_heap_item sorted[LISTS_MAX * MEMBERS_MAX], heap[LISTS_MAX + 1];
	uint32_t total = sort_all(lists, sorted), read[LISTS_MAX] = {0}, count = 0, found = 0;

	for (uint32_t list = 0; list < lists->count; list++)
		if (lists->lengths[list] > 0)
			heap[count++] = (struct mr_heap_item){lists->members[list][0], list};
	mr_heap_make(heap, count);
	for (; count > 0; mr_heap_sink(heap, count, 0)) {
		uint32_t list = heap[0].index;

		assert_true(found < total);
		assert_int_equal(heap[0].key, sorted[found].key);
		assert_int_equal(list, sorted[found++].index);
		if (++read[list] < lists->lengths[list])
			heap[0].key = lists->members[list][read[list]];
		else
			heap[0] = heap[--count];
	}
	assert_int_equal(found, total);
}

static void test_merge(void **state)
{
	static struct lists lists;
	(void)state;

	srand(1);
	for (uint32_t round = 0; round < ROUNDS; round++) {
		make_lists(&lists, round % (LISTS_MAX + 1));
		check_merge(&lists);
	}
}

static void test_extreme_keys(void **state)
{
	struct mr_heap_item items[] = {{INT64_MAX, 0}, {0, 1}, {INT64_MIN, 3}, {INT64_MIN, 2}};
	(void)state;

	mr_heap_make(items, 4);
	assert_int_equal(items[0].key, INT64_MIN);
	assert_int_equal(items[0].index, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_merge),
		cmocka_unit_test(test_extreme_keys),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
