/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/diff/rank.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/macros.h"
#include "base/sort.h"

enum {
	EXACT_MAX = 40, /* values of both samples: their orders still have exact numbers */
};

#define FALSE_DISCOVERIES 0.05
#define NORMAL_95         1.959963985 /* standard deviations that 95 % lie within */

/* ---- exact ---------------------------------------------------------------------------------------- */

/* In how many orders of the values U has each value: the coefficients of a Gaussian binomial, factor by factor. */
static void count_orders(uint32_t first, uint32_t second, int64_t *orders, uint32_t count)
{
	for (uint32_t i = 1; i <= first; i++) {
		for (uint32_t u = count; u-- > second + i;)
			orders[u] -= orders[u - second - i];
		for (uint32_t u = i; u < count; u++)
			orders[u] += orders[u - i];
	}
}

int mr_rank_table_make(uint32_t first, uint32_t second, struct mr_rank_table *ret_table)
{
	uint32_t count = first * second + 1;

	*ret_table = (struct mr_rank_table){0};
	if (first == 0 || second == 0 || first > EXACT_MAX || second > EXACT_MAX ||
	    first + second > EXACT_MAX)
		return 0;
	mr_auto(free) int64_t *orders = calloc(count, sizeof *orders);
	double *below = malloc(count * sizeof *below), sum = 0, all = 0;
	if (!orders || !below) {
		free(below);
		return -ENOMEM;
	}
	orders[0] = 1;
	count_orders(first, second, orders, count);
	for (uint32_t u = 0; u < count; u++)
		all += (double)orders[u];
	for (uint32_t u = 0; u < count; u++)
		below[u] = (sum += (double)orders[u]) / all;
	*ret_table = (struct mr_rank_table){below, count};
	return 0;
}

void mr_rank_table_free(struct mr_rank_table *table)
{
	free(table->below);
}

/* ---- the test ------------------------------------------------------------------------------------- */

/* Twice U of the first sample, and the sum of t³ - t over equal values. */
struct ranks {
	uint64_t twice_u;
	double ties;
};

static struct ranks rank(const struct mr_sort_item *items, uint32_t count, uint32_t first)
{
	struct ranks ranks = {0};
	uint64_t twice_sum = 0;

	for (uint32_t i = 0, end; i < count; i = end) {
		for (end = i + 1; end < count && items[end].key == items[i].key; end++)
			;
		double equal = end - i;

		ranks.ties += equal * equal * equal - equal;
		for (uint32_t j = i; j < end; j++)
			if (items[j].index < first)
				twice_sum += i + end + 1; /* ranks count from 1 */
	}
	ranks.twice_u = twice_sum - (uint64_t)first * (first + 1);
	return ranks;
}

static double normal_chance(const struct ranks *ranks, double first, double second)
{
	double all = first + second;
	double variance =
		first * second / 12 * (all + 1 - ranks->ties / mr_max(1.0, all * (all - 1)));
	double distance = fabs((double)ranks->twice_u / 2 - first * second / 2) - 0.5;

	if (variance <= 0 || distance <= 0)
		return 1;
	return mr_min(1.0, erfc(distance / sqrt(2 * variance)));
}

int mr_rank_test(const struct mr_rank_table *table, struct mr_sample before, struct mr_sample after,
		 double *ret_chance)
{
	uint32_t count = before.count + after.count;
	mr_auto(free) struct mr_sort_item *items = malloc((2 * (size_t)count + 1) * sizeof *items);

	if (!items)
		return -ENOMEM;
	*ret_chance = 1;
	if (before.count == 0 || after.count == 0)
		return 0;
	for (uint32_t i = 0; i < before.count; i++)
		items[i] = (struct mr_sort_item){mr_sort_key(before.values[i]), i};
	for (uint32_t i = 0; i < after.count; i++)
		items[before.count + i] =
			(struct mr_sort_item){mr_sort_key(after.values[i]), before.count + i};
	mr_sort(items, items + count, count);
	const struct ranks ranks = rank(items, count, before.count);
	if (table->below && ranks.ties == 0) {
		uint64_t u = ranks.twice_u / 2, less = mr_min(u, table->count - 1 - u);

		*ret_chance = mr_min(1.0, 2 * table->below[less]);
		return 0;
	}
	*ret_chance = normal_chance(&ranks, before.count, after.count);
	return 0;
}

/* ---- how much ------------------------------------------------------------------------------------- */

static int compare_values(const void *left, const void *right)
{
	const int64_t *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

int mr_shift_measure(struct mr_sample before, struct mr_sample after, struct mr_shift *ret_shift)
{
	size_t count = (size_t)before.count * after.count, at = 0;
	mr_auto(free) int64_t *differences = malloc((count + 1) * sizeof *differences);

	if (!differences)
		return -ENOMEM;
	for (uint32_t i = 0; i < before.count; i++)
		for (uint32_t j = 0; j < after.count; j++)
			differences[at++] = after.values[j] - before.values[i];
	qsort(differences, count, sizeof *differences, compare_values);
	double spread = NORMAL_95 * sqrt((double)count * (before.count + after.count + 1) / 12);
	double outside = floor((double)count / 2 - spread);
	size_t low = outside > 0 ? (size_t)outside : 0;
	*ret_shift = (struct mr_shift){
		.by_ns = differences[(count - 1) / 2],
		.low_ns = differences[low],
		.high_ns = differences[count - 1 - low],
	};
	return 0;
}

/* ---- of many -------------------------------------------------------------------------------------- */

struct test {
	double chance;
	size_t number;
};

static int compare_tests(const void *left, const void *right)
{
	const struct test *a = left, *b = right;

	return (a->chance > b->chance) - (a->chance < b->chance);
}

int mr_discoveries_find(const double *chances, size_t count, bool *is_found)
{
	mr_auto(free) struct test *tests = malloc((count + 1) * sizeof *tests);
	size_t found = 0;

	if (!tests)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		tests[i] = (struct test){chances[i], i};
	qsort(tests, count, sizeof *tests, compare_tests);
	for (size_t i = 0; i < count; i++)
		if (tests[i].chance <= FALSE_DISCOVERIES * (double)(i + 1) / (double)count)
			found = i + 1;
	for (size_t i = 0; i < count; i++)
		is_found[tests[i].number] = i < found;
	return 0;
}
