/* SPDX-License-Identifier: Apache-2.0
 *
 * label: count and times of all slices with a name. histogram: the distribution of their durations. next: the next
 * slice with the name.
 */
#include "serve/endpoints.h"

#include "analysis/cause/idle_gaps.h"
#include "base/error.h"
#include "base/sort.h"
#include "serve/parameters.h"
#include "timeline/durations.h"
#include "timeline/labels.h"
#include "timeline/row.h"
#include "timeline/totals.h"

/* Where a slice begins. */
static struct mr_arrow_end start_of(struct mr_view *view, enum mr_sliced table, uint32_t row)
{
	return (struct mr_arrow_end){table, row, view->slices[table].start_ns[row]};
}

static void write_percentiles(struct mr_json *json, struct mr_durations *durations)
{
	mr_json_int(json, "median_ns", mr_durations_percentile(durations, 50));
	mr_json_int(json, "p95_ns", mr_durations_percentile(durations, 95));
}

/* What the request asks for; -ENOENT with a cause if there is nothing. */
static int find_durations(struct mr_view *view, const struct mr_request *request,
			  enum mr_sliced *ret_table, struct mr_window *ret_window,
			  struct mr_durations *ret_durations)
{
	uint32_t label;
	int result = mr_request_table(request, ret_table);

	if (result == 0)
		result = mr_request_label(request, &label);
	if (result == 0)
		result = mr_request_window(view, request, ret_window);
	if (result == 0)
		result = mr_durations_make(view, *ret_table, label, ret_window, ret_durations);
	if (result == 0 && ret_durations->list.count == 0)
		result = mr_fail(ENOENT, "no %s have this label", mr_sliced_name(*ret_table));
	return result;
}

/* ---- label ------------------------------------------------------------------------------------------ */

static void write_node(struct mr_json *json, const struct mr_view *view, enum mr_sliced table,
		       uint32_t label)
{
	uint32_t node = table == MR_SLICED_node_executions ? label : 0;

	mr_json_index(json, "node", node, 0);
	mr_json_index(json, "graph", view->model->survey->definitions.nodes.items[node].graph, 0);
}

/* For a cause of idle time, the gap with the most time of it and the piece that represents it; otherwise null. */
static int write_gap(struct mr_view *view, struct mr_json *json, enum mr_sliced table,
		     uint32_t label, const struct mr_window *window)
{
	const struct mr_idle *idle = table == MR_SLICED_idle ? mr_view_idle(view) : NULL;
	struct mr_gap_pieces gap = {0};
	uint32_t piece;

	if (idle)
		gap = mr_gap_of_most(idle, label, window);
	if (gap.count == 0) {
		mr_json_null(json, "gap");
		return 0;
	}
	int result = mr_gap_example(idle, &gap, label, &piece);
	if (result < 0)
		return mr_fail_errno(-result, "look into a gap");
	mr_json_begin_object(json, "gap");
	mr_json_uint(json, "row", piece);
	mr_json_int(json, "from", mr_view_time(view, gap.start_ns));
	mr_json_int(json, "to", mr_view_time(view, gap.start_ns + gap.duration_ns));
	mr_json_end_object(json);
	return 0;
}

static int write_label(struct mr_view *view, struct mr_json *json, enum mr_sliced table,
		       const struct mr_window *window, struct mr_durations *durations)
{
	const struct mr_label_sum *sum = &durations->sum;

	mr_json_begin_object(json, NULL);
	mr_json_string(json, "table", mr_sliced_name(table));
	mr_totals_write(view, table, sum, json);
	write_percentiles(json, durations);
	int result = mr_row_write_end(view, json, "first", start_of(view, table, sum->first));
	if (result == 0)
		result = mr_row_write_end(view, json, "longest",
					  start_of(view, table, sum->longest));
	if (result == 0)
		result = write_gap(view, json, table, sum->label, window);
	write_node(json, view, table, sum->label);
	mr_json_end_object(json);
	return result;
}

int mr_answer_label(struct mr_view *view, const struct mr_request *request,
		    struct mr_answer *answer)
{
	mr_auto(durations) struct mr_durations durations = {0};
	struct mr_window window;
	enum mr_sliced table;
	struct mr_json json;
	int result = find_durations(view, request, &table, &window, &durations);

	if (result < 0)
		return result;
	mr_json_start(&json, answer->body, MR_JSON_ONE_LINE);
	result = write_label(view, &json, table, &window, &durations);
	return result < 0 ? result : mr_json_finish(&json);
}

