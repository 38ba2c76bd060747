/* SPDX-License-Identifier: Apache-2.0
 *
 * memory: each series of live memory. live: the memory that was live at a time.
 */
#include "serve/endpoints.h"

#include "analysis/device_time.h"
#include "analysis/live_set.h"
#include "base/error.h"
#include "base/sort.h"
#include "serve/parameters.h"
#include "timeline/words.h"

/* The series that a band shows, if that is memory; else NULL. */
static const struct mr_series *series_of(const struct mr_view *view, uint32_t band)
{
	const struct mr_band *of = &view->bands.list.items[band];
	const struct mr_series *series =
		of->is_series ? &view->series.items.items[of->group] : NULL;

	return series && series->is_memory ? series : NULL;
}

/* ---- memory ----------------------------------------------------------------------------------------- */

struct peak {
	int64_t ns;
	double value;
};

/* The highest value in the window, and when it was reached there. */
static struct peak find_peak(const struct mr_series *series, const struct mr_window *window)
{
	uint32_t i = mr_find_larger(series->time_ns, 0, series->count, window->first_ns);
	struct peak peak = {series->time_ns[0], 0};

	if (i > 0) /* what it was when the window began */
		peak = (struct peak){mr_max(series->time_ns[i - 1], window->first_ns),
				     series->value[i - 1]};
	for (; i < series->count && series->time_ns[i] < window->last_ns; i++)
		if (series->value[i] > peak.value)
			peak = (struct peak){series->time_ns[i], series->value[i]};
	return peak;
}

static int write_series(struct mr_view *view, struct mr_json *json, uint32_t band,
			const struct mr_window *window, struct mr_region *region)
{
	const struct mr_model *model = view->model;
	const struct mr_series *series = mr_view_series(view, view->bands.list.items[band].group);
	const char *title = mr_band_title(view, &view->bands.list.items[band], region);

	if (!series || !title)
		return -ENOMEM;
	const struct peak peak = find_peak(series, window);
	mr_json_begin_object(json, NULL);
	mr_json_uint(json, "band", band);
	mr_json_uint(json, "pid", model->survey->processes.items[series->process].pid);
	mr_json_string(json, "device",
		       series->memory.device ? mr_device_name(model, series->memory.device) : NULL);
	mr_json_string(json, "title", title);
	mr_json_string(json, "teller",
		       series->memory.teller == MR_MEMORY_RUNTIME ? "runtime" : "framework");
	mr_json_string(json, "allocator",
		       series->memory.is_of_allocator
			       ? mr_model_text(model, series->memory.allocator)
			       : NULL);
	mr_json_int(json, "peak_bytes", (int64_t)peak.value);
	mr_json_int(json, "peak_at", mr_view_time(view, peak.ns));
	mr_json_int(json, "end_bytes", (int64_t)series->value[series->count - 1]);
	mr_json_end_object(json);
	return 0;
}

int mr_answer_memory(struct mr_view *view, const struct mr_request *request,
		     struct mr_answer *answer)
{
	struct mr_region region = {0};
	struct mr_window window;
	struct mr_json json;
	int result = mr_request_window(view, request, &window);

	if (result < 0)
		return result;
	mr_json_start(&json, answer->body, MR_JSON_ONE_LINE);
	mr_json_begin_object(&json, NULL);
	mr_json_begin_array(&json, "series");
	for (uint32_t band = 0; result == 0 && band < view->bands.list.count; band++)
		if (series_of(view, band))
			result = write_series(view, &json, band, &window, &region);
	mr_json_end_array(&json);
	mr_json_end_object(&json);
	mr_region_free(&region);
	return result < 0 ? result : mr_json_finish(&json);
}

/* ---- live ------------------------------------------------------------------------------------------- */

static void write_share(const struct mr_model *model, struct mr_json *json,
			const struct mr_live_share *share)
{
	const struct mr_node *node = &model->survey->definitions.nodes.items[share->node];

	mr_json_begin_object(json, NULL);
	mr_json_index(json, "node", share->node, 0);
	mr_json_string(json, "text",
		       share->node ? mr_model_text(model, node->name) : "(for no operation)");
	mr_json_string(json, "allocator", mr_model_text(model, share->allocator));
	mr_json_uint(json, "count", share->count);
	mr_json_uint(json, "bytes", share->bytes);
	mr_json_end_object(json);
}

int mr_answer_live(struct mr_view *view, const struct mr_request *request, struct mr_answer *answer)
{
	struct mr_live_set set = {0};
	struct mr_json json;
	int64_t band, ns;
	int result =
		mr_request_integer(request, "band", 0, (int64_t)view->bands.list.count - 1, &band);

	if (result == 0)
		result = mr_request_time(view, request, "time", &ns);
	if (result < 0)
		return result;
	const struct mr_series *series = series_of(view, (uint32_t)band);
	if (!series)
		return mr_fail(EINVAL, "band: does not show memory");
	if (mr_live_set_make(view->model, &series->memory, ns, &set) < 0)
		return mr_fail_errno(ENOMEM, "find what was live");
	mr_json_start(&json, answer->body, MR_JSON_ONE_LINE);
	mr_json_begin_object(&json, NULL);
	mr_json_uint(&json, "bytes", set.bytes);
	mr_json_uint(&json, "count", set.count);
	mr_json_begin_array(&json, "rows");
	for (size_t i = 0; i < set.shares.count; i++)
		write_share(view->model, &json, &set.shares.items[i]);
	mr_json_end_array(&json);
	mr_json_end_object(&json);
	mr_live_set_free(&set);
	return mr_json_finish(&json);
}
