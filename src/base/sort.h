/* SPDX-License-Identifier: Apache-2.0
 *
 * Stable sorting of (key, index) pairs by key: how rows are put in order and percentiles are found.
 * Linear in the number of pairs; pairs that are in order already cost one look. And finding in what is sorted.
 */
#ifndef MR_BASE_SORT_H
#define MR_BASE_SORT_H

#include <stddef.h>
#include <stdint.h>

struct mr_sort_item {
	uint64_t key;
	uint32_t index;
};

/* Signed times as keys that sort the same way. */
static inline uint64_t mr_sort_key(int64_t value)
{
	return (uint64_t)value ^ UINT64_C(1) << 63;
}

/* `scratch` has room for `count` items. */
void mr_sort(struct mr_sort_item *items, struct mr_sort_item *scratch, size_t count);

/* The first place in [low, high) whose value is larger, or high. The values there are in order. */
static inline uint32_t mr_find_larger(const int64_t *values, uint32_t low, uint32_t high,
				      int64_t value)
{
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (values[middle] <= value)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

#endif
