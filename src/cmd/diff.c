/* SPDX-License-Identifier: Apache-2.0
 *
 * millrace diff: says what changed between two traces, or between two groups of steps of one.
 */
#include <inttypes.h>
#include <signal.h>
#include <string.h>

#include "analysis/diff/diff.h"
#include "base/budget.h"
#include "base/error.h"
#include "base/format.h"
#include "cmd/command.h"
#include "cmd/max_memory.h"
#include "cmd/progress_line.h"
#include "cmd/terminal.h"
#include "cmd/trace_argument.h"
#include "load/load.h"
#include "report/report.h"

static struct {
	bool json;
	const char *before;
	const char *after;
} given;

static const struct mr_option options[] = {
	MR_FLAG(0, "json", &given.json, "print JSON"),
	MR_STRING(0, "before", &given.before, "A..B",
		  "compare only these steps of the first trace"),
	MR_STRING(0, "after", &given.after, "A..B", "with only these steps of the second one"),
	MR_MAX_MEMORY_OPTION,
	{0},
};

static const struct mr_example examples[] = {
	{"millrace diff", "did the steps of the newest trace become slower?"},
	{"millrace diff --before 0..2 --after 3..5", "the same of some of its steps"},
	{"millrace diff example.mill example.mill", "two traces; here there is no difference"},
	{0},
};

/* One of the two things that are compared. */
struct half {
	struct mr_model *model;
	struct mr_side side;
	struct mr_side_steps steps;
};

static bool read_range(const char *text, struct half *half)
{
	int used = 0;

	struct mr_side_steps *steps = &half->steps;

	*half = (struct half){.steps = MR_SIDE_EVERY_STEP};
	if (!text)
		return true;
	if (strspn(text, "0123456789.") != strlen(text))
		return false;
	if (sscanf(text, "%18" SCNu64 "..%18" SCNu64 "%n", &steps->first, &steps->last, &used) !=
		    2 &&
	    sscanf(text, "%18" SCNu64 "%n", &steps->first, &used) == 1)
		steps->last = steps->first;
	return used > 0 && !text[used] && steps->first <= steps->last;
}

static int load(int count, char **operands, struct half *half)
{
	mr_auto(free) char *path = NULL;
	int result = mr_trace_argument(count, operands, &path);

	return result < 0 ? result : mr_model_load(path, &half->model);
}

static struct mr_compared describe(const struct half *half)
{
	const struct mr_side *side = &half->side;

	return (struct mr_compared){
		.path = half->model->trace->path,
		.step_count = mr_side_step_count(side),
		.window = {side->bounds_ns.items[0],
			   side->bounds_ns.items[side->bounds_ns.count - 1]},
	};
}

static int print(const struct half *before, const struct half *after, struct mr_findings *findings)
{
	const struct mr_text_style style = {.width = 100,
					    .max_rows = 20,
					    .colour = mr_terminal_has_colour(stdout),
					    .utf8 = mr_terminal_has_utf8(stdout),
					    .brief = true};
	const struct mr_compared of_before = describe(before), of_after = describe(after);

	if (given.json)
		return mr_report_print_diff_json(&of_before, &of_after, findings, stdout);
	printf("before  %s, %u step%s\nafter   %s, %u step%s\n", of_before.path,
	       of_before.step_count, mr_plural(of_before.step_count), of_after.path,
	       of_after.step_count, mr_plural(of_after.step_count));
	mr_report_print_findings(findings, &style, stdout);
	return 0;
}

static int compare(struct half *before, struct half *after)
{
	struct mr_findings findings = {0};
	int result = mr_side_make(before->model, &before->steps, &findings, &before->side);

	if (result == 0)
		result = mr_side_make(after->model, &after->steps, &findings, &after->side);
	if (result == -ENOMEM)
		mr_fail_errno(ENOMEM, "compare the traces");
	if (result == 0)
		result = mr_diff_tell(&before->side, &after->side, &findings);
	mr_progress_line_stop();
	if (result == 0)
		result = print(before, after, &findings);
	mr_findings_free(&findings);
	return result;
}

static int run(int count, char **operands)
{
	struct half before, after;

	if (!read_range(given.before, &before) || !read_range(given.after, &after))
		return mr_command_misused(&mr_command_diff,
					  "steps are a number, or a range such as 10..19");
	if (count < 2 && !given.before && !given.after) {
		before.steps.part = MR_SIDE_FIRST_HALF;
		after.steps.part = MR_SIDE_SECOND_HALF;
	}
	signal(SIGPIPE, SIG_DFL);
	mr_progress_line_start();
	int result = load(mr_min(count, 1), operands, &before);
	if (result == 0 && count > 1)
		result = load(1, operands + 1, &after);
	else
		after.model = before.model;
	if (result == 0)
		result = mr_budget_explain(compare(&before, &after), before.model->trace->path);
	mr_progress_line_stop();
	mr_side_free(&before.side);
	mr_side_free(&after.side);
	if (after.model != before.model)
		mr_model_free(after.model);
	mr_model_free(before.model);
	return result;
}

const struct mr_command mr_command_diff = {
	.name = "diff",
	.summary = "show what changed between two traces",
	.operands = "[BEFORE [AFTER]]",
	.description =
		"Compares the steps of two traces, or two groups of steps of one: those that "
		"--before and --after name, or else its first half and its second. Traces may be "
		"recordings or files of other tools, in any combination.\n\n"
		"The critical path tiles each step. So the changes of what a step takes its time "
		"for sum to the change of the step exactly. A change is told only if the noise of "
		"the steps cannot explain it: by a rank test of the steps, with the rate of false "
		"alarms among all names held below 5%, and if it is more than what either side "
		"changes by from its first half to its second. All others are one row. 'At "
		"least' and 'at most' are the 95% interval of the change of a step.\n\n"
		"A second table lists operations, by their times in each step, summed over threads "
		"and devices: slower and faster ones, new ones, ones that are gone, and ones that "
		"have another name now.\n\n"
		"Steps in which the program still warms up do not count, unless --before or "
		"--after name them. Of more than 256 steps the last 256 count. Traces without "
		"steps are compared as a whole, and nothing can be told from noise then.",
	.options = options,
	.examples = examples,
	.run = run,
	.operands_max = 2,
};
