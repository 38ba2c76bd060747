/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/analysis.h"

#include "analysis/breakdown.h"
#include "base/error.h"

enum {
	EVIDENCE = 3,
};

/* clang-format off */
static const struct mr_finding_column node_columns[] = {
	{"node", "node", MR_UNIT_TEXT, 0},
	{"type", "type", MR_UNIT_TEXT, 0},
	{"graph", "graph", MR_UNIT_TEXT, 0},
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
static const struct mr_finding_column step_columns[] = {
	{"thread", "thread", MR_UNIT_TEXT, 0},
	{"pid", "pid", MR_UNIT_NUMBER, 0},
	{"tid", "tid", MR_UNIT_NUMBER, 0},
	MR_FLAT_COLUMNS,
};
/* clang-format on */

/* ---- node executions ----------------------------------------------------------------------------- */

/* The same node of several processes (workers of one program) is one row. */
struct node_group {
	uint32_t name;
	uint32_t type;
	uint32_t graph_name;
};

static const char *node_text(const struct mr_model *model, uint32_t name)
{
	return name ? mr_model_text(model, name) : "(not defined)";
}

static void name_node(const struct mr_model *model, const void *groups, uint32_t group,
		      union mr_value *cells)
{
	const struct mr_strings *keys = groups;
	const struct node_group *node = (const void *)mr_strings_text(keys, group);

	cells[0].text = node_text(model, node->name);
	cells[1].text = mr_model_text(model, node->type);
	cells[2].text = mr_model_text(model, node->graph_name);
}

static void name_track(const struct mr_model *model, const void *groups, uint32_t group,
		       union mr_value *cells)
{
	const struct mr_track *track = &model->survey->tracks.items[group];

	(void)groups;
	cells[0].text = track->name ? mr_model_text(model, track->name) : "(no name)";
	cells[1].number = model->survey->processes.items[track->process].pid;
	cells[2].number = track->tid;
}

/* node → group, by what the nodes are called. */
static int group_nodes(const struct mr_model *model, struct mr_strings *keys, uint32_t *group_of)
{
	const struct mr_definitions *definitions = &model->survey->definitions;

	for (uint32_t i = 0; i < definitions->nodes.count; i++) {
		const struct mr_node *node = &definitions->nodes.items[i];
		const struct node_group key = {node->name, node->type,
					       definitions->graphs.items[node->graph].name};

		if (mr_strings_intern(keys, &key, sizeof key, &group_of[i]) < 0)
			return -ENOMEM;
	}
	return 0;
}

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
			.what = node_text(model, node->name),
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
		     struct mr_finding *finding, struct mr_strings *keys, uint32_t *group_of)
{
	const struct mr_node_executions *executions = &model->node_executions;
	mr_auto(free) struct mr_statistic *statistics = NULL;
	uint32_t count;

	if (group_nodes(model, keys, group_of) < 0)
		return -ENOMEM;
	const struct mr_breakdown by_node = {
		.id = "by_node",
		.title = "By node",
		.columns = node_columns,
		.column_count = mr_countof(node_columns),
		.name_count = 3,
		.name = name_node,
		.groups = keys,
		.input = {executions->table.count, executions->duration_ns, executions->self_ns,
			  executions->node, group_of, mr_strings_count(keys)},
	};
	int result = mr_breakdown_add(model, findings, finding, &by_node, &statistics, &count);
	return result < 0 ? result : prove_longest(model, finding, statistics, count);
}

static int add_types(const struct mr_model *model, struct mr_findings *findings,
		     struct mr_finding *finding, uint32_t *group_of)
{
	const struct mr_definitions *definitions = &model->survey->definitions;
	const struct mr_node_executions *executions = &model->node_executions;

	for (uint32_t i = 0; i < definitions->nodes.count; i++)
		group_of[i] = definitions->nodes.items[i].type;
	const struct mr_breakdown by_type = {
		.id = "by_type",
		.title = "By type",
		.columns = type_columns,
		.column_count = mr_countof(type_columns),
		.name_count = 1,
		.name = mr_name_string,
		.input = {executions->table.count, executions->duration_ns, executions->self_ns,
			  executions->node, group_of, mr_strings_count(&definitions->strings)},
	};
	return mr_breakdown_add(model, findings, finding, &by_type, NULL, NULL);
}

