/* SPDX-License-Identifier: Apache-2.0
 *
 * The critical path in words and tables: by level, by what happened, by node of the graph, by thread and
 * device, by file. Each table sums to the window.
 */
#include "analysis/analysis.h"
#include "analysis/cause/critical_path.h"
#include "analysis/cause/waiting.h"
#include "analysis/device_time.h"
#include "analysis/finding/breakdown.h"
#include "analysis/finding/tally.h"
#include "base/error.h"
#include "base/format.h"

enum {
	EVIDENCE = 5,
	SAID = 3,        /* shares that the sentence names */
	TOLD_SHARE = 50, /* one part in so many of the window is worth telling of */
};

/* Columns of every table, after those that name the row. */
/* clang-format off */
#define PATH_COLUMNS                                          \
	{"count", "segments", MR_UNIT_COUNT, MR_COLUMN_SUM},  \
	{"time_ns", "time", MR_UNIT_NS, MR_COLUMN_BREAKDOWN}, \
	{"max_ns", "longest", MR_UNIT_NS, 0}
/* clang-format on */

struct report {
	const struct mr_model *model; /* whole */
	struct mr_findings *findings;
	struct mr_finding *finding;
	struct mr_critical_path path;
	int64_t span_ns;
};

/* ---- levels ------------------------------------------------------------------------------------- */

enum mr_path_level mr_path_level_of(const struct mr_link *link)
{
	switch (link->kind) {
	case MR_CAUSE_DEVICE:
	case MR_CAUSE_DEPENDENCY:
	case MR_CAUSE_DEVICE_BUSY:
	case MR_CAUSE_DISPATCH:
		return MR_PATH_DEVICE;
	case MR_CAUSE_LAUNCH:
	case MR_CAUSE_CALL:
	case MR_CAUSE_SYNC:
		return MR_PATH_RUNTIME;
	case MR_CAUSE_CPU:
		return link->culprit == MR_CULPRIT_NODE   ? MR_PATH_DATAFLOW
		       : link->culprit == MR_CULPRIT_CALL ? MR_PATH_RUNTIME
							  : MR_PATH_PROGRAM;
	case MR_CAUSE_UNTRACED:
		return link->culprit == MR_CULPRIT_NODE ? MR_PATH_DATAFLOW : MR_PATH_UNKNOWN;
	case MR_CAUSE_DEVICE_UNKNOWN:
	case MR_CAUSE_UNLAUNCHED:
	case MR_CAUSE_NO_MORE_WORK:
	case MR_CAUSE_UNKNOWN:
		return MR_PATH_UNKNOWN;
	}
	return MR_PATH_KERNEL;
}

const char *mr_path_level_name(enum mr_path_level level)
{
	static const char *const names[MR_PATH_LEVELS] = {
		[MR_PATH_DEVICE] = "device",     [MR_PATH_RUNTIME] = "runtime",
		[MR_PATH_DATAFLOW] = "dataflow", [MR_PATH_PROGRAM] = "program",
		[MR_PATH_KERNEL] = "kernel",     [MR_PATH_UNKNOWN] = "unknown",
	};

	return names[level];
}

/* ---- what a row of each table is ------------------------------------------------------------------ */

/* Keys have no padding. */
struct share_key {
	uint32_t level;
	struct mr_link link;
};

struct node_key {
	uint32_t name;
	uint32_t type;
	uint32_t graph_name;
	uint32_t is_outside; /* of any execution */
};

struct place_key {
	uint32_t device; /* 0: it is a thread, or nothing */
	uint32_t track;
};

union key {
	uint32_t level;
	struct share_key share;
	struct node_key node;
	struct place_key place;
	uint32_t file;
};

/* Writes the key of a segment, and returns its size. */
typedef size_t key_of(const struct mr_model *model, const struct mr_path_segment *segment,
		      union key *key);

static size_t level_key(const struct mr_model *model, const struct mr_path_segment *segment,
			union key *key)
{
	(void)model;
	key->level = mr_path_level_of(&segment->link);
	return sizeof key->level;
}

static size_t share_key(const struct mr_model *model, const struct mr_path_segment *segment,
			union key *key)
{
	(void)model;
	key->share = (struct share_key){mr_path_level_of(&segment->link),
					mr_link_by_name(segment->link)};
	return sizeof key->share;
}

