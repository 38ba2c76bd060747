/* SPDX-License-Identifier: Apache-2.0
 *
 * One slice, and everything that the details panel shows about it: its place (row.c), sentences (row_words.c), fields
 * (row_fields.c), the whole gap and the chain of its causes (row_gap.c), and related slices (arrows.h).
 */
#ifndef MR_TIMELINE_ROW_H
#define MR_TIMELINE_ROW_H

#include "timeline/arrows.h"
#include "timeline/fields.h"
#include "timeline/view.h"

struct mr_row {
	struct mr_view *view;
	const struct mr_model *model;
	enum mr_sliced table;
	uint32_t row;
	int64_t start_ns;
	int64_t duration_ns;
	uint32_t group;     /* of its slices */
	uint32_t track;     /* MR_NO_TRACK: none */
	uint32_t operation; /* row of device_operations that it is, or is about; or MR_NO_ROW */
	uint32_t execution; /* row of node_executions, likewise */
	uint32_t node;      /* 0: none */
	uint32_t step;      /* of view->steps, in which it began or was launched; or MR_NO_ROW */
};

/* -ENOENT with a cause if there is none. */
int mr_row_find(struct mr_view *view, enum mr_sliced table, uint32_t row, struct mr_row *ret_row);

/* An end of an arrow, or a slice in a list: {"table", "row", "band", "lane", "time", "title"}. 0, or a negative
 * errno with a cause. */
int mr_row_write_end(struct mr_view *view, struct mr_json *json, const char *key,
		     struct mr_arrow_end end);

/* "step": its number, or null. */
void mr_row_write_step(const struct mr_row *row, struct mr_json *json);

/* Where it is: "thread 812 'loader', step 7". From the region; NULL without memory. */
const char *mr_row_place(const struct mr_row *row, struct mr_region *region);

/* Sentences for people, added to a finding. -ENOMEM. */
int mr_row_say(const struct mr_row *row, struct mr_findings *findings, struct mr_finding *finding);

/* Of a piece of idle time "gap", the whole that it belongs to, and "chain", its causes; nothing else has them
 * (row_gap.c). 0, or a negative errno. */
int mr_row_write_gap(const struct mr_row *row, struct mr_json *json, struct mr_region *region);

/* Writes all fields. */
void mr_row_write_fields(const struct mr_row *row, struct mr_json *json, struct mr_region *region);

#endif
