/* SPDX-License-Identifier: Apache-2.0
 *
 * node: a node of the graph, its neighbours, its executions and what it launched.
 */
#include "serve/endpoints.h"

#include <inttypes.h>

#include "analysis/finding/tally.h"
#include "base/error.h"
#include "base/sort.h"
#include "serve/parameters.h"
#include "timeline/labels.h"
#include "timeline/row.h"
#include "timeline/totals.h"

enum {
	EXECUTIONS = 2000, /* listed */
};

struct node {
	struct mr_view *view;
	const struct mr_model *model;
	uint32_t number;
	const struct mr_node *definition;
	struct mr_json *json;
};

static const char *string_or_null(const struct node *node, uint32_t string)
{
	return string ? mr_model_text(node->model, string) : NULL;
}

/* ---- definition ------------------------------------------------------------------------------------- */

static void write_neighbours(const struct node *node, const char *key, bool is_input)
{
	const struct mr_definitions *definitions = &node->model->survey->definitions;
	char text[MR_LABEL_BYTES];

	mr_json_begin_array(node->json, key);
	for (size_t i = 0; i < definitions->edges.count; i++) {
		const struct mr_edge *edge = &definitions->edges.items[i];
		uint32_t other = is_input ? edge->source : edge->target;

		if ((is_input ? edge->target : edge->source) != node->number || other == 0)
			continue;
		mr_json_begin_object(node->json, NULL);
		mr_json_uint(node->json, "node", other);
		mr_json_string(node->json, "title",
			       mr_label_text(node->view, MR_SLICED_node_executions, other, text));
		mr_json_uint(node->json, "output", edge->source_output);
		mr_json_string(node->json, "kind", mr_enum_value_name("edge_kind", edge->kind));
		mr_json_end_object(node->json);
	}
	mr_json_end_array(node->json);
}

static void write_definition(const struct node *node)
{
	const struct mr_definitions *definitions = &node->model->survey->definitions;

	mr_json_uint(node->json, "node", node->number);
	mr_json_uint(node->json, "graph", node->definition->graph);
	mr_json_string(node->json, "name", mr_model_text(node->model, node->definition->name));
	mr_json_string(node->json, "type", string_or_null(node, node->definition->type));
	mr_json_string(
		node->json, "device",
		string_or_null(node, definitions->devices.items[node->definition->device].name));
	write_neighbours(node, "inputs", true);
	write_neighbours(node, "outputs", false);
}

/* ---- executions ------------------------------------------------------------------------------------- */

/* Rows of the executions of the node, in order of time; the caller frees. -ENOMEM. */
static int list_executions(const struct node *node, struct mr_sort_item **ret_rows,
			   uint32_t *ret_count)
{
	const struct mr_node_executions *executions = &node->model->node_executions;
	uint32_t count = 0;

	for (uint32_t row = 0; row < executions->table.count; row++)
		count += executions->node[row] == node->number;
	struct mr_sort_item *rows = malloc((2 * (size_t)count + 1) * sizeof *rows);
	if (!rows)
		return -ENOMEM;
	*ret_count = count;
	count = 0;
	for (uint32_t row = 0; row < executions->table.count; row++)
		if (executions->node[row] == node->number)
			rows[count++] =
				(struct mr_sort_item){mr_sort_key(executions->start_ns[row]), row};
	mr_sort(rows, rows + count, count);
	*ret_rows = rows;
	return 0;
}

static int write_execution(const struct node *node, uint32_t number)
{
	struct mr_row row;
	int result = mr_row_find(node->view, MR_SLICED_node_executions, number, &row);

	if (result < 0)
		return result;
	mr_json_begin_object(node->json, NULL);
	mr_json_uint(node->json, "row", number);
	mr_json_int(node->json, "from", mr_view_time(node->view, row.start_ns));
	mr_json_int(node->json, "to", mr_view_time(node->view, row.start_ns + row.duration_ns));
	mr_row_write_step(&row, node->json);
	mr_json_end_object(node->json);
	return 0;
}

static int write_executions(const struct node *node)
{
	const struct mr_node_executions *executions = &node->model->node_executions;
	mr_auto(free) struct mr_sort_item *rows = NULL;
	int64_t total_ns = 0;
	uint32_t count;
	int result = list_executions(node, &rows, &count);

	if (result < 0)
		return mr_fail_errno(-result, "list executions");
	for (uint32_t i = 0; i < count; i++)
		mr_ns_add(&total_ns, executions->duration_ns[rows[i].index]);
	mr_json_uint(node->json, "count", count);
	mr_json_int(node->json, "total_ns", total_ns);
	mr_json_begin_array(node->json, "executions");
	for (uint32_t i = 0; result == 0 && i < mr_min(count, (uint32_t)EXECUTIONS); i++)
		result = write_execution(node, rows[i].index);
	mr_json_end_array(node->json);
	return result;
}

/* ---- what it launched ------------------------------------------------------------------------------- */

static int sum_launched(const struct node *node, struct mr_label_sums *sums)
{
	const struct mr_device_operations *operations = &node->model->device_operations;

	for (uint32_t row = 0; row < operations->table.count; row++) {
		if (operations->node[row] != node->number)
			continue;
		struct mr_label_sum *sum = mr_label_sums_get(
			sums, mr_label_of(node->view, MR_SLICED_device_operations, row));
		if (!sum)
			return mr_fail_errno(ENOMEM, "sum up device operations");
		mr_label_sum_add(sum, row, operations->start_ns[row], operations->duration_ns[row]);
	}
	mr_label_sums_sort(sums);
	return 0;
}

static int write_launched(const struct node *node)
{
	mr_auto(label_sums) struct mr_label_sums sums = {0};
	int result = sum_launched(node, &sums);

	mr_json_begin_array(node->json, "device_operations");
	for (size_t i = 0; result == 0 && i < sums.list.count; i++) {
		mr_json_begin_object(node->json, NULL);
		mr_totals_write(node->view, MR_SLICED_device_operations, &sums.list.items[i],
				node->json);
		mr_json_end_object(node->json);
	}
	mr_json_end_array(node->json);
	return result;
}

int mr_answer_node(struct mr_view *view, const struct mr_request *request, struct mr_answer *answer)
{
	const struct mr_definitions *definitions = &view->model->survey->definitions;
	struct mr_json json;
	int64_t number;
	int result = mr_request_integer(request, "node", 1, UINT32_MAX, &number);

	if (result < 0)
		return result;
	if ((uint64_t)number >= definitions->nodes.count)
		return mr_fail(ENOENT, "there is no node %" PRId64, number);
	const struct node node = {view, view->model, (uint32_t)number,
				  &definitions->nodes.items[number], &json};
	mr_json_start(&json, answer->body, MR_JSON_ONE_LINE);
	mr_json_begin_object(&json, NULL);
	write_definition(&node);
	result = write_executions(&node);
	if (result == 0)
		result = write_launched(&node);
	mr_json_end_object(&json);
	return result < 0 ? result : mr_json_finish(&json);
}