static size_t node_key(const struct mr_model *model, const struct mr_path_segment *segment,
		       union key *key)
{
	uint32_t row = segment->execution;
	const struct mr_definitions *definitions = &model->survey->definitions;
	const struct mr_node *node =
		&definitions->nodes.items[row == MR_NO_ROW ? 0 : model->node_executions.node[row]];

	key->node =
		(struct node_key){node->name, node->type,
				  definitions->graphs.items[node->graph].name, row == MR_NO_ROW};
	return sizeof key->node;
}

static size_t place_key(const struct mr_model *model, const struct mr_path_segment *segment,
			union key *key)
{
	key->place = (struct place_key){0, segment->track};
	if (segment->operation != MR_NO_ROW)
		key->place = (struct place_key){mr_operation_device(model, segment->operation),
						MR_NO_TRACK};
	return sizeof key->place;
}

static size_t file_key(const struct mr_model *model, const struct mr_path_segment *segment,
		       union key *key)
{
	(void)model;
	key->file = segment->link.culprit == MR_CULPRIT_FILE ? segment->link.what : 0;
	return sizeof key->file;
}

/* ---- and what it is called ------------------------------------------------------------------------ */

/* "disk: /data/train.tfrecord"; NULL without memory. */
static const char *link_text(const struct mr_model *model, struct mr_findings *findings,
			     struct mr_link link)
{
	const char *culprit = mr_link_culprit(model, &findings->region, link);
	const char *cause = mr_cause_name((enum mr_cause_kind)link.kind);

	if (!culprit)
		return NULL;
	return *culprit ? mr_region_print(&findings->region, "%s: %s", cause, culprit) : cause;
}

static int name_level(const struct mr_model *model, struct mr_findings *findings, const void *key,
		      uint32_t row, union mr_value *cells)
{
	(void)model, (void)findings, (void)row;
	cells[0].text = mr_path_level_name(*(const uint32_t *)key);
	return 0;
}

static int name_share(const struct mr_model *model, struct mr_findings *findings, const void *key,
		      uint32_t row, union mr_value *cells)
{
	const struct share_key *share = key;

	(void)row;
	cells[0].text = mr_path_level_name(share->level);
	cells[1].text = link_text(model, findings, share->link);
	cells[2].text = mr_cause_name((enum mr_cause_kind)share->link.kind);
	cells[3].text = mr_link_culprit(model, &findings->region, share->link);
	return cells[1].text && cells[3].text ? 0 : -ENOMEM;
}

static int name_node(const struct mr_model *model, struct mr_findings *findings, const void *key,
		     uint32_t row, union mr_value *cells)
{
	const struct node_key *node = key;

	(void)findings, (void)row;
	cells[0].text =
		node->is_outside ? "(outside any operation)" : mr_node_text(model, node->name);
	cells[1].text = mr_model_text(model, node->type);
	cells[2].text = mr_model_text(model, node->graph_name);
	return 0;
}

static int name_place(const struct mr_model *model, struct mr_findings *findings, const void *key,
		      uint32_t row, union mr_value *cells)
{
	const struct place_key *place = key;

	(void)findings, (void)row;
	cells[1].number = cells[2].number = MR_NO_VALUE;
	if (place->device) {
		cells[0].text = mr_device_name(model, place->device);
		cells[1].number = mr_device_pid(model, place->device);
	} else if (place->track == MR_NO_TRACK) {
		cells[0].text = "(nothing known)";
	} else {
		cells[0].text = mr_track_text(model, place->track);
		cells[1].number = mr_track_pid(model, place->track);
		cells[2].number = model->survey->tracks.items[place->track].tid;
	}
	return 0;
}

static int name_file(const struct mr_model *model, struct mr_findings *findings, const void *key,
		     uint32_t row, union mr_value *cells)
{
	uint32_t file = *(const uint32_t *)key;

	(void)findings, (void)row;
	cells[0].text = file ? mr_file_path(model, file) : "(no file)";
	return 0;
}

/* ---- tables --------------------------------------------------------------------------------------- */

