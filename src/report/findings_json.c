/* SPDX-License-Identifier: Apache-2.0 */
#include "report/report.h"

#include <assert.h>
#include <string.h>

#include "analysis/cause/cause.h"

static const char *unit_name(enum mr_unit unit)
{
	switch (unit) {
	case MR_UNIT_TEXT:
		return "text";
	case MR_UNIT_COUNT:
		return "count";
	case MR_UNIT_NS:
		return "ns";
	case MR_UNIT_BYTES:
		return "bytes";
	case MR_UNIT_BYTES_PER_SECOND:
		return "bytes_per_second";
	case MR_UNIT_PERMILLE:
		return "permille";
	case MR_UNIT_THOUSANDTHS:
		return "thousandths";
	case MR_UNIT_NUMBER:
		return "number";
	}
	return "text";
}

static void print_column(const struct mr_finding_table *table, uint32_t column,
			 struct mr_json *json)
{
	const struct mr_finding_column *desc = &table->columns[column];

	mr_json_begin_object(json, NULL);
	mr_json_string(json, "key", desc->key);
	mr_json_string(json, "title", desc->title);
	mr_json_string(json, "unit", unit_name(desc->unit));
	if (desc->flags & MR_COLUMN_BREAKDOWN)
		mr_json_int(json, "whole", table->wholes[column]);
	if (desc->flags & MR_COLUMN_SUM)
		mr_json_bool(json, "is_sum", true);
	if (desc->flags & MR_COLUMN_DATA)
		mr_json_bool(json, "is_data", true);
	mr_json_end_object(json);
}

static void print_value(const struct mr_finding_column *desc, const union mr_value *value,
			const char *key, struct mr_json *json)
{
	if (desc->unit == MR_UNIT_TEXT)
		mr_json_string(json, key, value->text);
	else if (value->number == MR_NO_VALUE)
		mr_json_null(json, key);
	else
		mr_json_int(json, key, value->number);
}

static void print_row(const struct mr_finding_table *table, uint32_t row, struct mr_json *json)
{
	mr_json_begin_object(json, NULL);
	for (uint32_t column = 0; column < table->column_count; column++)
		print_value(&table->columns[column], mr_finding_value(table, row, column),
			    table->columns[column].key, json);
	mr_json_end_object(json);
}

/* The rows from `first` on, at most max_rows of them. */
static void print_table(const struct mr_finding_table *table, uint32_t first, uint32_t max_rows,
			struct mr_json *json)
{
	uint32_t begin = mr_min(first, table->row_count);
	uint32_t row_count = mr_min(table->row_count - begin, max_rows);

	mr_json_begin_object(json, NULL);
	mr_json_string(json, "id", table->id);
	mr_json_string(json, "title", table->title);
	mr_json_begin_array(json, "columns");
	for (uint32_t column = 0; column < table->column_count; column++)
		print_column(table, column, json);
	mr_json_end_array(json);
	mr_json_begin_array(json, "rows");
	for (uint32_t row = begin; row < begin + row_count; row++)
		print_row(table, row, json);
	mr_json_end_array(json);
	if (row_count < table->row_count)
		mr_json_uint(json, "left_out", table->row_count - row_count);
	mr_json_end_object(json);
}

static void print_evidence(const struct mr_evidence *evidence, struct mr_json *json)
{
	mr_json_begin_object(json, NULL);
	mr_json_string(json, "what", evidence->what);
	if (evidence->track == MR_NO_TRACK) {
		mr_json_null(json, "pid");
		mr_json_null(json, "tid");
		mr_json_null(json, "track");
	} else {
		mr_json_uint(json, "pid", evidence->pid);
		mr_json_uint(json, "tid", evidence->tid);
		mr_json_uint(json, "track", evidence->track);
	}
	mr_json_int(json, "start_ns", evidence->start_ns);
	mr_json_int(json, "duration_ns", evidence->duration_ns);
	mr_json_end_object(json);
}

static void print_sentences(const struct mr_finding *finding, struct mr_json *json)
{
	mr_json_begin_array(json, "sentences");
	for (size_t i = 0; i < finding->sentences.count; i++) {
		const struct mr_sentence *sentence = &finding->sentences.items[i];

		mr_json_begin_object(json, NULL);
		mr_json_string(json, "severity", mr_severity_name(sentence->severity));
		mr_json_string(json, "text", sentence->text);
		mr_json_end_object(json);
	}
	mr_json_end_array(json);
}

