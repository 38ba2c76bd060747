/* SPDX-License-Identifier: Apache-2.0 */
#include "timeline/label_sums.h"

#include <string.h>

#include "analysis/finding/tally.h"
#include "base/macros.h"

enum {
	FIRST_SLOTS = 64,
};

/* The slot that has the label, or the free one where it belongs. */
static uint32_t *find_slot(const struct mr_label_sums *sums, uint32_t label)
{
	uint32_t mask = sums->slot_count - 1;
	uint32_t at = (label * UINT32_C(2654435769) ^ label >> 16) & mask;

	while (sums->slots[at] && sums->list.items[sums->slots[at] - 1].label != label)
		at = (at + 1) & mask;
	return &sums->slots[at];
}

/* The slots are empty. */
static void fill_slots(struct mr_label_sums *sums)
{
	for (uint32_t i = 0; i < sums->list.count; i++)
		*find_slot(sums, sums->list.items[i].label) = i + 1;
}

static int grow(struct mr_label_sums *sums)
{
	uint32_t slot_count = sums->slot_count ? 2 * sums->slot_count : FIRST_SLOTS;
	uint32_t *slots = calloc(slot_count, sizeof *slots);

	if (!slots)
		return -ENOMEM;
	free(sums->slots);
	sums->slots = slots;
	sums->slot_count = slot_count;
	fill_slots(sums);
	return 0;
}

struct mr_label_sum *mr_label_sums_get(struct mr_label_sums *sums, uint32_t label)
{
	if (mr_unlikely(2 * sums->list.count >= sums->slot_count) && grow(sums) < 0)
		return NULL;
	uint32_t *slot = find_slot(sums, label);
	if (mr_unlikely(*slot == 0)) {
		const struct mr_label_sum sum = {
			.label = label, .min_ns = INT64_MAX, .max_ns = INT64_MIN};

		if (mr_vec_push(&sums->list, sum) < 0)
			return NULL;
		*slot = (uint32_t)sums->list.count;
	}
	return &sums->list.items[*slot - 1];
}

void mr_label_sum_add(struct mr_label_sum *sum, uint32_t row, int64_t start_ns, int64_t ns)
{
	if (sum->count++ == 0 || start_ns < sum->first_ns) {
		sum->first_ns = start_ns;
		sum->first = row;
	}
	if (ns > sum->max_ns) {
		sum->max_ns = ns;
		sum->longest = row;
	}
	sum->min_ns = mr_min(sum->min_ns, ns);
	mr_ns_add(&sum->total_ns, ns);
}

static int compare(const void *left, const void *right)
{
	const struct mr_label_sum *a = left, *b = right;

	if (a->total_ns != b->total_ns)
		return a->total_ns < b->total_ns ? 1 : -1;
	return (a->label > b->label) - (a->label < b->label);
}

void mr_label_sums_sort(struct mr_label_sums *sums)
{
	if (sums->list.count == 0)
		return;
	qsort(sums->list.items, sums->list.count, sizeof *sums->list.items, compare);
	memset(sums->slots, 0, sums->slot_count * sizeof *sums->slots);
	fill_slots(sums);
}

const struct mr_label_sum *mr_label_sums_find(const struct mr_label_sums *sums, uint32_t label)
{
	uint32_t place = sums->slot_count ? *find_slot(sums, label) : 0;

	return place ? &sums->list.items[place - 1] : NULL;
}

void mr_label_sums_free(struct mr_label_sums *sums)
{
	mr_vec_free(&sums->list);
	free(sums->slots);
	*sums = (struct mr_label_sums){0};
}
