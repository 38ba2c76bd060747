/* SPDX-License-Identifier: Apache-2.0
 *
 * trace: what the trace is, what the page can show (groups, bands, graphs, tracks, processes), and how. The page asks
 * once, when it is opened, so nothing here may take long.
 */
#include "serve/endpoints.h"

#include <inttypes.h>
#include <string.h>

#include "analysis/analysis.h"
#include "analysis/cause/waiting.h"
#include "analysis/device_time.h"
#include "analysis/finding/summary.h"
#include "base/error.h"
#include "base/json_writer.h"
#include "report/report.h"
#include "timeline/words.h"

enum {
	ID_BYTES = 32
};

struct printer {
	const struct mr_view *view;
	struct mr_json *json;
	struct mr_region region; /* texts */
};

/* ---- the trace itself ----------------------------------------------------------------------------- */

/* Nanoseconds that a number of the page could not hold. */
static void print_exactly(struct printer *printer, const char *key, int64_t ns)
{
	char text[24];

	snprintf(text, sizeof text, "%" PRId64, ns);
	mr_json_string(printer->json, key, text);
}

/* The time of the steps as they go on, or null. */
static void print_steady(struct printer *printer)
{
	struct mr_window steady;

	if (!mr_view_steady(printer->view, &steady)) {
		mr_json_null(printer->json, "steady");
		return;
	}
	mr_json_begin_object(printer->json, "steady");
	mr_json_int(printer->json, "from", mr_view_time(printer->view, steady.first_ns));
	mr_json_int(printer->json, "to", mr_view_time(printer->view, steady.last_ns));
	mr_json_end_object(printer->json);
}

static int print_head(struct printer *printer)
{
	const struct mr_model *model = printer->view->model;
	struct mr_json *json = printer->json;
	struct mr_summary summary;
	const char *title = mr_trace_title(model, &printer->region);

	if (!title || mr_summary_make(model, &printer->region, &summary) < 0)
		return -ENOMEM;
	mr_json_string(json, "title", title);
	mr_json_string(json, "command", summary.command);
	mr_json_string(json, "host", summary.host);
	mr_json_string(json, "millrace", model->manifest->millrace);
	mr_json_string(json, "path", summary.path);
	mr_json_int(json, "span_ns", summary.window.last_ns - summary.window.first_ns);
	print_exactly(printer, "first_ns", summary.first_ns);
	print_exactly(printer, "started_realtime_ns", summary.started_realtime_ns);
	print_steady(printer);
	mr_json_bool(json, "is_imported", mr_model_is_imported(model));
	mr_json_begin_object(json, "summary");
	mr_report_print_summary_json(&summary, json);
	mr_json_end_object(json);
	return 0;
}

static void print_levels(struct printer *printer)
{
	struct mr_levels levels = mr_trace_levels(printer->view->model);

	mr_json_begin_object(printer->json, "levels");
	mr_json_bool(printer->json, "dataflow", levels.dataflow);
	mr_json_bool(printer->json, "runtime", levels.runtime);
	mr_json_bool(printer->json, "kernel", levels.kernel);
	mr_json_end_object(printer->json);
}

static int print_health(struct printer *printer)
{
	struct mr_findings findings = {0};
	int result = mr_analyse_health(printer->view->model, &findings);

	if (result == 0) {
		const struct mr_finding *health = findings.list.items[0];

		mr_json_begin_object(printer->json, "health");
		mr_json_string(printer->json, "severity", mr_severity_name(health->severity));
		mr_json_begin_array(printer->json, "sentences");
		for (size_t i = 0; i < health->sentences.count; i++)
			mr_json_string(printer->json, NULL, health->sentences.items[i].text);
		mr_json_end_array(printer->json);
		mr_json_end_object(printer->json);
	}
	mr_findings_free(&findings);
	return result;
}

static int print_missing(struct printer *printer)
{
	const char *sentences[MR_MISSING_MOST];
	uint32_t count;

	if (mr_trace_missing(printer->view->model, &printer->region, sentences, &count) < 0)
		return -ENOMEM;
	mr_json_begin_array(printer->json, "missing");
	for (uint32_t i = 0; i < count; i++)
		mr_json_string(printer->json, NULL, sentences[i]);
	mr_json_end_array(printer->json);
	return 0;
}

/* ---- bands and groups ----------------------------------------------------------------------------- */

