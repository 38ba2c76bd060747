/* SPDX-License-Identifier: Apache-2.0
 *
 * find: everything that is called like a text — slices of the tables that have names, threads, files, nodes. What is called just so comes first, then what takes most time.
 */
#include "serve/endpoints.h"

#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "serve/parameters.h"
#include "timeline/labels.h"
#include "timeline/row.h"

enum {
	RESULTS = 50,
	RESULTS_MAX = 1000,
};

struct result {
	const char *kind;
	const char *text;
	enum mr_sliced table; /* MR_SLICED_COUNT: none */
	bool has_label;
	bool is_exact;
	struct mr_label_sum sum; /* label, and its count and time if there are any */
	uint32_t track;          /* or MR_NO_TRACK */
	uint32_t node;           /* or 0 */
};

struct finder {
	struct mr_view *view;
	const char *text;
	struct mr_region region;
	mr_vec(struct result) results;
};

static int offer(struct finder *finder, struct result result)
{
	if (!strcasestr(result.text, finder->text))
		return 0;
	result.is_exact = strcasecmp(result.text, finder->text) == 0;
	return mr_vec_push(&finder->results, result);
}

/* ---- what there is ---------------------------------------------------------------------------------- */

static int offer_label(struct finder *finder, enum mr_sliced table, const struct mr_label_sum *sum)
{
	char buffer[MR_LABEL_BYTES];
	const char *text = mr_label_text(finder->view, table, sum->label, buffer);

	if (text == buffer)
		text = mr_region_copy(&finder->region, buffer, strlen(buffer));
	if (!text)
		return -ENOMEM;
	return offer(finder, (struct result){
				     .kind = mr_row_noun(finder->view, table, sum->first),
				     .text = text,
				     .table = table,
				     .has_label = true,
				     .sum = *sum,
				     .track = MR_NO_TRACK,
				     .node = table == MR_SLICED_node_executions ? sum->label : 0,
			     });
}

static int offer_labels(struct finder *finder, const struct mr_names *names)
{
	int result = 0;

	for (uint32_t table = 0; table < MR_SLICED_COUNT; table++) {
		const struct mr_label_sums *sums = &names->by_table[table];

		for (size_t i = 0; result == 0 && i < sums->list.count; i++)
			result = offer_label(finder, table, &sums->list.items[i]);
	}
	return result;
}

/* By the time of the system calls that are about them. */
static int offer_files(struct finder *finder, const struct mr_names *names)
{
	const struct mr_model *model = finder->view->model;
	int result = 0;

	for (size_t i = 0; result == 0 && i < names->by_file.list.count; i++) {
		const struct mr_label_sum *sum = &names->by_file.list.items[i];
		uint32_t path = model->survey->definitions.files.items[sum->label].path;

		result = offer(finder, (struct result){.kind = "file",
						       .text = mr_model_text(model, path),
						       .table = MR_SLICED_system_calls,
						       .sum = *sum,
						       .track = MR_NO_TRACK});
	}
	return result;
}

static int offer_threads(struct finder *finder)
{
	const struct mr_survey *survey = finder->view->model->survey;
	int result = 0;

	for (uint32_t i = 0; result == 0 && i < survey->first_queue_track; i++) {
		const char *text = mr_thread_text(finder->view->model, &finder->region, i);

		result = text ? offer(finder, (struct result){.kind = "thread",
							      .text = text,
							      .table = MR_SLICED_COUNT,
							      .track = i})
			      : -ENOMEM;
	}
	return result;
}

/* Those that were executed are found as operations. */
static int offer_nodes(struct finder *finder, const struct mr_names *names)
{
	const struct mr_model *model = finder->view->model;
	const struct mr_definitions *definitions = &model->survey->definitions;
	int result = 0;

	for (uint32_t i = 1; result == 0 && i < definitions->nodes.count; i++)
		if (!mr_label_sums_find(&names->by_table[MR_SLICED_node_executions], i))
			result = offer(finder,
				       (struct result){
					       .kind = "node",
					       .text = mr_model_text(
						       model, definitions->nodes.items[i].name),
					       .table = MR_SLICED_COUNT,
					       .track = MR_NO_TRACK,
					       .node = i,
				       });
	return result;
}

/* ---- the answer ------------------------------------------------------------------------------------- */

static int compare(const void *left, const void *right)
{
	const struct result *a = left, *b = right;

	if (a->is_exact != b->is_exact)
		return a->is_exact ? -1 : 1;
	if (a->sum.total_ns != b->sum.total_ns)
		return a->sum.total_ns < b->sum.total_ns ? 1 : -1;
	return strcmp(a->text, b->text);
}

static int write_result(struct finder *finder, struct mr_json *json, const struct result *found)
{
	bool has_table = found->table != MR_SLICED_COUNT;
	int result = 0;

	mr_json_begin_object(json, NULL);
	mr_json_string(json, "kind", found->kind);
	mr_json_string(json, "text", found->text);
	mr_json_string(json, "table", has_table ? mr_sliced_name(found->table) : NULL);
	if (found->has_label)
		mr_json_uint(json, "label", found->sum.label);
	else
		mr_json_null(json, "label");
	mr_json_uint(json, "count", found->sum.count);
	mr_json_int(json, "total_ns", found->sum.total_ns);
	if (has_table)
		result = mr_row_write_end(
			finder->view, json, "first",
			(struct mr_arrow_end){found->table, found->sum.first, found->sum.first_ns});
	else
		mr_json_null(json, "first");
	mr_json_index(json, "track", found->track, MR_NO_TRACK);
	mr_json_index(json, "node", found->node, 0);
	mr_json_end_object(json);
	return result;
}

static int write_results(struct finder *finder, size_t limit, FILE *body)
{
	size_t count = finder->results.count;
	struct mr_json json;
	int result = 0;

	if (count)
		qsort(finder->results.items, count, sizeof *finder->results.items, compare);
	mr_json_start(&json, body, MR_JSON_ONE_LINE);
	mr_json_begin_object(&json, NULL);
	mr_json_begin_array(&json, "results");
	for (size_t i = 0; result == 0 && i < mr_min(count, limit); i++)
		result = write_result(finder, &json, &finder->results.items[i]);
	mr_json_end_array(&json);
	mr_json_bool(&json, "more", count > limit);
	mr_json_end_object(&json);
	return result < 0 ? result : mr_json_finish(&json);
}

static int find(struct finder *finder)
{
	const struct mr_names *names = mr_view_names(finder->view);
	int result = names ? offer_labels(finder, names) : -ENOMEM;

	if (result == 0)
		result = offer_files(finder, names);
	if (result == 0)
		result = offer_threads(finder);
	if (result == 0)
		result = offer_nodes(finder, names);
	return result < 0 ? mr_fail_errno(-result, "search") : 0;
}

int mr_answer_find(struct mr_view *view, const struct mr_request *request, struct mr_answer *answer)
{
	struct finder finder = {.view = view, .text = mr_request_text(request, "text")};
	int64_t limit = RESULTS;
	int result = 0;

	if (!finder.text || !*finder.text)
		return mr_fail(EINVAL, "text: is not given");
	if (mr_request_has(request, "limit"))
		result = mr_request_integer(request, "limit", 1, RESULTS_MAX, &limit);
	if (result == 0)
		result = find(&finder);
	if (result == 0)
		result = write_results(&finder, (size_t)limit, answer->body);
	mr_vec_free(&finder.results);
	mr_region_free(&finder.region);
	return result;
}
