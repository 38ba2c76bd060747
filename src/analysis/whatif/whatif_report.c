/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/whatif/whatif.h"
#include "base/format.h"

enum {
	LIMITS_SHOWN = 10, /* in a text */
};

/* ---- what becomes the limit ------------------------------------------------------------------------------- */

static const struct mr_finding_column limit_columns[] = {
	{"cause", "cause", MR_UNIT_TEXT, MR_COLUMN_TELLING},
	{"culprit", "culprit", MR_UNIT_TEXT, MR_COLUMN_PATH},
	MR_TALLY_COLUMNS,
};

static int name_limit(const struct mr_model *model, struct mr_findings *findings, const void *key,
		      uint32_t row, union mr_value *cells)
{
	const struct mr_link *link = key;

	(void)row;
	cells[0].text = mr_cause_name((enum mr_cause_kind)link->kind);
	cells[1].text = mr_link_culprit(model, &findings->region, *link);
	return cells[1].text ? 0 : -ENOMEM;
}

/* A delay: of an operation, which the device takes to begin; of a thread, nobody knows. */
static int add_delay(struct mr_tally *tally, const struct mr_piece *piece, int64_t ns,
		     uint32_t number)
{
	struct mr_link link =
		mr_link_bare(piece->operation != MR_NO_ROW ? MR_CAUSE_DISPATCH : MR_CAUSE_UNKNOWN);

	return ns > 0 ? mr_tally_add(tally, &link, sizeof link, ns, number) : 0;
}

int mr_question_limits(const struct mr_question *question, const struct mr_replay *replay,
		       struct mr_tally *tally, int64_t *ret_sum_ns)
{
	int64_t sum_ns = 0;
	int result = 0;

	for (uint32_t i = question->goal.piece; result == 0 && i != MR_NO_PIECE;
	     i = mr_goal_before(&question->goal, replay, i)) {
		const struct mr_piece *piece = &replay->course->pieces.items[i];
		int64_t duration_ns = replay->change->duration_ns[i];
		int64_t delay_ns = replay->change->delay_ns[i];

		struct mr_link link = mr_link_by_name(piece->link);

		if (duration_ns > 0)
			result = mr_tally_add(tally, &link, sizeof link, duration_ns, i);
		if (result == 0)
			result = add_delay(tally, piece, delay_ns, i);
		sum_ns += duration_ns + delay_ns;
	}
	*ret_sum_ns = sum_ns;
	return result;
}

/* From the goal back along what each piece waited for last. */
static int tell_limits(const struct mr_question *question, const struct mr_replay *replay,
		       struct mr_findings *findings, struct mr_finding *finding)
{
	static const struct mr_tally_look look = {
		.id = "limits",
		.title = "What the end waits for then",
		.columns = limit_columns,
		.column_count = sizeof limit_columns / sizeof *limit_columns,
		.name = name_limit,
	};
	mr_auto(tally) struct mr_tally tally = {0};
	int64_t sum_ns;
	int result = mr_question_limits(question, replay, &tally, &sum_ns);

	if (result == 0)
		result = mr_tally_show(&tally, replay->course->model, findings, finding, &look,
				       sum_ns);
	if (result == 0)
		finding->tables.items[finding->tables.count - 1]->brief_rows = LIMITS_SHOWN;
	return result;
}

/* ---- before and after --------------------------------------------------------------------------------------- */

enum prediction_column {
	PREDICTION_OF,
	PREDICTION_BEFORE,
	PREDICTION_AFTER,
	PREDICTION_GAIN,
	PREDICTION_LEAST,
	PREDICTION_MOST,
	PREDICTION_COLUMNS,
};

static const struct mr_finding_column prediction_columns[PREDICTION_COLUMNS] = {
	[PREDICTION_OF] = {"of", "of", MR_UNIT_TEXT, MR_COLUMN_TELLING},
	[PREDICTION_BEFORE] = {"before_ns", "recorded", MR_UNIT_NS, MR_COLUMN_TELLING},
	[PREDICTION_AFTER] = {"after_ns", "predicted", MR_UNIT_NS, MR_COLUMN_TELLING},
	[PREDICTION_GAIN] = {"gain_permille", "gain", MR_UNIT_PERMILLE, MR_COLUMN_TELLING},
	[PREDICTION_LEAST] = {"least_permille", "at least", MR_UNIT_PERMILLE, MR_COLUMN_TELLING},
	[PREDICTION_MOST] = {"most_permille", "at most", MR_UNIT_PERMILLE, MR_COLUMN_TELLING},
};

