/* SPDX-License-Identifier: Apache-2.0
 *
 * What every layout must keep, whatever the graph: nothing overlaps, edges lead down unless they are marked, routes
 * begin and end at their nodes, what is in a box is inside it, lanes are side by side, all is finite, the same twice; and
 * known small graphs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>
#include <time.h>

#include "graph/layout/layout.h"

struct graph {
	mr_vec(struct mr_drawing_item) items;
	mr_vec(struct mr_drawing_edge) edges;
	struct mr_drawing drawing;
};

static uint32_t random_state = 1;

static uint32_t below(uint32_t limit)
{
	random_state = random_state * 1664525 + 1013904223;
	return (uint32_t)((uint64_t)(random_state >> 8) * limit >> 24);
}

static uint32_t add_item(struct graph *graph, uint32_t box, bool is_box)
{
	const struct mr_drawing_item item = {
		.box = box,
		.is_box = is_box,
		.width = is_box ? 0 : 20 + below(100),
		.height = is_box ? 0 : 20 + below(30),
	};

	assert_int_equal(mr_vec_push(&graph->items, item), 0);
	return (uint32_t)graph->items.count - 1;
}

static uint32_t add_node(struct graph *graph)
{
	return add_item(graph, MR_NO_BOX, false);
}

static void add_edge(struct graph *graph, uint32_t from, uint32_t to)
{
	const struct mr_drawing_edge edge = {.from = from, .to = to};

	assert_int_equal(mr_vec_push(&graph->edges, edge), 0);
}

static void lay_out(struct graph *graph)
{
	graph->drawing = (struct mr_drawing){
		.items = graph->items.items,
		.item_count = (uint32_t)graph->items.count,
		.edges = graph->edges.items,
		.edge_count = (uint32_t)graph->edges.count,
	};
	assert_int_equal(mr_drawing_layout(&graph->drawing), 0);
}

static void free_graph(struct graph *graph)
{
	mr_vec_free(&graph->items);
	mr_vec_free(&graph->edges);
	mr_drawing_free(&graph->drawing);
}

/* ---- what must hold -------------------------------------------------------------------------------- */

static bool is_inside(const struct mr_drawing_item *inner, const struct mr_drawing_item *outer)
{
	return inner->x > outer->x && inner->y > outer->y &&
	       inner->x + inner->width < outer->x + outer->width &&
	       inner->y + inner->height < outer->y + outer->height;
}

static bool overlap(const struct mr_drawing_item *a, const struct mr_drawing_item *b)
{
	return a->x < b->x + b->width && b->x < a->x + a->width && a->y < b->y + b->height &&
	       b->y < a->y + a->height;
}

static bool is_around(const struct graph *graph, uint32_t outer, uint32_t item)
{
	while (item != outer && item != MR_NO_BOX)
		item = graph->items.items[item].box;
	return item == outer;
}

static void check_items(const struct graph *graph)
{
	const struct mr_drawing_item *items = graph->items.items;
	const struct mr_drawing_item page = {.x = -1,
					     .y = -1,
					     .width = graph->drawing.width + 2,
					     .height = graph->drawing.height + 2};

	for (uint32_t i = 0; i < graph->items.count; i++) {
		assert_true(isfinite(items[i].x) && isfinite(items[i].y));
		assert_true(is_inside(&items[i],
				      items[i].box == MR_NO_BOX ? &page : &items[items[i].box]));
		for (uint32_t j = i + 1; j < graph->items.count; j++)
			if (!is_around(graph, i, j))
				assert_false(overlap(&items[i], &items[j]));
	}
}

/* A point on the upper or lower border of an item. */
static bool touches(const struct mr_point *point, const struct mr_drawing_item *item, bool is_upper)
{
	double y = is_upper ? item->y : item->y + item->height;

	return fabs(point->y - y) < 1e-6 && point->x > item->x && point->x < item->x + item->width;
}

static void check_route(const struct graph *graph, const struct mr_drawing_edge *edge)
{
	const struct mr_point *points = graph->drawing.points.items + edge->first_point;
	const struct mr_drawing_item *from = &graph->items.items[edge->from];
	const struct mr_drawing_item *to = &graph->items.items[edge->to];
	const struct mr_point *last = &points[edge->point_count - 1];

	assert_true(edge->point_count >= 2);
	if (edge->from == edge->to)
		return;
	if (edge->is_back && from->box == to->box) {
		assert_true(touches(points, from, true) && touches(last, to, false));
		return;
	}
	if (edge->is_back)
		return;
	assert_true(touches(points, from, false) && touches(last, to, true));
	for (uint32_t i = 1; i < edge->point_count; i++) {
		assert_true(isfinite(points[i].x));
		assert_true(points[i].y >= points[i - 1].y - 1e-6);
	}
}

