/* SPDX-License-Identifier: Apache-2.0
 *
 * Places the vertices of a component, after Brandes and Köpf (Fast and simple horizontal coordinate assignment,
 * 2001): each vertex joins the column of the median of its neighbours. This is done in four ways (looking up or down,
 * from the left or from the right); a vertex's place is the mean of the middle two of its four places.
 *
 *     ┌─┐ ┌───┐        columns from the left, looking up:  a─c  b─d
 *     │a│ │ b │        a column is as far left as its left neighbours allow, then as far right as
 *     └┬┘ └─┬┬┘        its right ones, so that it does not stand alone
 *     ┌┴┐ ┌─┴┴┐
 *     │c│ │ d │        arcs between two bends come first: long edges are straight
 *     └─┘ └───┘
 *
 * Neighbours of a rank keep their distance in all four, and therefore also in the middle. Ranks are as high as their
 * highest node.
 */
#include <errno.h>
#include <float.h>
#include <string.h>

#include "graph/layout/level.h"

enum {
	WAYS = 4,
	FROM_RIGHT = 1, /* bits of a way */
	LOOK_DOWN = 2,
};

struct columns {
	const struct mr_layers *layers;
	unsigned way;
	uint32_t *root;    /* by vertex: the vertex that stands for its column */
	uint32_t *next;    /* by vertex: the next of its column, in a ring */
	uint32_t *waiting; /* by root: neighbours that have no place yet */
	uint32_t *queue;   /* roots, so that each follows its neighbours */
	double *x[WAYS];   /* by root, then by vertex */
};

static bool is_bend(const struct mr_layers *layers, uint32_t vertex)
{
	return vertex >= layers->node_count;
}

/* ---- arcs that must not be straight --------------------------------------------------------------- */

/* The upper end of the arc between two bends that leads to a vertex; false if there is none. */
static bool find_straight(const struct mr_layers *layers, uint32_t vertex, uint32_t *ret_position)
{
	if (!is_bend(layers, vertex))
		return false;
	uint32_t upper = layers->arcs[layers->above.arc[layers->above.first[vertex]]].upper;
	*ret_position = layers->position[upper];
	return is_bend(layers, upper);
}

/* Marks the arcs into [first, end) of a rank whose upper ends are outside [low, high]. */
static void mark_outside(const struct mr_layers *layers, const uint32_t *first, const uint32_t *end,
			 uint32_t low, uint32_t high)
{
	for (const uint32_t *it = first; it < end; it++) {
		for (uint32_t i = layers->above.first[*it]; i < layers->above.first[*it + 1]; i++) {
			struct mr_arc *arc = &layers->arcs[layers->above.arc[i]];
			uint32_t position = layers->position[arc->upper];

			arc->is_loose = position < low || position > high;
		}
	}
}

/* Marks the arcs between a vertex and bends on one side, if there are nodes too: these are what it should be in line
 * with. */
static void mark_bends(const struct mr_layers *layers, const struct mr_arc_lists *lists,
		       uint32_t vertex)
{
	bool has_node = false;

	for (int round = 0; round < 2; round++) {
		for (uint32_t i = lists->first[vertex]; i < lists->first[vertex + 1]; i++) {
			struct mr_arc *arc = &layers->arcs[lists->arc[i]];
			bool leads_to_bend =
				is_bend(layers, arc->upper == vertex ? arc->lower : arc->upper);

			if (round == 0)
				has_node |= !leads_to_bend;
			else
				arc->is_loose |= has_node && leads_to_bend;
		}
	}
}

static void mark_loose(const struct mr_layers *layers)
{
	for (uint32_t rank = 1; rank < layers->rank_count; rank++) {
		const uint32_t *first = &layers->order[layers->first_of_rank[rank]];
		const uint32_t *end = &layers->order[layers->first_of_rank[rank + 1]];
		uint32_t low = 0, high;

		for (const uint32_t *it = first; it < end; it++) {
			if (!find_straight(layers, *it, &high))
				continue;
			mark_outside(layers, first, it + 1, low, high);
			first = it + 1;
			low = high;
		}
		mark_outside(layers, first, end, low, UINT32_MAX);
	}
	for (uint32_t vertex = 0; vertex < layers->node_count; vertex++) {
		mark_bends(layers, &layers->above, vertex);
		mark_bends(layers, &layers->below, vertex);
	}
}

/* ---- columns -------------------------------------------------------------------------------------- */

/* The one of a vertex's arcs that are not loose that has that many others of them before it. */
static const struct mr_arc *find_firm(const struct mr_layers *layers,
				      const struct mr_arc_lists *lists, uint32_t vertex,
				      uint32_t before)
{
	const struct mr_arc *arc = NULL;

	for (uint32_t i = lists->first[vertex]; i < lists->first[vertex + 1]; i++) {
		arc = &layers->arcs[lists->arc[i]];
		if (!arc->is_loose && before-- == 0)
			break;
	}
	return arc;
}

