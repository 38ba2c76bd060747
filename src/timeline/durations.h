/* SPDX-License-Identifier: Apache-2.0
 *
 * Durations of the slices with one label: count, sum, percentiles and distribution.
 *
 * Percentiles are exact: the p-th of n sorted values is the one of rank ceil(p n / 100).
 */
#ifndef MR_TIMELINE_DURATIONS_H
#define MR_TIMELINE_DURATIONS_H

#include "timeline/label_sums.h"
#include "timeline/view.h"

struct mr_durations {
	struct mr_label_sum sum;
	mr_vec(int64_t) list; /* in any order */
};

/* Of the slices that begin in the window. 0, or a negative errno with a cause. */
int mr_durations_make(struct mr_view *view, enum mr_sliced table, uint32_t label,
		      const struct mr_window *window, struct mr_durations *ret_durations);
void mr_durations_free(struct mr_durations *durations);

static inline void mr_cleanup_durations(struct mr_durations *durations)
{
	mr_durations_free(durations);
}

/* There must be some. Puts the list in another order. */
int64_t mr_durations_percentile(struct mr_durations *durations, uint32_t percent);

/* Of a logarithmic histogram: [low_ns, high_ns). */
struct mr_bucket {
	int64_t low_ns;
	int64_t high_ns;
	uint64_t count;
};

enum {
	MR_BUCKETS_MAX = 200
};

/* From the bucket of the shortest to that of the longest, eight for each doubling, or fewer if there are too many
 * then. Returns how many; `ret_buckets` has room for MR_BUCKETS_MAX. */
uint32_t mr_durations_histogram(const struct mr_durations *durations,
				struct mr_bucket *ret_buckets);

#endif