static int tally_by(const struct report *report, key_of *key_of_segment, struct mr_tally *tally)
{
	const struct mr_critical_path *path = &report->path;

	for (uint32_t i = 0; i < path->segments.count; i++) {
		union key key = {0};
		size_t bytes = key_of_segment(report->model, &path->segments.items[i], &key);

		if (mr_tally_add(tally, &key, bytes, path->segments.items[i].duration_ns, i) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int add_table(const struct report *report, key_of *key_of_segment,
		     const struct mr_tally_look *look)
{
	mr_auto(tally) struct mr_tally tally = {0};
	int result = tally_by(report, key_of_segment, &tally);

	return result < 0 ? result
			  : mr_tally_show(&tally, report->model, report->findings, report->finding,
					  look, report->span_ns);
}

static bool has_files(const struct mr_critical_path *path)
{
	for (size_t i = 0; i < path->segments.count; i++)
		if (path->segments.items[i].link.culprit == MR_CULPRIT_FILE)
			return true;
	return false;
}

static bool has_nodes(const struct mr_critical_path *path)
{
	for (size_t i = 0; i < path->segments.count; i++)
		if (path->segments.items[i].execution != MR_NO_ROW)
			return true;
	return false;
}

static int add_tables(const struct report *report)
{
	/* clang-format off */
	static const struct mr_finding_column level_columns[] = {
		{"level", "level", MR_UNIT_TEXT, 0},
		PATH_COLUMNS,
	};
	static const struct mr_finding_column share_columns[] = {
		{"level", "level", MR_UNIT_TEXT, 0},
		{"what", "what", MR_UNIT_TEXT, 0},
		{"cause", "", MR_UNIT_TEXT, MR_COLUMN_DATA},
		{"culprit", "", MR_UNIT_TEXT, MR_COLUMN_DATA},
		PATH_COLUMNS,
	};
	static const struct mr_finding_column node_columns[] = {
		{"node", "node", MR_UNIT_TEXT, MR_COLUMN_PATH},
		{"type", "type", MR_UNIT_TEXT, 0},
		{"graph", "graph", MR_UNIT_TEXT, MR_COLUMN_SPARE},
		PATH_COLUMNS,
	};
	static const struct mr_finding_column place_columns[] = {
		{"place", "thread or device", MR_UNIT_TEXT, 0},
		{"pid", "pid", MR_UNIT_NUMBER, 0},
		{"tid", "tid", MR_UNIT_NUMBER, 0},
		PATH_COLUMNS,
	};
	static const struct mr_finding_column file_columns[] = {
		{"file", "file", MR_UNIT_TEXT, MR_COLUMN_PATH},
		PATH_COLUMNS,
	};
#define LOOK(id, title, columns, name) \
	&(struct mr_tally_look){id, title, columns, mr_countof(columns), name}
	/* clang-format on */
	int result =
		add_table(report, level_key, LOOK("levels", "By level", level_columns, name_level));

	if (result == 0)
		result = add_table(report, share_key,
				   LOOK("shares", "By what happened", share_columns, name_share));
	if (result == 0 && has_nodes(&report->path))
		result = add_table(report, node_key,
				   LOOK("by_node", "By node", node_columns, name_node));
	if (result == 0)
		result = add_table(
			report, place_key,
			LOOK("by_place", "By thread and device", place_columns, name_place));
	if (result == 0 && has_files(&report->path))
		result = add_table(report, file_key,
				   LOOK("by_file", "By file", file_columns, name_file));
#undef LOOK
	return result;
}

/* ---- evidence ------------------------------------------------------------------------------------- */

static int prove(const struct report *report, const struct mr_path_segment *segment)
{
	struct mr_evidence evidence = {
		.what = link_text(report->model, report->findings, segment->link),
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
	    last->duration_ns < report->span_ns / TOLD_SHARE)
		return 0;
	mr_format_ns(rest, last->duration_ns, false);
	return mr_finding_say(report->findings, report->finding, MR_SEVERITY_NOTE,
			      "Nothing that was traced lasted until the end: the last %s are "
			      "untraced.",
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
	mr_format_ns(span, report->span_ns, false);
	int result = mr_finding_say(report->findings, report->finding, MR_SEVERITY_NOTE,
				    "What the end of these %s waited for, step by step: %s.", span,
				    levels);
	if (result == 0)
		result = mr_finding_say(report->findings, report->finding, MR_SEVERITY_NOTE,
					"Most of it: %s.", shares);
	if (result == 0)
		result = say_rest(report);
	if (result == 0 && report->path.uncertain)
		result = mr_finding_say(
			report->findings, report->finding, MR_SEVERITY_NOTE,
			"%llu of %llu times it is not certain whether an operation "
			"waited for its launch or for another operation: the two lie "
			"within the error of the clocks.",
			(unsigned long long)report->path.uncertain,
			(unsigned long long)report->path.decisions);
	return result;
}

static int tell(struct report *report)
{
	int result = add_tables(report);

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