static uint32_t count_firm(const struct mr_layers *layers, const struct mr_arc_lists *lists,
			   uint32_t vertex)
{
	uint32_t count = 0;

	for (uint32_t i = lists->first[vertex]; i < lists->first[vertex + 1]; i++)
		count += !layers->arcs[lists->arc[i]].is_loose;
	return count;
}

/* Joins a vertex with a median neighbour that no column of this rank has gone past. */
static void align_vertex(struct columns *columns, uint32_t vertex, int64_t *reached)
{
	const struct mr_layers *layers = columns->layers;
	bool looks_down = columns->way & LOOK_DOWN, from_right = columns->way & FROM_RIGHT;
	const struct mr_arc_lists *lists = looks_down ? &layers->below : &layers->above;
	uint32_t count = count_firm(layers, lists, vertex);

	for (uint32_t i = 0; i < 2 && count > 0; i++) {
		uint32_t middle = (i == 0) == !from_right ? (count - 1) / 2 : count / 2;
		const struct mr_arc *arc = find_firm(layers, lists, vertex, middle);
		uint32_t other = looks_down ? arc->lower : arc->upper;
		int64_t position = layers->position[other];

		if (from_right)
			position = -position;
		if (position <= *reached)
			continue;
		columns->root[vertex] = columns->root[other];
		columns->next[vertex] = columns->next[other];
		columns->next[other] = vertex;
		*reached = position;
		return;
	}
}

static void align_rank(struct columns *columns, uint32_t rank)
{
	const struct mr_layers *layers = columns->layers;
	uint32_t first = layers->first_of_rank[rank], end = layers->first_of_rank[rank + 1];
	int64_t reached = INT64_MIN;

	for (uint32_t i = first; i < end; i++) {
		uint32_t at = columns->way & FROM_RIGHT ? end - 1 - (i - first) : i;
		align_vertex(columns, layers->order[at], &reached);
	}
}

static void make_columns(struct columns *columns)
{
	const struct mr_layers *layers = columns->layers;

	for (uint32_t vertex = 0; vertex < layers->vertex_count; vertex++)
		columns->root[vertex] = columns->next[vertex] = vertex;
	for (uint32_t i = 1; i < layers->rank_count; i++)
		align_rank(columns, columns->way & LOOK_DOWN ? layers->rank_count - 1 - i : i);
}

/* ---- places of columns ----------------------------------------------------------------------------- */

/* The vertex beside another, seen from where the columns are packed to; UINT32_MAX at the end. */
static uint32_t beside(const struct columns *columns, uint32_t vertex, bool is_before)
{
	const struct mr_layers *layers = columns->layers;
	uint32_t rank = layers->rank[vertex], position = layers->position[vertex];
	uint32_t size = layers->first_of_rank[rank + 1] - layers->first_of_rank[rank];

	if (is_before == !(columns->way & FROM_RIGHT))
		return position == 0 ? UINT32_MAX
				     : layers->order[layers->first_of_rank[rank] + position - 1];
	return position + 1 == size ? UINT32_MAX
				    : layers->order[layers->first_of_rank[rank] + position + 1];
}

static double distance(const struct mr_layers *layers, uint32_t a, uint32_t b)
{
	double gap = is_bend(layers, a) && is_bend(layers, b) ? MR_LEVEL_BEND : MR_LEVEL_GAP;

	return layers->width[a] / 2 + gap + layers->width[b] / 2;
}

/* Every column as near as those before it allow. */
static uint32_t pack(struct columns *columns)
{
	const struct mr_layers *layers = columns->layers;
	double *x = columns->x[columns->way];
	uint32_t count = 0;

	memset(columns->waiting, 0, layers->vertex_count * sizeof *columns->waiting);
	for (uint32_t vertex = 0; vertex < layers->vertex_count; vertex++) {
		x[vertex] = 0;
		columns->waiting[columns->root[vertex]] +=
			beside(columns, vertex, true) != UINT32_MAX;
	}
	for (uint32_t vertex = 0; vertex < layers->vertex_count; vertex++)
		if (columns->root[vertex] == vertex && columns->waiting[vertex] == 0)
			columns->queue[count++] = vertex;
	for (uint32_t done = 0; done < count; done++) {
		uint32_t root = columns->queue[done], vertex = root;

		do {
			uint32_t other = beside(columns, vertex, false);

			if (other != UINT32_MAX) {
				uint32_t other_root = columns->root[other];
				x[other_root] = mr_max(x[other_root],
						       x[root] + distance(layers, vertex, other));
				if (--columns->waiting[other_root] == 0)
					columns->queue[count++] = other_root;
			}
			vertex = columns->next[vertex];
		} while (vertex != root);
	}
	return count;
}

/* Then as near to those behind it as they allow, last first; a column with nothing behind it stays. */
static void draw_near(struct columns *columns, uint32_t count)
{
	const struct mr_layers *layers = columns->layers;
	double *x = columns->x[columns->way];

	while (count-- > 0) {
		uint32_t root = columns->queue[count], vertex = root;
		double limit = DBL_MAX;

		do {
			uint32_t other = beside(columns, vertex, false);

			if (other != UINT32_MAX)
				limit = mr_min(limit, x[columns->root[other]] -
							      distance(layers, vertex, other));
			vertex = columns->next[vertex];
		} while (vertex != root);
		if (limit < DBL_MAX)
			x[root] = mr_max(x[root], limit);
	}
}

