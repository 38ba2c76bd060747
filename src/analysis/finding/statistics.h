/* SPDX-License-Identifier: Apache-2.0
 *
 * Durations by group: count, sum, percentiles, longest. A row's group is group_of[key[row]], so the
 * grouping (by node, by type, by thread ...) costs one array access per row.
 *
 * Percentiles are exact: the p-th of n sorted values is the one of rank ceil(p n / 100).
 */
#ifndef MR_ANALYSIS_STATISTICS_H
#define MR_ANALYSIS_STATISTICS_H

#include <stdint.h>

struct mr_statistics_input {
	uint32_t row_count;
	const int64_t *duration_ns;
	const int64_t *self_ns; /* NULL: the durations */
	const uint32_t *key;
	const uint32_t *group_of; /* by key; every group below group_count */
	uint32_t group_count;
};

struct mr_statistic {
	uint32_t group;
	uint32_t count;
	int64_t total_ns;
	int64_t self_ns;
	int64_t p50_ns;
	int64_t p95_ns;
	int64_t p99_ns;
	int64_t max_ns;
	uint32_t longest; /* row of the longest; of equal ones the first */
};

/* Of every group that has rows, most self time first; to be freed by the caller. -ENOMEM. */
int mr_statistics_make(const struct mr_statistics_input *input,
		       struct mr_statistic **ret_statistics, uint32_t *ret_count);

#endif
