/* SPDX-License-Identifier: Apache-2.0
 *
 * Ranges and marks of NVTX become scopes; a mark is one that takes no time. The detail says domain, category and payload.
 *
 *     thread, domain A    ├── begin, depth 0 ─────────────────── end, depth 0 ──┤
 *                              ├─ begin, depth 1 ─ end, depth 1 ─┤
 *     thread, domain B                    ├─ begin, depth 0 ─ ... ─ end, depth 0 ─┤     overlaps, and may
 *     range 7             ├── begin, range 7 ─ ...                 ... ─ end, range 7 ──┤  on another thread
 *
 * A range whose end was not recorded lasts until a range of its depth begins or ends, or until its thread ends.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "load/loader.h"
#include "model/nesting.h"

enum {
	DETAILS_MAX = 1 << 16, /* different ones; in further ones % stands for the payload */
	DETAIL_BYTES = 4096,
	NUMBER_BYTES = 32,
};

struct range {
	int64_t start_ns;
	uint64_t number; /* 0: nested */
	uint32_t track;
	uint32_t end_track;
	uint32_t depth;
	uint32_t name;
	uint32_t domain;
	uint32_t detail;
	int64_t end_ns; /* INT64_MIN: not known yet */
};

struct range_end {
	uint64_t number;
	uint32_t process;
	uint32_t track;
	int64_t ns;
};

struct nvtx {
	struct mr_loader *loader;
	struct mr_model *model;
	mr_vec(struct range) ranges;
	mr_vec(uint32_t) open; /* nested ones that have not ended, by number in `ranges` */
	mr_vec(struct range_end) ends;
	uint32_t detail_count;
};

/* ---- details -------------------------------------------------------------------------------------------- */

struct about {
	uint32_t domain, category; /* strings of the model */
	uint64_t payload;
	uint8_t payload_kind;
};

static void print_payload(char text[NUMBER_BYTES], const struct about *about)
{
	double real;

	memcpy(&real, &about->payload, sizeof real);
	if (about->payload_kind == MR_payload_kind_natural)
		snprintf(text, NUMBER_BYTES, "%" PRIu64, about->payload);
	else if (about->payload_kind == MR_payload_kind_integer)
		snprintf(text, NUMBER_BYTES, "%" PRId64, (int64_t)about->payload);
	else
		snprintf(text, NUMBER_BYTES, "%.17g", real);
}

static int make_detail(struct nvtx *nvtx, const struct about *about, uint32_t *ret_detail)
{
	struct mr_strings *strings = &nvtx->model->survey->definitions.strings;
	bool has_payload = about->payload_kind != MR_payload_kind_none;
	char text[DETAIL_BYTES], number[NUMBER_BYTES] = "%";
	uint32_t before = mr_strings_count(strings);

	*ret_detail = 0;
	if (!about->domain && !about->category && !has_payload)
		return 0;
	if (nvtx->detail_count < DETAILS_MAX)
		print_payload(number, about);
	snprintf(text, sizeof text, "%s%s%s%s%s%s%s%s", about->domain ? "domain=" : "",
		 about->domain ? mr_model_text(nvtx->model, about->domain) : "",
		 about->domain && about->category ? "," : "", about->category ? "category=" : "",
		 about->category ? mr_model_text(nvtx->model, about->category) : "",
		 (about->domain || about->category) && has_payload ? "," : "",
		 has_payload ? "payload=" : "", has_payload ? number : "");
	int result = mr_strings_intern(strings, text, strlen(text), ret_detail);
	nvtx->detail_count += mr_strings_count(strings) - before;
	return result;
}

/* ---- one event -------------------------------------------------------------------------------------------- */

/* Those that are nested as deep, or deeper, did not last longer than this. */
static void close_nested(struct nvtx *nvtx, uint32_t domain, uint32_t depth, int64_t ns,
			 bool is_end)
{
	size_t kept = 0;

	for (size_t i = 0; i < nvtx->open.count; i++) {
		struct range *range = &nvtx->ranges.items[nvtx->open.items[i]];

		if (range->track != nvtx->loader->track || range->domain != domain ||
		    range->depth < depth)
			nvtx->open.items[kept++] = nvtx->open.items[i];
		else if (is_end && range->depth == depth)
			range->end_ns = ns;
	}
	nvtx->open.count = kept;
}

static int add_begin(struct nvtx *nvtx, const struct mr_event *event)
{
	const struct mr_event_nvtx_begin *begin = event->payload;
	struct mr_loader *loader = nvtx->loader;
	int64_t ns = mr_loader_to_ns(loader, event->ticks);
	const struct about about = {.domain = mr_loader_find(loader, MR_ID_string, begin->domain),
				    .category =
					    mr_loader_find(loader, MR_ID_string, begin->category),
				    .payload = begin->payload,
				    .payload_kind = begin->payload_kind};
	struct range range = {.start_ns = ns,
			      .number = begin->range,
			      .track = loader->track,
			      .end_track = loader->track,
			      .depth = begin->depth,
			      .name = mr_loader_find(loader, MR_ID_string, begin->name),
			      .domain = about.domain,
			      .end_ns = INT64_MIN};
	int result = make_detail(nvtx, &about, &range.detail);

	if (result == 0 && range.number == 0) {
		close_nested(nvtx, range.domain, range.depth, ns, false);
		result = mr_vec_push(&nvtx->open, (uint32_t)nvtx->ranges.count);
	}
	return result < 0 ? result : mr_vec_push(&nvtx->ranges, range);
}