static void print_finding(const struct mr_finding *finding, uint32_t max_rows, struct mr_json *json)
{
	mr_json_begin_object(json, NULL);
	mr_json_string(json, "id", finding->id);
	mr_json_string(json, "title", finding->title);
	mr_json_string(json, "severity", mr_severity_name(finding->severity));
	print_sentences(finding, json);
	mr_json_begin_array(json, "tables");
	for (size_t i = 0; i < finding->tables.count; i++)
		print_table(finding->tables.items[i], 0, max_rows, json);
	mr_json_end_array(json);
	mr_json_begin_array(json, "evidence");
	for (size_t i = 0; i < finding->evidence.count; i++)
		print_evidence(&finding->evidence.items[i], json);
	mr_json_end_array(json);
	mr_json_end_object(json);
}

/* ---- answers: what programs ask for most, taken from the findings --------------------------------- */

static void print_health(const struct mr_findings *findings, struct mr_json *json)
{
	const struct mr_finding *health = mr_findings_find(findings, "health");

	mr_json_begin_object(json, "health");
	mr_json_string(json, "severity", mr_severity_name(health->severity));
	print_sentences(health, json);
	mr_json_end_object(json);
}

static void print_problem(const struct mr_diagnosis *diagnosis, const struct mr_problem *problem,
			  struct mr_json *json)
{
	mr_json_begin_object(json, NULL);
	mr_json_string(json, "key", problem->key);
	mr_json_string(json, "title", problem->title);
	mr_json_int(json, "time_ns", problem->time_ns);
	mr_json_begin_object(json, "share");
	mr_json_string(json, "of", problem->outside_ns ? "before" : diagnosis->of);
	mr_json_int(json, "whole_ns", diagnosis->whole_ns);
	mr_json_int(json, "permille", mr_permille(problem->time_ns, diagnosis->whole_ns));
	mr_json_end_object(json);
	mr_json_string(json, "where", problem->where);
	mr_json_string(json, "why", problem->why);
	mr_json_string(json, "remedy", problem->remedy);
	mr_json_string(json, "confidence", mr_confidence_name(problem->confidence));
	mr_json_bool(json, "is_verdict", problem->is_verdict);
	mr_json_begin_array(json, "evidence");
	for (size_t i = 0; i < problem->evidence.count; i++)
		print_evidence(&problem->evidence.items[i], json);
	mr_json_end_array(json);
	mr_json_end_object(json);
}

static void print_problems(const struct mr_findings *findings, struct mr_json *json)
{
	const struct mr_diagnosis *diagnosis = &findings->diagnosis;

	mr_json_begin_array(json, "problems");
	for (size_t i = 0; i < diagnosis->problems.count; i++)
		print_problem(diagnosis, &diagnosis->problems.items[i], json);
	mr_json_end_array(json);
}

/* The rows of a table, or those of them in which a column has that text. */
static void print_rows(const struct mr_findings *findings, const char *key, const char *finding,
		       const char *id, const char *column, const char *text, struct mr_json *json)
{
	const struct mr_finding_table *table = mr_findings_find_table(findings, finding, id);

	mr_json_begin_array(json, key);
	for (uint32_t row = 0; table && row < table->row_count; row++)
		if (!column ||
		    strcmp(mr_finding_value(table, row, mr_finding_column(table, column))->text,
			   text) == 0)
			print_row(table, row, json);
	mr_json_end_array(json);
}

/* A cell under another name. */
static void print_cell(const struct mr_finding_table *table, uint32_t row, const char *column,
		       const char *key, struct mr_json *json)
{
	uint32_t at = mr_finding_column(table, column);

	print_value(&table->columns[at], mr_finding_value(table, row, at), key, json);
}

enum answers {
	NO_ANSWERS,
	SHORT_ANSWERS, /* no lists; causes summed up by kind */
	ALL_ANSWERS,
};

/* All rows of one kind of cause, and the first culprit: rows come by time. */
struct cause_sum {
	const char *cause;
	const char *culprit;
	int64_t ns;
};

static const char *text_at(const struct mr_finding_table *table, uint32_t row, const char *column)
{
	return mr_finding_value(table, row, mr_finding_column(table, column))->text;
}

static int64_t number_at(const struct mr_finding_table *table, uint32_t row, const char *column)
{
	return mr_finding_value(table, row, mr_finding_column(table, column))->number;
}

static struct cause_sum *find_sum(struct cause_sum *sums, uint32_t *count, const char *cause)
{
	uint32_t i = 0;

	while (i < *count && strcmp(sums[i].cause, cause) != 0)
		i++;
	assert(i < MR_CAUSE_COUNT);
	if (i == *count)
		sums[(*count)++] = (struct cause_sum){cause, "", 0};
	return &sums[i];
}