/* No routed edge runs through a node: sampled along vertical parts, where a route passes a rank. */
static void check_free_ways(const struct graph *graph)
{
	for (uint32_t i = 0; i < graph->edges.count; i++) {
		const struct mr_drawing_edge *edge = &graph->edges.items[i];
		const struct mr_point *points = graph->drawing.points.items + edge->first_point;

		if (edge->is_cut || edge->is_back)
			continue;
		for (uint32_t j = 1; j < edge->point_count; j++) {
			if (points[j].x != points[j - 1].x)
				continue;
			for (uint32_t k = 0; k < graph->items.count; k++) {
				const struct mr_drawing_item *item = &graph->items.items[k];

				if (!item->is_box && points[j].x > item->x &&
				    points[j].x < item->x + item->width)
					assert_false(points[j - 1].y <
							     item->y + item->height - 1e-6 &&
						     points[j].y > item->y + 1e-6);
			}
		}
	}
}

/* What is in one box stands in lanes: all of one left of all of the next. */
static void check_lanes(const struct graph *graph)
{
	for (uint32_t i = 0; i < graph->items.count; i++) {
		for (uint32_t j = 0; j < graph->items.count; j++) {
			const struct mr_drawing_item *a = &graph->items.items[i],
						     *b = &graph->items.items[j];

			if (a->box == b->box && a->lane < b->lane)
				assert_true(a->x + a->width < b->x);
		}
	}
}

static void check(struct graph *graph)
{
	lay_out(graph);
	check_items(graph);
	check_lanes(graph);
	for (uint32_t i = 0; i < graph->edges.count; i++)
		check_route(graph, &graph->edges.items[i]);
	check_free_ways(graph);
}

/* ---- known graphs ---------------------------------------------------------------------------------- */

static void empty_graph(void **state)
{
	struct graph graph = {0};

	(void)state;
	check(&graph);
	assert_true(graph.drawing.width > 0 && graph.drawing.height > 0);
	free_graph(&graph);
}

static void chain_is_straight(void **state)
{
	struct graph graph = {0};

	(void)state;
	for (uint32_t i = 0; i < 20; i++)
		add_node(&graph);
	for (uint32_t i = 1; i < 20; i++)
		add_edge(&graph, i - 1, i);
	add_edge(&graph, 0, 15); /* and stays so beside a long edge */
	check(&graph);
	for (uint32_t i = 1; i < 20; i++) {
		const struct mr_drawing_item *a = &graph.items.items[i - 1],
					     *b = &graph.items.items[i];

		assert_true(fabs(a->x + a->width / 2 - b->x - b->width / 2) < 1e-6);
		assert_true(b->y > a->y);
	}
	assert_int_equal(graph.drawing.crossings, 0);
	free_graph(&graph);
}

/* A planar tree has no crossings, however its edges are given. */
static void tree_has_no_crossings(void **state)
{
	struct graph graph = {0};

	(void)state;
	for (uint32_t i = 0; i < 127; i++)
		add_node(&graph);
	for (uint32_t i = 126; i > 0; i--)
		add_edge(&graph, (i - 1) / 2, i);
	check(&graph);
	assert_int_equal(graph.drawing.crossings, 0);
	free_graph(&graph);
}

/* The two edges of a pair of 2 by 2 cross once, and cannot cross less. */
static void crossing_that_must_be(void **state)
{
	struct graph graph = {0};

	(void)state;
	for (uint32_t i = 0; i < 4; i++)
		add_node(&graph);
	for (uint32_t i = 0; i < 4; i++)
		add_edge(&graph, i / 2, 2 + i % 2);
	check(&graph);
	assert_int_equal(graph.drawing.crossings, 1);
	free_graph(&graph);
}

static void sources_stand_next_to_readers(void **state)
{
	struct graph graph = {0};

	(void)state;
	for (uint32_t i = 0; i < 10; i++)
		add_node(&graph);
	for (uint32_t i = 1; i < 9; i++)
		add_edge(&graph, i - 1, i);
	add_edge(&graph, 9, 8);
	check(&graph);
	/* In the rank of node 7, and not at the top beside node 0. */
	const struct mr_drawing_item *source = &graph.items.items[9],
				     *seven = &graph.items.items[7];
	assert_true(fabs(source->y + source->height / 2 - seven->y - seven->height / 2) < 1e-6);
	free_graph(&graph);
}

static void cycle_has_one_edge_back(void **state)
{
	struct graph graph = {0};
	uint32_t back = 0;

	(void)state;
	for (uint32_t i = 0; i < 5; i++)
		add_node(&graph);
	for (uint32_t i = 0; i < 5; i++)
		add_edge(&graph, i, (i + 1) % 5);
	add_edge(&graph, 2, 2);
	check(&graph);
	for (uint32_t i = 0; i < 5; i++)
		back += graph.edges.items[i].is_back;
	assert_int_equal(back, 1);
	assert_true(graph.edges.items[5].is_back);
	free_graph(&graph);
}

/* A thousand nodes without edges fill a page, not a line. */
static void loose_nodes_fill_a_page(void **state)
{
	struct graph graph = {0};

	(void)state;
	for (uint32_t i = 0; i < 1000; i++)
		add_node(&graph);
	check(&graph);
	assert_true(graph.drawing.width < 4 * graph.drawing.height);
	assert_true(graph.drawing.height < 4 * graph.drawing.width);
	free_graph(&graph);
}

