/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/present.h"

#include <signal.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "analysis/start_up.h"
#include "base/budget.h"
#include "base/error.h"
#include "cmd/command.h"
#include "cmd/new_file.h"
#include "cmd/progress_line.h"
#include "cmd/terminal.h"
#include "cmd/trace_argument.h"
#include "load/load.h"
#include "report/report.h"

enum {
	PAGE_COLUMNS = 100,
	ROWS = 50,
	ROWS_IN_BRIEF = 20,
};

static uint32_t page_width(void)
{
	struct winsize size;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
		return size.ws_col;
	return PAGE_COLUMNS;
}

static int write_page(const struct mr_summary *summary, const struct mr_findings *findings,
		      const char *path)
{
	struct mr_new_file file;
	int result = mr_new_file_open(&file, path);

	return result < 0 ? result
			  : mr_new_file_close(&file,
					      mr_report_print_html(summary, findings, file.stream));
}

static int print(const struct mr_model *model, struct mr_findings *findings,
		 const struct mr_presentation *presentation)
{
	bool brief = presentation->brief;
	const struct mr_text_style style = {
		.width = page_width(),
		.max_rows = brief ? ROWS_IN_BRIEF : ROWS,
		.colour = mr_terminal_has_colour(stdout),
		.utf8 = mr_terminal_has_utf8(stdout),
		.brief = brief,
	};
	struct mr_summary summary;
	int result = mr_summary_make(model, &findings->region, &summary);

	if (result == 0 && model->whole) {
		summary.part = mr_part_text(model, presentation->part, &findings->region);
		result = summary.part ? 0 : -ENOMEM;
		if (mr_part_is_steps(presentation->part)) {
			summary.start_up = mr_start_up_text(model, &findings->region);
			summary.end = mr_end_text(model, &findings->region);
		}
	}
	if (result < 0)
		return mr_fail_errno(-result, "analyse the trace");
	if (presentation->html)
		return write_page(&summary, findings, presentation->html);
	if (presentation->json)
		return mr_report_print_json(&summary, findings, brief, MR_JSON_INDENTED, stdout);
	mr_report_print_text(&summary, findings, &style, stdout);
	return 0;
}

/* The report itself says which damage; scripts want to know that there is some. */
static int tell_damage(const struct mr_trace *trace)
{
	if (trace->damage_count == 0)
		return 0;
	fprintf(stderr, "millrace: %s: the trace is damaged; this covers what could be read\n",
		trace->path);
	return MR_EXIT_DAMAGED;
}

static int analyse(const struct mr_model *model, const struct mr_presentation *presentation)
{
	struct mr_findings findings = {0};
	int result = 0;

	for (mr_analysis *const *next = presentation->analyses; result == 0 && *next; next++)
		result = (*next)(model, &findings);
	if (result == 0)
		result = mr_mappings_check(); /* columns may lie in the saved index */
	mr_progress_line_stop();
	if (result == 0)
		result = print(model, &findings, presentation);
	if (result == 0 && presentation->verdict &&
	    mr_findings_find(&findings, presentation->verdict)->severity == MR_SEVERITY_WARNING)
		result = MR_EXIT_FAILURE;
	if (result == 0 && presentation->tells_damage)
		result = tell_damage(mr_model_whole(model)->trace);
	mr_findings_free(&findings);
	return result;
}

int mr_present(int count, char **operands, const struct mr_presentation *presentation)
{
	mr_auto(free) char *path = NULL;
	mr_auto(model) struct mr_model *model = NULL, *cut = NULL;

	signal(SIGPIPE, SIG_DFL); /* if the reader closes the pipe, end quietly */
	int result = mr_trace_argument(count, operands, &path);
	const char *step_range = presentation->part ? presentation->part->step_range : NULL;
	mr_progress_line_start();
	if (result == 0)
		result = mr_model_load_steps(path, step_range, &model);
	if (result == 0 && presentation->part)
		result = mr_part_find(model, presentation->part, &cut);
	if (result == 0)
		result = mr_budget_explain(analyse(cut ? cut : model, presentation), path);
	mr_progress_line_stop();
	return result;
}