static const char *const kind_names[] = {
	[MR_GROUP_STEPS] = "steps",       [MR_GROUP_PATH] = "path",
	[MR_GROUP_DEVICE] = "device",     [MR_GROUP_PROCESS] = "process",
	[MR_GROUP_COUNTERS] = "counters", [MR_GROUP_THREAD] = "thread",
	[MR_GROUP_MEMORY] = "memory",     [MR_GROUP_CPUS] = "cpus",
};

/* "device.1" */
static void print_id(struct printer *printer, const char *key, const struct mr_band_group *group)
{
	char id[ID_BYTES];

	snprintf(id, sizeof id, "%s.%u", kind_names[group->kind], group->of);
	mr_json_string(printer->json, key, id);
}

/* The number, or null. */
static void print_number(struct printer *printer, const char *key, bool is_there, uint32_t number)
{
	if (is_there)
		mr_json_uint(printer->json, key, number);
	else
		mr_json_null(printer->json, key);
}

static int print_group(struct printer *printer, const struct mr_band_group *group)
{
	const struct mr_bands *bands = &printer->view->bands;
	const struct mr_track *tracks = printer->view->model->survey->tracks.items;
	bool is_thread = group->kind == MR_GROUP_THREAD;
	struct mr_json *json = printer->json;
	struct mr_group_words words;

	if (mr_group_describe(printer->view, group, &printer->region, &words) < 0)
		return -ENOMEM;
	mr_json_begin_object(json, NULL);
	print_id(printer, "id", group);
	mr_json_string(json, "kind", kind_names[group->kind]);
	mr_json_string(json, "title", words.title);
	mr_json_string(json, "about", words.about);
	if (group->parent == MR_NO_BAND)
		mr_json_null(json, "parent");
	else
		print_id(printer, "parent", &bands->groups.items[group->parent]);
	print_number(printer, "track", is_thread, group->of);
	print_number(printer, "process",
		     is_thread || group->kind == MR_GROUP_PROCESS ||
			     group->kind == MR_GROUP_COUNTERS,
		     is_thread ? tracks[group->of].process : group->of);
	mr_json_int(json, "busy_ns", group->busy_ns);
	mr_json_begin_array(json, "bands");
	for (uint32_t i = 0; i < group->band_count; i++)
		mr_json_uint(json, NULL, group->first_band + i);
	mr_json_end_array(json);
	mr_json_end_object(json);
	return 0;
}

static int print_groups(struct printer *printer)
{
	const struct mr_bands *bands = &printer->view->bands;
	int result = 0;

	mr_json_begin_array(printer->json, "groups");
	for (size_t i = 0; result == 0 && i < bands->groups.count; i++)
		result = print_group(printer, &bands->groups.items[i]);
	mr_json_end_array(printer->json);
	return result;
}

static bool is_of_track(const struct mr_band *band)
{
	return !band->is_series && (!mr_sliced[band->table].is_derived ||
				    mr_sliced[band->table].group == MR_GROUP_STEPS);
}

static bool is_of_device(const struct mr_band *band)
{
	return mr_sliced[band->table].is_derived && mr_sliced[band->table].group == MR_GROUP_DEVICE;
}

static int print_band(struct printer *printer, uint32_t number)
{
	const struct mr_band *band = &printer->view->bands.list.items[number];
	const struct mr_series *series =
		band->is_series ? &printer->view->series.items.items[band->group] : NULL;
	bool is_memory = series && series->is_memory;
	const char *table = !series     ? mr_sliced_name(band->table)
			    : is_memory ? "memory"
					: "counters";
	const char *title = mr_band_title(printer->view, band, &printer->region);
	struct mr_json *json = printer->json;
	char key[ID_BYTES];

	if (!title)
		return -ENOMEM;
	snprintf(key, sizeof key, "%s.%u", table, band->group);
	mr_json_begin_object(json, NULL);
	mr_json_uint(json, "band", number);
	mr_json_string(json, "key", key);
	mr_json_string(json, "table", table);
	print_number(printer, "track", is_of_track(band), band->group);
	print_number(printer, "device", is_memory || (!series && is_of_device(band)),
		     is_memory ? series->memory.device : band->group);
	mr_json_string(json, "title", title);
	mr_json_string(json, "kind", series ? "series" : "slices");
	mr_json_uint(json, "lanes", band->lanes);
	print_number(printer, "count", band->count != MR_NO_ROW, band->count);
	mr_json_int(json, "from", mr_view_time(printer->view, band->first_ns));
	mr_json_int(json, "to", mr_view_time(printer->view, band->last_ns));
	mr_json_string(json, "unit", is_memory ? "bytes" : series ? "count" : NULL);
	mr_json_end_object(json);
	return 0;
}