/* A thousand nodes without edges in two lanes, too. */
static void loose_nodes_in_lanes_fill_a_page(void **state)
{
	struct graph graph = {0};

	(void)state;
	for (uint32_t i = 0; i < 1000; i++) {
		uint32_t node = add_node(&graph);

		graph.items.items[node].lane = 1 + i % 2;
	}
	check(&graph);
	assert_true(graph.drawing.width < 4 * graph.drawing.height);
	assert_true(graph.drawing.height < 4 * graph.drawing.width);
	free_graph(&graph);
}

static void boxes_are_around_their_items(void **state)
{
	struct graph graph = {0};

	(void)state;
	uint32_t outer = add_item(&graph, MR_NO_BOX, true);
	uint32_t inner = add_item(&graph, outer, true);
	uint32_t a = add_item(&graph, inner, false), b = add_item(&graph, inner, false);
	uint32_t c = add_item(&graph, outer, false), d = add_node(&graph);
	uint32_t e = add_item(&graph, MR_NO_BOX, true); /* empty */
	add_edge(&graph, d, a);
	add_edge(&graph, a, b);
	add_edge(&graph, b, c);
	add_edge(&graph, a, c);
	add_edge(&graph, b, d); /* a cycle through borders */
	check(&graph);
	assert_true(graph.edges.items[0].is_back != graph.edges.items[4].is_back);
	assert_true(graph.items.items[c].y > graph.items.items[inner].y);
	assert_true(graph.items.items[e].width > 0);
	free_graph(&graph);
}

/* ---- any graph ------------------------------------------------------------------------------------- */

static void make_random(struct graph *graph, uint32_t count, uint32_t kind)
{
	bool has_boxes = kind % 2, has_cycles = kind % 4 >= 2, has_lanes = kind % 8 >= 4;
	uint32_t last_box = MR_NO_BOX, degree = 1 + below(3);

	for (uint32_t i = 0; i < count; i++) {
		uint32_t box = MR_NO_BOX;

		if (last_box != MR_NO_BOX && below(3) > 0)
			box = last_box;
		while (box != MR_NO_BOX && below(3) == 0)
			box = graph->items.items[box].box;
		bool is_box = has_boxes && below(6) == 0;
		uint32_t item = add_item(graph, box, is_box);
		graph->items.items[item].lane = has_lanes ? 1 + below(3) : 0;
		if (is_box)
			last_box = item;
	}
	for (uint32_t i = 0; i < count * degree; i++) {
		uint32_t a = below(count), b = below(count);

		if (graph->items.items[a].is_box || graph->items.items[b].is_box)
			continue;
		if (!has_cycles && a > b)
			add_edge(graph, b, a);
		else
			add_edge(graph, a, b);
	}
}

static void random_graphs(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 400; i++) {
		struct graph graph = {0}, twin = {0};
		uint32_t seed = random_state;

		make_random(&graph, 1 + below(i % 10 == 0 ? 300 : 40), i);
		check(&graph);
		uint32_t next_seed = random_state;
		random_state = seed;
		make_random(&twin, 1 + below(i % 10 == 0 ? 300 : 40), i);
		random_state = next_seed;
		lay_out(&twin);
		for (uint32_t j = 0; j < graph.items.count; j++)
			assert_true(graph.items.items[j].x == twin.items.items[j].x &&
				    graph.items.items[j].y == twin.items.items[j].y);
		free_graph(&graph);
		free_graph(&twin);
	}
}

/* ---- large ones ------------------------------------------------------------------------------------ */

static double lay_out_large(uint32_t count, uint32_t *ret_cut)
{
	struct graph graph = {0};

	for (uint32_t i = 0; i < count; i++)
		add_node(&graph);
	for (uint32_t i = 1; i < count; i++) {
		add_edge(&graph, i - 1, i);
		if (i % 4 == 0)
			add_edge(&graph, below(i), i);
	}
	clock_t before = clock();
	lay_out(&graph);
	double seconds = (double)(clock() - before) / CLOCKS_PER_SEC;
	for (uint32_t i = 0; i < graph.edges.count; i++) {
		check_route(&graph, &graph.edges.items[i]);
		*ret_cut += graph.edges.items[i].is_cut;
	}
	free_graph(&graph);
	return seconds;
}

/* Edges of all lengths: the longest are cut, so that time does not grow with the square. The bound of the time is wide,
 * for slow builds; bench/run measures. */
static void large_graphs(void **state)
{
	uint32_t cut = 0;

	(void)state;
	assert_true(lay_out_large(5000, &cut) < 5);
	assert_true(cut > 0);
	assert_true(lay_out_large(50000, &cut) < 50);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(empty_graph),
		cmocka_unit_test(chain_is_straight),
		cmocka_unit_test(tree_has_no_crossings),
		cmocka_unit_test(crossing_that_must_be),
		cmocka_unit_test(sources_stand_next_to_readers),
		cmocka_unit_test(cycle_has_one_edge_back),
		cmocka_unit_test(loose_nodes_fill_a_page),
		cmocka_unit_test(loose_nodes_in_lanes_fill_a_page),
		cmocka_unit_test(boxes_are_around_their_items),
		cmocka_unit_test(random_graphs),
		cmocka_unit_test(large_graphs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
