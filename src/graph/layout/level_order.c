/* SPDX-License-Identifier: Apache-2.0
 *
 * Orders the vertices within their ranks so that few arcs cross. A depth-first walk gives the first order. Then each
 * rank, going down and up in turn, is sorted by the mean position of its vertices' neighbours. Finally pairs of
 * neighbours are swapped where that helps. The best order found is kept.
 */
#include <errno.h>
#include <string.h>

#include "base/sort.h"
#include "graph/layout/level.h"

enum {
	SWEEPS = 24,
	PATIENCE = 4, /* sweeps that bring nothing before it is enough */
	EXCHANGES = 6,
	PARTS = 1 << 16, /* of the distance between two positions */
};

struct sorter {
	struct mr_layers *layers;
	struct mr_sort_item *items; /* of one rank, and as many again */
	uint32_t *slots;            /* places in a rank of the vertices that have neighbours */
	uint32_t *tree;             /* sums of what is counted, by position */
	uint32_t *best;             /* order */
};

static uint32_t rank_size(const struct mr_layers *layers, uint32_t rank)
{
	return layers->first_of_rank[rank + 1] - layers->first_of_rank[rank];
}

static void number_rank(const struct mr_layers *layers, uint32_t rank)
{
	const uint32_t *order = &layers->order[layers->first_of_rank[rank]];

	for (uint32_t i = 0; i < rank_size(layers, rank); i++)
		layers->position[order[i]] = i;
}

/* Filling a list moves its begin to its end, where the next list begins: all begins go one place on. */
static void restore_begins(struct mr_arc_lists *lists, uint32_t count)
{
	memmove(lists->first + 1, lists->first, count * sizeof *lists->first);
	lists->first[0] = 0;
}

/* A walk over the vertices in order appends each arc to the list of its other end. */
void mr_layers_sort_arcs(struct mr_layers *layers)
{
	struct mr_arc_lists *above = &layers->above, *below = &layers->below;

	for (uint32_t i = 0; i < layers->vertex_count; i++) {
		uint32_t vertex = layers->order[i];

		for (uint32_t j = below->first[vertex]; j < below->first[vertex + 1]; j++) {
			uint32_t arc = below->arc[j];
			above->arc[above->first[layers->arcs[arc].lower]++] = arc;
		}
	}
	restore_begins(above, layers->vertex_count);
	for (uint32_t i = 0; i < layers->vertex_count; i++) {
		uint32_t vertex = layers->order[i];

		for (uint32_t j = above->first[vertex]; j < above->first[vertex + 1]; j++) {
			uint32_t arc = above->arc[j];
			below->arc[below->first[layers->arcs[arc].upper]++] = arc;
		}
	}
	restore_begins(below, layers->vertex_count);
}

/* ---- the first order ------------------------------------------------------------------------------ */

struct walk {
	struct mr_layers *layers;
	uint32_t *stack;
	uint32_t *placed; /* by rank */
	bool *is_seen;    /* by vertex */
};

static void push_new(struct walk *walk, uint32_t vertex, uint32_t *depth)
{
	if (walk->is_seen[vertex])
		return;
	walk->is_seen[vertex] = true;
	walk->stack[(*depth)++] = vertex;
}

static void walk_from(struct walk *walk, uint32_t start)
{
	struct mr_layers *layers = walk->layers;
	uint32_t depth = 0;

	push_new(walk, start, &depth);
	while (depth > 0) {
		uint32_t vertex = walk->stack[--depth];
		uint32_t rank = layers->rank[vertex];

		layers->order[layers->first_of_rank[rank] + walk->placed[rank]++] = vertex;
		for (uint32_t i = layers->below.first[vertex + 1];
		     i-- > layers->below.first[vertex];)
			push_new(walk, layers->arcs[layers->below.arc[i]].lower, &depth);
		for (uint32_t i = layers->above.first[vertex + 1];
		     i-- > layers->above.first[vertex];)
			push_new(walk, layers->arcs[layers->above.arc[i]].upper, &depth);
	}
}