static void fill_prediction(struct mr_finding_table *table, uint32_t row, const char *of,
			    const int64_t ns[4])
{
	int64_t gain = mr_permille(ns[0] - ns[1], ns[0]);
	int64_t explained = mr_permille(ns[2] - ns[3], ns[2]);

	if (explained == MR_NO_VALUE)
		explained = gain;
	mr_finding_value(table, row, PREDICTION_OF)->text = of;
	mr_finding_value(table, row, PREDICTION_BEFORE)->number = ns[0];
	mr_finding_value(table, row, PREDICTION_AFTER)->number = ns[1];
	mr_finding_value(table, row, PREDICTION_GAIN)->number = gain;
	mr_finding_value(table, row, PREDICTION_LEAST)->number = mr_min(gain, explained);
	mr_finding_value(table, row, PREDICTION_MOST)->number = mr_max(gain, explained);
}

static int tell_predictions(const struct mr_whatif *whatif, struct mr_findings *findings,
			    struct mr_finding *finding)
{
	bool has_steps = whatif->before.step_count > 0;
	struct mr_finding_table *table =
		mr_finding_add_table(findings, finding, "predictions", "Predicted",
				     prediction_columns, PREDICTION_COLUMNS, has_steps ? 3 : 1);

	if (!table)
		return -ENOMEM;
#define OF(member)                                                                            \
	(const int64_t[4])                                                                    \
	{                                                                                     \
		whatif->before.member, whatif->after.member, whatif->before_explained.member, \
			whatif->after_explained.member                                        \
	}
	if (has_steps) {
		fill_prediction(table, 0, "median step", OF(step_ns));
		fill_prediction(table, 1, "all steps", OF(steps_ns));
	}
	fill_prediction(table, has_steps ? 2 : 0, "whole run", OF(run_ns));
#undef OF
	return 0;
}

static int say_gain(const struct mr_whatif *whatif, struct mr_findings *findings,
		    struct mr_finding *finding)
{
	bool has_steps = whatif->before.step_count > 0;
	int64_t before_ns = mr_prediction_ns(&whatif->before);
	int64_t after_ns = mr_prediction_ns(&whatif->after);
	char before[MR_FORMAT_BYTES], after[MR_FORMAT_BYTES], share[MR_FORMAT_BYTES];

	mr_format_ns(before, before_ns, true);
	mr_format_ns(after, after_ns, true);
	mr_format_percent(share, llabs(before_ns - after_ns), before_ns);
	int result = mr_finding_say(findings, finding, MR_SEVERITY_NOTE,
				    "%s would take %s instead of %s, %s %s.",
				    has_steps ? "The steps" : "The run", after, before, share,
				    after_ns <= before_ns ? "less" : "more");
	if (result < 0 || whatif->unexplained_ns == 0)
		return result;
	mr_format_ns(before, whatif->unexplained_ns, true);
	return mr_finding_say(findings, finding, MR_SEVERITY_NOTE,
			      "The trace does not explain %s of what the end waits for then; the "
			      "prediction keeps that time as it was recorded.",
			      before);
}

/* ---- findings ------------------------------------------------------------------------------------------------- */

static int tell_prediction(const struct mr_question *question, const struct mr_edit *edits,
			   size_t edit_count, struct mr_findings *findings)
{
	struct mr_finding *finding = mr_findings_add(findings, "whatif", "What if");
	mr_auto(change) struct mr_change change = {0};
	mr_auto(replay) struct mr_replay replay = {0};
	struct mr_whatif whatif;
	int result = finding ? mr_question_answer(question, edits, edit_count, &whatif) : -ENOMEM;

	if (result == 0)
		result = say_gain(&whatif, findings, finding);
	if (result == 0)
		result = tell_predictions(&whatif, findings, finding);
	if (result == 0)
		result = mr_change_make(&question->course, &change);
	for (size_t i = 0; result == 0 && i < edit_count; i++)
		result = mr_question_edit(question, &edits[i], &change);
	if (result == 0)
		result = mr_replay_make(&question->course, &change, &replay);
	return result < 0 ? result : tell_limits(question, &replay, findings, finding);
}

