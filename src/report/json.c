/* SPDX-License-Identifier: Apache-2.0 */
#include "report/report.h"

#include "base/json_writer.h"

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
	mr_json_end_object(json);
}

static void print_row(const struct mr_finding_table *table, uint32_t row, struct mr_json *json)
{
	mr_json_begin_object(json, NULL);
	for (uint32_t column = 0; column < table->column_count; column++) {
		const struct mr_finding_column *desc = &table->columns[column];
		const union mr_value *value = mr_finding_value(table, row, column);

		if (desc->unit == MR_UNIT_TEXT)
			mr_json_string(json, desc->key, value->text);
		else if (value->number == MR_NO_VALUE)
			mr_json_null(json, desc->key);
		else
			mr_json_int(json, desc->key, value->number);
	}
	mr_json_end_object(json);
}

static void print_table(const struct mr_finding_table *table, struct mr_json *json)
{
	mr_json_begin_object(json, NULL);
	mr_json_string(json, "id", table->id);
	mr_json_string(json, "title", table->title);
	mr_json_begin_array(json, "columns");
	for (uint32_t column = 0; column < table->column_count; column++)
		print_column(table, column, json);
	mr_json_end_array(json);
	mr_json_begin_array(json, "rows");
	for (uint32_t row = 0; row < table->row_count; row++)
		print_row(table, row, json);
	mr_json_end_array(json);
	mr_json_end_object(json);
}

static void print_evidence(const struct mr_evidence *evidence, struct mr_json *json)
{
	mr_json_begin_object(json, NULL);
	mr_json_string(json, "what", evidence->what);
	mr_json_uint(json, "pid", evidence->pid);
	mr_json_uint(json, "tid", evidence->tid);
	mr_json_uint(json, "track", evidence->track);
	mr_json_int(json, "start_ns", evidence->start_ns);
	mr_json_int(json, "duration_ns", evidence->duration_ns);
	mr_json_end_object(json);
}

static void print_finding(const struct mr_finding *finding, struct mr_json *json)
{
	mr_json_begin_object(json, NULL);
	mr_json_string(json, "id", finding->id);
	mr_json_string(json, "title", finding->title);
	mr_json_string(json, "severity", mr_severity_name(finding->severity));
	mr_json_begin_array(json, "sentences");
	for (size_t i = 0; i < finding->sentences.count; i++) {
		const struct mr_sentence *sentence = &finding->sentences.items[i];

		mr_json_begin_object(json, NULL);
		mr_json_string(json, "severity", mr_severity_name(sentence->severity));
		mr_json_string(json, "text", sentence->text);
		mr_json_end_object(json);
	}
	mr_json_end_array(json);
	mr_json_begin_array(json, "tables");
	for (size_t i = 0; i < finding->tables.count; i++)
		print_table(finding->tables.items[i], json);
	mr_json_end_array(json);
	mr_json_begin_array(json, "evidence");
	for (size_t i = 0; i < finding->evidence.count; i++)
		print_evidence(&finding->evidence.items[i], json);
	mr_json_end_array(json);
	mr_json_end_object(json);
}

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

int mr_report_print_json(const struct mr_summary *summary, const struct mr_findings *findings,
			 FILE *file)
{
	struct mr_json json;

	mr_json_start(&json, file, MR_JSON_INDENTED);
	mr_json_begin_object(&json, NULL);
	mr_json_string(&json, "millrace", MR_VERSION);
	mr_json_string(&json, "trace", summary->path);
	mr_json_string(&json, "command", summary->command);
	mr_json_string(&json, "host", summary->host);
	mr_json_int(&json, "started_realtime_ns", summary->started_realtime_ns);
	mr_json_int(&json, "wall_ns", summary->wall_ns);
	print_exit(summary, &json);
	mr_json_uint(&json, "processes", summary->process_count);
	mr_json_uint(&json, "threads", summary->thread_count);
	mr_json_uint(&json, "events", summary->event_count);
	mr_json_uint(&json, "event_bytes", summary->event_bytes);
	mr_json_int(&json, "first_ns", summary->first_ns);
	mr_json_begin_array(&json, "findings");
	for (size_t i = 0; i < findings->list.count; i++)
		print_finding(findings->list.items[i], &json);
	mr_json_end_array(&json);
	mr_json_end_object(&json);
	return mr_json_finish(&json);
}
