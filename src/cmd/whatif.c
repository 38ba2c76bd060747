/* SPDX-License-Identifier: Apache-2.0
 *
 * millrace whatif: predicts what a change would gain.
 */
#include "analysis/whatif/whatif.h"
#include "base/error.h"
#include "cmd/command.h"
#include "cmd/max_memory.h"
#include "cmd/part.h"
#include "cmd/present.h"

enum {
	EDITS_MAX = 32,
};

static struct {
	bool json;
	bool list;
	const char *curve;
	struct mr_edit edits[EDITS_MAX];
	size_t edit_count;
} given;

static const struct mr_option options[] = {
	MR_FLAG(0, "json", &given.json, "print JSON"),
	MR_FLAG(0, "list", &given.list, "list what can be changed"),
	MR_STRING(0, "curve", &given.curve, "WHAT", "gain by speed-up of this, from 0 to 100%"),
	MR_MAX_MEMORY_OPTION,
	{0},
};

static const struct mr_example examples[] = {
	{"millrace whatif", "what each problem of the newest trace would gain if it were gone"},
	{"millrace whatif --list", "what can be changed"},
	{"millrace whatif 'scale thread:* 0.5'", "as if all threads were twice as fast"},
	{"millrace whatif --curve 'thread:*'", "what each percent of speed-up gains"},
	{0},
};

static bool needs_problems(void)
{
	for (size_t i = 0; i < given.edit_count; i++)
		if (given.edits[i].selector == MR_SELECT_PROBLEM)
			return true;
	return given.edit_count == 0 && !given.list;
}

/* As `report` finds them. */
static int find_problems(const struct mr_model *model, struct mr_findings *findings,
			 struct mr_claims *claims)
{
	static const struct mr_part_options no_part = MR_NO_PART;
	mr_auto(model) struct mr_model *cut = NULL;
	int result = mr_part_find(model, &no_part, &cut);
	const struct mr_model *part = cut ? cut : model;

	if (result == 0)
		result = mr_analyse_threads(part, findings);
	if (result == 0)
		result = mr_analyse_preemption(part, findings);
	return result < 0 ? result : mr_problems_find(part, findings, claims);
}

static int predict_with(const struct mr_model *model, const struct mr_claims *claims,
			const struct mr_diagnosis *diagnosis, struct mr_findings *findings)
{
	if (given.list)
		return mr_whatif_tell_list(model, findings);
	if (given.edit_count == 0)
		return mr_whatif_tell_problems(model, claims, diagnosis, findings);
	if (given.curve)
		return mr_whatif_tell_curve(model, claims, &given.edits[0], findings);
	return mr_whatif_tell(model, claims, given.edits, given.edit_count, findings);
}

static int predict(const struct mr_model *model, struct mr_findings *findings)
{
	mr_auto(claims) struct mr_claims claims = {0};
	struct mr_findings problems = {0};
	int result = needs_problems() ? find_problems(model, &problems, &claims) : 0;

	if (result == 0)
		result = predict_with(model, &claims, &problems.diagnosis, findings);
	mr_findings_free(&problems);
	return result;
}

static int add_edit(const char *text)
{
	if (given.edit_count == EDITS_MAX)
		return mr_command_misused(&mr_command_whatif, "more than %d edits", EDITS_MAX);
	if (mr_edit_parse(text, &given.edits[given.edit_count]) < 0)
		return mr_command_misused(&mr_command_whatif, "%s", mr_error_text());
	given.edit_count++;
	return 0;
}

static int add_curve(void)
{
	char text[sizeof given.edits->pattern + 32];
	int length = snprintf(text, sizeof text, "scale %s 1", given.curve);

	if (length < 0 || (size_t)length >= sizeof text)
		return mr_command_misused(&mr_command_whatif, "--curve: the name is too long");
	return add_edit(text);
}

static int run(int count, char **operands)
{
	static mr_analysis *const analyses[] = {predict, NULL};
	int edits = 0, result = 0;

	while (result == 0 && edits < count && mr_edit_is_one(operands[edits]))
		result = add_edit(operands[edits++]);
	if (result == 0 && given.curve)
		result = add_curve();
	if (result != 0)
		return result;
	if (count - edits > 1)
		return mr_command_misused(
			&mr_command_whatif,
			"'%s' is no edit: give 'scale WHAT FACTOR' or 'drop WHAT'",
			operands[edits]);
	if ((given.list || given.curve) && edits > 0)
		return mr_command_misused(&mr_command_whatif,
					  "edits cannot be combined with --list or --curve");
	if (given.list && given.curve)
		return mr_command_misused(&mr_command_whatif,
					  "--list and --curve cannot be combined");
	return mr_present(count - edits, operands + edits,
			  &(struct mr_presentation){
				  .analyses = analyses, .json = given.json, .brief = !given.json});
}

const struct mr_command mr_command_whatif = {
	.name = "whatif",
	.summary = "predict what a change would gain",
	.operands = "[EDIT...] [TRACE]",
	.description =
		"Replays the recorded run with changes and says how long it would take then, and "
		"what becomes the limit. The replay knows what each thread and each device "
		"operation waited for. So what becomes shorter lets others start earlier, and "
		"what nobody waits for gains nothing.\n\n"
		"An EDIT is one word for the shell, so quote it:\n\n"
		"  'scale WHAT FACTOR'  its time becomes FACTOR times as long: 0.5, 50%, 2\n"
		"  'drop WHAT'          its time becomes 0; a cause such as lock, gil, sync or "
		"preempted is not waited for any more\n\n"
		"Without an EDIT it says for each problem that 'millrace report' finds what would "
		"be gained if it were gone.\n\n"
		"WHAT is cause:NAME, type:NAME, node:NAME, kernel:NAME (a device operation), "
		"device:NAME, function:NAME (of a runtime), code:NAME (a function in Python, with "
		"all that it calls), thread:NAME, process:NAME or "
		"problem:NAME. NAME may have *, ? and [...]. --list shows the names with most "
		"time, and how much of "
		"it the end of the run waits for: no change gains more.\n\n"
		"Everything happens in the recorded order, and time that the trace does not "
		"explain stays as it is. The columns 'at least' and 'at most' say how much the "
		"gain "
		"depends on that.",
	.options = options,
	.examples = examples,
	.run = run,
	.operands_max = MR_OPERANDS_ANY,
};
