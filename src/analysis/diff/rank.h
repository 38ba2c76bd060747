/* SPDX-License-Identifier: Apache-2.0
 *
 * Do two samples differ, and by how much? By ranks, so that a single slow step counts no more than any other.
 *
 *     rank test     Mann-Whitney's U: how often a value of one sample exceeds one of the other. Exact for small samples
 *                   without equal values, otherwise by the normal distribution, corrected for equal ones.
 *     shift         Hodges-Lehmann: the median of all differences between the two, with its 95 % interval
 *     discoveries   Benjamini-Hochberg: of many tests, those that remain where one in twenty of them may be wrong
 *
 * Pure.
 */
#ifndef MR_ANALYSIS_DIFF_RANK_H
#define MR_ANALYSIS_DIFF_RANK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mr_sample {
	const int64_t *values;
	uint32_t count;
};

/* How probable each U or less is, where both samples are of the same kind. */
struct mr_rank_table {
	double *below; /* by U; NULL: the samples are too large, or empty */
	uint32_t count;
};

/* 0 or -ENOMEM. */
int mr_rank_table_make(uint32_t first, uint32_t second, struct mr_rank_table *ret_table);
void mr_rank_table_free(struct mr_rank_table *table);

/* *ret_chance: of a difference like this or larger between samples of the same kind, from 0 to 1. 0 or -ENOMEM. */
int mr_rank_test(const struct mr_rank_table *table, struct mr_sample before, struct mr_sample after,
		 double *ret_chance);

struct mr_shift {
	int64_t by_ns; /* what the values of the second sample are larger by */
	int64_t low_ns;
	int64_t high_ns;
};

/* 0 or -ENOMEM. None may be empty. */
int mr_shift_measure(struct mr_sample before, struct mr_sample after, struct mr_shift *ret_shift);

/* Marks the tests that are discoveries. 0 or -ENOMEM. */
int mr_discoveries_find(const double *chances, size_t count, bool *is_found);

#endif
