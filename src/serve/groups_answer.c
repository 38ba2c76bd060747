/* SPDX-License-Identifier: Apache-2.0
 *
 * groups: what a window consists of.
 */
#include "serve/endpoints.h"

#include "base/error.h"
#include "serve/parameters.h"
#include "timeline/totals.h"

static int sum_up(struct mr_view *view, const struct mr_request *request, enum mr_sliced *ret_table,
		  struct mr_label_sums *ret_sums)
{
	struct mr_totals_scope scope = {0};
	mr_auto(free) bool *groups = NULL;
	int result = mr_request_table(request, &scope.table);

	if (result == 0)
		result = mr_request_window(view, request, &scope.window);
	if (result < 0)
		return result;
	const struct mr_slices *slices = mr_view_slices(view, scope.table);
	if (!slices)
		return -ENOMEM;
	result = mr_request_tracks(request, slices->group_count, &groups);
	scope.groups = groups;
	*ret_table = scope.table;
	return result < 0 ? result : mr_totals_make(view, &scope, ret_sums);
}

int mr_answer_groups(struct mr_view *view, const struct mr_request *request,
		     struct mr_answer *answer)
{
	mr_auto(label_sums) struct mr_label_sums sums = {0};
	enum mr_sliced table;
	struct mr_json json;
	int result = sum_up(view, request, &table, &sums);

	if (result < 0)
		return result;
	mr_json_start(&json, answer->body, MR_JSON_ONE_LINE);
	mr_json_begin_object(&json, NULL);
	mr_json_begin_array(&json, "rows");
	for (size_t i = 0; i < sums.list.count; i++) {
		const struct mr_label_sum *sum = &sums.list.items[i];

		mr_json_begin_object(&json, NULL);
		mr_totals_write(view, table, sum, &json);
		mr_json_int(&json, "mean_ns", sum->total_ns / sum->count);
		mr_json_end_object(&json);
	}
	mr_json_end_array(&json);
	mr_json_end_object(&json);
	return mr_json_finish(&json);
}
