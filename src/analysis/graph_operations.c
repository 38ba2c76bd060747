/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/analysis.h"

#include "analysis/finding/breakdown.h"
#include "base/error.h"

enum {
	EVIDENCE = 3,
};

/* clang-format off */
static const struct mr_finding_column node_columns[] = {
	MR_NODE_COLUMNS,
	MR_NESTED_COLUMNS(0),
};
static const struct mr_finding_column type_columns[] = {
	{"type", "type", MR_UNIT_TEXT, 0},
	MR_NESTED_COLUMNS(0),
};
static const struct mr_finding_column thread_columns[] = {
	{"thread", "thread", MR_UNIT_TEXT, 0},
	{"pid", "pid", MR_UNIT_NUMBER, 0},
	{"tid", "tid", MR_UNIT_NUMBER, 0},
	MR_NESTED_COLUMNS(MR_COLUMN_SPARE),
	{"span_ns", "span", MR_UNIT_NS, 0},
	{"busy_permille", "busy", MR_UNIT_PERMILLE, 0},
};
/* clang-format on */

static int prove_longest(const struct mr_model *model, struct mr_finding *finding,
			 const struct mr_statistic *statistics, uint32_t count)
{
	const struct mr_node_executions *executions = &model->node_executions;

	for (uint32_t i = 0; i < count && i < EVIDENCE; i++) {
		uint32_t row = statistics[i].longest;
		const struct mr_track *track = &model->survey->tracks.items[executions->track[row]];
		const struct mr_node *node =
			&model->survey->definitions.nodes.items[executions->node[row]];
		struct mr_evidence evidence = {
			.what = mr_node_text(model, node->name),
			.track = executions->track[row],
			.pid = model->survey->processes.items[track->process].pid,
			.tid = track->tid,
			.start_ns = executions->start_ns[row],
			.duration_ns = executions->duration_ns[row],
		};

		if (mr_finding_prove(finding, evidence) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int add_nodes(const struct mr_model *model, struct mr_findings *findings,
		     struct mr_finding *finding)
{
	const struct mr_node_executions *executions = &model->node_executions;
	mr_auto(node_groups) struct mr_node_groups groups = {0};
	mr_auto(free) struct mr_statistic *statistics = NULL;
	uint32_t count;

	if (mr_node_groups_make(model, &groups) < 0)
		return -ENOMEM;
	const struct mr_breakdown by_node = {
		.id = "by_node",
		.title = "By node",
		.columns = node_columns,
		.column_count = mr_countof(node_columns),
		.name_count = MR_NODE_CELLS,
		.name = mr_name_node,
		.groups = &groups,
		.input = {executions->table.count, executions->duration_ns, executions->self_ns,
			  executions->node, groups.of_node, mr_node_groups_count(&groups)},
	};
	int result = mr_breakdown_add(model, findings, finding, &by_node, &statistics, &count);
	return result < 0 ? result : prove_longest(model, finding, statistics, count);
}

static int add_types(const struct mr_model *model, struct mr_findings *findings,
		     struct mr_finding *finding)
{
	const struct mr_node_executions *executions = &model->node_executions;
	mr_auto(type_groups) struct mr_type_groups groups = {0};

	if (mr_type_groups_make(model, findings, &groups) < 0)
		return -ENOMEM;
	const struct mr_breakdown by_type = {
		.id = "by_type",
		.title = "By type",
		.columns = type_columns,
		.column_count = mr_countof(type_columns),
		.name_count = 1,
		.name = mr_name_type,
		.groups = &groups,
		.input = {executions->table.count, executions->duration_ns, executions->self_ns,
			  executions->node, groups.of_node, groups.count},
	};
	return mr_breakdown_add(model, findings, finding, &by_type, NULL, NULL);
}

/* How much of its life each thread of the last table spent in nodes: the rest went to something else. */
static void add_busy(const struct mr_model *model, const struct mr_finding *finding,
		     const struct mr_statistic *statistics)
{
	const struct mr_finding_table *table = finding->tables.items[finding->tables.count - 1];

	for (uint32_t row = 0; row < table->row_count; row++) {
		const struct mr_track *track = &model->survey->tracks.items[statistics[row].group];
		union mr_value *cells =
			mr_finding_value(table, row, mr_countof(thread_columns) - 2);
		int64_t span_ns = track->last_ns - track->first_ns;

		cells[0].number = span_ns;
		cells[1].number =
			span_ns > 0 ? (int64_t)((__int128)statistics[row].self_ns * 1000 / span_ns)
				    : MR_NO_VALUE;
	}
}

static int add_threads(const struct mr_model *model, struct mr_findings *findings,
		       struct mr_finding *finding)
{
	const struct mr_node_executions *executions = &model->node_executions;
	size_t track_count = model->survey->tracks.count;
	mr_auto(free) uint32_t *identity = mr_make_identity(track_count);
	mr_auto(free) struct mr_statistic *statistics = NULL;
	uint32_t count;

	if (!identity)
		return -ENOMEM;
	const struct mr_breakdown by_thread = {
		.id = "by_thread",
		.title = "By thread",
		.columns = thread_columns,
		.column_count = mr_countof(thread_columns),
		.name_count = 3,
		.name = mr_name_track,
		.input = {executions->table.count, executions->duration_ns, executions->self_ns,
			  executions->track, identity, (uint32_t)track_count},
	};
	int result = mr_breakdown_add(model, findings, finding, &by_thread, &statistics, &count);
	if (result == 0)
		add_busy(model, finding, statistics);
	return result;
}

static int add_tables(const struct mr_model *model, struct mr_findings *findings,
		      struct mr_finding *finding)
{
	int result = add_nodes(model, findings, finding);

	if (result == 0)
		result = add_types(model, findings, finding);
	if (result < 0)
		return result;
	/* Where every type has one node, the table by type says what the table by node has said. */
	struct mr_finding_table **tables = finding->tables.items;
	tables[1]->is_repetition = tables[1]->row_count == tables[0]->row_count;
	return add_threads(model, findings, finding);
}

/* Then that no node was executed is no news. */
static bool has_other_levels(const struct mr_model *model)
{
	return model->calls.table.count || model->device_operations.table.count ||
	       model->states.table.count;
}

static int analyse_nodes(const struct mr_model *model, struct mr_findings *findings)
{
	if (model->node_executions.table.count == 0 && has_other_levels(model))
		return 0;
	struct mr_finding *finding = mr_finding_begin(findings, "operations");

	if (!finding)
		return -ENOMEM;
	if (model->node_executions.table.count == 0)
		return mr_finding_say(findings, finding, MR_SEVERITY_NOTE,
				      "No execution of a dataflow node was recorded.");
	int result =
		mr_finding_say(findings, finding, MR_SEVERITY_FINE,
			       "Times are wall-clock times: they include waiting, also for a CPU.");
	return result < 0 ? result : add_tables(model, findings, finding);
}

int mr_analyse_operations(const struct mr_model *model, struct mr_findings *findings)
{
	int result = analyse_nodes(model, findings);

	return result < 0 ? mr_fail_errno(-result, "analyse the operations") : 0;
}
