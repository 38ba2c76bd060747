/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/whatif/whatif.h"

#include "analysis/cause/critical_path_begin.h"
#include "analysis/whatif/absence.h"
#include "base/sort.h"

/* ---- the question ------------------------------------------------------------------------------------- */

static bool is_steady(const struct mr_question *question, const struct mr_step *step)
{
	return step->start_ns >= question->steady.window.first_ns &&
	       step->start_ns < question->steady.window.last_ns;
}

/* The piece that the run ends with, as the critical path has it. */
static uint32_t find_run_piece(const struct mr_course *course)
{
	const struct mr_model *model = course->model;
	const struct mr_part whole = {mr_model_window(model), NULL};
	struct mr_path_begin begin = mr_path_begin_find(model, &whole);
	uint32_t track = begin.operation != MR_NO_ROW
				 ? model->device_operations.track[begin.operation]
				 : begin.thread;

	return track == MR_NO_TRACK ? MR_NO_PIECE : mr_piece_at(course, track, begin.ns - 1);
}

static void find_goal(struct mr_question *question)
{
	const struct mr_course *course = &question->course;
	const struct mr_step *last = NULL;

	question->run_piece = find_run_piece(course);
	question->goal = (struct mr_goal){question->run_piece, course->first_ns};
	for (size_t i = 0; question->steady.count && i < question->steps.steps.count; i++) {
		const struct mr_step *step = &question->steps.steps.items[i];

		if (is_steady(question, step) && (!last || step->start_ns > last->start_ns))
			last = step;
	}
	if (last)
		question->goal = (struct mr_goal){
			mr_piece_at(course, last->track, last->start_ns + last->duration_ns - 1),
			question->steady.window.first_ns};
}

int mr_question_make(const struct mr_model *model, const struct mr_claims *claims,
		     struct mr_question *ret_question)
{
	mr_auto(question) struct mr_question question = {.claims = claims};
	int result = mr_course_make(model, &question.course);

	if (result == 0)
		result = mr_step_list_make(model, NULL, &question.steps);
	if (result == 0)
		result = mr_steps_steady(model, &question.steps, &question.steady);
	if (result < 0)
		return result;
	if (result == 0)
		question.steady = (struct mr_steady){0};
	find_goal(&question);
	*ret_question = question;
	question = (struct mr_question){0};
	return 0;
}

void mr_question_free(struct mr_question *question)
{
	mr_course_free(&question->course);
	mr_step_list_free(&question->steps);
}

int mr_question_edit(const struct mr_question *question, const struct mr_edit *edit,
		     struct mr_change *change)
{
	static const struct mr_claims none;

	if (edit->selector != MR_SELECT_PROBLEM)
		return mr_edit_apply(edit, &question->course, change);
	return mr_claims_apply(question->claims ? question->claims : &none, edit->pattern,
			       edit->is_drop ? 0 : edit->factor, &question->course, change);
}

/* ---- one replay ------------------------------------------------------------------------------------------ */

static int64_t step_ns(const struct mr_replay *replay, const struct mr_step *step)
{
	return mr_replay_at(replay, step->track, step->start_ns + step->duration_ns) -
	       mr_replay_at(replay, step->track, step->start_ns);
}

static int predict_steps(const struct mr_question *question, const struct mr_replay *replay,
			 struct mr_prediction *prediction)
{
	size_t room = question->steps.steps.count + 1, count = 0;
	mr_auto(free) struct mr_sort_item *items = malloc(room * sizeof *items);
	mr_auto(free) struct mr_sort_item *scratch = malloc(room * sizeof *scratch);
	int64_t first_ns = INT64_MAX, last_ns = INT64_MIN;

	if (!items || !scratch)
		return -ENOMEM;
	for (size_t i = 0; i < question->steps.steps.count; i++) {
		const struct mr_step *step = &question->steps.steps.items[i];
		int64_t start_ns = mr_replay_at(replay, step->track, step->start_ns);

		if (!is_steady(question, step))
			continue;
		items[count++] = (struct mr_sort_item){mr_sort_key(step_ns(replay, step)), 0};
		first_ns = mr_min(first_ns, start_ns);
		last_ns = mr_max(last_ns, start_ns + step_ns(replay, step));
	}
	if (count == 0)
		return 0;
	mr_sort(items, scratch, count);
	prediction->step_count = (uint32_t)count;
	prediction->steps_ns = last_ns - first_ns;
	prediction->step_ns = (int64_t)(items[(count - 1) / 2].key ^ mr_sort_key(0));
	return 0;
}

