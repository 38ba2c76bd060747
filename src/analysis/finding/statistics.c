/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/finding/statistics.h"

#include <errno.h>
#include <stdlib.h>

#include "base/macros.h"
#include "base/pages.h"
#include "base/sort.h"

static uint32_t group_of(const struct mr_statistics_input *input, uint32_t row)
{
	return input->group_of[input->key[row]];
}

/* Sums wrap instead of overflowing, so that damaged times cannot do harm. */
static void count_groups(const struct mr_statistics_input *input, struct mr_statistic *groups)
{
	for (uint32_t row = 0; row < input->row_count; row++) {
		struct mr_statistic *group = &groups[group_of(input, row)];
		int64_t duration = input->duration_ns[row];
		int64_t self = input->self_ns ? input->self_ns[row] : duration;

		group->count++;
		group->total_ns = (int64_t)((uint64_t)group->total_ns + (uint64_t)duration);
		group->self_ns = (int64_t)((uint64_t)group->self_ns + (uint64_t)self);
	}
}

/* Rows by group, each group in one piece; next[g] becomes the end of group g. */
static void place_rows(const struct mr_statistics_input *input, const struct mr_statistic *groups,
		       uint32_t *next, struct mr_sort_item *items)
{
	uint32_t sum = 0;

	for (uint32_t i = 0; i < input->group_count; i++) {
		next[i] = sum;
		sum += groups[i].count;
	}
	for (uint32_t row = 0; row < input->row_count; row++)
		items[next[group_of(input, row)]++] =
			(struct mr_sort_item){mr_sort_key(input->duration_ns[row]), row};
}

static int64_t percentile(const struct mr_statistics_input *input,
			  const struct mr_sort_item *sorted, uint32_t count, uint32_t percent)
{
	uint64_t rank = ((uint64_t)count * percent + 99) / 100;

	return input->duration_ns[sorted[rank - 1].index];
}

static void describe(const struct mr_statistics_input *input, struct mr_statistic *group,
		     const struct mr_sort_item *sorted)
{
	uint32_t first_longest = group->count - 1;

	while (first_longest > 0 && sorted[first_longest - 1].key == sorted[first_longest].key)
		first_longest--;
	group->longest = sorted[first_longest].index;
	group->max_ns = input->duration_ns[group->longest];
	group->p50_ns = percentile(input, sorted, group->count, 50);
	group->p95_ns = percentile(input, sorted, group->count, 95);
	group->p99_ns = percentile(input, sorted, group->count, 99);
}

static int compare(const void *left, const void *right)
{
	const struct mr_statistic *a = left, *b = right;

	if (a->self_ns != b->self_ns)
		return a->self_ns < b->self_ns ? 1 : -1;
	return (a->group > b->group) - (a->group < b->group);
}

int mr_statistics_make(const struct mr_statistics_input *input,
		       struct mr_statistic **ret_statistics, uint32_t *ret_count)
{
	size_t row_room = (size_t)input->row_count + 1, group_room = (size_t)input->group_count + 1;
	mr_auto(free) struct mr_statistic *groups = calloc(group_room, sizeof *groups);
	mr_auto(free) uint32_t *end = calloc(group_room, sizeof *end);
	mr_auto(free) struct mr_sort_item *items = mr_allocate_large(row_room * sizeof *items);
	mr_auto(free) struct mr_sort_item *scratch = mr_allocate_large(row_room * sizeof *scratch);
	uint32_t filled = 0;

	if (!groups || !end || !items || !scratch)
		return -ENOMEM;
	count_groups(input, groups);
	place_rows(input, groups, end, items);
	for (uint32_t i = 0; i < input->group_count; i++) {
		struct mr_statistic group = groups[i];
		struct mr_sort_item *rows_of_group = items + end[i] - group.count;

		if (group.count == 0)
			continue;
		group.group = i;
		mr_sort(rows_of_group, scratch, group.count);
		describe(input, &group, rows_of_group);
		groups[filled++] = group;
	}
	qsort(groups, filled, sizeof *groups, compare);
	*ret_statistics = mr_take(groups);
	*ret_count = filled;
	return 0;
}
