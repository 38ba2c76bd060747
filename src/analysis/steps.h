/* SPDX-License-Identifier: Apache-2.0
 *
 * The steps of a run: those that the program marked; or calls of the function that a process calls most often, which
 * the model has found; or else, process by process, those that can be inferred from what it launches — a training
 * loop launches the same operations again and again (period.h).
 *
 *     launches   i i  a b c d  a b c d  a b c d  e        a step lasts from its first launch to the next
 *                     ├── 0 ──►├── 1 ──►├── 2 ──►         launch after its last
 *
 * Where a round begins the launches alone do not say. If whole rounds were recorded, they begin where the
 * repetition does; else where the longest time, in the median of all rounds, went by with no launch and no
 * operation of the graph going on.
 */
#ifndef MR_ANALYSIS_STEPS_H
#define MR_ANALYSIS_STEPS_H

#include "analysis/period.h"
#include "base/vector.h"
#include "model/model.h"

/* Rows of the table of phases. */
enum mr_phase {
	MR_PHASE_BEFORE,
	MR_PHASE_IN,
	MR_PHASE_BETWEEN,
	MR_PHASE_AFTER,
	MR_PHASE_COUNT
};

struct mr_step {
	uint64_t number; /* that the program gave; inferred ones count from 0 in each process */
	uint32_t track;  /* thread that marked it, or made its first launch */
	int64_t start_ns;
	int64_t duration_ns;
	uint32_t function; /* string: it is a call of this; 0: marked or inferred */
};

/* What the launches of a process say. */
struct mr_inference {
	uint32_t process;
	uint32_t launch_count;
	struct mr_period period; /* in launches; length 0: no steps can be inferred */
	uint32_t step_count;
	bool is_uniform; /* all launches are alike, and do not show where a step begins */
};

struct mr_step_list {
	mr_vec(struct mr_step) steps;           /* by track and time */
	mr_vec(struct mr_inference) inferences; /* empty if steps were marked */
};

/* The steps of the window of the model, clipped to it, of the processes that are looked at (mr_part);
 * NULL: of all. -ENOMEM. */
int mr_step_list_make(const struct mr_model *model, const bool *processes,
		      struct mr_step_list *list);
void mr_step_list_free(struct mr_step_list *list);

/* The step whose duration is the median; of an even number the shorter of the middle two. -ENOENT if there are
 * no steps, or -ENOMEM. */
int mr_step_list_median(const struct mr_step_list *list, uint32_t *ret_step);

#endif
