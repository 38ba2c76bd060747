/* SPDX-License-Identifier: Apache-2.0
 *
 * A binary heap of (key, index) pairs, for merging sorted lists. Each list has a pair for its next member. The first
 * pair is the smallest; among equal keys it is the one with the smallest index.
 *
 *     mr_heap_make(items, count);
 *     while (count > 0) {
 *             ... items[0] ...
 *             items[0] = the next of that list, or items[--count] if it has none;
 *             mr_heap_sink(items, count, 0);
 *     }
 *
 * The caller provides the memory, with room for at least one pair.
 */
#ifndef MR_BASE_HEAP_H
#define MR_BASE_HEAP_H

#include <stdbool.h>
#include <stdint.h>

struct mr_heap_item {
	int64_t key;
	uint32_t index;
};

static inline bool mr_heap_is_before(struct mr_heap_item a, struct mr_heap_item b)
{
	return a.key < b.key || (a.key == b.key && a.index < b.index);
}

/* Moves an item down until neither of the two below it is smaller. All other items must be in order. */
static inline void mr_heap_sink(struct mr_heap_item *items, uint32_t count, uint32_t position)
{
	struct mr_heap_item sinking = items[position];

	for (;;) {
		uint32_t child = 2 * position + 1;

		if (child >= count)
			break;
		if (child + 1 < count && mr_heap_is_before(items[child + 1], items[child]))
			child++;
		if (!mr_heap_is_before(items[child], sinking))
			break;
		items[position] = items[child];
		position = child;
	}
	items[position] = sinking;
}

/* Turns items in any order into a heap. */
static inline void mr_heap_make(struct mr_heap_item *items, uint32_t count)
{
	for (uint32_t position = count / 2; position-- > 0;)
		mr_heap_sink(items, count, position);
}

#endif
