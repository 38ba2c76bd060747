/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/analysis.h"

#include "analysis/statistics.h"
#include "base/error.h"

/* Columns of every table of statistics, after those that name the group. Where intervals nest, the
 * self times divide the whole and totals count nested ones twice. */
/* clang-format off */
#define DISTRIBUTION_COLUMNS(flags)                      \
	{"mean_ns", "mean", MR_UNIT_NS, MR_COLUMN_SPARE}, \
	{"p50_ns", "p50", MR_UNIT_NS, flags},            \
	{"p95_ns", "p95", MR_UNIT_NS, MR_COLUMN_SPARE},  \
	{"p99_ns", "p99", MR_UNIT_NS, flags},            \
	{"max_ns", "max", MR_UNIT_NS, flags}
#define FLAT_COLUMNS                                           \
	{"count", "count", MR_UNIT_COUNT, MR_COLUMN_SUM},       \
	{"total_ns", "total", MR_UNIT_NS, MR_COLUMN_BREAKDOWN}, \
	DISTRIBUTION_COLUMNS(0)
#define NESTED_COLUMNS(flags)                                \
	{"count", "count", MR_UNIT_COUNT, MR_COLUMN_SUM},     \
	{"self_ns", "self", MR_UNIT_NS, MR_COLUMN_BREAKDOWN}, \
	{"total_ns", "total", MR_UNIT_NS, MR_COLUMN_SUM},     \
	DISTRIBUTION_COLUMNS(flags)

enum {
	EVIDENCE = 3,
};

static const struct mr_finding_column node_columns[] = {
	{"node", "node", MR_UNIT_TEXT, 0},
	{"type", "type", MR_UNIT_TEXT, 0},
	{"graph", "graph", MR_UNIT_TEXT, 0},
	NESTED_COLUMNS(0),
};
static const struct mr_finding_column type_columns[] = {
	{"type", "type", MR_UNIT_TEXT, 0},
	NESTED_COLUMNS(0),
};
static const struct mr_finding_column thread_columns[] = {
	{"thread", "thread", MR_UNIT_TEXT, 0},
	{"pid", "pid", MR_UNIT_NUMBER, 0},
	{"tid", "tid", MR_UNIT_NUMBER, 0},
	NESTED_COLUMNS(MR_COLUMN_SPARE),
	{"span_ns", "span", MR_UNIT_NS, 0},
	{"busy_permille", "busy", MR_UNIT_PERMILLE, 0},
};
static const struct mr_finding_column step_columns[] = {
	{"thread", "thread", MR_UNIT_TEXT, 0},
	{"pid", "pid", MR_UNIT_NUMBER, 0},
	{"tid", "tid", MR_UNIT_NUMBER, 0},
	FLAT_COLUMNS,
};
static const struct mr_finding_column call_columns[] = {
	{"function", "function", MR_UNIT_TEXT, 0},
	NESTED_COLUMNS(0),
};
static const struct mr_finding_column device_operation_columns[] = {
	{"name", "name", MR_UNIT_TEXT, 0},
	FLAT_COLUMNS,
};
/* clang-format on */

/* What a group is called: fills the first cells of its row. */
typedef void name_group(const struct mr_model *model, const void *groups, uint32_t group,
			union mr_value *cells);

struct breakdown {
	const char *id;
	const char *title;
	const struct mr_finding_column *columns;
	uint32_t column_count;
	uint32_t name_count; /* columns that name the group */
	name_group *name;
	const void *groups; /* for name() */
	struct mr_statistics_input input;
};

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