static void place_columns(struct columns *columns)
{
	const struct mr_layers *layers = columns->layers;
	double *x = columns->x[columns->way];
	double sign = columns->way & FROM_RIGHT ? -1 : 1;

	draw_near(columns, pack(columns));
	for (uint32_t vertex = 0; vertex < layers->vertex_count; vertex++)
		if (columns->root[vertex] != vertex)
			x[vertex] = x[columns->root[vertex]];
	for (uint32_t vertex = 0; vertex < layers->vertex_count; vertex++)
		x[vertex] *= sign;
}

/* ---- the middle of four ---------------------------------------------------------------------------- */

static void find_extent(const struct mr_layers *layers, const double *x, double *ret_low,
			double *ret_high)
{
	*ret_low = DBL_MAX;
	*ret_high = -DBL_MAX;
	for (uint32_t vertex = 0; vertex < layers->vertex_count; vertex++) {
		*ret_low = mr_min(*ret_low, x[vertex] - layers->width[vertex] / 2);
		*ret_high = mr_max(*ret_high, x[vertex] + layers->width[vertex] / 2);
	}
}

/* Moves each of the four so that the side it was packed to is that of the narrowest. */
static void line_up(struct columns *columns)
{
	double low[WAYS], high[WAYS];
	unsigned narrowest = 0;

	for (unsigned way = 0; way < WAYS; way++) {
		find_extent(columns->layers, columns->x[way], &low[way], &high[way]);
		if (high[way] - low[way] < high[narrowest] - low[narrowest])
			narrowest = way;
	}
	for (unsigned way = 0; way < WAYS; way++) {
		double shift =
			way & FROM_RIGHT ? high[narrowest] - high[way] : low[narrowest] - low[way];

		for (uint32_t vertex = 0; vertex < columns->layers->vertex_count; vertex++)
			columns->x[way][vertex] += shift;
	}
}

/* The sum of all but the least and the largest. */
static double middle_of(const struct columns *columns, uint32_t vertex)
{
	double sum = 0, low = DBL_MAX, high = -DBL_MAX;

	for (unsigned way = 0; way < WAYS; way++) {
		double x = columns->x[way][vertex];

		sum += x;
		low = mr_min(low, x);
		high = mr_max(high, x);
	}
	return (sum - low - high) / 2;
}

static void place_ranks(struct mr_layers *layers)
{
	double top = 0;

	for (uint32_t vertex = 0; vertex < layers->node_count; vertex++) {
		double *height = &layers->rank_height[layers->rank[vertex]];
		*height = mr_max(*height, layers->level->nodes.items[layers->nodes[vertex]].height);
	}
	for (uint32_t rank = 0; rank < layers->rank_count; rank++) {
		layers->rank_top[rank] = top;
		top += layers->rank_height[rank] + MR_LEVEL_RANK_GAP;
	}
}

static int allocate(struct mr_layers *layers, struct columns *columns)
{
	struct mr_region *region = &layers->region;
	size_t count = (size_t)layers->vertex_count + 1;
	uint32_t **numbers[] = {&columns->root, &columns->next, &columns->waiting, &columns->queue};
	double **reals[] = {&columns->x[0], &columns->x[1], &columns->x[2],
			    &columns->x[3], &layers->x,     &layers->width};

	for (size_t i = 0; i < mr_countof(numbers); i++)
		if (!(*numbers[i] = mr_region_allocate(region, count * sizeof **numbers[i])))
			return -ENOMEM;
	for (size_t i = 0; i < mr_countof(reals); i++)
		if (!(*reals[i] = mr_region_allocate(region, count * sizeof **reals[i])))
			return -ENOMEM;
	layers->rank_top = mr_region_allocate(region, (layers->rank_count + 1) * sizeof(double));
	layers->rank_height = mr_region_allocate(region, (layers->rank_count + 1) * sizeof(double));
	return layers->rank_top && layers->rank_height ? 0 : -ENOMEM;
}

int mr_layers_find_places(struct mr_layers *layers)
{
	struct columns columns = {.layers = layers};
	double low = DBL_MAX;

	if (allocate(layers, &columns) < 0)
		return -ENOMEM;
	for (uint32_t vertex = 0; vertex < layers->node_count; vertex++)
		layers->width[vertex] = layers->level->nodes.items[layers->nodes[vertex]].width;
	mark_loose(layers);
	for (columns.way = 0; columns.way < WAYS; columns.way++) {
		make_columns(&columns);
		place_columns(&columns);
	}
	line_up(&columns);
	for (uint32_t vertex = 0; vertex < layers->vertex_count; vertex++) {
		layers->x[vertex] = middle_of(&columns, vertex);
		low = mr_min(low, layers->x[vertex] - layers->width[vertex] / 2);
	}
	for (uint32_t vertex = 0; vertex < layers->vertex_count; vertex++)
		layers->x[vertex] -= low;
	place_ranks(layers);
	return 0;
}
