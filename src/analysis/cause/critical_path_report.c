/* SPDX-License-Identifier: Apache-2.0
 *
 * The critical path in words, with its longest segments as evidence.
 */
#include "analysis/analysis.h"
#include "analysis/cause/critical_path.h"
#include "analysis/cause/critical_path_tables.h"
#include "analysis/cause/waiting.h"
#include "base/error.h"
#include "base/format.h"
#include "base/sort.h"

enum {
	EVIDENCE = 5,
	SAID = 3,         /* shares that the sentence names */
	LEAST_SHARE = 50, /* one part in so many of the window is worth a sentence */
};

struct report {
	const struct mr_model *model; /* whole */
	struct mr_findings *findings;
	struct mr_finding *finding;
	struct mr_critical_path path;
	int64_t span_ns;
};

/* ---- evidence ------------------------------------------------------------------------------------- */

static int prove(const struct report *report, const struct mr_path_segment *segment)
{
	struct mr_evidence evidence = {
		.what = mr_path_link_text(report->model, report->findings, segment->link),
		.track = segment->track,
		.start_ns = segment->start_ns,
		.duration_ns = segment->duration_ns,
	};

	if (!evidence.what)
		return -ENOMEM;
	if (segment->track != MR_NO_TRACK) {
		evidence.pid = mr_track_pid(report->model, segment->track);
		evidence.tid = report->model->survey->tracks.items[segment->track].tid;
	}
	return mr_finding_prove(report->finding, evidence);
}

/* The longest segments, longest first. */
static int prove_longest(const struct report *report)
{
	const struct mr_critical_path *path = &report->path;
	uint32_t count = (uint32_t)path->segments.count;
	mr_auto(free) struct mr_sort_item *order = malloc((2 * (size_t)count + 1) * sizeof *order);
	int result = 0;

	if (!order)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++)
		order[i] =
			(struct mr_sort_item){~mr_sort_key(path->segments.items[i].duration_ns), i};
	mr_sort(order, order + count, count);
	for (uint32_t i = 0; result == 0 && i < count && i < EVIDENCE; i++)
		result = prove(report, &path->segments.items[order[i].index]);
	return result;
}

/* ---- sentences ------------------------------------------------------------------------------------ */

/* "device 61.2%; kernel 20.0%; unknown 18.8%": the first rows of a table, by their names in a column. NULL
 * without memory. */
static const char *list_rows(const struct report *report, const struct mr_finding_table *table,
			     uint32_t column, uint32_t limit)
{
	uint32_t time = table->column_count - 2, count = mr_min(table->row_count, limit);
	const char *text = "";

	for (uint32_t i = 0; text && i < count; i++) {
		const union mr_value *cells = mr_finding_value(table, i, 0);
		char percent[MR_FORMAT_BYTES];

		mr_format_percent(percent, cells[time].number, report->span_ns);
		text = mr_region_print(&report->findings->region, "%s%s%s %s", text, i ? "; " : "",
				       cells[column].text, percent);
	}
	return text;
}

/* A trace is longer than the run, whose threads have ended by then. */
static int say_rest(const struct report *report)
{
	const struct mr_path_segment *last =
		&report->path.segments.items[report->path.segments.count - 1];
	char rest[MR_FORMAT_BYTES];

	if (last->track != MR_NO_TRACK || last->link.kind != MR_CAUSE_UNTRACED ||
	    last->duration_ns < report->span_ns / LEAST_SHARE)
		return 0;
	mr_format_ns(rest, last->duration_ns, true);
	return mr_finding_say(report->findings, report->finding, MR_SEVERITY_NOTE,
			      "Nothing that was recorded lasted until the end: what happened in "
			      "the last %s is not known.",
			      rest);
}

static int say(const struct report *report)
{
	const struct mr_finding_table *const *tables =
		(const struct mr_finding_table *const *)report->finding->tables.items;
	const char *levels = list_rows(report, tables[0], 0, MR_PATH_LEVELS);
	const char *shares = list_rows(report, tables[1], 1, SAID);
	char span[MR_FORMAT_BYTES];

	if (!levels || !shares)
		return -ENOMEM;
	mr_format_ns(span, report->span_ns, true);
	int result =
		mr_finding_say(report->findings, report->finding, MR_SEVERITY_NOTE,
			       "Followed back from their end, these %s went to: %s.", span, levels);
	if (result == 0)
		result = mr_finding_say(report->findings, report->finding, MR_SEVERITY_NOTE,
					"The largest parts: %s.", shares);
	if (result == 0)
		result = say_rest(report);
	if (result == 0 && report->path.uncertain)
		result = mr_finding_say(
			report->findings, report->finding, MR_SEVERITY_NOTE,
			"In %llu of %llu cases it is uncertain whether an operation waited for its "
			"launch or for another operation: the two lie within the error of the "
			"clocks.",
			(unsigned long long)report->path.uncertain,
			(unsigned long long)report->path.decisions);
	return result;
}

static int tell(struct report *report)
{
	int result = mr_path_tabulate(report->model, &report->path, report->span_ns,
				      report->findings, report->finding);

	if (result == 0)
		result = say(report);
	return result < 0 ? result : prove_longest(report);
}

/* ---- all together --------------------------------------------------------------------------------- */

static bool has_times(const struct mr_model *model)
{
	return model->states.table.count || model->device_operations.table.count ||
	       model->calls.table.count || model->node_executions.table.count;
}

static int analyse(const struct mr_model *model, struct mr_findings *findings)
{
	struct mr_window window = mr_model_window(model);
	struct report report = {.model = mr_model_whole(model),
				.findings = findings,
				.span_ns = window.last_ns - window.first_ns};

	if (!has_times(model) || report.span_ns <= 0)
		return 0;
	int result = mr_critical_path_make(model, &report.path);
	if (result < 0)
		return result;
	report.finding = mr_finding_begin(findings, "critical_path");
	result = report.finding ? tell(&report) : -ENOMEM;
	mr_critical_path_free(&report.path);
	return result;
}

int mr_analyse_critical_path(const struct mr_model *model, struct mr_findings *findings)
{
	int result = analyse(model, findings);

	return result < 0 ? mr_fail_errno(-result, "find the critical path") : 0;
}
