/* SPDX-License-Identifier: Apache-2.0
 *
 * steps: when each began and ended, and which one is the median.
 */
#include "serve/endpoints.h"

#include "base/error.h"

static void write_step(const struct mr_view *view, struct mr_json *json, uint32_t row)
{
	const struct mr_step *step = &view->steps.list.steps.items[row];

	mr_json_begin_object(json, NULL);
	mr_json_uint(json, "row", row);
	mr_json_uint(json, "number", step->number);
	mr_json_uint(json, "track", step->track);
	mr_json_int(json, "from", mr_view_time(view, step->start_ns));
	mr_json_int(json, "to", mr_view_time(view, step->start_ns + step->duration_ns));
	mr_json_end_object(json);
}

int mr_answer_steps(struct mr_view *view, const struct mr_request *request,
		    struct mr_answer *answer)
{
	const struct mr_step_list *list = &view->steps.list;
	uint32_t median = MR_NO_ROW;
	struct mr_json json;

	(void)request;
	if (mr_step_list_median(list, &median) == -ENOMEM)
		return mr_fail_errno(ENOMEM, "find the median step");
	mr_json_start(&json, answer->body, MR_JSON_ONE_LINE);
	mr_json_begin_object(&json, NULL);
	mr_json_bool(&json, "is_inferred", list->inferences.count > 0);
	mr_json_begin_array(&json, "steps");
	for (uint32_t row = 0; row < list->steps.count; row++)
		write_step(view, &json, row);
	mr_json_end_array(&json);
	mr_json_index(&json, "median_row", median, MR_NO_ROW);
	mr_json_end_object(&json);
	return mr_json_finish(&json);
}