static int find_first_order(struct mr_layers *layers)
{
	struct mr_region *region = &layers->region;
	struct walk walk = {
		.layers = layers,
		.stack = mr_region_allocate(region, (layers->vertex_count + 1) * sizeof(uint32_t)),
		.placed = mr_region_allocate(region, (layers->rank_count + 1) * sizeof(uint32_t)),
		.is_seen = mr_region_allocate(region, layers->vertex_count + 1),
	};

	if (!walk.stack || !walk.placed || !walk.is_seen)
		return -ENOMEM;
	for (uint32_t vertex = 0; vertex < layers->vertex_count; vertex++) {
		layers->order[vertex] = vertex;
		layers->first_of_rank[layers->rank[vertex] + 1]++;
	}
	for (uint32_t rank = 0; rank < layers->rank_count; rank++)
		layers->first_of_rank[rank + 1] += layers->first_of_rank[rank];
	mr_layers_sort_arcs(layers);
	for (uint32_t vertex = 0; vertex < layers->vertex_count; vertex++)
		if (layers->rank[vertex] == 0)
			walk_from(&walk, vertex);
	for (uint32_t vertex = 0; vertex < layers->vertex_count; vertex++)
		walk_from(&walk, vertex);
	for (uint32_t rank = 0; rank < layers->rank_count; rank++)
		number_rank(layers, rank);
	mr_layers_sort_arcs(layers);
	return 0;
}

/* ---- crossings ------------------------------------------------------------------------------------ */

/* Adds one at a position; returns how many are to the right of it. */
static uint32_t count_right(uint32_t *tree, uint32_t size, uint32_t position, uint32_t all)
{
	uint32_t left = 0;

	for (uint32_t i = position + 1; i > 0; i -= i & -i)
		left += tree[i];
	for (uint32_t i = position + 1; i <= size; i += i & -i)
		tree[i]++;
	return all - left;
}

static uint64_t count_below_rank(const struct sorter *sorter, uint32_t rank)
{
	const struct mr_layers *layers = sorter->layers;
	uint32_t size = rank_size(layers, rank + 1);
	uint32_t all = 0;
	uint64_t crossings = 0;

	memset(sorter->tree, 0, (size + 1) * sizeof *sorter->tree);
	for (uint32_t i = layers->first_of_rank[rank]; i < layers->first_of_rank[rank + 1]; i++) {
		uint32_t vertex = layers->order[i];

		for (uint32_t j = layers->below.first[vertex]; j < layers->below.first[vertex + 1];
		     j++) {
			uint32_t lower = layers->arcs[layers->below.arc[j]].lower;
			crossings +=
				count_right(sorter->tree, size, layers->position[lower], all++);
		}
	}
	return crossings;
}

static uint64_t count_crossings(const struct sorter *sorter)
{
	uint64_t crossings = 0;

	for (uint32_t rank = 0; rank + 1 < sorter->layers->rank_count; rank++)
		crossings += count_below_rank(sorter, rank);
	return crossings;
}

/* ---- sweeps --------------------------------------------------------------------------------------- */

/* Where the neighbours on one side of a vertex stand on average. */
static uint64_t middle_of(const struct mr_layers *layers, const struct mr_arc_lists *lists,
			  uint32_t vertex)
{
	uint32_t count = lists->first[vertex + 1] - lists->first[vertex];
	uint64_t sum = 0;

	for (uint32_t i = 0; i < count; i++) {
		const struct mr_arc *arc = &layers->arcs[lists->arc[lists->first[vertex] + i]];
		bool is_upper = arc->upper != vertex;
		uint32_t other = is_upper ? arc->upper : arc->lower;
		double share = (double)(is_upper ? arc->upper_share : arc->lower_share);

		sum += (uint64_t)layers->position[other] * PARTS + (uint64_t)(share * PARTS);
	}
	return sum / count;
}

/* Vertices without neighbours on that side stay where they are. Of two with the same middle the order is kept or,
 * now and then, turned round. */