/* Of one device, or MR_NO_VALUE. */
static void print_cause_sums(const struct mr_finding_table *table, int64_t device,
			     struct mr_json *json)
{
	struct cause_sum sums[MR_CAUSE_COUNT];
	uint32_t count = 0;

	for (uint32_t row = 0; table && row < table->row_count; row++) {
		if (device != MR_NO_VALUE && number_at(table, row, "device_number") != device)
			continue;
		struct cause_sum *sum = find_sum(sums, &count, text_at(table, row, "cause"));
		if (!*sum->culprit)
			sum->culprit = text_at(table, row, "culprit");
		sum->ns += number_at(table, row, "time_ns");
	}
	for (uint32_t i = 0; i < count; i++) {
		mr_json_begin_object(json, NULL);
		mr_json_string(json, "cause", sums[i].cause);
		mr_json_string(json, "culprit", sums[i].culprit);
		mr_json_int(json, "ns", sums[i].ns);
		mr_json_end_object(json);
	}
}

static void print_idle_causes(const struct mr_finding_table *causes, int64_t device,
			      struct mr_json *json)
{
	for (uint32_t row = 0; causes && row < causes->row_count; row++) {
		if (number_at(causes, row, "device_number") != device)
			continue;
		mr_json_begin_object(json, NULL);
		print_cell(causes, row, "cause", "cause", json);
		print_cell(causes, row, "culprit", "culprit", json);
		print_cell(causes, row, "time_ns", "ns", json);
		print_cell(causes, row, "count", "count", json);
		mr_json_end_object(json);
	}
}

static void print_device(const struct mr_findings *findings, const struct mr_finding_table *devices,
			 uint32_t row, enum answers answers, struct mr_json *json)
{
	const struct mr_finding_table *causes = mr_findings_find_table(findings, "idle", "causes");
	int64_t device = number_at(devices, row, "device_number");

	mr_json_begin_object(json, NULL);
	print_cell(devices, row, "device", "name", json);
	print_cell(devices, row, "pid", "pid", json);
	print_cell(devices, row, "span_ns", "span_ns", json);
	print_cell(devices, row, "busy_ns", "busy_ns", json);
	print_cell(devices, row, "idle_ns", "idle_ns", json);
	mr_json_begin_array(json, "idle_causes");
	if (answers == SHORT_ANSWERS)
		print_cause_sums(causes, device, json);
	else
		print_idle_causes(causes, device, json);
	mr_json_end_array(json);
	mr_json_end_object(json);
}

static void print_devices(const struct mr_findings *findings, enum answers answers,
			  struct mr_json *json)
{
	const struct mr_finding_table *devices =
		mr_findings_find_table(findings, "devices", "devices");

	mr_json_begin_array(json, "devices");
	for (uint32_t row = 0; devices && row < devices->row_count; row++)
		print_device(findings, devices, row, answers, json);
	mr_json_end_array(json);
}

static void print_shares(const struct mr_finding_table *shares, struct mr_json *json)
{
	for (uint32_t row = 0; row < shares->row_count; row++) {
		mr_json_begin_object(json, NULL);
		print_cell(shares, row, "level", "level", json);
		print_cell(shares, row, "what", "what", json);
		print_cell(shares, row, "cause", "cause", json);
		print_cell(shares, row, "culprit", "culprit", json);
		print_cell(shares, row, "time_ns", "ns", json);
		mr_json_end_object(json);
	}
}

static void print_critical_path(const struct mr_findings *findings, enum answers answers,
				struct mr_json *json)
{
	const struct mr_finding_table *shares =
		mr_findings_find_table(findings, "critical_path", "shares");

	if (!shares) {
		mr_json_null(json, "critical_path");
		return;
	}
	mr_json_begin_object(json, "critical_path");
	mr_json_int(json, "span_ns", shares->wholes[mr_finding_column(shares, "time_ns")]);
	mr_json_begin_array(json, "shares");
	if (answers == SHORT_ANSWERS)
		print_cause_sums(shares, MR_NO_VALUE, json);
	else
		print_shares(shares, json);
	mr_json_end_array(json);
	mr_json_end_object(json);
}

/* Lists are the rows of tables over again. */
static void print_lists(const struct mr_findings *findings, struct mr_json *json)
{
	print_rows(findings, "steps", "steps", "steps", NULL, NULL, json);
	print_rows(findings, "ops", "operations", "by_node", NULL, NULL, json);
	print_rows(findings, "kernels", "device_operations", "by_name", "kind", "kernel", json);
	print_rows(findings, "calls", "calls", "by_name", NULL, NULL, json);
}

