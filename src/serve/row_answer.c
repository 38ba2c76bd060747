/* SPDX-License-Identifier: Apache-2.0
 *
 * row: everything about one slice. at: the slice at a given place.
 */
#include "serve/endpoints.h"

#include "analysis/cause/idle_gaps.h"
#include "base/error.h"
#include "base/sort.h"
#include "serve/parameters.h"
#include "timeline/labels.h"
#include "timeline/row.h"

static void write_head(const struct mr_row *row, struct mr_json *json, const char *place)
{
	const struct mr_slices *slices = mr_view_slices(row->view, row->table);
	const struct mr_node *node = &row->model->survey->definitions.nodes.items[row->node];
	uint32_t label = mr_label_of(row->view, row->table, row->row);
	char title[MR_LABEL_BYTES];

	mr_json_string(json, "table", mr_sliced_name(row->table));
	mr_json_uint(json, "row", row->row);
	mr_json_index(json, "band", mr_band_of(&row->view->bands, row->table, row->group),
		      MR_NO_BAND);
	mr_json_uint(json, "lane", mr_detail_lane(slices->detail, row->group, row->row));
	mr_json_index(json, "track", row->track, MR_NO_TRACK);
	mr_json_int(json, "from", mr_view_time(row->view, row->start_ns));
	mr_json_int(json, "to", mr_view_time(row->view, row->start_ns + row->duration_ns));
	mr_json_uint(json, "label", label);
	mr_json_string(json, "title", mr_label_text(row->view, row->table, label, title));
	mr_json_string(json, "subtitle", place);
	mr_json_index(json, "node", row->node, 0);
	mr_json_index(json, "graph", row->node ? node->graph : 0, 0);
	mr_row_write_step(row, json);
}

static int write_sentences(const struct mr_row *row, struct mr_json *json,
			   struct mr_findings *findings)
{
	struct mr_finding *finding = mr_findings_add(findings, "row", "");
	int result = finding ? mr_row_say(row, findings, finding) : -ENOMEM;

	if (result < 0)
		return result;
	mr_json_begin_array(json, "sentences");
	for (size_t i = 0; i < finding->sentences.count; i++)
		mr_json_string(json, NULL, finding->sentences.items[i].text);
	mr_json_end_array(json);
	return 0;
}

/* What began when a piece of idle time ended is no link of the model, but of the analysis. */
static int find_arrows(const struct mr_row *row, struct mr_arrows *arrows)
{
	int64_t end_ns = row->start_ns + row->duration_ns;

	if (row->table != MR_SLICED_idle || row->operation == MR_NO_ROW)
		return mr_arrows_find(row->model, row->table, row->row, arrows);
	return mr_arrows_add(
		arrows, "waits for", (struct mr_arrow_end){row->table, row->row, end_ns},
		(struct mr_arrow_end){MR_SLICED_device_operations, row->operation,
				      row->model->device_operations.start_ns[row->operation]});
}

static int write_arrows(const struct mr_row *row, struct mr_json *json)
{
	struct mr_arrows arrows = {0};
	int result = find_arrows(row, &arrows);

	mr_json_begin_array(json, "arrows");
	for (size_t i = 0; result == 0 && i < arrows.list.count; i++) {
		const struct mr_arrow *arrow = &arrows.list.items[i];

		mr_json_begin_object(json, NULL);
		mr_json_string(json, "kind", arrow->kind);
		result = mr_row_write_end(row->view, json, "from", arrow->from);
		if (result == 0)
			result = mr_row_write_end(row->view, json, "to", arrow->to);
		mr_json_end_object(json);
	}
	mr_json_end_array(json);
	mr_json_uint(json, "arrows_left_out", arrows.left_out);
	mr_arrows_free(&arrows);
	return result;
}

static int write_row(const struct mr_row *row, struct mr_json *json, struct mr_findings *findings)
{
	const char *place = mr_row_place(row, &findings->region);

	if (!place)
		return -ENOMEM;
	mr_json_begin_object(json, NULL);
	write_head(row, json, place);
	int result = write_sentences(row, json, findings);
	if (result < 0)
		return result;
	mr_row_write_fields(row, json, &findings->region);
	result = mr_row_write_gap(row, json, &findings->region);
	if (result == 0)
		result = write_arrows(row, json);
	mr_json_end_object(json);
	return result;
}

static int find_row(struct mr_view *view, const struct mr_request *request, struct mr_row *ret_row)
{
	enum mr_sliced table;
	int64_t row;
	int result = mr_request_table(request, &table);

	if (result == 0)
		result = mr_request_integer(request, "row", 0, UINT32_MAX, &row);
	return result < 0 ? result : mr_row_find(view, table, (uint32_t)row, ret_row);
}

