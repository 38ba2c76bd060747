/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/breakdown.h"

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

uint32_t *mr_make_identity(size_t count)
{
	uint32_t *identity = malloc((count + 1) * sizeof *identity);

	for (size_t i = 0; identity && i < count; i++)
		identity[i] = (uint32_t)i;
	return identity;
}
