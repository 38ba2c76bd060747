/* SPDX-License-Identifier: Apache-2.0
 *
 * Stable sorting of (key, index) pairs by key, used to order rows and to find percentiles. The time is linear in
 * the number of pairs; pairs already in order cost one pass. Also searching in sorted arrays.
 */
#ifndef MR_BASE_SORT_H
#define MR_BASE_SORT_H

#include <stddef.h>
#include <stdint.h>

struct mr_sort_item {
	uint64_t key;
	uint32_t index;
};

/* Turns a signed time into a key that sorts the same way. */
static inline uint64_t mr_sort_key(int64_t value)
{
	return (uint64_t)value ^ UINT64_C(1) << 63;
}

/* `scratch` has room for `count` items. */
void mr_sort(struct mr_sort_item *items, struct mr_sort_item *scratch, size_t count);

/* The first index in [low, high) whose value is larger, or high. The values there are in order. */
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

/* The same, faster the nearer the answer is to `guess`: where a search of before ended, say. */
static inline uint32_t mr_find_larger_near(const int64_t *values, uint32_t low, uint32_t high,
					   uint32_t guess, int64_t value)
{
	uint32_t step = 1;

	if (guess < low || guess > high)
		return mr_find_larger(values, low, high, value);
	if (guess < high && values[guess] <= value) {
		low = guess + 1;
		while (high - low >= step && values[low + step - 1] <= value) {
			low += step;
			step *= 2;
		}
		high = high - low >= step ? low + step - 1 : high;
	} else {
		high = guess;
		while (high - low >= step && values[high - step] > value) {
			high -= step;
			step *= 2;
		}
		low = high - low >= step ? high - step + 1 : low;
	}
	return mr_find_larger(values, low, high, value);
}

#endif
