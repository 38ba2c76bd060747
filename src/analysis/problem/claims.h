/* SPDX-License-Identifier: Apache-2.0
 *
 * What each problem has claimed, moment by moment, for those who ask what it would gain if the problem were gone.
 */
#ifndef MR_ANALYSIS_PROBLEM_CLAIMS_H
#define MR_ANALYSIS_PROBLEM_CLAIMS_H

#include "analysis/finding/finding.h"
#include "analysis/problem/subject.h"

struct mr_claim {
	const char *key; /* of the problem */
	int64_t start_ns;
	int64_t duration_ns;    /* of the moment */
	int64_t claimed_ns;     /* of it */
	struct mr_station root; /* what the time is lost to in the end */
};

/* By problem, then by time. */
struct mr_claims {
	mr_vec(struct mr_claim) list;
};

static inline void mr_claims_free(struct mr_claims *claims)
{
	mr_vec_free(&claims->list);
}

static inline void mr_cleanup_claims(struct mr_claims *claims)
{
	mr_claims_free(claims);
}

/* Adds the finding `problems`, and the diagnosis; says what each problem claimed, unless that is NULL. */
int mr_problems_find(const struct mr_model *model, struct mr_findings *findings,
		     struct mr_claims *ret_claims);

#endif
