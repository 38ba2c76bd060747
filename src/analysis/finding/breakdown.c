/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/finding/breakdown.h"

static void fill_row(union mr_value *cells, const struct mr_statistic *statistic, bool is_nested)
{
	(cells++)->number = statistic->count;
	if (is_nested)
		(cells++)->number = statistic->self_ns;
	(cells++)->number = statistic->total_ns;
	(cells++)->number = statistic->total_ns / statistic->count;
	(cells++)->number = statistic->p50_ns;
	(cells++)->number = statistic->p95_ns;
	(cells++)->number = statistic->p99_ns;
	(cells++)->number = statistic->max_ns;
}

static int64_t sum_of(const struct mr_statistics_input *input)
{
	const int64_t *values = input->self_ns ? input->self_ns : input->duration_ns;
	uint64_t sum = 0;

	for (uint32_t row = 0; row < input->row_count; row++)
		sum += (uint64_t)values[row];
	return (int64_t)sum;
}

int mr_breakdown_add(const struct mr_model *model, struct mr_findings *findings,
		     struct mr_finding *finding, const struct mr_breakdown *breakdown,
		     struct mr_statistic **ret_statistics, uint32_t *ret_count)
{
	mr_auto(free) struct mr_statistic *statistics = NULL;
	uint32_t count, name_count = breakdown->name_count;
	int result = mr_statistics_make(&breakdown->input, &statistics, &count);

	if (result < 0)
		return result;
	struct mr_finding_table *table =
		mr_finding_add_table(findings, finding, breakdown->id, breakdown->title,
				     breakdown->columns, breakdown->column_count, count);
	if (!table)
		return -ENOMEM;
	for (uint32_t row = 0; row < count; row++) {
		union mr_value *cells = mr_finding_value(table, row, 0);

		breakdown->name(model, breakdown->groups, statistics[row].group, cells);
		fill_row(cells + name_count, &statistics[row], breakdown->input.self_ns != NULL);
	}
	table->wholes[name_count + 1] = sum_of(&breakdown->input);
	mr_finding_check(table);
	if (ret_statistics) {
		*ret_statistics = mr_take(statistics);
		*ret_count = count;
	}
	return 0;
}

void mr_name_string(const struct mr_model *model, const void *groups, uint32_t group,
		    union mr_value *cells)
{
	(void)groups;
	cells[0].text = group ? mr_model_text(model, group) : "(no name)";
}

void mr_name_type(const struct mr_model *model, const void *groups, uint32_t group,
		  union mr_value *cells)
{
	const struct mr_type_groups *types = groups;

	mr_name_string(model, NULL, group, cells);
	if (types->labels[group])
		cells[0].text = types->labels[group];
}

void mr_type_groups_free(struct mr_type_groups *groups)
{
	free(groups->of_node);
	free(groups->labels);
	*groups = (struct mr_type_groups){0};
}

static int label_type(const struct mr_model *model, struct mr_findings *findings,
		      const struct mr_node *node, const char **label)
{
	if (*label || node->family == 0 || node->family == node->type)
		return 0;
	*label =
		mr_region_print(&findings->region, "%s (as %s)", mr_model_text(model, node->family),
				mr_model_text(model, node->type));
	return *label ? 0 : -ENOMEM;
}

int mr_type_groups_make(const struct mr_model *model, struct mr_findings *findings,
			struct mr_type_groups *ret_groups)
{
	const struct mr_definitions *definitions = &model->survey->definitions;
	uint32_t count = mr_strings_count(&definitions->strings);
	mr_auto(type_groups) struct mr_type_groups groups = {
		.of_node = calloc(definitions->nodes.count + 1, sizeof *groups.of_node),
		.labels = calloc(count + 1, sizeof *groups.labels),
		.count = count,
	};

	if (!groups.of_node || !groups.labels)
		return -ENOMEM;
	for (size_t i = 0; i < definitions->nodes.count; i++) {
		const struct mr_node *node = &definitions->nodes.items[i];

		groups.of_node[i] = node->type;
		if (label_type(model, findings, node, &groups.labels[node->type]) < 0)
			return -ENOMEM;
	}
	*ret_groups = groups;
	groups = (struct mr_type_groups){0};
	return 0;
}

void mr_name_track(const struct mr_model *model, const void *groups, uint32_t group,
		   union mr_value *cells)
{
	const struct mr_track *track = &model->survey->tracks.items[group];

	(void)groups;
	cells[0].text = track->name ? mr_model_text(model, track->name) : "(no name)";
	cells[1].number = model->survey->processes.items[track->process].pid;
	cells[2].number = track->tid;
}

struct node_group {
	uint32_t name;
	uint32_t type;
	uint32_t graph_name;
};

const char *mr_node_text(const struct mr_model *model, uint32_t name)
{
	return name ? mr_model_text(model, name) : "(not defined)";
}

void mr_name_node(const struct mr_model *model, const void *groups, uint32_t group,
		  union mr_value *cells)
{
	const struct mr_node_groups *nodes = groups;
	const struct node_group *node = (const void *)mr_strings_text(&nodes->names, group);
	uint32_t first = nodes->first[group];

	cells[0].text = mr_node_text(model, node->name);
	cells[1].text = mr_model_text(model, node->type);
	cells[2].text = mr_model_text(model, node->graph_name);
	cells[3].number = first ? first : MR_NO_VALUE;
}

void mr_node_groups_free(struct mr_node_groups *groups)
{
	mr_strings_free(&groups->names);
	free(groups->of_node);
	free(groups->first);
	*groups = (struct mr_node_groups){0};
}

int mr_node_groups_make(const struct mr_model *model, struct mr_node_groups *ret_groups)
{
	const struct mr_definitions *definitions = &model->survey->definitions;
	mr_auto(node_groups) struct mr_node_groups groups = {
		.of_node = calloc(definitions->nodes.count + 1, sizeof *groups.of_node),
		.first = calloc(definitions->nodes.count + 1, sizeof *groups.first),
	};

	if (!groups.of_node || !groups.first)
		return -ENOMEM;
	for (uint32_t i = 0; i < definitions->nodes.count; i++) {
		const struct mr_node *node = &definitions->nodes.items[i];
		const struct node_group key = {node->name, node->type,
					       definitions->graphs.items[node->graph].name};

		uint32_t known = mr_node_groups_count(&groups);

		if (mr_strings_intern(&groups.names, &key, sizeof key, &groups.of_node[i]) < 0)
			return -ENOMEM;
		if (groups.of_node[i] == known)
			groups.first[known] = i;
	}
	*ret_groups = groups;
	groups = (struct mr_node_groups){0};
	return 0;
}

uint32_t *mr_make_identity(size_t count)
{
	uint32_t *identity = malloc((count + 1) * sizeof *identity);

	for (size_t i = 0; identity && i < count; i++)
		identity[i] = (uint32_t)i;
	return identity;
}
