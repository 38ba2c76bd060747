/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/layout/level.h"

#include <math.h>
#include <string.h>

#include "base/sort.h"

enum {
	COMPONENT_GAP = 2 * MR_LEVEL_GAP,
	LOOP = 10, /* how far an edge from a node to itself reaches out */
};

/* ---- components ------------------------------------------------------------------------------------ */

struct component {
	uint32_t first_node; /* into nodes */
	uint32_t node_count;
	uint32_t first_edge; /* into edges */
	uint32_t edge_count;
	uint32_t first_point;
	uint32_t point_count;
	double width;
	double height;
};

struct components {
	mr_vec(struct component) list;
	uint32_t *nodes;     /* of the level, by component */
	uint32_t *edges;     /* likewise */
	uint32_t *vertex_of; /* by node: its place in its component */
};

static uint32_t find_root(uint32_t *parent, uint32_t node)
{
	while (parent[node] != node)
		node = parent[node] = parent[parent[node]];
	return node;
}

static bool has_doors(const struct mr_level *level)
{
	for (uint32_t i = 0; i < level->nodes.count; i++)
		if (level->nodes.items[i].side != MR_LEVEL_INSIDE)
			return true;
	return false;
}

static bool is_loop(const struct mr_level_edge *edge)
{
	return edge->from == edge->to;
}

/* For each node the first one of its component. */
static void join_nodes(const struct mr_level *level, uint32_t *root_of)
{
	bool is_one = has_doors(level) || mr_level_has_lanes(level);

	for (uint32_t i = 0; i < level->nodes.count; i++)
		root_of[i] = is_one ? 0 : i;
	for (uint32_t i = 0; i < level->edges.count && !is_one; i++) {
		uint32_t a = find_root(root_of, level->edges.items[i].from);
		uint32_t b = find_root(root_of, level->edges.items[i].to);

		root_of[mr_max(a, b)] = mr_min(a, b);
	}
	for (uint32_t i = 0; i < level->nodes.count; i++)
		root_of[i] = find_root(root_of, i);
}

/* root_of becomes the number of the component. */
static int number_components(const struct mr_level *level, struct components *components,
			     uint32_t *root_of)
{
	for (uint32_t i = 0; i < level->nodes.count; i++) {
		if (root_of[i] != i) {
			root_of[i] = root_of[root_of[i]];
		} else {
			root_of[i] = (uint32_t)components->list.count;
			if (mr_vec_push(&components->list, (struct component){0}) < 0)
				return -ENOMEM;
		}
		components->list.items[root_of[i]].node_count++;
	}
	for (uint32_t i = 0; i < level->edges.count; i++)
		if (!is_loop(&level->edges.items[i]))
			components->list.items[root_of[level->edges.items[i].from]].edge_count++;
	return 0;
}

static void fill_components(const struct mr_level *level, struct components *components,
			    const uint32_t *component_of)
{
	uint32_t node = 0, edge = 0;

	for (size_t i = 0; i < components->list.count; i++) {
		struct component *it = &components->list.items[i];

		it->first_node = node;
		it->first_edge = edge;
		node += mr_take(it->node_count);
		edge += mr_take(it->edge_count);
	}
	for (uint32_t i = 0; i < level->nodes.count; i++) {
		struct component *it = &components->list.items[component_of[i]];

		components->vertex_of[i] = it->node_count;
		components->nodes[it->first_node + it->node_count++] = i;
	}
	for (uint32_t i = 0; i < level->edges.count; i++) {
		const struct mr_level_edge *it = &level->edges.items[i];

		if (is_loop(it))
			continue;
		struct component *component = &components->list.items[component_of[it->from]];
		components->edges[component->first_edge + component->edge_count++] = i;
	}
}

static int find_components(const struct mr_level *level, struct components *components)
{
	mr_auto(free) uint32_t *root_of = calloc(level->nodes.count + 1, sizeof *root_of);

	components->nodes = calloc(level->nodes.count + 1, sizeof *components->nodes);
	components->vertex_of = calloc(level->nodes.count + 1, sizeof *components->vertex_of);
	components->edges = calloc(level->edges.count + 1, sizeof *components->edges);
	if (!root_of || !components->nodes || !components->vertex_of || !components->edges)
		return -ENOMEM;
	join_nodes(level, root_of);
	if (number_components(level, components, root_of) < 0)
		return -ENOMEM;
	fill_components(level, components, root_of);
	return 0;
}

static void free_components(struct components *components)
{
	mr_vec_free(&components->list);
	free(components->nodes);
	free(components->edges);
	free(components->vertex_of);
}

