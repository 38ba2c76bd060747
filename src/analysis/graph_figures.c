/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/graph_figures.h"

#include <errno.h>
#include <string.h>

#include "analysis/cause/critical_path.h"
#include "analysis/shapes.h"
#include "base/strings.h"

#define NO_EDGE UINT32_MAX

/* ---- nodes ----------------------------------------------------------------------------------------- */

void mr_node_figures_add(struct mr_node_figures *sum, const struct mr_node_figures *more)
{
	sum->count += more->count;
	sum->total_ns += more->total_ns;
	sum->self_ns += more->self_ns;
	sum->device_ns += more->device_ns;
	sum->critical_ns += more->critical_ns;
}

static void add_executions(const struct mr_model *model, struct mr_node_figures *nodes)
{
	const struct mr_node_executions *executions = &model->node_executions;

	for (uint32_t row = 0; row < executions->table.count; row++) {
		const struct mr_node_figures one = {
			.count = 1,
			.total_ns = executions->duration_ns[row],
			.self_ns = executions->self_ns[row],
		};
		mr_node_figures_add(&nodes[executions->node[row]], &one);
	}
}

static void add_device_time(const struct mr_model *model, struct mr_node_figures *nodes)
{
	const struct mr_device_operations *operations = &model->device_operations;

	for (uint32_t row = 0; row < operations->table.count; row++)
		if (operations->node[row])
			nodes[operations->node[row]].device_ns += operations->duration_ns[row];
}

static void add_critical_time(const struct mr_model *model, const struct mr_critical_path *path,
			      struct mr_node_figures *nodes)
{
	/* The path has rows of the whole model. */
	const struct mr_node_executions *executions = &mr_model_whole(model)->node_executions;

	for (size_t i = 0; i < path->segments.count; i++) {
		const struct mr_path_segment *segment = &path->segments.items[i];

		if (segment->execution != MR_NO_ROW)
			nodes[executions->node[segment->execution]].critical_ns +=
				segment->duration_ns;
	}
}

/* ---- edges ----------------------------------------------------------------------------------------- */

/* How often a node was executed with these shapes. */
struct use_key {
	uint32_t node;
	uint32_t shapes;
};

struct uses {
	struct mr_strings keys;
	mr_vec(uint64_t) counts;
};

static int count_uses(const struct mr_model *model, struct uses *uses)
{
	const struct mr_node_executions *executions = &model->node_executions;

	for (uint32_t row = 0; row < executions->table.count; row++) {
		const struct use_key key = {executions->node[row], executions->shapes[row]};
		uint32_t number;

		if (key.shapes == 0)
			continue;
		if (mr_strings_intern(&uses->keys, &key, sizeof key, &number) < 0 ||
		    (number == uses->counts.count && mr_vec_push(&uses->counts, 0) < 0))
			return -ENOMEM;
		uses->counts.items[number]++;
	}
	return 0;
}

static void add_bytes(uint64_t *sum, uint64_t bytes, uint64_t count)
{
	if (bytes == MR_BYTES_UNKNOWN)
		return;
	if (*sum == MR_BYTES_UNKNOWN)
		*sum = 0;
	*sum += bytes * count;
}

/* Edges by the node that they lead to: first[node] is the first, next[edge] the one after it; NO_EDGE ends. */
static void add_edge_bytes(const struct mr_model *model, const struct uses *uses,
			   const uint32_t *first, const uint32_t *next, uint64_t *edge_bytes)
{
	const struct mr_definitions *definitions = &model->survey->definitions;

	for (uint32_t i = 0; i < uses->counts.count; i++) {
		const struct use_key *use = (const void *)mr_strings_text(&uses->keys, i);
		const char *shapes = mr_model_text(model, use->shapes);

		for (uint32_t edge = first[use->node]; edge != NO_EDGE; edge = next[edge])
			add_bytes(&edge_bytes[edge],
				  mr_shapes_bytes(shapes,
						  definitions->edges.items[edge].target_input),
				  uses->counts.items[i]);
	}
}

static int find_edge_bytes(const struct mr_model *model, uint64_t *edge_bytes)
{
	const struct mr_definitions *definitions = &model->survey->definitions;
	mr_auto(free) uint32_t *first = calloc(definitions->nodes.count, sizeof *first);
	mr_auto(free) uint32_t *next = calloc(definitions->edges.count + 1, sizeof *next);
	struct uses uses = {0};

	if (!first || !next)
		return -ENOMEM;
	memset(first, 0xff, definitions->nodes.count * sizeof *first);
	for (uint32_t edge = 0; edge < definitions->edges.count; edge++) {
		const struct mr_edge *it = &definitions->edges.items[edge];

		edge_bytes[edge] = MR_BYTES_UNKNOWN;
		if (it->kind != MR_edge_kind_data)
			continue;
		next[edge] = first[it->target];
		first[it->target] = edge;
	}
	int result = count_uses(model, &uses);
	if (result == 0)
		add_edge_bytes(model, &uses, first, next, edge_bytes);
	mr_strings_free(&uses.keys);
	mr_vec_free(&uses.counts);
	return result;
}

/* ---- both ------------------------------------------------------------------------------------------ */

int mr_graph_figures_make(const struct mr_model *model, const struct mr_critical_path *path,
			  struct mr_graph_figures *ret_figures)
{
	const struct mr_definitions *definitions = &model->survey->definitions;
	mr_auto(free) struct mr_node_figures *nodes =
		calloc(definitions->nodes.count + 1, sizeof *nodes);
	mr_auto(free) uint64_t *edge_bytes =
		calloc(definitions->edges.count + 1, sizeof *edge_bytes);

	if (!nodes || !edge_bytes || find_edge_bytes(model, edge_bytes) < 0)
		return -ENOMEM;
	add_executions(model, nodes);
	add_device_time(model, nodes);
	add_critical_time(model, path, nodes);
	*ret_figures = (struct mr_graph_figures){mr_take(nodes), mr_take(edge_bytes)};
	return 0;
}

void mr_graph_figures_free(struct mr_graph_figures *figures)
{
	free(figures->nodes);
	free(figures->edge_bytes);
}