int mr_whatif_tell(const struct mr_model *model, const struct mr_claims *claims,
		   const struct mr_edit *edits, size_t edit_count, struct mr_findings *findings)
{
	mr_auto(question) struct mr_question question = {0};
	int result = mr_question_make(model, claims, &question);

	return result < 0 ? result : tell_prediction(&question, edits, edit_count, findings);
}

/* ---- curve ------------------------------------------------------------------------------------------------------- */

enum {
	CURVE_POINTS = 11,
	CURVE_PERCENT = 10, /* from one to the next */
};

static const struct mr_finding_column curve_columns[] = {
	{"faster_permille", "faster by", MR_UNIT_PERMILLE, MR_COLUMN_TELLING},
	{"after_ns", "predicted", MR_UNIT_NS, MR_COLUMN_TELLING},
	{"gain_permille", "gain", MR_UNIT_PERMILLE, MR_COLUMN_BAR | MR_COLUMN_TELLING},
};

static int predict_scaled(const struct mr_question *question, const struct mr_edit *edit,
			  int64_t *ret_ns)
{
	mr_auto(change) struct mr_change change = {0};
	struct mr_prediction prediction;
	int result = mr_change_make(&question->course, &change);

	if (result == 0)
		result = mr_question_edit(question, edit, &change);
	if (result == 0)
		result = mr_question_predict(question, &change, &prediction);
	if (result == 0)
		*ret_ns = mr_prediction_ns(&prediction);
	return result;
}

/* *ret_knee: the last point up to which each gains at least half as much as the first. */
static int fill_curve(const struct mr_question *question, struct mr_edit edit,
		      struct mr_finding_table *table, int64_t *ret_knee)
{
	int64_t before_ns = 0, last_ns = 0, first_gain_ns = 0;

	*ret_knee = 0;
	for (uint32_t row = 0; row < CURVE_POINTS; row++) {
		int64_t after_ns = 0;

		edit.factor = 1 - (double)row * CURVE_PERCENT / 100;
		int result = predict_scaled(question, &edit, &after_ns);
		if (result < 0)
			return result;
		if (row == 0)
			before_ns = last_ns = after_ns;
		if (row == 1)
			first_gain_ns = before_ns - after_ns;
		if (row > 0 && *ret_knee == row - 1 && first_gain_ns > 0 &&
		    last_ns - after_ns >= first_gain_ns / 2)
			*ret_knee = row;
		last_ns = after_ns;
		mr_finding_value(table, row, 0)->number = row * CURVE_PERCENT * 10;
		mr_finding_value(table, row, 1)->number = after_ns;
		mr_finding_value(table, row, 2)->number =
			mr_permille(before_ns - after_ns, before_ns);
	}
	return 0;
}

static int tell_curve(const struct mr_question *question, const struct mr_edit *edit,
		      struct mr_findings *findings)
{
	struct mr_finding *finding = mr_findings_add(findings, "curve", "Gain by speed-up");
	struct mr_finding_table *table =
		finding ? mr_finding_add_table(findings, finding, "curve", "Curve", curve_columns,
					       sizeof curve_columns / sizeof *curve_columns,
					       CURVE_POINTS)
			: NULL;
	int64_t knee;
	int result = table ? fill_curve(question, *edit, table, &knee) : -ENOMEM;

	if (result < 0)
		return result;
	if (knee == 0)
		return mr_finding_say(findings, finding, MR_SEVERITY_NOTE,
				      "To make %s:%s faster gains nothing: nothing waits for it.",
				      mr_selector_name(edit->selector), edit->pattern);
	if (knee == CURVE_POINTS - 1)
		return mr_finding_say(
			findings, finding, MR_SEVERITY_NOTE,
			"Each percent by which %s:%s becomes faster gains about the same.",
			mr_selector_name(edit->selector), edit->pattern);
	return mr_finding_say(
		findings, finding, MR_SEVERITY_NOTE,
		"To make %s:%s faster by more than about %lld%% gains less than half as "
		"much for each percent: something else is the limit then.",
		mr_selector_name(edit->selector), edit->pattern, (long long)knee * CURVE_PERCENT);
}

int mr_whatif_tell_curve(const struct mr_model *model, const struct mr_claims *claims,
			 const struct mr_edit *edit, struct mr_findings *findings)
{
	mr_auto(question) struct mr_question question = {0};
	int result = mr_question_make(model, claims, &question);

	return result < 0 ? result : tell_curve(&question, edit, findings);
}
