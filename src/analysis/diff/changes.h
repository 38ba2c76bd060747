/* SPDX-License-Identifier: Apache-2.0
 *
 * The names of two sides together, each with its amounts by step, and which of them changed more than the noise of the
 * steps explains (diff.h).
 */
#ifndef MR_ANALYSIS_DIFF_CHANGES_H
#define MR_ANALYSIS_DIFF_CHANGES_H

#include "analysis/diff/rank.h"
#include "analysis/diff/side.h"

/* A name on both sides. */
struct mr_difference {
	const char *name;
	struct mr_sample before; /* by step */
	struct mr_sample after;
	int64_t before_sum_ns;
	int64_t after_sum_ns;
	uint64_t before_count; /* how often, in all steps */
	uint64_t after_count;
	struct mr_shift shift; /* of what is told */
	bool is_told;
};

struct mr_changes {
	mr_vec(struct mr_difference) list;
	mr_vec(int64_t) nothing; /* zeros, for names that one side lacks */
};

/* What changes are judged by. */
struct mr_noise {
	struct mr_rank_table ranks;
	bool is_tested;    /* otherwise there are too few steps, and all is told */
	int64_t before_ns; /* of all steps before */
	uint32_t before_count;
};

/* What is told comes first, and of that the largest change. Borrows from the amounts. -ENOMEM. */
int mr_changes_find(const struct mr_noise *noise, struct mr_changes *changes,
		    const struct mr_amounts *before, const struct mr_amounts *after);
void mr_changes_free(struct mr_changes *changes);

/* Measures a change that a test has found, and tells it only if it is more than drift, and large enough. -ENOMEM. */
int mr_difference_judge(const struct mr_noise *noise, struct mr_difference *change);

static inline void mr_cleanup_changes(struct mr_changes *changes)
{
	mr_changes_free(changes);
}

#endif