/* ---- histogram -------------------------------------------------------------------------------------- */

int mr_answer_histogram(struct mr_view *view, const struct mr_request *request,
			struct mr_answer *answer)
{
	mr_auto(durations) struct mr_durations durations = {0};
	struct mr_bucket buckets[MR_BUCKETS_MAX];
	struct mr_window window;
	enum mr_sliced table;
	struct mr_json json;
	int result = find_durations(view, request, &table, &window, &durations);

	if (result < 0)
		return result;
	uint32_t count = mr_durations_histogram(&durations, buckets);
	mr_json_start(&json, answer->body, MR_JSON_ONE_LINE);
	mr_json_begin_object(&json, NULL);
	mr_json_begin_array(&json, "buckets");
	for (uint32_t i = 0; i < count; i++) {
		mr_json_begin_object(&json, NULL);
		mr_json_int(&json, "low_ns", buckets[i].low_ns);
		mr_json_int(&json, "high_ns", buckets[i].high_ns);
		mr_json_uint(&json, "count", buckets[i].count);
		mr_json_end_object(&json);
	}
	mr_json_end_array(&json);
	mr_json_uint(&json, "count", durations.sum.count);
	mr_json_int(&json, "min_ns", durations.sum.min_ns);
	mr_json_int(&json, "max_ns", durations.sum.max_ns);
	write_percentiles(&json, &durations);
	mr_json_end_object(&json);
	return mr_json_finish(&json);
}

/* ---- next ------------------------------------------------------------------------------------------- */

struct search {
	struct mr_view *view;
	enum mr_sliced table;
	uint32_t label;
	int64_t from_ns;
	bool is_backward;
	const struct mr_slices *slices;
	uint32_t found; /* MR_NO_ROW: nothing yet */
};

static bool is_nearer(const struct search *search, uint32_t row)
{
	const int64_t *start_ns = search->slices->start_ns;

	if (search->found == MR_NO_ROW)
		return true;
	return search->is_backward ? start_ns[row] > start_ns[search->found]
				   : start_ns[row] < start_ns[search->found];
}

/* The nearest of the group, unless that of another is nearer. */
static void look_in(struct search *search, uint32_t group)
{
	uint32_t first = search->slices->first_of_group[group];
	uint32_t end = search->slices->first_of_group[group + 1];
	uint32_t row = mr_find_larger(search->slices->start_ns, first, end,
				      search->from_ns - search->is_backward);

	if (search->is_backward) {
		while (row-- > first && is_nearer(search, row))
			if (mr_label_of(search->view, search->table, row) == search->label) {
				search->found = row;
				return;
			}
		return;
	}
	for (; row < end && is_nearer(search, row); row++)
		if (mr_label_of(search->view, search->table, row) == search->label) {
			search->found = row;
			return;
		}
}

static int read_search(const struct mr_request *request, struct search *search, int64_t *ret_group)
{
	int64_t backward = 0;
	int result = mr_request_table(request, &search->table);

	if (result == 0)
		result = mr_request_label(request, &search->label);
	if (result == 0)
		result = mr_request_time(search->view, request, "from", &search->from_ns);
	if (result == 0 && mr_request_has(request, "backward"))
		result = mr_request_integer(request, "backward", 0, 1, &backward);
	if (result < 0)
		return result;
	search->is_backward = backward;
	search->slices = mr_view_slices(search->view, search->table);
	if (!search->slices)
		return -ENOMEM;
	*ret_group = -1;
	return mr_request_has(request, "track")
		       ? mr_request_integer(request, "track", 0,
					    (int64_t)search->slices->group_count - 1, ret_group)
		       : 0;
}

int mr_answer_next(struct mr_view *view, const struct mr_request *request, struct mr_answer *answer)
{
	struct search search = {.view = view, .found = MR_NO_ROW};
	struct mr_json json;
	int64_t only;
	int result = read_search(request, &search, &only);

	if (result < 0)
		return result;
	for (uint32_t group = 0; group < search.slices->group_count; group++)
		if (only < 0 || only == group)
			look_in(&search, group);
	if (search.found == MR_NO_ROW)
		return mr_fail(ENOENT, "there is none %s", search.is_backward ? "before" : "after");
	mr_json_start(&json, answer->body, MR_JSON_ONE_LINE);
	result = mr_row_write_end(view, &json, NULL, start_of(view, search.table, search.found));
	return result < 0 ? result : mr_json_finish(&json);
}