/* One table of statistics. *ret_statistics, if wanted, is the caller's to free. */
static int add_breakdown(const struct mr_model *model, struct mr_findings *findings,
			 struct mr_finding *finding, const struct breakdown *breakdown,
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

static void name_string(const struct mr_model *model, const void *groups, uint32_t group,
			union mr_value *cells)
{
	(void)groups;
	cells[0].text = group ? mr_model_text(model, group) : "(no name)";
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
	const struct breakdown by_node = {
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
	int result = add_breakdown(model, findings, finding, &by_node, &statistics, &count);
	return result < 0 ? result : prove_longest(model, finding, statistics, count);
}

static int add_types(const struct mr_model *model, struct mr_findings *findings,
		     struct mr_finding *finding, uint32_t *group_of)
{
	const struct mr_definitions *definitions = &model->survey->definitions;
	const struct mr_node_executions *executions = &model->node_executions;

	for (uint32_t i = 0; i < definitions->nodes.count; i++)
		group_of[i] = definitions->nodes.items[i].type;
	const struct breakdown by_type = {
		.id = "by_type",
		.title = "By type",
		.columns = type_columns,
		.column_count = mr_countof(type_columns),
		.name_count = 1,
		.name = name_string,
		.input = {executions->table.count, executions->duration_ns, executions->self_ns,
			  executions->node, group_of, mr_strings_count(&definitions->strings)},
	};
	return add_breakdown(model, findings, finding, &by_type, NULL, NULL);
}

/* 0, 1, 2, ...: a key that is its own group. */
static uint32_t *make_identity(size_t count)
{
	uint32_t *identity = malloc((count + 1) * sizeof *identity);

	for (size_t i = 0; identity && i < count; i++)
		identity[i] = (uint32_t)i;
	return identity;
}

/* By thread, of executions (nested) or steps (flat). *ret_statistics, if wanted, is the caller's. */
static int add_threads(const struct mr_model *model, struct mr_findings *findings,
		       struct mr_finding *finding, const struct mr_finding_column *columns,
		       uint32_t column_count, struct mr_statistics_input input,
		       struct mr_statistic **ret_statistics)
{
	size_t track_count = model->survey->tracks.count;
	mr_auto(free) uint32_t *identity = make_identity(track_count);

	if (!identity)
		return -ENOMEM;
	input.group_of = identity;
	input.group_count = (uint32_t)track_count;
	const struct breakdown by_thread = {
		.id = "by_thread",
		.title = "By thread",
		.columns = columns,
		.column_count = column_count,
		.name_count = 3,
		.name = name_track,
		.input = input,
	};
	uint32_t count;
	return add_breakdown(model, findings, finding, &by_thread, ret_statistics, &count);
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

static int analyse_nodes(const struct mr_model *model, struct mr_findings *findings)
{
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

/* ---- steps, calls, device operations ----------------------------------------------------------- */

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

/* Statistics of a table by a column of strings. */
static int analyse_by_name(const struct mr_model *model, struct mr_findings *findings,
			   const char *id, const char *title,
			   const struct mr_finding_column *columns, uint32_t column_count,
			   struct mr_statistics_input input)
{
	if (input.row_count == 0)
		return 0;
	struct mr_finding *finding = mr_findings_add(findings, id, title);
	size_t string_count = mr_strings_count(&model->survey->definitions.strings);
	mr_auto(free) uint32_t *identity = make_identity(string_count);
	if (!finding || !identity)
		return -ENOMEM;
	input.group_of = identity;
	input.group_count = (uint32_t)string_count;
	const struct breakdown by_name = {
		.id = "by_name",
		.title = "By name",
		.columns = columns,
		.column_count = column_count,
		.name_count = 1,
		.name = name_string,
		.input = input,
	};
	return add_breakdown(model, findings, finding, &by_name, NULL, NULL);
}

int mr_analyse_operations(const struct mr_model *model, struct mr_findings *findings)
{
	const struct mr_calls *calls = &model->calls;
	const struct mr_device_operations *operations = &model->device_operations;
	int result = analyse_nodes(model, findings);

	if (result == 0)
		result = analyse_steps(model, findings);
	if (result == 0)
		result = analyse_by_name(
			model, findings, "calls", "Runtime calls", call_columns,
			mr_countof(call_columns),
			(struct mr_statistics_input){.row_count = calls->table.count,
						     .duration_ns = calls->duration_ns,
						     .self_ns = calls->self_ns,
						     .key = calls->function});
	if (result == 0)
		result = analyse_by_name(
			model, findings, "device_operations", "Device operations",
			device_operation_columns, mr_countof(device_operation_columns),
			(struct mr_statistics_input){.row_count = operations->table.count,
						     .duration_ns = operations->duration_ns,
						     .key = operations->name});
	return result < 0 ? mr_fail_errno(-result, "analyse the operations") : 0;
}
