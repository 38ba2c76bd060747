/* SPDX-License-Identifier: Apache-2.0
 *
 * Times summed by label (labels.h). A label is any 32-bit number, and there can be ten million slices, so a hash table
 * of plain numbers finds them.
 *
 * A zeroed set of sums is empty and valid. One thread fills it; any number may read.
 */
#ifndef MR_TIMELINE_LABEL_SUMS_H
#define MR_TIMELINE_LABEL_SUMS_H

#include <stdbool.h>

#include "base/vector.h"

struct mr_label_sum {
	uint32_t label;
	uint32_t count;
	int64_t total_ns;
	int64_t self_ns;
	int64_t min_ns;
	int64_t max_ns;
	int64_t first_ns; /* when the first began */
	uint32_t first;   /* row; of several the lowest */
	uint32_t longest; /* row; likewise */
};

struct mr_label_sums {
	mr_vec(struct mr_label_sum) list; /* in order of first appearance, or sorted */
	uint32_t *slots;                  /* place in the list + 1, or 0 where free */
	uint32_t slot_count;              /* a power of two, or 0 */
};

/* The sum of the label, new or not: NULL without memory. It moves when another is added. */
struct mr_label_sum *mr_label_sums_get(struct mr_label_sums *sums, uint32_t label);

/* NULL if there is none. */
const struct mr_label_sum *mr_label_sums_find(const struct mr_label_sums *sums, uint32_t label);

/* Counts a row. */
void mr_label_sum_add(struct mr_label_sum *sum, uint32_t row, int64_t start_ns, int64_t ns);

/* Largest total first, equal ones by label. */
void mr_label_sums_sort(struct mr_label_sums *sums);

void mr_label_sums_free(struct mr_label_sums *sums);

static inline void mr_cleanup_label_sums(struct mr_label_sums *sums)
{
	mr_label_sums_free(sums);
}

#endif