/* ---- routes --------------------------------------------------------------------------------------- */

/* Leaves out what repeats the last point, and the middle one of three above each other. */
static int add_point(struct mr_level *level, uint32_t first, double x, double y)
{
	struct mr_point *points = level->points.items;
	size_t count = level->points.count;

	if (count > first && points[count - 1].x == x && points[count - 1].y == y)
		return 0;
	if (count > first + 1 && points[count - 1].x == x && points[count - 2].x == x) {
		points[count - 1].y = y;
		return 0;
	}
	return mr_vec_push(&level->points, ((struct mr_point){x, y}));
}

static void turn_round(struct mr_point *points, uint32_t count)
{
	for (uint32_t i = 0; i < count / 2; i++) {
		struct mr_point point = points[i];

		points[i] = points[count - 1 - i];
		points[count - 1 - i] = point;
	}
}

/* Where an edge leaves or reaches a node, and where it leaves or reaches the node's rank. */
static int add_end(struct mr_layers *layers, uint32_t first, uint32_t vertex, double share,
		   bool is_upper)
{
	const struct mr_level_node *node = &layers->level->nodes.items[layers->nodes[vertex]];
	uint32_t rank = layers->rank[vertex];
	double x = node->x + share * node->width;
	double y = is_upper ? node->y + node->height : node->y;
	double rank_y = layers->rank_top[rank] + (is_upper ? layers->rank_height[rank] : 0);
	int result = add_point(layers->level, first, x, is_upper ? y : rank_y);

	return result < 0 ? result : add_point(layers->level, first, x, is_upper ? rank_y : y);
}

static int add_bend(struct mr_layers *layers, uint32_t first, uint32_t vertex)
{
	uint32_t rank = layers->rank[vertex];
	double x = layers->x[vertex], y = layers->rank_top[rank];
	int result = add_point(layers->level, first, x, y);

	return result < 0 ? result
			  : add_point(layers->level, first, x, y + layers->rank_height[rank]);
}

static int route_edge(struct mr_layers *layers, uint32_t number)
{
	struct mr_level *level = layers->level;
	struct mr_level_edge *edge = &level->edges.items[layers->edges[number]];
	uint32_t upper = mr_layers_upper(layers, number), lower = mr_layers_lower(layers, number);
	uint32_t bends = edge->is_cut ? 0 : layers->rank[lower] - layers->rank[upper] - 1;
	uint32_t first = (uint32_t)level->points.count;
	int result = add_end(layers, first, upper,
			     edge->is_back ? edge->to_share : edge->from_share, true);

	for (uint32_t i = 0; i < bends && result == 0; i++)
		result = add_bend(layers, first, layers->first_bend[number] + i);
	if (result == 0)
		result = add_end(layers, first, lower,
				 edge->is_back ? edge->from_share : edge->to_share, false);
	if (result < 0)
		return result;
	edge->first_point = first;
	edge->point_count = (uint32_t)level->points.count - first;
	if (edge->is_back)
		turn_round(level->points.items + first, edge->point_count);
	return 0;
}

static int route_loop(struct mr_level *level, struct mr_level_edge *edge)
{
	const struct mr_level_node *node = &level->nodes.items[edge->from];
	double x = node->x + node->width, y = node->y + node->height / 2;
	const struct mr_point points[] = {{x, y + LOOP / 2.0},
					  {x + LOOP, y + LOOP / 2.0},
					  {x + LOOP, y - LOOP / 2.0},
					  {x, y - LOOP / 2.0}};

	edge->is_back = true;
	edge->first_point = (uint32_t)level->points.count;
	edge->point_count = mr_countof(points);
	for (size_t i = 0; i < mr_countof(points); i++)
		if (mr_vec_push(&level->points, points[i]) < 0)
			return -ENOMEM;
	return 0;
}

/* ---- one component --------------------------------------------------------------------------------- */

/* The corner of each node: in the middle of its rank. */
static void place_nodes(const struct mr_layers *layers, struct component *component)
{
	for (uint32_t vertex = 0; vertex < layers->vertex_count; vertex++)
		component->width =
			mr_max(component->width, layers->x[vertex] + layers->width[vertex] / 2);
	component->height = layers->rank_top[layers->rank_count - 1] +
			    layers->rank_height[layers->rank_count - 1];
	for (uint32_t vertex = 0; vertex < layers->node_count; vertex++) {
		struct mr_level_node *node = &layers->level->nodes.items[layers->nodes[vertex]];
		uint32_t rank = layers->rank[vertex];

		node->x = layers->x[vertex] - node->width / 2;
		node->y = layers->rank_top[rank] + (layers->rank_height[rank] - node->height) / 2;
	}
}

