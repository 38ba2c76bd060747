/* SPDX-License-Identifier: Apache-2.0
 *
 * Sorting, statistics and nesting, each against the plainest computation of the same thing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/finding/statistics.h"
#include "base/macros.h"
#include "base/sort.h"
#include "model/nesting.h"
#include "model/table.h"
#include "trace_writer.h"

/* ---- sorting ------------------------------------------------------------------------------------ */

static void test_sort(void **state)
{
	static const size_t counts[] = {0, 1, 2, 47, 48, 49, 1000, 5000};
	uint64_t random = 1;

	(void)state;
	for (size_t i = 0; i < mr_countof(counts) * 4; i++) {
		size_t count = counts[i / 4];
		uint64_t mask = i % 4 == 0 ? 3 : i % 4 == 1 ? 0xffff : UINT64_MAX;
		struct mr_sort_item *items = calloc(count + 1, sizeof *items);
		struct mr_sort_item *scratch = calloc(count + 1, sizeof *scratch);

		for (size_t j = 0; j < count; j++)
			items[j] = (struct mr_sort_item){next_random(&random) & mask, (uint32_t)j};
		uint64_t sum = 0, sum_after = 0;
		for (size_t j = 0; j < count; j++)
			sum += items[j].key * (items[j].index + 1);
		mr_sort(items, scratch, count);
		for (size_t j = 0; j < count; j++) {
			sum_after += items[j].key * (items[j].index + 1);
			if (j == 0)
				continue;
			assert_true(items[j - 1].key <= items[j].key);
			if (items[j - 1].key == items[j].key)
				assert_true(items[j - 1].index < items[j].index);
		}
		assert_int_equal(sum, sum_after);
		free(items);
		free(scratch);
	}
	assert_true(mr_sort_key(-5) < mr_sort_key(-4) && mr_sort_key(-1) < mr_sort_key(0));
}

/* ---- statistics --------------------------------------------------------------------------------- */

/* The smallest value that at least p percent of the group do not exceed. */
static int64_t slow_percentile(const int64_t *values, const uint32_t *groups, uint32_t count,
			       uint32_t group, uint32_t percent)
{
	int64_t best = INT64_MAX;

	for (uint32_t i = 0; i < count; i++) {
		uint64_t size = 0, not_above = 0;

		if (groups[i] != group)
			continue;
		for (uint32_t j = 0; j < count; j++) {
			size += groups[j] == group;
			not_above += groups[j] == group && values[j] <= values[i];
		}
		if (not_above * 100 >= size * percent && values[i] < best)
			best = values[i];
	}
	return best;
}

static void check_statistics(uint32_t rows, uint32_t group_count, uint64_t *random)
{
	int64_t durations[300], selves[300];
	uint32_t keys[300], groups[300], group_of[10];
	struct mr_statistic *statistics;
	uint32_t count;
	int64_t whole = 0, sum = 0;

	for (uint32_t i = 0; i < mr_countof(group_of); i++)
		group_of[i] = i % group_count;
	for (uint32_t i = 0; i < rows; i++) {
		durations[i] = (int64_t)(next_random(random) % 50);
		selves[i] = durations[i] / 2;
		keys[i] = (uint32_t)(next_random(random) % mr_countof(group_of));
		groups[i] = group_of[keys[i]];
		whole += selves[i];
	}
	const struct mr_statistics_input input = {rows, durations, selves,
						  keys, group_of,  group_count};
	assert_int_equal(mr_statistics_make(&input, &statistics, &count), 0);
	for (uint32_t i = 0; i < count; i++) {
		const struct mr_statistic *group = &statistics[i];

		assert_int_equal(group->p50_ns,
				 slow_percentile(durations, groups, rows, group->group, 50));
		assert_int_equal(group->p95_ns,
				 slow_percentile(durations, groups, rows, group->group, 95));
		assert_int_equal(group->p99_ns,
				 slow_percentile(durations, groups, rows, group->group, 99));
		assert_int_equal(group->max_ns,
				 slow_percentile(durations, groups, rows, group->group, 100));
		assert_int_equal(durations[group->longest], group->max_ns);
		assert_int_equal(groups[group->longest], group->group);
		assert_true(i == 0 || statistics[i - 1].self_ns >= group->self_ns);
		sum += group->self_ns;
	}
	assert_int_equal(sum, whole);
	free(statistics);
}

static void test_statistics(void **state)
{
	uint64_t random = 2;

	(void)state;
	check_statistics(0, 3, &random);
	for (uint32_t rows = 1; rows < 300; rows += 1 + rows / 3)
		for (uint32_t groups = 1; groups <= 10; groups += 3)
			check_statistics(rows, groups, &random);
}

/* ---- nesting ------------------------------------------------------------------------------------ */

enum {
	NEST_MAX = 400
};

