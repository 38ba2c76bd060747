/* SPDX-License-Identifier: Apache-2.0
 *
 * Assigns a rank to each node of a component.
 *
 * First it finds a sequence of the nodes in which few edges lead back, and reverses those edges. Then every node goes as
 * high as the longest path to it allows. Nodes with more edges below than above move down again if they can, so that
 * a constant is next to the node that reads it.
 */
#include <errno.h>

#include "graph/layout/level.h"

enum {
	ROUNDS = 2, /* of moving nodes towards their neighbours */
};

/* Edges by vertex. */
struct lists {
	uint32_t *first;
	uint32_t *edge;
};

typedef uint32_t end_of_edge(const struct mr_layers *layers, uint32_t edge);

static int make_lists(struct mr_layers *layers, end_of_edge *end, struct lists *lists)
{
	uint32_t count = layers->node_count;

	lists->first = mr_region_allocate(&layers->region, (count + 2) * sizeof *lists->first);
	lists->edge =
		mr_region_allocate(&layers->region, (layers->edge_count + 1) * sizeof *lists->edge);
	if (!lists->first || !lists->edge)
		return -ENOMEM;
	/* Counted one place further on, so that filling leaves every list's begin in place. */
	for (uint32_t edge = 0; edge < layers->edge_count; edge++)
		lists->first[end(layers, edge) + 2]++;
	for (uint32_t i = 2; i < count + 2; i++)
		lists->first[i] += lists->first[i - 1];
	for (uint32_t edge = 0; edge < layers->edge_count; edge++)
		lists->edge[lists->first[end(layers, edge) + 1]++] = edge;
	return 0;
}

/* ---- a sequence in which most edges lead on --------------------------------------------------------- */

/* After Eades, Lin and Smyth (A fast and effective heuristic for the feedback arc set problem, 1993): what nothing
 * leads to any more is taken for the beginning, what leads nowhere for the end; if there is neither, then the vertex
 * that has most more edges out than in for the beginning. */
struct taking {
	struct mr_layers *layers;
	struct lists in;
	struct lists out;
	uint32_t *in_count; /* by vertex: edges from those that are left */
	uint32_t *out_count;
	uint32_t *
		next; /* lists of vertices by their class: a ring each, headed by vertex_count + class */
	uint32_t *previous;
	bool *is_taken;
	uint32_t *sequence;
	uint32_t begin; /* places of the sequence that are not filled yet */
	uint32_t end;
};

enum {
	SINKS,
	SOURCES,
	LEAST, /* more edges in than out */
	CLASSES = LEAST + 65,
};

static uint32_t class_of(const struct taking *taking, uint32_t vertex)
{
	int64_t more = (int64_t)taking->out_count[vertex] - taking->in_count[vertex];
	int64_t middle = (CLASSES - LEAST) / 2;

	if (taking->out_count[vertex] == 0)
		return SINKS;
	if (taking->in_count[vertex] == 0)
		return SOURCES;
	return LEAST + (uint32_t)(middle + mr_max(-middle, mr_min(middle, more)));
}

static void unlink_vertex(struct taking *taking, uint32_t vertex)
{
	taking->next[taking->previous[vertex]] = taking->next[vertex];
	taking->previous[taking->next[vertex]] = taking->previous[vertex];
}

static void link_vertex(struct taking *taking, uint32_t vertex)
{
	uint32_t head = taking->layers->node_count + class_of(taking, vertex);

	taking->next[vertex] = head;
	taking->previous[vertex] = taking->previous[head];
	taking->next[taking->previous[vertex]] = vertex;
	taking->previous[head] = vertex;
}

/* One edge less, on one side. */
static void lessen(struct taking *taking, uint32_t vertex, uint32_t *counts)
{
	if (taking->is_taken[vertex])
		return;
	unlink_vertex(taking, vertex);
	counts[vertex]--;
	link_vertex(taking, vertex);
}