int mr_answer_row(struct mr_view *view, const struct mr_request *request, struct mr_answer *answer)
{
	struct mr_findings findings = {0};
	struct mr_json json;
	struct mr_row row;
	int result = find_row(view, request, &row);

	if (result < 0)
		return result;
	mr_json_start(&json, answer->body, MR_JSON_ONE_LINE);
	result = write_row(&row, &json, &findings);
	mr_findings_free(&findings);
	return result < 0 ? result : mr_json_finish(&json);
}

/* ---- at --------------------------------------------------------------------------------------------- */

struct at {
	struct mr_view *view;
	uint32_t track; /* or MR_NO_TRACK */
	int64_t start_ns;
	int64_t duration_ns;
	enum mr_sliced table; /* what is found */
	uint32_t row;
};

/* The first row of a group that begins then and lasts so long, or does not last longer; or MR_NO_ROW. */
static uint32_t find_in(const struct at *at, const struct mr_slices *slices, uint32_t group,
			bool may_be_shorter)
{
	uint32_t end = slices->first_of_group[group + 1];
	uint32_t row = mr_find_larger(slices->start_ns, slices->first_of_group[group], end,
				      at->start_ns - 1);

	for (; row < end && slices->start_ns[row] == at->start_ns; row++)
		if (slices->duration_ns[row] == at->duration_ns ||
		    (may_be_shorter && slices->duration_ns[row] < at->duration_ns))
			return row;
	return MR_NO_ROW;
}

/* The group of the table in which rows of the track are. */
static uint32_t group_of(const struct at *at, enum mr_sliced table)
{
	const struct mr_model *model = at->view->model;
	const struct mr_track *track = &model->survey->tracks.items[at->track];

	if (table == MR_SLICED_path)
		return 0;
	return table == MR_SLICED_idle
		       ? mr_device_canonical(
				 model,
				 model->survey->definitions.queues.items[track->queue].device)
		       : at->track;
}

/* A gap of a device consists of pieces: instead of its first the one that stands for it. */
static int find_in_gap(struct at *at)
{
	const struct mr_gap_pieces gap = mr_gap_of(&at->view->idle, at->row);

	if (gap.start_ns != at->start_ns || gap.duration_ns != at->duration_ns)
		return 0;
	return mr_gap_example(&at->view->idle, &gap, MR_CAUSE_COUNT, &at->row);
}

/* On the critical path, if it leads over the track there, or over none if none is asked for. */
static bool is_on_path(const struct at *at)
{
	return at->view->path.segments.items[at->row].track == at->track;
}

/* The row is MR_NO_ROW if there is none. What is nowhere can only be on the critical path. Tables that have to be made
 * first come last. */
static int find_at(struct at *at)
{
	for (uint32_t i = 0; i < 2 * MR_SLICED_COUNT; i++) {
		enum mr_sliced table = i % MR_SLICED_COUNT;

		if (mr_sliced[table].is_late != (i >= MR_SLICED_COUNT) ||
		    (at->track == MR_NO_TRACK && table != MR_SLICED_path))
			continue;
		const struct mr_slices *slices = mr_view_slices(at->view, table);
		if (!slices)
			return -ENOMEM;
		at->table = table;
		at->row = find_in(at, slices, group_of(at, table), table == MR_SLICED_idle);
		if (at->row == MR_NO_ROW || (table == MR_SLICED_path && !is_on_path(at)))
			continue;
		return table == MR_SLICED_idle ? find_in_gap(at) : 0;
	}
	at->row = MR_NO_ROW;
	return 0;
}

int mr_answer_at(struct mr_view *view, const struct mr_request *request, struct mr_answer *answer)
{
	struct mr_json json;
	struct at at = {.view = view};
	int64_t track = MR_NO_TRACK;
	int result = 0;

	if (mr_request_has(request, "track"))
		result = mr_request_integer(request, "track", 0,
					    (int64_t)view->model->survey->tracks.count - 1, &track);
	if (result == 0)
		result = mr_request_time(view, request, "from", &at.start_ns);
	if (result == 0)
		result = mr_request_integer(request, "duration", 0, MR_CLOCK_MAX_NS,
					    &at.duration_ns);
	if (result < 0)
		return result;
	at.track = (uint32_t)track;
	result = find_at(&at);
	if (result < 0)
		return result;
	mr_json_start(&json, answer->body, MR_JSON_ONE_LINE);
	mr_json_begin_object(&json, NULL);
	mr_json_string(&json, "table", at.row == MR_NO_ROW ? NULL : mr_sliced_name(at.table));
	if (at.row == MR_NO_ROW)
		mr_json_null(&json, "row");
	else
		mr_json_uint(&json, "row", at.row);
	mr_json_end_object(&json);
	return mr_json_finish(&json);
}
