/* SPDX-License-Identifier: Apache-2.0
 *
 * steps: when each began and ended, and which one is the median. step_causes: what the critical path consists of during
 * each.
 */
#include "serve/endpoints.h"

#include "base/error.h"
#include "base/sort.h"

/* ---- steps ------------------------------------------------------------------------------------------ */

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

/* ---- step_causes ------------------------------------------------------------------------------------ */

/* The segments of the path tile the recorded time, so the sums of a step are its duration. */
static void sum_causes(const struct mr_critical_path *path, const struct mr_slices *segments,
		       const struct mr_step *step, int64_t *sums_ns)
{
	int64_t end_ns = step->start_ns + step->duration_ns;
	uint32_t count = (uint32_t)path->segments.count;
	uint32_t i = mr_find_larger(segments->start_ns, 0, count, step->start_ns);

	for (i -= i > 0; i < count && segments->start_ns[i] < end_ns; i++) {
		int64_t from_ns = mr_max(segments->start_ns[i], step->start_ns);
		int64_t to_ns = mr_min(mr_slice_end_ns(segments, i), end_ns);

		if (from_ns < to_ns)
			sums_ns[path->segments.items[i].link.kind] += to_ns - from_ns;
	}
}

static void write_causes(struct mr_json *json, const int64_t *sums_ns)
{
	mr_json_begin_array(json, NULL);
	for (uint32_t cause = 0; cause < MR_CAUSE_COUNT; cause++) {
		if (sums_ns[cause] == 0)
			continue;
		mr_json_uint(json, NULL, cause);
		mr_json_int(json, NULL, sums_ns[cause]);
	}
	mr_json_end_array(json);
}

int mr_answer_step_causes(struct mr_view *view, const struct mr_request *request,
			  struct mr_answer *answer)
{
	const struct mr_step_list *list = &view->steps.list;
	const struct mr_slices *segments = mr_view_slices(view, MR_SLICED_path);
	struct mr_json json;

	(void)request;
	if (!segments)
		return -ENOMEM;
	mr_json_start(&json, answer->body, MR_JSON_ONE_LINE);
	mr_json_begin_object(&json, NULL);
	mr_json_begin_array(&json, "causes");
	for (uint32_t row = 0; row < list->steps.count; row++) {
		int64_t sums_ns[MR_CAUSE_COUNT] = {0};

		sum_causes(&view->path, segments, &list->steps.items[row], sums_ns);
		write_causes(&json, sums_ns);
	}
	mr_json_end_array(&json);
	mr_json_end_object(&json);
	return mr_json_finish(&json);
}
