/* SPDX-License-Identifier: Apache-2.0
 *
 * icicle: what tracks did in a window, by the stack of names.
 */
#include "serve/endpoints.h"

#include <stdlib.h>

#include "base/error.h"
#include "serve/parameters.h"
#include "timeline/icicle.h"
#include "timeline/labels.h"

enum {
	THINNEST =
		2000, /* frames of less than this part of the whole are left out: nobody sees them */
	DEEPEST = 40,
};

/* Frames that are sent: wide enough, and so is what is around them. */
static bool is_shown(const struct mr_icicle *icicle, const struct mr_frame *frame)
{
	return frame->depth < DEEPEST && frame->total_ns > 0 &&
	       frame->total_ns >= icicle->total_ns / THINNEST;
}

static void write_frame(struct mr_view *view, struct mr_json *json, const struct mr_frame *frame,
			const uint32_t *shown)
{
	char text[MR_LABEL_BYTES];

	mr_json_begin_object(json, NULL);
	if (frame->parent == MR_NO_FRAME)
		mr_json_null(json, "parent");
	else
		mr_json_uint(json, "parent", shown[frame->parent]);
	mr_json_string(json, "table", mr_sliced_name(frame->table));
	mr_json_uint(json, "label", frame->label);
	mr_json_string(json, "text", mr_label_text(view, frame->table, frame->label, text));
	mr_json_uint(json, "count", frame->count);
	mr_json_int(json, "total_ns", frame->total_ns);
	mr_json_int(json, "self_ns", frame->self_ns);
	mr_json_end_object(json);
}

static int write_icicle(struct mr_view *view, const struct mr_icicle *icicle, FILE *body)
{
	mr_auto(free) uint32_t *shown = calloc(icicle->frames.count + 1, sizeof *shown);
	uint32_t count = 0;
	struct mr_json json;

	if (!shown)
		return mr_fail_errno(ENOMEM, "sum up the window");
	mr_json_start(&json, body, MR_JSON_ONE_LINE);
	mr_json_begin_object(&json, NULL);
	mr_json_int(&json, "total_ns", icicle->total_ns);
	mr_json_begin_array(&json, "frames");
	for (size_t i = 0; i < icicle->frames.count; i++) {
		if (!is_shown(icicle, &icicle->frames.items[i]))
			continue;
		shown[i] = count++;
		write_frame(view, &json, &icicle->frames.items[i], shown);
	}
	mr_json_end_array(&json);
	mr_json_end_object(&json);
	return mr_json_finish(&json);
}

int mr_answer_icicle(struct mr_view *view, const struct mr_request *request,
		     struct mr_answer *answer)
{
	mr_auto(icicle) struct mr_icicle icicle = {0};
	mr_auto(free) bool *tracks = NULL;
	struct mr_window window;
	int result = mr_request_window(view, request, &window);

	if (result == 0)
		result = mr_request_tracks(request, (uint32_t)view->model->survey->tracks.count,
					   &tracks);
	if (result < 0)
		return result;
	const struct mr_window all = mr_model_window(view->model);
	window.first_ns = mr_max(window.first_ns, all.first_ns);
	window.last_ns = mr_min(window.last_ns, all.last_ns);
	if (mr_icicle_make(view, &window, tracks, &icicle) < 0)
		return mr_fail_errno(ENOMEM, "sum up the window");
	return write_icicle(view, &icicle, answer->body);
}