static void sort_rank(const struct sorter *sorter, uint32_t rank, const struct mr_arc_lists *lists,
		      bool turns_round)
{
	struct mr_layers *layers = sorter->layers;
	uint32_t *order = &layers->order[layers->first_of_rank[rank]];
	uint32_t size = rank_size(layers, rank), count = 0;

	for (uint32_t i = 0; i < size; i++)
		if (lists->first[order[i] + 1] > lists->first[order[i]])
			sorter->slots[count++] = i;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t vertex = order[sorter->slots[turns_round ? count - 1 - i : i]];

		sorter->items[i] = (struct mr_sort_item){middle_of(layers, lists, vertex), vertex};
	}
	mr_sort(sorter->items, sorter->items + count, count);
	for (uint32_t i = 0; i < count; i++)
		order[sorter->slots[i]] = sorter->items[i].index;
	number_rank(layers, rank);
}

static void sweep(const struct sorter *sorter, uint32_t number)
{
	struct mr_layers *layers = sorter->layers;
	bool turns_round = number % 4 >= 2;

	if (number % 2 == 0) {
		for (uint32_t rank = 1; rank < layers->rank_count; rank++)
			sort_rank(sorter, rank, &layers->above, turns_round);
	} else {
		for (uint32_t rank = layers->rank_count - 1; rank-- > 0;)
			sort_rank(sorter, rank, &layers->below, turns_round);
	}
	mr_layers_sort_arcs(layers);
}

/* ---- exchanges ------------------------------------------------------------------------------------ */

static uint32_t far_position(const struct mr_layers *layers, uint32_t arc, bool is_upper)
{
	return layers->position[is_upper ? layers->arcs[arc].upper : layers->arcs[arc].lower];
}

/* The lists of a vertex by position again; exchanges of neighbours have hardly disturbed them. */
static void sort_list(const struct mr_layers *layers, const struct mr_arc_lists *lists,
		      uint32_t vertex, bool is_upper)
{
	for (uint32_t i = lists->first[vertex] + 1; i < lists->first[vertex + 1]; i++) {
		uint32_t arc = lists->arc[i], at = i;

		for (; at > lists->first[vertex] &&
		       far_position(layers, lists->arc[at - 1], is_upper) >
			       far_position(layers, arc, is_upper);
		     at--)
			lists->arc[at] = lists->arc[at - 1];
		lists->arc[at] = arc;
	}
}

/* Crossings of the arcs of two vertices on one side, when the first stands left of the second, less those when it
 * stands right of it. */
static int64_t gain_on_side(const struct mr_layers *layers, const struct mr_arc_lists *lists,
			    uint32_t left, uint32_t right, bool is_upper)
{
	uint32_t i = lists->first[left], i_end = lists->first[left + 1];
	uint32_t j = lists->first[right], j_end = lists->first[right + 1];
	int64_t gain = 0;

	while (i < i_end && j < j_end) {
		uint32_t a = far_position(layers, lists->arc[i], is_upper);
		uint32_t b = far_position(layers, lists->arc[j], is_upper);

		if (a < b) {
			gain -= j_end - j;
			i++;
		} else if (b < a) {
			gain += i_end - i;
			j++;
		} else {
			/* Equal ends never cross: leave the pair out of both counts. */
			uint32_t same_i = 0, same_j = 0;

			while (i + same_i < i_end &&
			       far_position(layers, lists->arc[i + same_i], is_upper) == a)
				same_i++;
			while (j + same_j < j_end &&
			       far_position(layers, lists->arc[j + same_j], is_upper) == a)
				same_j++;
			gain += (int64_t)same_j * (i_end - i - same_i) -
				(int64_t)same_i * (j_end - j - same_j);
			i += same_i;
			j += same_j;
		}
	}
	return gain;
}

static bool exchange_in_rank(struct mr_layers *layers, uint32_t rank)
{
	uint32_t *order = &layers->order[layers->first_of_rank[rank]];
	uint32_t size = rank_size(layers, rank);
	bool is_better = false;

	for (uint32_t i = 0; i < size; i++) {
		sort_list(layers, &layers->above, order[i], true);
		sort_list(layers, &layers->below, order[i], false);
	}
	for (uint32_t i = 0; i + 1 < size; i++) {
		uint32_t left = order[i], right = order[i + 1];

		if (layers->lane && layers->lane[left] != layers->lane[right])
			continue;
		if (gain_on_side(layers, &layers->above, left, right, true) +
			    gain_on_side(layers, &layers->below, left, right, false) <=
		    0)
			continue;
		order[i] = right;
		order[i + 1] = left;
		layers->position[right] = i;
		layers->position[left] = i + 1;
		is_better = true;
	}
	return is_better;
}