static void print_answers(const struct mr_findings *findings, enum answers answers,
			  struct mr_json *json)
{
	if (answers == NO_ANSWERS)
		return;
	print_problems(findings, json);
	print_health(findings, json);
	print_devices(findings, answers, json);
	print_critical_path(findings, answers, json);
	if (answers == ALL_ANSWERS)
		print_lists(findings, json);
}

/* ---- all of it ------------------------------------------------------------------------------------ */

static void print_exit(const struct mr_summary *summary, struct mr_json *json)
{
	if (summary->exit_kind == MR_EXIT_UNKNOWN) {
		mr_json_null(json, "exit");
		return;
	}
	mr_json_begin_object(json, "exit");
	mr_json_int(json, summary->exit_kind == MR_EXIT_CODE ? "code" : "signal",
		    summary->exit_value);
	mr_json_end_object(json);
}

static void print_window(const struct mr_summary *summary, struct mr_json *json)
{
	mr_json_begin_object(json, "window");
	mr_json_string(json, "part", summary->part);
	mr_json_int(json, "first_ns", summary->window.first_ns);
	mr_json_int(json, "last_ns", summary->window.last_ns);
	mr_json_string(json, "before", summary->start_up);
	mr_json_string(json, "after", summary->end);
	mr_json_end_object(json);
}

void mr_report_print_summary_json(const struct mr_summary *summary, struct mr_json *json)
{
	mr_json_string(json, "millrace", MR_VERSION);
	mr_json_string(json, "trace", summary->path);
	mr_json_string(json, "command", summary->command);
	mr_json_string(json, "host", summary->host);
	mr_json_int(json, "started_realtime_ns", summary->started_realtime_ns);
	mr_json_int(json, "wall_ns", summary->wall_ns);
	print_exit(summary, json);
	mr_json_uint(json, "processes", summary->process_count);
	mr_json_uint(json, "threads", summary->thread_count);
	mr_json_uint(json, "events", summary->event_count);
	mr_json_uint(json, "event_bytes", summary->event_bytes);
	mr_json_int(json, "first_ns", summary->first_ns);
	print_window(summary, json);
}

static int print_all(const struct mr_summary *summary, const struct mr_findings *findings,
		     enum answers answers, uint32_t max_rows, struct mr_json *json)
{
	mr_json_begin_object(json, NULL);
	mr_report_print_summary_json(summary, json);
	print_answers(findings, answers, json);
	mr_json_begin_array(json, "findings");
	for (size_t i = 0; i < findings->list.count; i++)
		print_finding(findings->list.items[i], max_rows, json);
	mr_json_end_array(json);
	mr_json_end_object(json);
	return mr_json_finish(json);
}

int mr_report_print_json(const struct mr_summary *summary, const struct mr_findings *findings,
			 bool answers, enum mr_json_style style, FILE *file)
{
	struct mr_json json;

	mr_json_start(&json, file, style);
	return print_all(summary, findings, answers ? ALL_ANSWERS : NO_ANSWERS, UINT32_MAX, &json);
}

static void print_compared(const char *key, const struct mr_compared *compared,
			   struct mr_json *json)
{
	mr_json_begin_object(json, key);
	mr_json_string(json, "trace", compared->path);
	mr_json_uint(json, "steps", compared->step_count);
	mr_json_int(json, "first_ns", compared->window.first_ns);
	mr_json_int(json, "last_ns", compared->window.last_ns);
	mr_json_end_object(json);
}

int mr_report_print_diff_json(const struct mr_compared *before, const struct mr_compared *after,
			      const struct mr_findings *findings, FILE *file)
{
	struct mr_json json;

	mr_json_start(&json, file, MR_JSON_INDENTED);
	mr_json_begin_object(&json, NULL);
	print_compared("before", before, &json);
	print_compared("after", after, &json);
	mr_json_begin_array(&json, "findings");
	for (size_t i = 0; i < findings->list.count; i++)
		print_finding(findings->list.items[i], UINT32_MAX, &json);
	mr_json_end_array(&json);
	mr_json_end_object(&json);
	return mr_json_finish(&json);
}

int mr_report_print_short_json(const struct mr_summary *summary, const struct mr_findings *findings,
			       uint32_t max_rows, FILE *file)
{
	struct mr_json json;

	mr_json_start(&json, file, MR_JSON_ONE_LINE);
	return print_all(summary, findings, SHORT_ANSWERS, max_rows, &json);
}

int mr_report_print_table_json(const struct mr_finding_table *table, uint32_t first,
			       uint32_t max_rows, FILE *file)
{
	struct mr_json json;

	mr_json_start(&json, file, MR_JSON_ONE_LINE);
	print_table(table, first, max_rows, &json);
	return mr_json_finish(&json);
}