static int print_bands(struct printer *printer)
{
	int result = 0;

	mr_json_begin_array(printer->json, "bands");
	for (uint32_t i = 0; result == 0 && i < printer->view->bands.list.count; i++)
		result = print_band(printer, i);
	mr_json_end_array(printer->json);
	return result;
}

/* ---- what is defined ------------------------------------------------------------------------------ */

struct graph_size {
	uint32_t nodes;
	uint32_t edges;
	uint32_t executions;
};

static void measure_graphs(const struct mr_model *model, struct graph_size *sizes)
{
	const struct mr_definitions *definitions = &model->survey->definitions;
	const struct mr_node *nodes = definitions->nodes.items;

	for (size_t i = 1; i < definitions->nodes.count; i++)
		sizes[nodes[i].graph].nodes++;
	for (size_t i = 0; i < definitions->edges.count; i++)
		sizes[nodes[definitions->edges.items[i].target].graph].edges++;
	for (uint32_t row = 0; row < model->node_executions.table.count; row++)
		sizes[nodes[model->node_executions.node[row]].graph].executions++;
}

static int print_graphs(struct printer *printer)
{
	const struct mr_model *model = printer->view->model;
	const struct mr_definitions *definitions = &model->survey->definitions;
	mr_auto(free) struct graph_size *sizes =
		calloc(definitions->graphs.count + 1, sizeof *sizes);
	struct mr_json *json = printer->json;

	if (!sizes)
		return -ENOMEM;
	measure_graphs(model, sizes);
	mr_json_begin_array(json, "graphs");
	for (uint32_t i = 1; i < definitions->graphs.count; i++) {
		mr_json_begin_object(json, NULL);
		mr_json_uint(json, "graph", i);
		mr_json_string(json, "name",
			       mr_model_text(model, definitions->graphs.items[i].name));
		mr_json_uint(json, "nodes", sizes[i].nodes);
		mr_json_uint(json, "edges", sizes[i].edges);
		mr_json_uint(json, "executions", sizes[i].executions);
		mr_json_end_object(json);
	}
	mr_json_end_array(json);
	return 0;
}

static int print_tracks(struct printer *printer)
{
	static const char *const kinds[] = {
		[MR_TRACK_THREAD] = "thread", [MR_TRACK_QUEUE] = "queue", [MR_TRACK_CPU] = "cpu"};
	const struct mr_survey *survey = printer->view->model->survey;
	struct mr_json *json = printer->json;

	mr_json_begin_array(json, "tracks");
	for (uint32_t i = 0; i < survey->tracks.count; i++) {
		const struct mr_track *track = &survey->tracks.items[i];
		const char *title = mr_track_title(printer->view->model, i, &printer->region);

		if (!title)
			return -ENOMEM;
		mr_json_begin_object(json, NULL);
		mr_json_uint(json, "track", i);
		mr_json_string(json, "kind", kinds[track->kind]);
		mr_json_string(json, "title", title);
		print_number(printer, "process", track->kind != MR_TRACK_CPU, track->process);
		mr_json_end_object(json);
	}
	mr_json_end_array(json);
	return 0;
}

static int print_processes(struct printer *printer)
{
	const struct mr_survey *survey = printer->view->model->survey;
	struct mr_json *json = printer->json;

	mr_json_begin_array(json, "processes");
	for (uint32_t i = 0; i < survey->processes.count; i++) {
		mr_json_begin_object(json, NULL);
		mr_json_uint(json, "process", i);
		mr_json_uint(json, "pid", survey->processes.items[i].pid);
		mr_json_string(json, "title", mr_process_title(printer->view->model, i));
		mr_json_end_object(json);
	}
	mr_json_end_array(json);
	return 0;
}

/* ---- how it is shown ------------------------------------------------------------------------------ */

static const char *const colours_names[] = {
	[MR_COLOURS_LABEL] = "label", [MR_COLOURS_BUT_ZERO] = "but_zero",
	[MR_COLOURS_CAUSE] = "cause", [MR_COLOURS_STATE] = "state",
	[MR_COLOURS_TWO] = "two",
};

/* What is false is left out. */
static void print_flag(struct mr_json *json, const char *key, bool flag)
{
	if (flag)
		mr_json_bool(json, key, true);
}