/* By thread, of executions (nested) or steps (flat). *ret_statistics, if wanted, is the caller's. */
static int add_threads(const struct mr_model *model, struct mr_findings *findings,
		       struct mr_finding *finding, const struct mr_finding_column *columns,
		       uint32_t column_count, struct mr_statistics_input input,
		       struct mr_statistic **ret_statistics)
{
	size_t track_count = model->survey->tracks.count;
	mr_auto(free) uint32_t *identity = mr_make_identity(track_count);

	if (!identity)
		return -ENOMEM;
	input.group_of = identity;
	input.group_count = (uint32_t)track_count;
	const struct mr_breakdown by_thread = {
		.id = "by_thread",
		.title = "By thread",
		.columns = columns,
		.column_count = column_count,
		.name_count = 3,
		.name = name_track,
		.input = input,
	};
	uint32_t count;
	return mr_breakdown_add(model, findings, finding, &by_thread, ret_statistics, &count);
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

static int add_node_threads(const struct mr_model *model, struct mr_findings *findings,
			    struct mr_finding *finding)
{
	const struct mr_node_executions *executions = &model->node_executions;
	const struct mr_statistics_input input = {.row_count = executions->table.count,
						  .duration_ns = executions->duration_ns,
						  .self_ns = executions->self_ns,
						  .key = executions->track};
	mr_auto(free) struct mr_statistic *statistics = NULL;
	int result = add_threads(model, findings, finding, thread_columns,
				 mr_countof(thread_columns), input, &statistics);

	if (result == 0)
		add_busy(model, finding, statistics);
	return result;
}

static int add_tables(const struct mr_model *model, struct mr_findings *findings,
		      struct mr_finding *finding, struct mr_strings *keys, uint32_t *group_of)
{
	int result = add_nodes(model, findings, finding, keys, group_of);

	if (result == 0)
		result = add_types(model, findings, finding, group_of);
	if (result < 0)
		return result;
	/* Where every type has one node, the table by type says what the table by node has said. */
	struct mr_finding_table **tables = finding->tables.items;
	tables[1]->is_repetition = tables[1]->row_count == tables[0]->row_count;
	return add_node_threads(model, findings, finding);
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
	struct mr_finding *finding =
		mr_findings_add(findings, "operations", "Operations: where the time went");
	mr_auto(free) uint32_t *group_of =
		calloc(model->survey->definitions.nodes.count, sizeof *group_of);
	struct mr_strings keys = {0};

	if (!finding || !group_of)
		return -ENOMEM;
	if (model->node_executions.table.count == 0)
		return mr_finding_say(findings, finding, MR_SEVERITY_NOTE,
				      "No execution of a dataflow node was recorded.");
	int result = mr_finding_say(findings, finding, MR_SEVERITY_FINE,
				    "Times are wall times: they include waiting, and being kept "
				    "from a processor.");
	if (result == 0)
		result = add_tables(model, findings, finding, &keys, group_of);
	mr_strings_free(&keys);
	return result;
}

/* ---- steps -------------------------------------------------------------------------------------- */

static int analyse_steps(const struct mr_model *model, struct mr_findings *findings)
{
	const struct mr_steps *steps = &model->steps;

	if (steps->table.count == 0)
		return 0;
	struct mr_finding *finding = mr_findings_add(findings, "steps", "Steps");
	if (!finding)
		return -ENOMEM;
	return add_threads(model, findings, finding, step_columns, mr_countof(step_columns),
			   (struct mr_statistics_input){.row_count = steps->table.count,
							.duration_ns = steps->duration_ns,
							.key = steps->track},
			   NULL);
}

int mr_analyse_operations(const struct mr_model *model, struct mr_findings *findings)
{
	int result = analyse_nodes(model, findings);

	if (result == 0)
		result = analyse_steps(model, findings);
	return result < 0 ? mr_fail_errno(-result, "analyse the operations") : 0;
}
