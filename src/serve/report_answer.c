/* SPDX-License-Identifier: Apache-2.0
 *
 * report: what `millrace report --json` prints for the trace or for a window, on one line. Only the reports on the
 * whole recorded time and on the steps are cached. Times are those of the trace clock. The page asks only for what it shows:
 *
 *     ?scope=steps                    on the steps alone
 *     ?rows=N                         the first N rows of every table
 *     ?table=idle.by_all              one table
 *     ?table=idle.by_all&first&rows   some of its rows
 */
#include "serve/endpoints.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/analysis.h"
#include "analysis/start_up.h"
#include "base/error.h"
#include "report/report.h"
#include "serve/parameters.h"

#define ALL_ROWS UINT32_MAX

/* What is wanted of a report. */
struct wish {
	const char *table; /* NULL: all */
	uint32_t first;    /* row of the table */
	uint32_t rows;     /* of each table */
};

static int read_rows(const struct mr_request *request, const char *name, uint32_t otherwise,
		     uint32_t *ret_rows)
{
	int64_t rows = otherwise;
	int result = mr_request_has(request, name)
			     ? mr_request_integer(request, name, 0, ALL_ROWS, &rows)
			     : 0;

	*ret_rows = (uint32_t)rows;
	return result;
}

static int read_wish(const struct mr_request *request, struct wish *wish)
{
	int result = read_rows(request, "rows", ALL_ROWS, &wish->rows);

	if (result == 0)
		result = read_rows(request, "first", 0, &wish->first);
	if (result < 0)
		return result;
	wish->table = mr_request_text(request, "table");
	if (!wish->table && mr_request_has(request, "first"))
		return mr_fail(EINVAL, "first: needs a table, which is not given");
	return 0;
}

/* The table is named as in "idle.by_all". */
static int print_table(const struct mr_findings *findings, const struct wish *wish, FILE *body)
{
	const char *dot = strchr(wish->table, '.');
	mr_auto(free) char *finding = strndup(wish->table, dot ? (size_t)(dot - wish->table) : 0);

	if (!finding)
		return mr_fail_errno(ENOMEM, "find the table");
	const struct mr_finding_table *table =
		dot ? mr_findings_find_table(findings, finding, dot + 1) : NULL;
	return table ? mr_report_print_table_json(table, wish->first, wish->rows, body)
		     : mr_fail(ENOENT, "table: the report has no '%s'", wish->table);
}

/* `part` says what part of the trace it is of; NULL: all. What is around the steps is said of them alone. */
static int print(const struct mr_model *model, const struct mr_findings *findings, const char *part,
		 bool of_steps, const struct wish *wish, FILE *body)
{
	struct mr_region region = {0};
	struct mr_summary summary;

	if (wish->table)
		return print_table(findings, wish, body);
	int result = mr_summary_make(model, &region, &summary);
	summary.part = part;
	if (result == 0 && of_steps) {
		summary.start_up = mr_start_up_text(model, &region);
		summary.end = mr_end_text(model, &region);
	}
	if (result < 0)
		result = mr_fail_errno(-result, "sum up the trace");
	else if (wish->rows == ALL_ROWS)
		result = mr_report_print_json(&summary, findings, true, MR_JSON_ONE_LINE, body);
	else
		result = mr_report_print_short_json(&summary, findings, wish->rows, body);
	mr_region_free(&region);
	return result;
}

static int print_part(const struct mr_model *model, const struct mr_part *part,
		      const struct wish *wish, FILE *body)
{
	mr_auto(model) struct mr_model *cut = NULL;
	struct mr_findings findings = {0};
	int result = mr_model_cut(model, part, &cut);

	if (result < 0)
		return mr_fail_errno(-result, "cut the trace");
	result = mr_analyse_all(cut, &findings);
	if (result == 0)
		result = print(cut, &findings, "", false, wish, body);
	mr_findings_free(&findings);
	return result;
}

int mr_answer_report(struct mr_view *view, const struct mr_request *request,
		     struct mr_answer *answer)
{
	struct mr_window all = mr_model_window(view->model);
	struct mr_part part = {0};
	enum mr_scope scope;
	struct wish wish;
	int result = read_wish(request, &wish);

	if (result == 0)
		result = mr_request_scope(request, &scope);
	if (result == 0)
		result = mr_request_window(view, request, &part.window);
	if (result < 0)
		return result;
	part.window.first_ns = mr_max(part.window.first_ns, all.first_ns);
	part.window.last_ns = mr_min(part.window.last_ns, all.last_ns);
	if (mr_request_has(request, "from") && part.window.first_ns >= part.window.last_ns)
		return mr_fail(EINVAL, "from: the window is empty");
	if (mr_request_has(request, "from"))
		return print_part(view->model, &part, &wish, answer->body);
	const struct mr_findings *findings = mr_view_findings(view, scope);
	const struct mr_model *model = mr_view_scope(view, scope);
	if (!findings || !model)
		return -ENOMEM;
	return print(model, findings, model == view->model ? NULL : "",
		     scope == MR_SCOPE_STEPS && model == view->steady, &wish, answer->body);
}
