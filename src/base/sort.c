/* SPDX-License-Identifier: Apache-2.0 */
#include "base/sort.h"

#include <stdbool.h>
#include <string.h>

enum {
	FEW = 48, /* below this, insertion is always faster than counting */
	DIGITS = 8,
	VALUES = 256,
};

/* Insertion sort: the fastest way for few items, or for items nearly in order, as nested intervals
 * are. Gives up after `patience` moves, with equal keys still in their order. */
static bool sort_by_insertion(struct mr_sort_item *items, size_t count, size_t patience)
{
	for (size_t i = 1; i < count; i++) {
		struct mr_sort_item item = items[i];
		size_t at = i;

		for (; at > 0 && items[at - 1].key > item.key; at--)
			items[at] = items[at - 1];
		items[at] = item;
		if (i - at > patience)
			return false;
		patience -= i - at;
	}
	return true;
}

static unsigned digit_of(uint64_t key, unsigned digit)
{
	return (unsigned)(key >> (8 * digit)) & (VALUES - 1);
}

/* One pass of a radix sort: finds where each value of the digit begins, then moves every item there. */
static void distribute(const struct mr_sort_item *from, struct mr_sort_item *to, size_t count,
		       const size_t *counts, unsigned digit)
{
	size_t place[VALUES], sum = 0;

	for (unsigned value = 0; value < VALUES; value++) {
		place[value] = sum;
		sum += counts[value];
	}
	for (size_t i = 0; i < count; i++)
		to[place[digit_of(from[i].key, digit)]++] = from[i];
}

/* A function of its own: clearing the counts takes longer than to sort a few items. */
static __attribute__((noinline)) void sort_by_counting(struct mr_sort_item *items,
						       struct mr_sort_item *scratch, size_t count)
{
	size_t counts[DIGITS][VALUES] = {0};
	struct mr_sort_item *from = items, *to = scratch;

	for (size_t i = 0; i < count; i++)
		for (unsigned digit = 0; digit < DIGITS; digit++)
			counts[digit][digit_of(items[i].key, digit)]++;
	for (unsigned digit = 0; digit < DIGITS; digit++) {
		if (counts[digit][digit_of(items[0].key, digit)] == count)
			continue; /* all the same */
		distribute(from, to, count, counts[digit], digit);
		struct mr_sort_item *swap = from;
		from = to;
		to = swap;
	}
	if (from != items)
		memcpy(items, from, count * sizeof *items);
}

void mr_sort(struct mr_sort_item *items, struct mr_sort_item *scratch, size_t count)
{
	if (!sort_by_insertion(items, count, count < FEW ? FEW * FEW : 4 * count))
		sort_by_counting(items, scratch, count);
}