static void take(struct taking *taking, uint32_t vertex, bool is_end)
{
	struct mr_layers *layers = taking->layers;

	unlink_vertex(taking, vertex);
	taking->is_taken[vertex] = true;
	taking->sequence[is_end ? --taking->end : taking->begin++] = vertex;
	for (uint32_t i = taking->out.first[vertex]; i < taking->out.first[vertex + 1]; i++)
		lessen(taking, mr_layers_lower(layers, taking->out.edge[i]), taking->in_count);
	for (uint32_t i = taking->in.first[vertex]; i < taking->in.first[vertex + 1]; i++)
		lessen(taking, mr_layers_upper(layers, taking->in.edge[i]), taking->out_count);
}

static void take_all(struct taking *taking)
{
	uint32_t heads = taking->layers->node_count;

	while (taking->begin < taking->end) {
		uint32_t class = SOURCES;

		if (taking->next[heads + SOURCES] == heads + SOURCES)
			class = SINKS;
		if (taking->next[heads + class] == heads + class)
			for (class = CLASSES - 1; taking->next[heads + class] == heads + class;)
				class --;
		take(taking, taking->next[heads + class], class == SINKS);
	}
}

static int prepare(struct taking *taking, struct mr_layers *layers)
{
	uint32_t count = layers->node_count;
	uint32_t **arrays[] = {&taking->in_count, &taking->out_count, &taking->next,
			       &taking->previous, &taking->sequence};

	for (size_t i = 0; i < mr_countof(arrays); i++)
		if (!(*arrays[i] = mr_region_allocate(&layers->region,
						      (count + CLASSES) * sizeof **arrays[i])))
			return -ENOMEM;
	taking->is_taken = mr_region_allocate(&layers->region, count + 1);
	if (!taking->is_taken || make_lists(layers, mr_layers_upper, &taking->out) < 0 ||
	    make_lists(layers, mr_layers_lower, &taking->in) < 0)
		return -ENOMEM;
	for (uint32_t head = count; head < count + CLASSES; head++)
		taking->next[head] = taking->previous[head] = head;
	for (uint32_t vertex = 0; vertex < count; vertex++) {
		taking->in_count[vertex] = taking->in.first[vertex + 1] - taking->in.first[vertex];
		taking->out_count[vertex] =
			taking->out.first[vertex + 1] - taking->out.first[vertex];
		link_vertex(taking, vertex);
	}
	return 0;
}

/* Edges that lead back in it are turned round. */
static int find_sequence(struct mr_layers *layers, uint32_t **ret_sequence)
{
	struct taking taking = {.layers = layers, .end = layers->node_count};

	if (prepare(&taking, layers) < 0)
		return -ENOMEM;
	take_all(&taking);
	uint32_t *place = taking.next; /* by vertex; the lists are empty by now */
	for (uint32_t i = 0; i < layers->node_count; i++)
		place[taking.sequence[i]] = i;
	for (uint32_t edge = 0; edge < layers->edge_count; edge++)
		layers->level->edges.items[layers->edges[edge]].is_back =
			place[mr_layers_upper(layers, edge)] > place[mr_layers_lower(layers, edge)];
	*ret_sequence = taking.sequence;
	return 0;
}

/* ---- ranks ------------------------------------------------------------------------------------------ */

static enum mr_level_side side_of(const struct mr_layers *layers, uint32_t vertex)
{
	return layers->level->nodes.items[layers->nodes[vertex]].side;
}

struct neighbourhood {
	struct lists in;
	struct lists out;
	uint32_t highest; /* rank that a node may have */
};

