/* SPDX-License-Identifier: Apache-2.0
 *
 * layout NODES [ROUNDS]: lays out two generated graphs with that many nodes, and prints for each the number of
 * edges, the median milliseconds, the crossings, and how many edges were cut.
 *
 *     forward     chains with branches, and edges that skip some nodes, like an inference model
 *     training    the same twice, the second copy reversed, with a quarter of the nodes linked to their
 *                 mirror images: edges as long as the graph
 */
#include <stdio.h>
#include <stdlib.h>

#include "graph/layout/layout.h"
#include "rounds.h"

struct graph {
	mr_vec(struct mr_drawing_item) items;
	mr_vec(struct mr_drawing_edge) edges;
};

static uint64_t random_state = 1;

static uint32_t below(uint32_t limit)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (uint32_t)(random_state % limit);
}

static void must(int result)
{
	if (result < 0)
		abort();
}

static void add_node(struct graph *graph)
{
	const struct mr_drawing_item item = {
		.box = MR_NO_BOX, .width = 60 + below(80), .height = 26};

	must(mr_vec_push(&graph->items, item));
}

static void add_edge(struct graph *graph, uint32_t from, uint32_t to)
{
	must(mr_vec_push(&graph->edges, ((struct mr_drawing_edge){.from = from, .to = to})));
}

static void make_forward(struct graph *graph, uint32_t count)
{
	while (graph->items.count < count)
		add_node(graph);
	for (uint32_t i = 1; i < count; i++) {
		add_edge(graph, i > 4 && below(8) == 0 ? i - 1 - below(4) : i - 1, i);
		if (i > 12 && below(5) == 0)
			add_edge(graph, i - 2 - below(10), i);
	}
}

static void make_training(struct graph *graph, uint32_t count)
{
	uint32_t half = count / 2;

	make_forward(graph, half);
	for (uint32_t i = 0; i < half; i++)
		add_node(graph);
	for (size_t i = 0, edges = graph->edges.count; i < edges; i++) {
		struct mr_drawing_edge edge = graph->edges.items[i];
		add_edge(graph, 2 * half - 1 - edge.to, 2 * half - 1 - edge.from);
	}
	for (uint32_t i = 0; i < half; i++)
		if (i == half - 1 || below(2) == 0)
			add_edge(graph, i, 2 * half - 1 - i);
}

static int compare(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void measure(const char *name, const struct graph *graph, uint32_t rounds)
{
	double *taken_ms = calloc(rounds, sizeof *taken_ms);
	uint64_t crossings = 0;
	uint32_t cut = 0;

	for (uint32_t round = 0; taken_ms && round < rounds; round++) {
		struct mr_drawing drawing = {
			.items = graph->items.items,
			.item_count = (uint32_t)graph->items.count,
			.edges = graph->edges.items,
			.edge_count = (uint32_t)graph->edges.count,
		};
		uint64_t before_ns = bench_clock_ns(CLOCK_THREAD_CPUTIME_ID);

		must(mr_drawing_layout(&drawing));
		taken_ms[round] =
			(double)(bench_clock_ns(CLOCK_THREAD_CPUTIME_ID) - before_ns) / 1e6;
		crossings = drawing.crossings;
		mr_drawing_free(&drawing);
	}
	for (size_t i = 0; i < graph->edges.count; i++)
		cut += graph->edges.items[i].is_cut;
	qsort(taken_ms, rounds, sizeof *taken_ms, compare);
	printf("%s %zu %.3f %lu %u\n", name, graph->edges.count, taken_ms[rounds / 2],
	       (unsigned long)crossings, cut);
	free(taken_ms);
}

int main(int argument_count, char **arguments)
{
	struct graph forward = {0}, training = {0};

	if (argument_count < 2)
		return 2;
	uint32_t count = bench_number(arguments[1]);
	uint32_t rounds = argument_count > 2 ? bench_number(arguments[2]) : 5;

	make_forward(&forward, count);
	measure("forward", &forward, rounds);
	make_training(&training, count);
	measure("training", &training, rounds);
	mr_vec_free(&forward.items);
	mr_vec_free(&forward.edges);
	mr_vec_free(&training.items);
	mr_vec_free(&training.edges);
	return 0;
}
