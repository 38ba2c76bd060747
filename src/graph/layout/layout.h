/* SPDX-License-Identifier: Apache-2.0
 *
 * Where the items of a graph are drawn: a layered layout with boxes in boxes, top to bottom.
 *
 *     ┌ box ──────────────────┐
 *     │   ┌───┐               │
 *     │   │ a │──┐            │           ranks: every edge leads down, or is marked as leading back
 *     │   └───┘  │            │
 *     │   ┌───┐  ╵   bend     │           bends: where a long edge passes a rank
 *     │   │ b │  ╷            │
 *     │   └───┘  │            │
 *     └─────┬────┴────────────┘           doors: where edges go through the border of a box
 *           │
 *         ┌───┐
 *         │ c │
 *         └───┘
 *
 * Every box is laid out separately (level.h), from the inside out, and is one node of the level around it. Edges that
 * are very long compared with the others are cut: they have no route, only their two ends. Routing all of them would
 * take most of the time and make the picture wide, not clear.
 *
 * Pure and deterministic; about linear in items, edges and bends.
 */
#ifndef MR_GRAPH_LAYOUT_LAYOUT_H
#define MR_GRAPH_LAYOUT_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vector.h"

#define MR_NO_BOX UINT32_MAX

struct mr_point {
	double x;
	double y;
};

struct mr_drawing_item {
	uint32_t box; /* item that it is in, which stands before it; or MR_NO_BOX */
	bool is_box;
	uint32_t
		lane; /* items of one box stand in lanes, by this number; 0, then of all: there are none */
	double width; /* of a box both are found, and are not given */
	double height;
	double x; /* found: upper left corner */
	double y;
};

struct mr_drawing_edge {
	uint32_t from; /* items that are no boxes */
	uint32_t to;
	/* Found. */
	bool is_back; /* leads up, as one edge of each cycle must */
	bool is_cut;
	uint32_t first_point; /* the route, from end to end */
	uint32_t point_count;
};

struct mr_drawing {
	struct mr_drawing_item *items; /* the caller's, and so are the edges */
	uint32_t item_count;
	struct mr_drawing_edge *edges;
	uint32_t edge_count;
	/* Found. */
	mr_vec(struct mr_point) points;
	double width;
	double height;
	uint64_t crossings; /* of routed edges, within each level */
};

/* Fills in what is to be found. -ENOMEM. */
int mr_drawing_layout(struct mr_drawing *drawing);

/* Frees the points; items and edges remain. */
void mr_drawing_free(struct mr_drawing *drawing);

#endif