static int layout_layers(struct mr_layers *layers, struct component *component)
{
	int result = mr_layers_find_ranks(layers);

	if (result == 0)
		result = mr_layers_add_bends(layers);
	if (result == 0)
		result = mr_layers_find_lanes(layers);
	if (result == 0)
		result = mr_layers_find_order(layers);
	if (result == 0)
		result = mr_layers_find_places(layers);
	if (result == 0)
		result = mr_layers_part_lanes(layers);
	if (result < 0)
		return result;
	place_nodes(layers, component);
	layers->level->crossings += layers->crossings;
	for (uint32_t edge = 0; edge < layers->edge_count && result == 0; edge++)
		result = route_edge(layers, edge);
	return result;
}

static int layout_component(struct mr_level *level, const struct components *components,
			    struct component *component)
{
	struct mr_layers layers = {
		.level = level,
		.nodes = components->nodes + component->first_node,
		.node_count = component->node_count,
		.edges = components->edges + component->first_edge,
		.edge_count = component->edge_count,
		.vertex_of = components->vertex_of,
	};

	component->first_point = (uint32_t)level->points.count;
	if (component->node_count == 1) {
		component->width = level->nodes.items[layers.nodes[0]].width;
		component->height = level->nodes.items[layers.nodes[0]].height;
		return 0;
	}
	int result = layout_layers(&layers, component);
	component->point_count = (uint32_t)level->points.count - component->first_point;
	mr_region_free(&layers.region);
	return result;
}

/* ---- the page -------------------------------------------------------------------------------------- */

static void move_component(struct mr_level *level, const struct components *components,
			   const struct component *component, double x, double y)
{
	for (uint32_t i = 0; i < component->node_count; i++) {
		struct mr_level_node *node =
			&level->nodes.items[components->nodes[component->first_node + i]];

		node->x += x;
		node->y += y;
	}
	for (uint32_t i = 0; i < component->point_count; i++) {
		struct mr_point *point = &level->points.items[component->first_point + i];

		point->x += x;
		point->y += y;
	}
}

/* Wide enough for the widest, and for about three by two of everything. */
static double find_page_width(const struct components *components)
{
	double area = 0, widest = 0;

	for (size_t i = 0; i < components->list.count; i++) {
		const struct component *it = &components->list.items[i];

		area += (it->width + COMPONENT_GAP) * (it->height + COMPONENT_GAP);
		widest = mr_max(widest, it->width);
	}
	return mr_max(widest, sqrt(area * 1.5));
}

/* In rows, the highest first, so that little room is lost. */
static int set_page(struct mr_level *level, const struct components *components)
{
	size_t count = components->list.count;
	double width = find_page_width(components), x = 0, y = 0, row_height = 0;
	mr_auto(free) struct mr_sort_item *order = calloc(2 * count + 1, sizeof *order);

	if (!order)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		int64_t height = (int64_t)components->list.items[i].height;
		order[i] = (struct mr_sort_item){mr_sort_key(-height), (uint32_t)i};
	}
	mr_sort(order, order + count, count);
	for (size_t i = 0; i < count; i++) {
		const struct component *it = &components->list.items[order[i].index];

		if (x > 0 && x + it->width > width) {
			x = 0;
			y += row_height + COMPONENT_GAP;
			row_height = 0;
		}
		move_component(level, components, it, x, y);
		level->width = mr_max(level->width, x + it->width);
		x += it->width + COMPONENT_GAP;
		row_height = mr_max(row_height, it->height);
		level->height = mr_max(level->height, y + it->height);
	}
	return 0;
}

static int layout_components(struct mr_level *level, struct components *components)
{
	int result = find_components(level, components);

	for (size_t i = 0; i < components->list.count && result == 0; i++)
		result = layout_component(level, components, &components->list.items[i]);
	if (result == 0)
		result = set_page(level, components);
	for (size_t i = 0; i < level->edges.count && result == 0; i++)
		if (is_loop(&level->edges.items[i]))
			result = route_loop(level, &level->edges.items[i]);
	return result;
}

int mr_level_layout(struct mr_level *level)
{
	struct components components = {0};
	int result = layout_components(level, &components);

	free_components(&components);
	return result;
}

void mr_level_free(struct mr_level *level)
{
	mr_vec_free(&level->nodes);
	mr_vec_free(&level->edges);
	mr_vec_free(&level->points);
}
