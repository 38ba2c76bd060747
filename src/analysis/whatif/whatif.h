/* SPDX-License-Identifier: Apache-2.0
 *
 * What a change would gain: the course of the run is replayed with it, and compared with what was recorded.
 */
#ifndef MR_ANALYSIS_WHATIF_H
#define MR_ANALYSIS_WHATIF_H

#include "analysis/finding/tally.h"
#include "analysis/problem/claims.h"
#include "analysis/steps.h"
#include "analysis/whatif/edit.h"

/* What is to end earlier: the last of the steps, without warm-up; or the run. */
struct mr_goal {
	uint32_t piece;   /* that the end comes with; MR_NO_PIECE: there is nothing */
	int64_t first_ns; /* the beginning, as recorded */
};

struct mr_prediction {
	int64_t run_ns; /* of the whole run */
	int64_t steps_ns; /* from the start of the first step to the end of the last; 0: there are none */
	int64_t step_ns; /* the median step */
	uint32_t step_count;
};

/* What the user waits for: the steps, or the run if there are none. */
static inline int64_t mr_prediction_ns(const struct mr_prediction *prediction)
{
	return prediction->step_count ? prediction->steps_ns : prediction->run_ns;
}

struct mr_whatif {
	struct mr_prediction before; /* recorded */
	struct mr_prediction after;
	/* The same if what is not explained were not there: the gain depends on it by so much. */
	struct mr_prediction before_explained;
	struct mr_prediction after_explained;
	int64_t unexplained_ns; /* of the way to the goal, as predicted: delays, unknown, untraced */
};

/* A course and what is asked of it. Borrows the model and the claims. */
struct mr_question {
	const struct mr_claims *claims; /* NULL: problems cannot be selected */
	struct mr_course course;
	struct mr_step_list steps;
	struct mr_steady steady; /* count 0: there are no steps */
	struct mr_goal goal;
	uint32_t run_piece; /* that the run ends with; MR_NO_PIECE */
};

/* -ENOMEM. */
int mr_question_make(const struct mr_model *model, const struct mr_claims *claims,
		     struct mr_question *ret_question);
void mr_question_free(struct mr_question *question);

static inline void mr_cleanup_question(struct mr_question *question)
{
	mr_question_free(question);
}

/* Changes what the edit says, on top of what is changed already. As mr_edit_apply(). */
int mr_question_edit(const struct mr_question *question, const struct mr_edit *edit,
		     struct mr_change *change);

/* Of one replay. -ENOMEM. */
int mr_question_predict(const struct mr_question *question, const struct mr_change *change,
			struct mr_prediction *ret_prediction);

/* Compares with and without these edits. -ENOMEM, or as mr_edit_apply(). */
int mr_question_answer(const struct mr_question *question, const struct mr_edit *edits,
		       size_t edit_count, struct mr_whatif *ret_whatif);

/* The next piece on the way back from the goal; MR_NO_PIECE: it was the first. */
static inline uint32_t mr_goal_before(const struct mr_goal *goal, const struct mr_replay *replay,
				      uint32_t piece)
{
	uint32_t before = mr_replay_enabler(replay, piece);
	bool is_in = before != MR_NO_PIECE &&
		     mr_piece_end_ns(&replay->course->pieces.items[before]) > goal->first_ns;

	return is_in ? before : MR_NO_PIECE;
}

/* Adds up, by struct mr_link, what the end waits for in a replay; *ret_sum_ns is the sum. -ENOMEM. */
int mr_question_limits(const struct mr_question *question, const struct mr_replay *replay,
		       struct mr_tally *tally, int64_t *ret_sum_ns);

/* Adds the finding `whatif`: before, after, what becomes the limit then. */
int mr_whatif_tell(const struct mr_model *model, const struct mr_claims *claims,
		   const struct mr_edit *edits, size_t edit_count, struct mr_findings *findings);

/* Adds the finding `gains`: what each problem of the diagnosis would gain if it were gone. */
int mr_whatif_tell_problems(const struct mr_model *model, const struct mr_claims *claims,
			    const struct mr_diagnosis *diagnosis, struct mr_findings *findings);

/* Adds the finding `curve`: what is gained if the selected becomes faster, by so many percent. */
int mr_whatif_tell_curve(const struct mr_model *model, const struct mr_claims *claims,
			 const struct mr_edit *edit, struct mr_findings *findings);

/* Adds the finding `editable`: what can be selected, with its time and its part of the way to the end. */
int mr_whatif_tell_list(const struct mr_model *model, struct mr_findings *findings);

#endif
