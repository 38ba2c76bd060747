/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/diff/changes.h"

#include <stdlib.h>
#include <string.h>

enum {
	LEAST_SHARE = 1000, /* changes of less than one of so many parts of a step are not told */
};

/* ---- both sides together ---------------------------------------------------------------------------- */

static int64_t sum_of(struct mr_sample sample)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < sample.count; i++)
		sum += (uint64_t)sample.values[i];
	return (int64_t)sum;
}

static uint64_t count_of(const struct mr_amounts *amounts, const char *name)
{
	uint64_t count = 0;
	uint32_t number;

	if (!mr_amounts_find(amounts, name, &number))
		return 0;
	for (uint32_t i = 0; i < amounts->step_count; i++)
		count += amounts->counts.items[(size_t)number * amounts->step_count + i];
	return count;
}

static int add_change(struct mr_changes *changes, const struct mr_amounts *before,
		      const struct mr_amounts *after, const char *name)
{
	uint32_t number;
	const int64_t *of_before = mr_amounts_find(before, name, &number);
	const int64_t *of_after = mr_amounts_find(after, name, &number);
	struct mr_difference change = {
		.name = name,
		.before = {of_before ? of_before : changes->nothing.items, before->step_count},
		.after = {of_after ? of_after : changes->nothing.items, after->step_count},
		.before_count = count_of(before, name),
		.after_count = count_of(after, name),
	};

	change.before_sum_ns = sum_of(change.before);
	change.after_sum_ns = sum_of(change.after);
	return mr_vec_push(&changes->list, change);
}

static int join(struct mr_changes *changes, const struct mr_amounts *before,
		const struct mr_amounts *after)
{
	uint32_t longest = mr_max(before->step_count, after->step_count), number;
	int result = 0;

	for (uint32_t i = 0; result == 0 && i < longest; i++)
		result = mr_vec_push(&changes->nothing, 0);
	for (uint32_t i = 0; result == 0 && i < mr_strings_count(&before->names); i++)
		result = add_change(changes, before, after, mr_strings_text(&before->names, i));
	for (uint32_t i = 0; result == 0 && i < mr_strings_count(&after->names); i++) {
		const char *name = mr_strings_text(&after->names, i);

		if (!mr_amounts_find(before, name, &number))
			result = add_change(changes, before, after, name);
	}
	return result;
}

void mr_changes_free(struct mr_changes *changes)
{
	mr_vec_free(&changes->list);
	mr_vec_free(&changes->nothing);
}

/* ---- what is no noise ------------------------------------------------------------------------------- */

/* What a side changes by from its first half to its second. */
static int measure_drift(struct mr_sample sample, int64_t *ret_ns)
{
	uint32_t half = sample.count / 2;
	struct mr_shift shift;
	int result = mr_shift_measure((struct mr_sample){sample.values, half},
				      (struct mr_sample){sample.values + half, sample.count - half},
				      &shift);

	if (result == 0)
		*ret_ns = llabs(shift.by_ns);
	return result;
}

/* Part of the mean step before. */
static bool is_large(const struct mr_noise *noise, int64_t ns)
{
	return (__int128)llabs(ns) * LEAST_SHARE * noise->before_count >= noise->before_ns;
}

int mr_difference_judge(const struct mr_noise *noise, struct mr_difference *change)
{
	int64_t before_ns = 0, after_ns = 0;
	int result = mr_shift_measure(change->before, change->after, &change->shift);

	if (result == 0 && change->is_told)
		result = measure_drift(change->before, &before_ns);
	if (result == 0 && change->is_told)
		result = measure_drift(change->after, &after_ns);
	change->is_told = change->is_told && is_large(noise, change->shift.by_ns) &&
			  llabs(change->shift.by_ns) > mr_max(before_ns, after_ns);
	return result;
}

/* Without enough steps nothing is told from noise, and all of it is told. */
static int test(const struct mr_noise *noise, struct mr_changes *changes)
{
	size_t count = changes->list.count;
	mr_auto(free) double *chances = malloc((count + 1) * sizeof *chances);
	mr_auto(free) bool *is_found = calloc(count + 1, sizeof *is_found);
	int result = chances && is_found ? 0 : -ENOMEM;

	for (size_t i = 0; result == 0 && noise->is_tested && i < count; i++)
		result = mr_rank_test(&noise->ranks, changes->list.items[i].before,
				      changes->list.items[i].after, &chances[i]);
	if (result == 0 && noise->is_tested)
		result = mr_discoveries_find(chances, count, is_found);
	for (size_t i = 0; result == 0 && i < count; i++) {
		struct mr_difference *change = &changes->list.items[i];

		change->is_told = is_found[i];
		if (change->is_told)
			result = mr_difference_judge(noise, change);
		else if (!noise->is_tested)
			change->is_told = change->before_sum_ns || change->after_sum_ns;
	}
	return result;
}

/* The difference of the means, times the numbers of both sides' steps. */
static __int128 difference(const struct mr_difference *change)
{
	return (__int128)change->after_sum_ns * change->before.count -
	       (__int128)change->before_sum_ns * change->after.count;
}

/* What is told comes first, and of that the largest change. */
static int compare_changes(const void *left, const void *right)
{
	const struct mr_difference *a = left, *b = right;
	__int128 of_a = difference(a), of_b = difference(b);

	if (a->is_told != b->is_told)
		return a->is_told ? -1 : 1;
	of_a = of_a < 0 ? -of_a : of_a;
	of_b = of_b < 0 ? -of_b : of_b;
	if (of_a != of_b)
		return of_a < of_b ? 1 : -1;
	return strcmp(a->name, b->name);
}

int mr_changes_find(const struct mr_noise *noise, struct mr_changes *changes,
		    const struct mr_amounts *before, const struct mr_amounts *after)
{
	int result = join(changes, before, after);

	if (result == 0)
		result = test(noise, changes);
	if (result == 0 && changes->list.count)
		qsort(changes->list.items, changes->list.count, sizeof *changes->list.items,
		      compare_changes);
	return result;
}