static void exchange(struct mr_layers *layers)
{
	bool is_better = true;

	for (uint32_t round = 0; round < EXCHANGES && is_better; round++) {
		is_better = false;
		for (uint32_t rank = 0; rank < layers->rank_count; rank++)
			is_better |= exchange_in_rank(layers, rank);
	}
	mr_layers_sort_arcs(layers);
}

/* ---- all together --------------------------------------------------------------------------------- */

static void keep_if_best(struct sorter *sorter, uint32_t *since)
{
	struct mr_layers *layers = sorter->layers;
	uint64_t crossings = count_crossings(sorter);

	(*since)++;
	if (crossings >= layers->crossings)
		return;
	layers->crossings = crossings;
	memcpy(sorter->best, layers->order, layers->vertex_count * sizeof *layers->order);
	*since = 0;
}

static void take_best(const struct sorter *sorter)
{
	struct mr_layers *layers = sorter->layers;

	memcpy(layers->order, sorter->best, layers->vertex_count * sizeof *layers->order);
	for (uint32_t rank = 0; rank < layers->rank_count; rank++)
		number_rank(layers, rank);
	mr_layers_sort_arcs(layers);
}

static void improve(struct sorter *sorter)
{
	uint32_t since = 0;

	sorter->layers->crossings = UINT64_MAX;
	keep_if_best(sorter, &since);
	for (uint32_t number = 0;
	     number < SWEEPS && since < PATIENCE && sorter->layers->crossings > 0; number++) {
		sweep(sorter, number);
		keep_if_best(sorter, &since);
	}
	take_best(sorter);
	exchange(sorter->layers);
	keep_if_best(sorter, &since);
	take_best(sorter);
}

/* Lanes side by side: the best order there is within each. */
static void keep_lanes(const struct sorter *sorter)
{
	struct mr_layers *layers = sorter->layers;

	for (uint32_t rank = 0; rank < layers->rank_count; rank++) {
		uint32_t *order = &layers->order[layers->first_of_rank[rank]];
		uint32_t size = rank_size(layers, rank);

		for (uint32_t i = 0; i < size; i++)
			sorter->items[i] = (struct mr_sort_item){layers->lane[order[i]], order[i]};
		mr_sort(sorter->items, sorter->items + size, size);
		for (uint32_t i = 0; i < size; i++)
			order[i] = sorter->items[i].index;
		number_rank(layers, rank);
	}
	mr_layers_sort_arcs(layers);
	exchange(layers);
	layers->crossings = count_crossings(sorter);
}

static int allocate(struct mr_layers *layers, struct sorter *sorter)
{
	struct mr_region *region = &layers->region;
	size_t bytes = ((size_t)layers->vertex_count + 1) * sizeof(uint32_t);

	layers->order = mr_region_allocate(region, bytes);
	layers->position = mr_region_allocate(region, bytes);
	layers->first_of_rank = mr_region_allocate(region, (layers->rank_count + 1) * 4ul);
	sorter->layers = layers;
	sorter->items = mr_region_allocate(region, (2 * (size_t)layers->vertex_count + 1) *
							   sizeof *sorter->items);
	sorter->slots = mr_region_allocate(region, bytes);
	sorter->tree = mr_region_allocate(region, bytes);
	sorter->best = mr_region_allocate(region, bytes);
	return layers->order && layers->position && layers->first_of_rank && sorter->items &&
			       sorter->slots && sorter->tree && sorter->best
		       ? 0
		       : -ENOMEM;
}

int mr_layers_find_order(struct mr_layers *layers)
{
	struct sorter sorter = {0};

	if (allocate(layers, &sorter) < 0 || find_first_order(layers) < 0)
		return -ENOMEM;
	improve(&sorter);
	if (layers->lane)
		keep_lanes(&sorter);
	return 0;
}