struct intervals {
	int64_t start[NEST_MAX], duration[NEST_MAX], self[NEST_MAX];
	uint32_t parent[NEST_MAX];
	uint8_t flags[NEST_MAX];
	uint32_t count;
	uint32_t true_parent[NEST_MAX];
};

/* Properly nested intervals inside [from, to), in order of start. */
static void grow(struct intervals *all, int64_t from, int64_t to, uint32_t parent, int depth,
		 uint64_t *random)
{
	while (from < to && all->count < NEST_MAX) {
		int64_t start = from + (int64_t)(next_random(random) % 10);
		int64_t end = start + 1 + (int64_t)(next_random(random) % 60);
		uint32_t row = all->count;

		if (end > to)
			return;
		all->start[row] = start;
		all->duration[row] = end - start;
		all->true_parent[row] = parent;
		all->count++;
		if (depth < 5 && next_random(random) % 3)
			grow(all, start, end, row, depth + 1, random);
		from = end;
	}
}

static void test_nesting(void **state)
{
	struct intervals all;
	uint64_t random = 3;

	(void)state;
	for (int round = 0; round < 200; round++) {
		const struct mr_nesting rows = {all.start, all.duration, all.self, all.parent,
						all.flags};
		struct mr_nesting_faults faults = {0};

		memset(&all, 0, sizeof all);
		grow(&all, 0, 1000, MR_NO_ROW, 0, &random);
		assert_int_equal(mr_nest(&rows, 0, all.count, &faults), 0);
		assert_int_equal(faults.overlaps, 0);
		for (uint32_t i = 0; i < all.count; i++) {
			int64_t children = 0;

			for (uint32_t j = 0; j < all.count; j++)
				children += all.true_parent[j] == i ? all.duration[j] : 0;
			assert_int_equal(all.parent[i], all.true_parent[i]);
			assert_int_equal(all.self[i], all.duration[i] - children);
		}
	}
}

static void test_overlaps(void **state)
{
	/* B cuts into A; C lies in both and counts as B's; D and E overlap inside P. */
	int64_t start[] = {0, 5, 6, 100, 110, 115}, duration[] = {10, 10, 2, 50, 20, 25};
	int64_t self[6];
	uint32_t parent[6];
	uint8_t flags[6] = {0};
	const struct mr_nesting rows = {start, duration, self, parent, flags};
	struct mr_nesting_faults faults = {0};

	(void)state;
	assert_int_equal(mr_nest(&rows, 0, 6, &faults), 0);
	assert_int_equal(faults.overlaps, 2);
	assert_int_equal(flags[1], MR_ROW_OVERLAPS);
	assert_int_equal(parent[1], MR_NO_ROW);
	assert_int_equal(parent[2], 1);
	assert_int_equal(self[0], 10);
	assert_int_equal(self[1], 8);
	assert_int_equal(parent[4], 3);
	assert_int_equal(parent[5], 3);
	assert_int_equal(self[3], 50 - 30); /* the union of [110, 130) and [115, 140) */
}

/* ---- tables ------------------------------------------------------------------------------------- */

static void test_table_order(void **state)
{
	enum {
		ROWS = 3000,
		TRACKS = 7
	};
	struct mr_steps steps = {.table = {.desc = &mr_steps_desc}};
	uint64_t random = 4;

	(void)state;
	for (uint64_t i = 0; i < ROWS; i++)
		assert_int_equal(
			mr_steps_append(&steps,
					(struct mr_steps_row){
						.track = (uint32_t)(next_random(&random) % TRACKS),
						.start_ns = (int64_t)(next_random(&random) % 500),
						.duration_ns = (int64_t)(next_random(&random) % 9),
						.step = i}),
			0);
	assert_int_equal(mr_table_sort(&steps.table, TRACKS), 0);
	uint64_t seen = 0;
	for (uint32_t track = 0; track < TRACKS; track++) {
		uint32_t first = steps.table.first_of_track[track];

		for (uint32_t i = first; i < steps.table.first_of_track[track + 1]; i++) {
			seen += steps.step[i];
			assert_int_equal(steps.track[i], track);
			if (i == first)
				continue;
			assert_true(steps.start_ns[i - 1] <= steps.start_ns[i]);
			if (steps.start_ns[i - 1] != steps.start_ns[i])
				continue;
			assert_true(steps.duration_ns[i - 1] >= steps.duration_ns[i]);
			/* Recorded last is the outer one. */
			if (steps.duration_ns[i - 1] == steps.duration_ns[i])
				assert_true(steps.step[i - 1] > steps.step[i]);
		}
	}
	assert_int_equal(steps.table.first_of_track[TRACKS], ROWS);
	assert_int_equal(seen, (uint64_t)ROWS * (ROWS - 1) / 2);
	mr_table_free(&steps.table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sort),        cmocka_unit_test(test_statistics),
		cmocka_unit_test(test_nesting),     cmocka_unit_test(test_overlaps),
		cmocka_unit_test(test_table_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
