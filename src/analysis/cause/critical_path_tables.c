/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/cause/critical_path_tables.h"

#include "analysis/cause/crowd.h"
#include "analysis/cause/waiting.h"
#include "analysis/device_time.h"
#include "analysis/finding/breakdown.h"
#include "analysis/finding/tally.h"

/* Columns of every table, after those that name the row. */
/* clang-format off */
#define PATH_COLUMNS                                          \
	{"count", "segments", MR_UNIT_COUNT, MR_COLUMN_SUM},  \
	{"time_ns", "time", MR_UNIT_NS, MR_COLUMN_BREAKDOWN}, \
	{"max_ns", "longest", MR_UNIT_NS, 0}
/* clang-format on */

struct study {
	const struct mr_model *model; /* whole */
	const struct mr_critical_path *path;
	struct mr_findings *findings;
	struct mr_finding *finding;
	struct mr_crowds crowds;
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
	uint32_t track;  /* of a crowd the string of its name */
	uint32_t crowd;  /* 0: none (crowd.h) */
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
	key->place = (struct place_key){0, segment->track, 0};
	if (segment->operation != MR_NO_ROW)
		key->place = (struct place_key){mr_operation_device(model, segment->operation),
						MR_NO_TRACK, 0};
	return sizeof key->place;
}

static size_t file_key(const struct mr_model *model, const struct mr_path_segment *segment,
		       union key *key)
{
	(void)model;
	key->file = segment->link.culprit == MR_CULPRIT_FILE ? segment->link.what : 0;
	return sizeof key->file;
}

/* ---- and of what kind it is ----------------------------------------------------------------------- */

static bool widen_share(const void *crowds, void *key, uint32_t members)
{
	return mr_link_widen(crowds, &((struct share_key *)key)->link, members);
}

static bool widen_place(const void *context, void *key, uint32_t members)
{
	const struct mr_model *model = ((const struct mr_crowds *)context)->model;
	struct place_key *place = key;

	if (place->device || place->track == MR_NO_TRACK ||
	    !model->survey->tracks.items[place->track].name)
		return false;
	place->crowd = mr_crowd_of_thread(model, place->track, members);
	place->track = model->survey->tracks.items[place->track].name;
	return true;
}

/* ---- and what it is called ------------------------------------------------------------------------ */

const char *mr_path_link_text(const struct mr_model *model, struct mr_findings *findings,
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
	cells[1].text = mr_path_link_text(model, findings, share->link);
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

	(void)row;
	cells[1].number = cells[2].number = MR_NO_VALUE;
	if (place->crowd) {
		cells[0].text = mr_crowd_text(model, &findings->region, place->track, place->crowd);
		return cells[0].text ? 0 : -ENOMEM;
	}
	if (place->device) {
		cells[0].text = mr_device_name(model, place->device);
		cells[1].number = mr_device_pid_value(model, place->device);
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

static int tally_by(const struct study *study, key_of *key_of_segment, struct mr_tally *tally)
{
	const struct mr_critical_path *path = study->path;

	for (uint32_t i = 0; i < path->segments.count; i++) {
		union key key = {0};
		size_t bytes = key_of_segment(study->model, &path->segments.items[i], &key);

		if (mr_tally_add(tally, &key, bytes, path->segments.items[i].duration_ns, i) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* `widen` is NULL where rows have no kinds. */
static int add_table(const struct study *study, key_of *key_of_segment, size_t key_bytes,
		     mr_widen_key *widen, const struct mr_tally_look *look)
{
	mr_auto(tally) struct mr_tally tally = {0};
	int result = tally_by(study, key_of_segment, &tally);

	if (result == 0 && widen)
		result = mr_tally_merge(&tally, key_bytes, widen, &study->crowds);
	return result < 0 ? result
			  : mr_tally_show(&tally, study->model, study->findings, study->finding,
					  look, study->span_ns);
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

static int add_tables(const struct study *study)
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
	int result = add_table(study, level_key, 0, NULL,
			       LOOK("levels", "By level", level_columns, name_level));

	if (result == 0)
		result = add_table(study, share_key, sizeof(struct share_key), widen_share,
				   LOOK("shares", "By what happened", share_columns, name_share));
	if (result == 0 && has_nodes(study->path))
		result = add_table(study, node_key, 0, NULL,
				   LOOK("by_node", "By node", node_columns, name_node));
	if (result == 0)
		result = add_table(
			study, place_key, sizeof(struct place_key), widen_place,
			LOOK("by_place", "By thread and device", place_columns, name_place));
	if (result == 0 && has_files(study->path))
		result = add_table(study, file_key, 0, NULL,
				   LOOK("by_file", "By file", file_columns, name_file));
#undef LOOK
	return result;
}

int mr_path_tabulate(const struct mr_model *model, const struct mr_critical_path *path,
		     int64_t span_ns, struct mr_findings *findings, struct mr_finding *finding)
{
	struct study study = {model, path, findings, finding, {0}, span_ns};
	int result = mr_crowds_make(model, &study.crowds);

	if (result == 0) {
		result = add_tables(&study);
		mr_crowds_free(&study.crowds);
	}
	return result;
}