static int add_end(struct nvtx *nvtx, const struct mr_event *event)
{
	const struct mr_event_nvtx_end *end = event->payload;
	struct mr_loader *loader = nvtx->loader;
	int64_t ns = mr_loader_to_ns(loader, event->ticks);

	if (end->range)
		return mr_vec_push(&nvtx->ends, ((struct range_end){end->range, loader->process,
								    loader->track, ns}));
	close_nested(nvtx, mr_loader_find(loader, MR_ID_string, end->domain), end->depth, ns, true);
	return 0;
}

static int add_mark(struct nvtx *nvtx, const struct mr_event *event)
{
	const struct mr_event_nvtx_mark *mark = event->payload;
	struct mr_loader *loader = nvtx->loader;
	const struct about about = {.domain = mr_loader_find(loader, MR_ID_string, mark->domain),
				    .category =
					    mr_loader_find(loader, MR_ID_string, mark->category),
				    .payload = mark->payload,
				    .payload_kind = mark->payload_kind};
	struct mr_scopes_row row = {.track = loader->track,
				    .start_ns = mr_loader_to_ns(loader, event->ticks),
				    .parent = MR_NO_ROW,
				    .name = mr_loader_find(loader, MR_ID_string, mark->name)};
	int result = make_detail(nvtx, &about, &row.detail);

	return result < 0 ? result : mr_scopes_append(&nvtx->model->scopes, row);
}

static int add(void *state, const struct mr_event *event)
{
	struct nvtx *nvtx = state;

	switch (event->desc->id) {
	case MR_EVENT_nvtx_begin:
		return add_begin(nvtx, event);
	case MR_EVENT_nvtx_end:
		return add_end(nvtx, event);
	case MR_EVENT_nvtx_mark:
		return add_mark(nvtx, event);
	}
	return 0;
}

/* ---- all ---------------------------------------------------------------------------------------------------- */

static int compare_ends(const void *left, const void *right)
{
	const struct range_end *a = left, *b = right;

	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	return (a->number > b->number) - (a->number < b->number);
}

/* Ranges with a number find their end, of whatever thread of the process. */
static void join_numbered(struct nvtx *nvtx)
{
	if (nvtx->ends.count)
		qsort(nvtx->ends.items, nvtx->ends.count, sizeof *nvtx->ends.items, compare_ends);
	for (size_t i = 0; nvtx->ends.count && i < nvtx->ranges.count; i++) {
		struct range *range = &nvtx->ranges.items[i];
		const struct range_end key = {
			.number = range->number,
			.process = nvtx->model->survey->tracks.items[range->track].process};
		const struct range_end *end =
			range->number ? bsearch(&key, nvtx->ends.items, nvtx->ends.count,
						sizeof key, compare_ends)
				      : NULL;

		if (!end || end->ns < range->start_ns)
			continue;
		range->end_ns = end->ns;
		range->end_track = end->track;
	}
}

static int add_scope(struct nvtx *nvtx, const struct range *range)
{
	bool is_finished = range->end_ns != INT64_MIN;
	int64_t last_ns = nvtx->model->survey->tracks.items[range->track].last_ns;
	int64_t end_ns = is_finished ? range->end_ns : mr_max(last_ns, range->start_ns);

	nvtx->model->anomalies.unfinished += !is_finished;
	return mr_scopes_append(
		&nvtx->model->scopes,
		(struct mr_scopes_row){
			.track = range->track,
			.start_ns = range->start_ns,
			.duration_ns = end_ns - range->start_ns,
			.parent = MR_NO_ROW,
			.name = range->name,
			.detail = range->detail,
			.flags = (uint8_t)((is_finished ? 0 : MR_ROW_UNFINISHED) |
					   (range->end_track != range->track ? MR_ROW_ASYNCHRONOUS
									     : 0))});
}

static void clear(struct nvtx *nvtx)
{
	mr_vec_free(&nvtx->ranges);
	mr_vec_free(&nvtx->open);
	mr_vec_free(&nvtx->ends);
}

/* Frameworks that come later nest anew, with their own scopes. */
static int nest_scopes(struct mr_model *model)
{
	struct mr_scopes *scopes = &model->scopes;
	uint32_t track_count = (uint32_t)model->survey->tracks.count;
	struct mr_nesting_faults faults = {0}; /* domains may overlap: no anomaly */
	int result = mr_table_sort(&scopes->table, track_count);
	const struct mr_nesting nesting = {scopes->start_ns, scopes->duration_ns, scopes->self_ns,
					   scopes->parent, scopes->flags};

	for (uint32_t i = 0; result == 0 && i < track_count; i++)
		result = mr_nest(&nesting, scopes->table.first_of_track[i],
				 scopes->table.first_of_track[i + 1], &faults);
	return result;
}

static int join(void *state)
{
	struct nvtx *nvtx = state;
	int result = 0;

	join_numbered(nvtx);
	for (size_t i = 0; result == 0 && i < nvtx->ranges.count; i++)
		result = add_scope(nvtx, &nvtx->ranges.items[i]);
	clear(nvtx);
	return result < 0 ? result : nest_scopes(nvtx->model);
}

static int start(struct mr_loader *loader, void **ret_state)
{
	struct nvtx *nvtx = malloc(sizeof *nvtx);

	if (!nvtx)
		return -ENOMEM;
	*nvtx = (struct nvtx){.loader = loader, .model = loader->model};
	*ret_state = nvtx;
	return 0;
}

static void end(void *state)
{
	clear(state);
	free(state);
}

static const uint8_t events[] = {
	MR_EVENT_nvtx_begin,
	MR_EVENT_nvtx_end,
	MR_EVENT_nvtx_mark,
};

const struct mr_framework mr_framework_nvtx = {
	.name = "NVTX",
	.events = events,
	.event_count = mr_countof(events),
	.start = start,
	.add = add,
	.stages = {[MR_FRAMEWORK_JOIN] = join},
	.end = end,
};
