/* SPDX-License-Identifier: Apache-2.0
 *
 * One side of a comparison: some steps of a trace, and what each of them spent its time on.
 *
 *     thread    ├ step 0 ┤├ step 1 ┤├ step 2 ┤
 *     device        ├── of 0 ──┤├── of 1 ──┤├── of 2 ──┤
 *     here      ├───── 0 ──────┤├──── 1 ───┤├─── 2 ────┤     a step ends when all of it has ended; the next begins then
 *
 * The critical path tiles these steps, so its shares sum to the length of each step exactly. Times of operations are
 * sums: several may run at once. Names lack what differs from run to run, such as the numbers of threads.
 */
#ifndef MR_ANALYSIS_DIFF_SIDE_H
#define MR_ANALYSIS_DIFF_SIDE_H

#include "analysis/finding/finding.h"
#include "base/strings.h"
#include "model/model.h"

enum {
	MR_SIDE_STEPS_MAX = 256,
	MR_SIDE_NAMES_MAX = 4096, /* rarer ones, in the order of their appearance, are one */
};

/* What is spent on each name in each step. */
struct mr_amounts {
	struct mr_strings names;
	mr_vec(int64_t) ns;      /* name by name, step by step */
	mr_vec(uint32_t) counts; /* likewise */
	uint32_t step_count;
};

struct mr_side {
	const struct mr_model *model;
	mr_vec(int64_t) bounds_ns; /* of steps, and one more: the end */
	struct mr_amounts path;
	struct mr_amounts operations;
	bool has_steps; /* otherwise it is one: the whole trace */
};

/* Of steps, those that are compared. */
enum mr_side_part {
	MR_SIDE_ALL,
	MR_SIDE_FIRST_HALF,
	MR_SIDE_SECOND_HALF,
};

/* Steps from `first` to `last`, by their numbers. If that is all of them, those at the beginning in which the program
 * warms up do not count. */
struct mr_side_steps {
	uint64_t first;
	uint64_t last;
	enum mr_side_part part;
};

#define MR_SIDE_EVERY_STEP ((struct mr_side_steps){.last = UINT64_MAX})

/* -ENOENT with a cause if there are none; -ENOMEM. */
int mr_side_make(const struct mr_model *model, const struct mr_side_steps *steps,
		 struct mr_findings *findings, struct mr_side *ret_side);
void mr_side_free(struct mr_side *side);

static inline uint32_t mr_side_step_count(const struct mr_side *side)
{
	return side->path.step_count;
}

/* The amounts of a name: NULL if the side has none. */
const int64_t *mr_amounts_find(const struct mr_amounts *amounts, const char *name,
			       uint32_t *ret_number);

#endif
