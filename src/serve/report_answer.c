/* SPDX-License-Identifier: Apache-2.0
 *
 * report: what `millrace report --json` prints of the trace or of a window. Only the report of the whole trace is
 * kept. Times are those of the trace clock.
 */
#include "serve/endpoints.h"

#include "analysis/analysis.h"
#include "base/error.h"
#include "report/report.h"
#include "serve/parameters.h"

/* `part` says what part of the trace it is of; NULL: all. */
static int print(const struct mr_model *model, const struct mr_findings *findings, const char *part,
		 FILE *body)
{
	struct mr_region region = {0};
	struct mr_summary summary;
	int result = mr_summary_make(model, &region, &summary);

	if (result < 0) {
		result = mr_fail_errno(-result, "sum up the trace");
	} else {
		summary.part = part;
		result = mr_report_print_json(&summary, findings, true, body);
	}
	mr_region_free(&region);
	return result;
}

static int print_part(const struct mr_model *model, const struct mr_part *part, FILE *body)
{
	mr_auto(model) struct mr_model *cut = NULL;
	struct mr_findings findings = {0};
	int result = mr_model_cut(model, part, &cut);

	if (result < 0)
		return mr_fail_errno(-result, "cut the trace");
	result = mr_analyse_all(cut, &findings);
	if (result == 0)
		result = print(cut, &findings, "", body);
	mr_findings_free(&findings);
	return result;
}

int mr_answer_report(struct mr_view *view, const struct mr_request *request,
		     struct mr_answer *answer)
{
	struct mr_window all = mr_model_window(view->model);
	struct mr_part part = {0};
	int result = mr_request_window(view, request, &part.window);

	if (result < 0)
		return result;
	part.window.first_ns = mr_max(part.window.first_ns, all.first_ns);
	part.window.last_ns = mr_min(part.window.last_ns, all.last_ns);
	if (mr_request_has(request, "from") && part.window.first_ns >= part.window.last_ns)
		return mr_fail(EINVAL, "from: the window is empty");
	if (mr_request_has(request, "from"))
		return print_part(view->model, &part, answer->body);
	const struct mr_findings *findings = mr_view_findings(view);
	return findings ? print(view->model, findings, NULL, answer->body) : -ENOMEM;
}