/* Ranks between those of its neighbours that a vertex may have. */
static void find_room(const struct mr_layers *layers, const struct neighbourhood *around,
		      uint32_t vertex, uint32_t *ret_low, uint32_t *ret_high)
{
	*ret_low = around->highest;
	*ret_high = UINT32_MAX;
	for (uint32_t i = around->in.first[vertex]; i < around->in.first[vertex + 1]; i++)
		*ret_low = mr_max(*ret_low,
				  layers->rank[mr_layers_upper(layers, around->in.edge[i])] + 1);
	for (uint32_t i = around->out.first[vertex]; i < around->out.first[vertex + 1]; i++)
		*ret_high = mr_min(*ret_high,
				   layers->rank[mr_layers_lower(layers, around->out.edge[i])] - 1);
}

/* Towards the side where it has more edges; where it has as many, down: what feeds it can follow. */
static void move(const struct mr_layers *layers, const struct neighbourhood *around,
		 uint32_t vertex)
{
	uint32_t above = around->in.first[vertex + 1] - around->in.first[vertex];
	uint32_t below = around->out.first[vertex + 1] - around->out.first[vertex];
	uint32_t low, high;

	if (side_of(layers, vertex) != MR_LEVEL_INSIDE)
		return;
	find_room(layers, around, vertex, &low, &high);
	if (below == 0 || above > below)
		layers->rank[vertex] = low;
	else
		layers->rank[vertex] = high;
}

static void rank_by_longest_way(const struct mr_layers *layers, const struct neighbourhood *around,
				const uint32_t *sequence)
{
	uint32_t last = 0;

	for (uint32_t i = 0; i < layers->node_count; i++) {
		uint32_t high;

		if (side_of(layers, sequence[i]) == MR_LEVEL_INSIDE)
			find_room(layers, around, sequence[i], &layers->rank[sequence[i]], &high);
		last = mr_max(last, layers->rank[sequence[i]]);
	}
	for (uint32_t vertex = 0; vertex < layers->node_count; vertex++)
		if (side_of(layers, vertex) == MR_LEVEL_EXIT)
			layers->rank[vertex] = last + 1;
}

/* Leaves no rank empty, and the first one 0. */
static int close_up(struct mr_layers *layers)
{
	uint32_t last = 0;

	for (uint32_t vertex = 0; vertex < layers->node_count; vertex++)
		last = mr_max(last, layers->rank[vertex]);
	uint32_t *new_rank =
		mr_region_allocate(&layers->region, ((size_t)last + 1) * sizeof *new_rank);
	if (!new_rank)
		return -ENOMEM;
	for (uint32_t vertex = 0; vertex < layers->node_count; vertex++)
		new_rank[layers->rank[vertex]] = 1;
	for (uint32_t rank = 0; rank <= last; rank++) {
		bool is_used = new_rank[rank];

		new_rank[rank] = layers->rank_count;
		layers->rank_count += is_used;
	}
	for (uint32_t vertex = 0; vertex < layers->node_count; vertex++)
		layers->rank[vertex] = new_rank[layers->rank[vertex]];
	return 0;
}

int mr_layers_find_ranks(struct mr_layers *layers)
{
	struct neighbourhood around = {0};
	uint32_t *sequence;

	layers->rank = mr_region_allocate(&layers->region,
					  (layers->node_count + 1) * sizeof *layers->rank);
	if (!layers->rank || find_sequence(layers, &sequence) < 0 ||
	    make_lists(layers, mr_layers_lower, &around.in) < 0 ||
	    make_lists(layers, mr_layers_upper, &around.out) < 0)
		return -ENOMEM;
	for (uint32_t vertex = 0; vertex < layers->node_count; vertex++)
		if (side_of(layers, vertex) == MR_LEVEL_ENTRY)
			around.highest = 1;
	rank_by_longest_way(layers, &around, sequence);
	for (uint32_t round = 0; round < ROUNDS; round++) {
		for (uint32_t i = layers->node_count; i-- > 0;)
			move(layers, &around, sequence[i]);
		for (uint32_t i = 0; i < layers->node_count; i++)
			move(layers, &around, sequence[i]);
	}
	return close_up(layers);
}
