/* SPDX-License-Identifier: Apache-2.0
 *
 * What would be gained if a problem were gone: each is left out of a replay of its own.
 */
#include "analysis/analysis.h"
#include "analysis/whatif/whatif.h"
#include "base/format.h"

enum column {
	GAIN_PROBLEM,
	GAIN_EDIT,
	GAIN_COST,
	GAIN_BEFORE,
	GAIN_AFTER,
	GAIN_GAIN,
	GAIN_LEAST,
	GAIN_MOST,
	GAIN_LIMIT,
	GAIN_COLUMNS,
};

static const struct mr_finding_column columns[GAIN_COLUMNS] = {
	[GAIN_PROBLEM] = {"problem", "without", MR_UNIT_TEXT, MR_COLUMN_TELLING},
	[GAIN_EDIT] = {"edit", "edit", MR_UNIT_TEXT, MR_COLUMN_DATA},
	[GAIN_COST] = {"time_ns", "costs", MR_UNIT_NS, MR_COLUMN_TELLING},
	[GAIN_BEFORE] = {"before_ns", "recorded", MR_UNIT_NS, MR_COLUMN_DATA},
	[GAIN_AFTER] = {"after_ns", "predicted", MR_UNIT_NS, MR_COLUMN_TELLING},
	[GAIN_GAIN] = {"gain_permille", "gain", MR_UNIT_PERMILLE, MR_COLUMN_TELLING},
	[GAIN_LEAST] = {"least_permille", "at least", MR_UNIT_PERMILLE, MR_COLUMN_SPARE},
	[GAIN_MOST] = {"most_permille", "at most", MR_UNIT_PERMILLE, MR_COLUMN_SPARE},
	[GAIN_LIMIT] = {"limit", "the limit is then", MR_UNIT_TEXT,
			MR_COLUMN_TELLING | MR_COLUMN_PATH},
};

/* "device: matmul": what the end waits for longest. NULL without memory. */
static const char *name_limit(const struct mr_model *model, struct mr_findings *findings,
			      const struct mr_tally *tally)
{
	struct mr_link link = {0};
	int64_t most_ns = 0;

	for (uint32_t i = 0; i < tally->entries.count; i++)
		if (tally->entries.items[i].total_ns > most_ns) {
			most_ns = tally->entries.items[i].total_ns;
			memcpy(&link, mr_tally_key(tally, i), sizeof link);
		}
	if (most_ns == 0)
		return "";
	const char *culprit = mr_link_culprit(model, &findings->region, link);
	return culprit ? mr_region_print(&findings->region, "%s%s%s",
					 mr_cause_name((enum mr_cause_kind)link.kind),
					 *culprit ? ": " : "", culprit)
		       : NULL;
}

static int find_limit(const struct mr_question *question, const struct mr_edit *edit,
		      struct mr_findings *findings, const char **ret_limit)
{
	mr_auto(change) struct mr_change change = {0};
	mr_auto(replay) struct mr_replay replay = {0};
	mr_auto(tally) struct mr_tally tally = {0};
	int64_t sum_ns;
	int result = mr_change_make(&question->course, &change);

	if (result == 0)
		result = mr_question_edit(question, edit, &change);
	if (result == 0)
		result = mr_replay_make(&question->course, &change, &replay);
	if (result == 0)
		result = mr_question_limits(question, &replay, &tally, &sum_ns);
	if (result < 0)
		return result;
	*ret_limit = name_limit(question->course.model, findings, &tally);
	return *ret_limit ? 0 : -ENOMEM;
}

static int fill_row(const struct mr_question *question, const struct mr_problem *problem,
		    struct mr_findings *findings, union mr_value *cells)
{
	struct mr_edit edit = {.is_drop = true, .selector = MR_SELECT_PROBLEM};
	struct mr_whatif whatif;