/* The words of a list: "call file". */
static int print_words(struct printer *printer, const char *key, const char *list)
{
	mr_json_begin_array(printer->json, key);
	for (const char *at = list ? list : ""; *at; at += strspn(at, " ")) {
		size_t length = strcspn(at, " ");
		const char *word = mr_region_copy(&printer->region, at, length);

		if (!word)
			return -ENOMEM;
		mr_json_string(printer->json, NULL, word);
		at += length;
	}
	mr_json_end_array(printer->json);
	return 0;
}

/* Pairs: "cause=title culprit=culprit". */
static int print_pairs(struct printer *printer, const char *key, const char *list)
{
	mr_json_begin_array(printer->json, key);
	for (const char *at = list ? list : ""; *at; at += strspn(at, " ")) {
		size_t left = strcspn(at, "="), right = strcspn(at + left + 1, " ");
		const char *column = mr_region_copy(&printer->region, at, left);
		const char *field = mr_region_copy(&printer->region, at + left + 1, right);

		if (!column || !field)
			return -ENOMEM;
		mr_json_begin_array(printer->json, NULL);
		mr_json_string(printer->json, NULL, column);
		mr_json_string(printer->json, NULL, field);
		mr_json_end_array(printer->json);
		at += left + 1 + right;
	}
	mr_json_end_array(printer->json);
	return 0;
}

static int print_table(struct printer *printer, const struct mr_sliced_desc *table)
{
	struct mr_json *json = printer->json;

	mr_json_begin_object(json, NULL);
	mr_json_string(json, "table", table->name);
	mr_json_string(json, "noun", table->noun);
	mr_json_string(json, "nouns", table->nouns);
	mr_json_string(json, "group", kind_names[table->group]);
	mr_json_string(json, "colours", colours_names[table->colours]);
	if (table->lane_height)
		mr_json_uint(json, "lane_height", table->lane_height);
	print_flag(json, "is_derived", table->is_derived);
	print_flag(json, "is_late", table->is_late);
	print_flag(json, "is_rare", table->is_rare);
	print_flag(json, "is_shaded_by_track", table->is_shaded_by_track);
	if (table->report)
		mr_json_string(json, "report", table->report);
	int result = print_words(printer, "names", table->names);
	if (result == 0)
		result = print_pairs(printer, "same", table->same);
	mr_json_end_object(json);
	return result;
}

/* The descriptions of tables.def, so that the page need not know the tables. */
static int print_tables(struct printer *printer)
{
	int result = 0;

	mr_json_begin_array(printer->json, "tables");
	for (uint32_t table = 0; result == 0 && table < MR_SLICED_COUNT; table++)
		result = print_table(printer, &mr_sliced[table]);
	mr_json_end_array(printer->json);
	return result;
}

/* Names by number, for legends. */
static int print_enumerations(struct printer *printer)
{
	struct mr_json *json = printer->json;

	mr_json_begin_object(json, "enumerations");
	mr_json_begin_array(json, "causes");
	for (uint32_t i = 0; i < MR_CAUSE_COUNT; i++)
		mr_json_string(json, NULL, mr_cause_name(i));
	mr_json_end_array(json);
	mr_json_begin_array(json, "states");
	for (uint32_t i = 0; i < MR_STATE_COUNT; i++)
		mr_json_string(json, NULL, mr_thread_state_name(i));
	mr_json_end_array(json);
	mr_json_begin_array(json, "reasons");
	for (uint32_t i = 0; i < MR_REASON_COUNT; i++)
		mr_json_string(json, NULL, mr_state_reason_name(i));
	mr_json_end_array(json);
	mr_json_end_object(json);
	return 0;
}

int mr_answer_trace(struct mr_view *view, const struct mr_request *request,
		    struct mr_answer *answer)
{
	static int (*const parts[])(struct printer *) = {
		print_head,   print_health, print_missing,   print_groups, print_bands,
		print_graphs, print_tracks, print_processes, print_tables, print_enumerations,
	};
	struct mr_json json;
	struct printer printer = {.view = view, .json = &json};
	int result = 0;

	(void)request;
	mr_json_start(&json, answer->body, MR_JSON_ONE_LINE);
	mr_json_begin_object(&json, NULL);
	print_levels(&printer);
	for (size_t i = 0; result == 0 && i < mr_countof(parts); i++)
		result = parts[i](&printer);
	mr_region_free(&printer.region);
	if (result < 0)
		return mr_fail_errno(-result, "describe the trace");
	mr_json_end_object(&json);
	return mr_json_finish(&json);
}
