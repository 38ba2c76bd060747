/* SPDX-License-Identifier: Apache-2.0
 *
 * Lanes: vertices of one lane stand below each other, beside those of the other lanes, in the order of their numbers.
 *
 *     │ lane 1   │ lane 2        │
 *     │  ┌───┐   │               │        the order within ranks is by lane first (level_order.c);
 *     │  │ a │───┼──╮            │        when all have their places, the lanes move apart
 *     │  └───┘   │┌───┐   ┌───┐  │
 *     │          ││ b │   │ c │  │
 *
 * A bend belongs to the lane of the node above it, a door to the lane of the node that it leads to. All nodes of a level
 * are one component then; those without edges, which would all be of the first rank, are spread over the ranks.
 */
#include <errno.h>
#include <float.h>
#include <math.h>

#include "base/sort.h"
#include "graph/layout/level.h"

enum {
	LANE_GAP = 2 * MR_LEVEL_GAP
};

bool mr_level_has_lanes(const struct mr_level *level)
{
	uint32_t first = 0;

	for (size_t i = 0; i < level->nodes.count; i++) {
		uint32_t lane = level->nodes.items[i].lane;

		if (first != 0 && lane != 0 && lane != first)
			return true;
		first = lane ? lane : first;
	}
	return false;
}

static void find_lanes_of_doors(struct mr_layers *layers)
{
	for (uint32_t edge = 0; edge < layers->edge_count; edge++) {
		uint32_t upper = mr_layers_upper(layers, edge);
		uint32_t lower = mr_layers_lower(layers, edge);

		if (layers->lane[upper] == 0)
			layers->lane[upper] = layers->lane[lower];
		else if (layers->lane[lower] == 0)
			layers->lane[lower] = layers->lane[upper];
	}
}

/* Not above the doors that edges come in by, nor below those that they go out by. */
static int spread_loose(struct mr_layers *layers)
{
	bool *has_edge = mr_region_allocate(&layers->region, layers->node_count + 1);
	uint32_t first = 0, last = layers->rank_count - 1, next = 0;

	if (!has_edge)
		return -ENOMEM;
	for (uint32_t edge = 0; edge < layers->edge_count; edge++)
		has_edge[mr_layers_upper(layers, edge)] = has_edge[mr_layers_lower(layers, edge)] =
			true;
	for (uint32_t vertex = 0; vertex < layers->node_count; vertex++) {
		enum mr_level_side side = layers->level->nodes.items[layers->nodes[vertex]].side;

		first = side == MR_LEVEL_ENTRY ? 1 : first;
		last = side == MR_LEVEL_EXIT ? layers->rank_count - 2 : last;
	}
	if (layers->edge_count == 0) {
		layers->rank_count = (uint32_t)ceil(sqrt(layers->node_count));
		last = layers->rank_count - 1;
	}
	for (uint32_t vertex = 0; vertex < layers->node_count; vertex++)
		if (!has_edge[vertex])
			layers->rank[vertex] = first + next++ % (last - first + 1);
	return 0;
}

int mr_layers_find_lanes(struct mr_layers *layers)
{
	if (!mr_level_has_lanes(layers->level))
		return 0;
	layers->lane = mr_region_allocate(&layers->region,
					  (layers->vertex_count + 1) * sizeof *layers->lane);
	if (!layers->lane || spread_loose(layers) < 0)
		return -ENOMEM;
	for (uint32_t vertex = 0; vertex < layers->node_count; vertex++)
		layers->lane[vertex] = layers->level->nodes.items[layers->nodes[vertex]].lane;
	find_lanes_of_doors(layers);
	for (uint32_t edge = 0; edge < layers->edge_count; edge++) {
		uint32_t upper = mr_layers_upper(layers, edge);
		uint32_t lower = mr_layers_lower(layers, edge);
		bool is_cut = layers->level->edges.items[layers->edges[edge]].is_cut;
		uint32_t bends = is_cut ? 0 : layers->rank[lower] - layers->rank[upper] - 1;

		for (uint32_t i = 0; i < bends; i++)
			layers->lane[layers->first_bend[edge] + i] = layers->lane[upper];
	}
	return 0;
}

int mr_layers_part_lanes(struct mr_layers *layers)
{
	uint32_t count = layers->vertex_count;
	double begin = 0;

	if (!layers->lane)
		return 0;
	struct mr_sort_item *by_lane =
		mr_region_allocate(&layers->region, (2 * (size_t)count + 1) * sizeof *by_lane);
	if (!by_lane)
		return -ENOMEM;
	for (uint32_t vertex = 0; vertex < count; vertex++)
		by_lane[vertex] = (struct mr_sort_item){layers->lane[vertex], vertex};
	mr_sort(by_lane, by_lane + count, count);
	for (uint32_t first = 0, next; first < count; first = next) {
		double left = DBL_MAX, right = 0;

		for (next = first; next < count && by_lane[next].key == by_lane[first].key;
		     next++) {
			uint32_t vertex = by_lane[next].index;

			left = mr_min(left, layers->x[vertex] - layers->width[vertex] / 2);
			right = mr_max(right, layers->x[vertex] + layers->width[vertex] / 2);
		}
		for (uint32_t i = first; i < next; i++)
			layers->x[by_lane[i].index] += begin - left;
		begin += right - left + LANE_GAP;
	}
	return 0;
}
