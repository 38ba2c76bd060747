/* SPDX-License-Identifier: Apache-2.0
 *
 * Stable sorting of (key, index) pairs by key: how rows are put in order and percentiles are found.
 * Linear in the number of pairs; pairs that are in order already cost one look.
 */
#ifndef MR_MODEL_SORT_H
#define MR_MODEL_SORT_H

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

#endif