static int predict(const struct mr_question *question, const struct mr_replay *replay,
		   struct mr_prediction *ret_prediction)
{
	struct mr_prediction prediction = {0};
	int result = question->steady.count ? predict_steps(question, replay, &prediction) : 0;

	if (question->run_piece != MR_NO_PIECE)
		prediction.run_ns = replay->end_ns[question->run_piece] - question->course.first_ns;
	if (result == 0)
		*ret_prediction = prediction;
	return result;
}

int mr_question_predict(const struct mr_question *question, const struct mr_change *change,
			struct mr_prediction *ret_prediction)
{
	mr_auto(replay) struct mr_replay replay = {0};
	int result = mr_replay_make(&question->course, change, &replay);

	return result < 0 ? result : predict(question, &replay, ret_prediction);
}

/* ---- what is not explained -------------------------------------------------------------------------------- */

/* A thread that executes an operation works, even if its states were not recorded. */
static bool is_unexplained(const struct mr_piece *piece)
{
	return piece->link.kind == MR_CAUSE_UNKNOWN || piece->link.kind == MR_CAUSE_OTHER ||
	       (piece->link.kind == MR_CAUSE_UNTRACED && piece->link.culprit != MR_CULPRIT_NODE);
}

static void drop_unexplained(const struct mr_course *course, struct mr_change *change)
{
	for (uint32_t i = 0; i < course->count; i++) {
		if (is_unexplained(&course->pieces.items[i]))
			change->duration_ns[i] = 0;
		if (course->pieces.items[i].operation == MR_NO_ROW)
			change->delay_ns[i] = 0;
	}
}

static int64_t find_unexplained(const struct mr_question *question, const struct mr_replay *replay)
{
	int64_t sum_ns = 0;

	for (uint32_t i = question->goal.piece; i != MR_NO_PIECE;
	     i = mr_goal_before(&question->goal, replay, i)) {
		const struct mr_piece *piece = &question->course.pieces.items[i];

		sum_ns += is_unexplained(piece) ? replay->change->duration_ns[i] : 0;
		sum_ns += piece->operation == MR_NO_ROW ? replay->change->delay_ns[i] : 0;
	}
	return sum_ns;
}

/* ---- the answer ------------------------------------------------------------------------------------------------ */

static int predict_edited(const struct mr_question *question, const struct mr_change *change,
			  struct mr_whatif *whatif)
{
	mr_auto(replay) struct mr_replay replay = {0};
	int result = mr_replay_make(&question->course, change, &replay);

	if (result < 0)
		return result;
	whatif->unexplained_ns = find_unexplained(question, &replay);
	return predict(question, &replay, &whatif->after);
}

int mr_question_answer(const struct mr_question *question, const struct mr_edit *edits,
		       size_t edit_count, struct mr_whatif *ret_whatif)
{
	const struct mr_course *course = &question->course;
	mr_auto(change) struct mr_change none = {0};
	mr_auto(change) struct mr_change change = {0};
	struct mr_whatif whatif = {0};
	int result = mr_change_make(course, &none);

	if (result == 0)
		result = mr_change_make(course, &change);
	for (size_t i = 0; result == 0 && i < edit_count; i++)
		result = mr_question_edit(question, &edits[i], &change);
	if (result == 0)
		result = mr_question_predict(question, &none, &whatif.before);
	if (result == 0)
		result = predict_edited(question, &change, &whatif);
	if (result < 0)
		return result;
	drop_unexplained(course, &none);
	drop_unexplained(course, &change);
	result = mr_question_predict(question, &none, &whatif.before_explained);
	if (result == 0)
		result = mr_question_predict(question, &change, &whatif.after_explained);
	if (result == 0)
		*ret_whatif = whatif;
	return result;
}
