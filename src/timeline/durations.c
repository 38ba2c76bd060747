/* SPDX-License-Identifier: Apache-2.0 */
#include "timeline/durations.h"

#include "analysis/finding/tally.h"
#include "base/error.h"
#include "base/sort.h"
#include "timeline/labels.h"

/* ---- collecting ------------------------------------------------------------------------------------- */

static int collect(struct mr_view *view, enum mr_sliced table, uint32_t label,
		   const struct mr_window *window, struct mr_durations *durations)
{
	const struct mr_slices *slices = mr_view_slices(view, table);

	if (!slices)
		return -ENOMEM;
	durations->sum =
		(struct mr_label_sum){.label = label, .min_ns = INT64_MAX, .max_ns = INT64_MIN};
	for (uint32_t row = 0; row < slices->count; row++) {
		if (mr_label_of(view, table, row) != label ||
		    slices->start_ns[row] < window->first_ns ||
		    slices->start_ns[row] >= window->last_ns)
			continue;
		mr_label_sum_add(&durations->sum, row, slices->start_ns[row],
				 slices->duration_ns[row]);
		if (slices->self_ns)
			mr_ns_add(&durations->sum.self_ns, slices->self_ns[row]);
		if (mr_vec_push(&durations->list, slices->duration_ns[row]) < 0)
			return mr_fail_errno(ENOMEM, "collect durations");
	}
	return 0;
}

int mr_durations_make(struct mr_view *view, enum mr_sliced table, uint32_t label,
		      const struct mr_window *window, struct mr_durations *ret_durations)
{
	struct mr_durations durations = {0};
	int result = collect(view, table, label, window, &durations);

	if (result == 0)
		*ret_durations = durations;
	else
		mr_durations_free(&durations);
	return result;
}

void mr_durations_free(struct mr_durations *durations)
{
	mr_vec_free(&durations->list);
}

/* ---- percentiles ------------------------------------------------------------------------------------ */

static void swap(int64_t *a, int64_t *b)
{
	int64_t other = *a;

	*a = *b;
	*b = other;
}

/* Puts the value of that rank (from 0) at its place, smaller ones before it, larger ones behind it. */
static int64_t select_rank(int64_t *values, size_t count, size_t rank)
{
	size_t low = 0, high = count;

	while (high - low > 1) {
		int64_t pivot = values[low + (high - low) / 2];
		size_t below = low, at = low, above = high;

		while (at < above) {
			if (values[at] < pivot)
				swap(&values[below++], &values[at++]);
			else if (values[at] > pivot)
				swap(&values[at], &values[--above]);
			else
				at++;
		}
		if (rank < below)
			high = below;
		else if (rank >= above)
			low = above;
		else
			return pivot;
	}
	return values[rank];
}

int64_t mr_durations_percentile(struct mr_durations *durations, uint32_t percent)
{
	size_t count = durations->list.count;
	size_t rank = (count * percent + 99) / 100;

	return select_rank(durations->list.items, count, rank ? rank - 1 : 0);
}

/* ---- histogram -------------------------------------------------------------------------------------- */

/* Durations from 0 on, as floating point numbers would be: `bits` binary digits behind the first.
 *
 *     bits 3   0 1 2 ... 15 16 18 20 22 ... 30 32 36 ...           each is where a bucket begins
 */
static uint32_t bucket_of(uint64_t ns, uint32_t bits)
{
	if (ns >> (bits + 1) == 0)
		return (uint32_t)ns;
	uint32_t shift = 63 - (uint32_t)__builtin_clzll(ns) - bits;
	return (shift << bits) + (uint32_t)(ns >> shift);
}

static int64_t begin_of(uint32_t bucket, uint32_t bits)
{
	if (bucket >> (bits + 1) == 0)
		return bucket;
	uint32_t shift = (bucket >> bits) - 1;
	uint64_t begin = ((uint64_t)(bucket & ((1u << bits) - 1)) | 1u << bits);

	return shift + bits < 63 ? (int64_t)(begin << shift) : INT64_MAX;
}

static uint64_t not_negative(int64_t ns)
{
	return (uint64_t)mr_max(ns, INT64_C(0));
}

uint32_t mr_durations_histogram(const struct mr_durations *durations, struct mr_bucket *ret_buckets)
{
	uint32_t bits = 3, first, count;

	if (durations->list.count == 0)
		return 0;
	for (;; bits--) {
		first = bucket_of(not_negative(durations->sum.min_ns), bits);
		count = bucket_of(not_negative(durations->sum.max_ns), bits) - first + 1;
		if (count <= MR_BUCKETS_MAX)
			break;
	}
	for (uint32_t i = 0; i < count; i++)
		ret_buckets[i] = (struct mr_bucket){begin_of(first + i, bits),
						    begin_of(first + i + 1, bits), 0};
	for (size_t i = 0; i < durations->list.count; i++)
		ret_buckets[bucket_of(not_negative(durations->list.items[i]), bits) - first]
			.count++;
	return count;
}
