/* SPDX-License-Identifier: Apache-2.0
 *
 * The layout of one level: the nodes in one box, without the contents of the boxes among them.
 *
 *     nodes, edges ──► components ──► each: ranks ──► bends ──► order in ranks ──► places ──► routes
 *                                          │                         │                │
 *                                     level_ranks.c            level_order.c    level_places.c
 *
 * Components are placed side by side and in rows, like words on a page. If there are doors, which must be at the upper
 * and lower border of the level, or lanes (level_lanes.c), everything is one component.
 */
#ifndef MR_GRAPH_LAYOUT_LEVEL_H
#define MR_GRAPH_LAYOUT_LEVEL_H

#include "base/region.h"
#include "graph/layout/layout.h"

enum {
	MR_LEVEL_GAP = 22,      /* between nodes of a rank */
	MR_LEVEL_RANK_GAP = 34, /* between ranks */
	MR_LEVEL_BEND = 6,      /* room for an edge that passes */
};

enum mr_level_side {
	MR_LEVEL_INSIDE,
	MR_LEVEL_ENTRY, /* a door that edges come in by: stands above all others */
	MR_LEVEL_EXIT,
};

struct mr_level_node {
	double width;
	double height;
	enum mr_level_side side;
	uint32_t lane; /* 0: a door, or there are none (level_lanes.c) */
	double x;      /* found: upper left corner */
	double y;
};

struct mr_level_edge {
	uint32_t from;
	uint32_t to;
	double from_share; /* where along the border of the node it begins: 0.5 is the middle */
	double to_share;
	bool is_back; /* found, as in layout.h */
	bool is_cut;
	uint32_t first_point;
	uint32_t point_count;
};

struct mr_level {
	mr_vec(struct mr_level_node) nodes;
	mr_vec(struct mr_level_edge) edges;
	mr_vec(struct mr_point) points; /* found */
	double width;
	double height;
	uint64_t crossings;
};

int mr_level_layout(struct mr_level *level);
void mr_level_free(struct mr_level *level);

/* ---- one component, while it is laid out ------------------------------------------------------------- */

/* From a vertex to one of the next rank below: an edge, or a part of it between bends. */
struct mr_arc {
	uint32_t upper;
	uint32_t lower;
	float upper_share;
	float lower_share;
	bool is_loose; /* need not be straight: others come first */
};

/* Arcs by vertex: arc[first[v] .. first[v + 1]), by the position of their other ends. */
struct mr_arc_lists {
	uint32_t *first;
	uint32_t *arc;
};

/* Vertices are the component's nodes, then the bends of its long edges. All memory is of the region. */
struct mr_layers {
	struct mr_region region;
	struct mr_level *level;
	const uint32_t *nodes; /* of the level, by vertex */
	uint32_t node_count;
	const uint32_t *edges; /* of the level, by number */
	uint32_t edge_count;
	const uint32_t *vertex_of; /* by node of the level */

	uint32_t vertex_count;
	uint32_t *rank;       /* by vertex */
	uint32_t *lane;       /* by vertex; NULL: there are none */
	uint32_t *first_bend; /* by edge: its bends are one after another, going down */
	uint32_t arc_count;
	struct mr_arc *arcs;
	struct mr_arc_lists above; /* arcs that lead to a vertex from above */
	struct mr_arc_lists below;

	uint32_t rank_count;
	uint32_t *first_of_rank; /* into order */
	uint32_t *order;         /* vertices by rank, from left to right */
	uint32_t *position;      /* by vertex, in its rank */
	uint64_t crossings;

	double *width; /* by vertex */
	double *x;     /* of its middle */
	double *rank_top;
	double *rank_height;
};

/* Where an edge begins and ends, as vertices, when all edges lead down. */
static inline uint32_t mr_layers_upper(const struct mr_layers *layers, uint32_t edge)
{
	const struct mr_level_edge *it = &layers->level->edges.items[layers->edges[edge]];

	return layers->vertex_of[it->is_back ? it->to : it->from];
}

static inline uint32_t mr_layers_lower(const struct mr_layers *layers, uint32_t edge)
{
	const struct mr_level_edge *it = &layers->level->edges.items[layers->edges[edge]];

	return layers->vertex_of[it->is_back ? it->from : it->to];
}

/* Each needs what those before it have found. -ENOMEM. */
int mr_layers_find_ranks(struct mr_layers *layers);
int mr_layers_add_bends(struct mr_layers *layers);
int mr_layers_find_lanes(struct mr_layers *layers);
int mr_layers_find_order(struct mr_layers *layers);
int mr_layers_find_places(struct mr_layers *layers);
int mr_layers_part_lanes(struct mr_layers *layers);

/* Whether there are at least two. */
bool mr_level_has_lanes(const struct mr_level *level);

/* Puts the lists of arcs in order again, after positions have changed. */
void mr_layers_sort_arcs(struct mr_layers *layers);

#endif