	snprintf(edit.pattern, sizeof edit.pattern, "%s", problem->key);
	int result = mr_question_answer(question, &edit, 1, &whatif);
	if (result == 0)
		result = find_limit(question, &edit, findings, &cells[GAIN_LIMIT].text);
	if (result < 0)
		return result;
	int64_t before_ns = mr_prediction_ns(&whatif.before);
	int64_t after_ns = mr_prediction_ns(&whatif.after);
	int64_t explained_ns = mr_prediction_ns(&whatif.before_explained);
	int64_t gain = mr_permille(before_ns - after_ns, before_ns), explained;

	explained =
		mr_permille(explained_ns - mr_prediction_ns(&whatif.after_explained), explained_ns);
	if (explained == MR_NO_VALUE)
		explained = gain;
	cells[GAIN_PROBLEM].text = problem->title;
	cells[GAIN_EDIT].text = mr_region_print(&findings->region, "drop problem:%s", problem->key);
	cells[GAIN_COST].number = problem->time_ns;
	cells[GAIN_BEFORE].number = before_ns;
	cells[GAIN_AFTER].number = after_ns;
	cells[GAIN_GAIN].number = gain;
	cells[GAIN_LEAST].number = mr_min(gain, explained);
	cells[GAIN_MOST].number = mr_max(gain, explained);
	return cells[GAIN_EDIT].text ? 0 : -ENOMEM;
}

/* What costs nothing of the time that is looked at cannot gain any of it; a verdict is nothing to be rid of. */
static bool is_asked_for(const struct mr_problem *problem)
{
	return !problem->is_verdict && !problem->outside_ns && problem->time_ns > 0;
}

static int say_first(const struct mr_question *question, const struct mr_finding_table *table,
		     struct mr_findings *findings, struct mr_finding *finding)
{
	char before[MR_FORMAT_BYTES], after[MR_FORMAT_BYTES];

	mr_format_ns(before, mr_finding_value(table, 0, GAIN_BEFORE)->number, true);
	mr_format_ns(after, mr_finding_value(table, 0, GAIN_AFTER)->number, true);
	int result =
		mr_finding_say(findings, finding, MR_SEVERITY_NOTE,
			       "Without the first problem (%s) the %s would take %s instead of "
			       "%s.",
			       mr_finding_value(table, 0, GAIN_PROBLEM)->text,
			       question->steady.count ? "steps" : "run", after, before);
	if (result < 0)
		return result;
	return mr_finding_say(
		findings, finding, MR_SEVERITY_NOTE,
		"Each row leaves out one problem and all that it costs ('drop %s' does "
		"that to the first). Where that gains less than it costs, something "
		"else is the limit then.",
		mr_finding_value(table, 0, GAIN_EDIT)->text + strlen("drop "));
}

static int tell_gains(const struct mr_question *question, const struct mr_diagnosis *diagnosis,
		      struct mr_findings *findings, struct mr_finding *finding)
{
	uint32_t count = 0, row = 0;
	int result = 0;

	for (size_t i = 0; i < diagnosis->problems.count; i++)
		count += is_asked_for(&diagnosis->problems.items[i]);
	if (count == 0)
		return mr_finding_say(findings, finding, MR_SEVERITY_NOTE,
				      "There is no problem that could be left out; --list shows "
				      "what can be changed.");
	struct mr_finding_table *table = mr_finding_add_table(
		findings, finding, "gains", "Without a problem", columns, GAIN_COLUMNS, count);
	if (!table)
		return -ENOMEM;
	for (size_t i = 0; result == 0 && i < diagnosis->problems.count; i++)
		if (is_asked_for(&diagnosis->problems.items[i]))
			result = fill_row(question, &diagnosis->problems.items[i], findings,
					  mr_finding_value(table, row++, 0));
	return result < 0 ? result : say_first(question, table, findings, finding);
}

int mr_whatif_tell_problems(const struct mr_model *model, const struct mr_claims *claims,
			    const struct mr_diagnosis *diagnosis, struct mr_findings *findings)
{
	mr_auto(question) struct mr_question question = {0};
	struct mr_finding *finding =
		mr_findings_add(findings, "gains", "What each problem would gain");
	int result = finding ? mr_question_make(model, claims, &question) : -ENOMEM;

	return result < 0 ? result : tell_gains(&question, diagnosis, findings, finding);
}
