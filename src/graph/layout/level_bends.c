/* SPDX-License-Identifier: Apache-2.0
 *
 * Bends where edges pass ranks, and the arcs between them. There are at most BENDS_PER_NODE times as many as
 * nodes (and some more in small graphs): edges that are longer than this allows are cut.
 */
#include <errno.h>

#include "graph/layout/level.h"

enum {
	BENDS_PER_NODE = 3,
	BENDS_ALWAYS = 3000,
};

static uint32_t span_of(const struct mr_layers *layers, uint32_t edge)
{
	return layers->rank[mr_layers_lower(layers, edge)] -
	       layers->rank[mr_layers_upper(layers, edge)];
}

/* The longest span of edges that are not cut: all shorter ones together stay within the limit. */
static int find_longest(struct mr_layers *layers, uint32_t *ret_longest)
{
	uint64_t limit = (uint64_t)BENDS_PER_NODE * layers->node_count + BENDS_ALWAYS;
	uint64_t bends = 0;
	uint32_t *count_of_span =
		mr_region_allocate(&layers->region, (layers->rank_count + 1) * sizeof(uint32_t));

	if (!count_of_span)
		return -ENOMEM;
	for (uint32_t edge = 0; edge < layers->edge_count; edge++)
		count_of_span[span_of(layers, edge)]++;
	for (*ret_longest = 1; *ret_longest < layers->rank_count; (*ret_longest)++) {
		bends += (uint64_t)count_of_span[*ret_longest + 1] * *ret_longest;
		if (bends > limit)
			break;
	}
	return 0;
}

static void add_arc(struct mr_layers *layers, uint32_t upper, uint32_t lower, double upper_share,
		    double lower_share)
{
	layers->arcs[layers->arc_count++] = (struct mr_arc){
		.upper = upper,
		.lower = lower,
		.upper_share = (float)upper_share,
		.lower_share = (float)lower_share,
	};
}

static void add_arcs(struct mr_layers *layers, uint32_t edge)
{
	const struct mr_level_edge *it = &layers->level->edges.items[layers->edges[edge]];
	double share = it->is_back ? it->to_share : it->from_share;
	double last_share = it->is_back ? it->from_share : it->to_share;
	uint32_t vertex = mr_layers_upper(layers, edge);

	layers->first_bend[edge] = layers->vertex_count;
	for (uint32_t left = span_of(layers, edge); left > 1; left--) {
		uint32_t bend = layers->vertex_count++;

		layers->rank[bend] = layers->rank[vertex] + 1;
		add_arc(layers, vertex, bend, share, 0.5);
		vertex = bend;
		share = 0.5;
	}
	add_arc(layers, vertex, mr_layers_lower(layers, edge), share, last_share);
}

static int allocate(struct mr_layers *layers, uint32_t vertex_count, uint32_t arc_count)
{
	struct mr_region *region = &layers->region;
	size_t vertex_bytes = ((size_t)vertex_count + 1) * sizeof(uint32_t);
	size_t arc_bytes = ((size_t)arc_count + 1) * sizeof(uint32_t);
	uint32_t *rank = mr_region_allocate(region, vertex_bytes);

	layers->first_bend = mr_region_allocate(region, (layers->edge_count + 1) * sizeof *rank);
	layers->arcs = mr_region_allocate(region, ((size_t)arc_count + 1) * sizeof *layers->arcs);
	layers->above.first = mr_region_allocate(region, vertex_bytes);
	layers->below.first = mr_region_allocate(region, vertex_bytes);
	layers->above.arc = mr_region_allocate(region, arc_bytes);
	layers->below.arc = mr_region_allocate(region, arc_bytes);
	if (!rank || !layers->first_bend || !layers->arcs || !layers->above.first ||
	    !layers->below.first || !layers->above.arc || !layers->below.arc)
		return -ENOMEM;
	for (uint32_t vertex = 0; vertex < layers->node_count; vertex++)
		rank[vertex] = layers->rank[vertex];
	layers->rank = rank;
	return 0;
}

/* Arcs were added edge by edge: those of the lists below are counted, then put in; those of the lists above only
 * counted, since mr_layers_sort_arcs() makes one from the other. */
static void make_lists(struct mr_layers *layers)
{
	struct mr_arc_lists *above = &layers->above, *below = &layers->below;

	for (uint32_t arc = 0; arc < layers->arc_count; arc++) {
		above->first[layers->arcs[arc].lower + 1]++;
		below->first[layers->arcs[arc].upper + 1]++;
	}
	for (uint32_t vertex = 0; vertex < layers->vertex_count; vertex++) {
		above->first[vertex + 1] += above->first[vertex];
		below->first[vertex + 1] += below->first[vertex];
	}
	for (uint32_t arc = layers->arc_count; arc-- > 0;)
		below->arc[--below->first[layers->arcs[arc].upper + 1]] = arc;
	for (uint32_t vertex = 0; vertex < layers->vertex_count; vertex++)
		below->first[vertex] = below->first[vertex + 1];
	below->first[layers->vertex_count] = layers->arc_count;
}

int mr_layers_add_bends(struct mr_layers *layers)
{
	uint32_t longest, bend_count = 0, arc_count = 0;

	if (find_longest(layers, &longest) < 0)
		return -ENOMEM;
	for (uint32_t edge = 0; edge < layers->edge_count; edge++) {
		uint32_t span = span_of(layers, edge);

		if (span > longest)
			continue;
		bend_count += span - 1;
		arc_count += span;
	}
	if (allocate(layers, layers->node_count + bend_count, arc_count) < 0)
		return -ENOMEM;
	layers->vertex_count = layers->node_count;
	for (uint32_t edge = 0; edge < layers->edge_count; edge++) {
		bool is_cut = span_of(layers, edge) > longest;

		layers->level->edges.items[layers->edges[edge]].is_cut = is_cut;
		if (!is_cut)
			add_arcs(layers, edge);
	}
	make_lists(layers);
	return 0;
}
