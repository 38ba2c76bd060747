/* SPDX-License-Identifier: Apache-2.0
 *
 * Device operations one by one: kernels by name, copies by direction, by the node of the graph that launched
 * them, and how long operations waited before they ran.
 */
#include "analysis/analysis.h"

#include "analysis/device_time.h"
#include "analysis/finding/breakdown.h"
#include "analysis/queue_depth.h"
#include "base/error.h"

/* Where an operation's wait begins and ends. A launch on a queue that has nothing left to do shows
 * what launching costs; others may wait for their predecessors. */
enum delay {
	DELAY_LAUNCH,
	DELAY_LAUNCH_TO_EMPTY_QUEUE,
	DELAY_QUEUED,
	DELAY_SUBMITTED,
	DELAYS,
};

static const char *const delay_names[DELAYS] = {"call to start", "call to start, queue empty",
						"queued to submitted", "submitted to start"};

/* clang-format off */
static const struct mr_finding_column name_columns[] = {
	{"name", "name", MR_UNIT_TEXT, 0},
	{"kind", "kind", MR_UNIT_TEXT, 0},
	MR_FLAT_COLUMNS,
};
static const struct mr_finding_column copy_columns[] = {
	{"direction", "direction", MR_UNIT_TEXT, 0},
	{"device", "device", MR_UNIT_TEXT, 0},
	{"pid", "pid", MR_UNIT_NUMBER, 0},
	MR_FLAT_COLUMNS,
	{"bytes", "bytes", MR_UNIT_BYTES, MR_COLUMN_SUM},
	{"bytes_per_second", "bandwidth", MR_UNIT_BYTES_PER_SECOND, 0},
};
static const struct mr_finding_column node_columns[] = {
	MR_NODE_COLUMNS,
	MR_FLAT_COLUMNS,
};
static const struct mr_finding_column delay_columns[] = {
	{"delay", "delay", MR_UNIT_TEXT, 0},
	{"device", "device", MR_UNIT_TEXT, 0},
	{"pid", "pid", MR_UNIT_NUMBER, 0},
	{"count", "count", MR_UNIT_COUNT, 0},
	MR_DISTRIBUTION_COLUMNS(0),
};
/* clang-format on */

/* Values of some operations, each with the key of its group. */
struct selection {
	int64_t *value_ns;
	uint32_t *key;
	uint32_t count;
};

static int selection_start(struct selection *selection, size_t room)
{
	selection->value_ns = malloc((room + 1) * sizeof *selection->value_ns);
	selection->key = malloc((room + 1) * sizeof *selection->key);
	return selection->value_ns && selection->key ? 0 : -ENOMEM;
}

static void mr_cleanup_selection(struct selection *selection)
{
	free(selection->value_ns);
	free(selection->key);
}

static void select_value(struct selection *selection, int64_t value_ns, uint32_t key)
{
	selection->value_ns[selection->count] = value_ns;
	selection->key[selection->count++] = key;
}

/* `identity` reaches to group_count. */
static struct mr_statistics_input input_of(const struct selection *selection,
					   const uint32_t *identity, uint32_t group_count)
{
	return (struct mr_statistics_input){.row_count = selection->count,
					    .duration_ns = selection->value_ns,
					    .key = selection->key,
					    .group_of = identity,
					    .group_count = group_count};
}

/* ---- by name ------------------------------------------------------------------------------------ */

struct operation_group {
	uint32_t name;
	uint32_t kind;
};

/* Kernels by their names, what has none by its kind. */
static void name_operation(const struct mr_model *model, const void *groups, uint32_t group,
			   union mr_value *cells)
{
	const struct operation_group *key = (const void *)mr_strings_text(groups, group);

	cells[1].text = mr_enum_value_name("operation_kind", key->kind);
	cells[0].text = key->name ? mr_model_text(model, key->name) : cells[1].text;
}

static int select_by_name(const struct mr_model *model, struct mr_strings *groups,
			  struct selection *selection)
{
	const struct mr_device_operations *operations = &model->device_operations;
	struct operation_group last = {0};
	uint32_t number = 0;

	for (uint32_t row = 0; row < operations->table.count; row++) {
		const struct operation_group key = {operations->name[row], operations->kind[row]};

		if (!mr_operation_is_timed(model, row))
			continue;
		if (mr_strings_count(groups) == 0 || key.name != last.name || key.kind != last.kind)
			if (mr_strings_intern(groups, &key, sizeof key, &number) < 0)
				return -ENOMEM;
		last = key;
		select_value(selection, operations->duration_ns[row], number);
	}
	return 0;
}

static int add_names(const struct mr_model *model, struct mr_findings *findings,
		     struct mr_finding *finding, struct mr_strings *groups)
{
	mr_auto(selection) struct selection selection = {0};

	if (selection_start(&selection, model->device_operations.table.count) < 0 ||
	    select_by_name(model, groups, &selection) < 0)
		return -ENOMEM;
	mr_auto(free) uint32_t *identity = mr_make_identity(mr_strings_count(groups));
	if (!identity)
		return -ENOMEM;
	const struct mr_breakdown by_name = {
		.id = "by_name",
		.title = "By name",
		.columns = name_columns,
		.column_count = mr_countof(name_columns),
		.name_count = 2,
		.name = name_operation,
		.groups = groups,
		.input = input_of(&selection, identity, mr_strings_count(groups)),
	};
	return mr_breakdown_add(model, findings, finding, &by_name, NULL, NULL);
}

/* ---- copies ------------------------------------------------------------------------------------- */

enum {
	KINDS = MR_operation_kind_migrate + 1 /* all transfers are below */
};

static void name_copies(const struct mr_model *model, const void *groups, uint32_t group,
			union mr_value *cells)
{
	(void)groups;
	cells[0].text = mr_enum_value_name("operation_kind", group % KINDS);
	cells[1].text = mr_device_name(model, group / KINDS);
	cells[2].number = mr_device_pid_value(model, group / KINDS);
}

/* Bandwidth is that of the copies one by one: bytes divided by the sum of their times. */
static void fill_bandwidth(struct mr_finding_table *table, const struct mr_statistic *statistics,
			   const uint64_t *bytes)
{
	for (uint32_t row = 0; row < table->row_count; row++) {
		union mr_value *cells = mr_finding_value(table, row, mr_countof(copy_columns) - 2);
		uint64_t moved = bytes[statistics[row].group];
		int64_t total_ns = statistics[row].total_ns;

		cells[0].number = (int64_t)moved;
		cells[1].number = moved && total_ns > 0
					  ? (int64_t)((__int128)moved * 1000000000 / total_ns)
					  : MR_NO_VALUE;
	}
}

static void select_copies(const struct mr_model *model, struct selection *selection,
			  uint64_t *bytes)
{
	const struct mr_device_operations *operations = &model->device_operations;

	for (uint32_t row = 0; row < operations->table.count; row++) {
		uint32_t key = mr_operation_device(model, row) * KINDS + operations->kind[row];

		if (!mr_operation_is_timed(model, row) ||
		    !mr_operation_is_transfer(operations->kind[row]))
			continue;
		bytes[key] += operations->bytes[row];
		select_value(selection, operations->duration_ns[row], key);
	}
}

static int add_copies(const struct mr_model *model, struct mr_findings *findings,
		      struct mr_finding *finding)
{
	uint32_t group_count = (uint32_t)model->survey->definitions.devices.count * KINDS;
	mr_auto(free) uint64_t *bytes = calloc(group_count, sizeof *bytes);
	mr_auto(free) uint32_t *identity = mr_make_identity(group_count);
	mr_auto(free) struct mr_statistic *statistics = NULL;
	mr_auto(selection) struct selection selection = {0};
	uint32_t count;

	if (!bytes || !identity ||
	    selection_start(&selection, model->device_operations.table.count) < 0)
		return -ENOMEM;
	select_copies(model, &selection, bytes);
	if (selection.count == 0)
		return 0;
	const struct mr_breakdown by_direction = {
		.id = "copies",
		.title = "Copies",
		.columns = copy_columns,
		.column_count = mr_countof(copy_columns),
		.name_count = 3,
		.name = name_copies,
		.input = input_of(&selection, identity, group_count),
	};
	int result = mr_breakdown_add(model, findings, finding, &by_direction, &statistics, &count);
	if (result == 0)
		fill_bandwidth(finding->tables.items[finding->tables.count - 1], statistics, bytes);
	return result;
}

/* ---- by node of the graph ------------------------------------------------------------------------- */

/* Groups besides those of the nodes. */
enum {
	LAUNCH_UNKNOWN,
	OUTSIDE_NODES,
	OTHER_GROUPS,
};

static void name_launching_node(const struct mr_model *model, const void *groups, uint32_t group,
				union mr_value *cells)
{
	if (group >= OTHER_GROUPS) {
		mr_name_node(model, groups, group - OTHER_GROUPS, cells);
		return;
	}
	cells[0].text =
		group == OUTSIDE_NODES ? "(launched outside any operation)" : "(launch not known)";
	cells[1].text = cells[2].text = "";
	cells[3].number = MR_NO_VALUE;
}

/* The node in whose execution the operation was launched. The launch may lie outside a window that the
 * model is cut to. */
static uint32_t launching_group(const struct mr_model *model, uint32_t row,
				const uint32_t *group_of)
{
	const struct mr_model *whole = mr_model_whole(model);
	uint32_t whole_row = mr_table_whole_row(&model->device_operations.table, row);
	uint32_t execution = whole->device_operations.execution[whole_row];

	if (whole->device_operations.call[whole_row] == MR_NO_ROW)
		return LAUNCH_UNKNOWN;
	if (execution == MR_NO_ROW)
		return OUTSIDE_NODES;
	return OTHER_GROUPS + group_of[model->device_operations.node[row]];
}

static int add_nodes(const struct mr_model *model, struct mr_findings *findings,
		     struct mr_finding *finding)
{
	const struct mr_device_operations *operations = &model->device_operations;
	mr_auto(node_groups) struct mr_node_groups groups = {0};
	mr_auto(selection) struct selection selection = {0};

	if (mr_node_groups_make(model, &groups) < 0 ||
	    selection_start(&selection, operations->table.count) < 0)
		return -ENOMEM;
	for (uint32_t row = 0; row < operations->table.count; row++)
		if (mr_operation_is_timed(model, row))
			select_value(&selection, operations->duration_ns[row],
				     launching_group(model, row, groups.of_node));
	uint32_t group_count = OTHER_GROUPS + mr_node_groups_count(&groups);
	mr_auto(free) uint32_t *identity = mr_make_identity(group_count);
	if (!identity)
		return -ENOMEM;
	const struct mr_breakdown by_node = {
		.id = "by_node",
		.title = "By node that launched them",
		.columns = node_columns,
		.column_count = mr_countof(node_columns),
		.name_count = MR_NODE_CELLS,
		.name = name_launching_node,
		.groups = &groups,
		.input = input_of(&selection, identity, group_count),
	};
	return mr_breakdown_add(model, findings, finding, &by_node, NULL, NULL);
}

/* ---- delays ------------------------------------------------------------------------------------- */

static void select_delay(struct selection *selection, int64_t from_ns, int64_t until_ns,
			 uint32_t device, enum delay delay)
{
	if (from_ns != MR_NO_TIME && until_ns != MR_NO_TIME)
		select_value(selection, until_ns - from_ns, device * DELAYS + delay);
}

/* Operations of a queue come in order of their starts. */
static void select_delays_of_queue(const struct mr_model *model, uint32_t track,
				   struct selection *selection)
{
	const struct mr_device_operations *operations = &model->device_operations;
	const uint32_t *first = &operations->table.first_of_track[track];
	int64_t until_ns = MR_NO_TIME; /* the queue had work */

	for (uint32_t row = first[0]; row < first[1]; row++) {
		uint32_t call = operations->call[row], device = mr_operation_device(model, row);
		int64_t start_ns = operations->start_ns[row];
		int64_t call_ns = call == MR_NO_ROW ? MR_NO_TIME : model->calls.start_ns[call];

		if (!mr_operation_is_timed(model, row))
			continue;
		select_delay(selection, call_ns, start_ns, device, DELAY_LAUNCH);
		if (until_ns < call_ns)
			select_delay(selection, call_ns, start_ns, device,
				     DELAY_LAUNCH_TO_EMPTY_QUEUE);
		select_delay(selection, operations->queued_ns[row], operations->submitted_ns[row],
			     device, DELAY_QUEUED);
		select_delay(selection, operations->submitted_ns[row], start_ns, device,
			     DELAY_SUBMITTED);
		until_ns = mr_max(until_ns, start_ns + operations->duration_ns[row]);
	}
}

static void fill_delay(const struct mr_model *model, const struct mr_statistic *statistic,
		       union mr_value *cells)
{
	uint32_t device = statistic->group / DELAYS;

	(cells++)->text = delay_names[statistic->group % DELAYS];
	(cells++)->text = mr_device_name(model, device);
	(cells++)->number = mr_device_pid_value(model, device);
	(cells++)->number = statistic->count;
	(cells++)->number = statistic->total_ns / statistic->count;
	(cells++)->number = statistic->p50_ns;
	(cells++)->number = statistic->p95_ns;
	(cells++)->number = statistic->p99_ns;
	(cells++)->number = statistic->max_ns;
}

static int compare_groups(const void *left, const void *right)
{
	const struct mr_statistic *a = left, *b = right;

	return (a->group > b->group) - (a->group < b->group);
}

static int add_delays(const struct mr_model *model, struct mr_findings *findings,
		      struct mr_finding *finding)
{
	uint32_t group_count = (uint32_t)model->survey->definitions.devices.count * DELAYS;
	mr_auto(free) uint32_t *identity = mr_make_identity(group_count);
	mr_auto(free) struct mr_statistic *statistics = NULL;
	mr_auto(selection) struct selection selection = {0};
	uint32_t count;

	if (!identity ||
	    selection_start(&selection, (size_t)model->device_operations.table.count * DELAYS) < 0)
		return -ENOMEM;
	for (uint32_t track = 0; track < model->survey->tracks.count; track++)
		if (model->survey->tracks.items[track].kind == MR_TRACK_QUEUE)
			select_delays_of_queue(model, track, &selection);
	struct mr_statistics_input input = input_of(&selection, identity, group_count);
	if (mr_statistics_make(&input, &statistics, &count) < 0)
		return -ENOMEM;
	qsort(statistics, count, sizeof *statistics, compare_groups);
	struct mr_finding_table *table =
		mr_finding_add_table(findings, finding, "delays", "Delays before operations start",
				     delay_columns, mr_countof(delay_columns), count);
	if (!table)
		return -ENOMEM;
	for (uint32_t row = 0; row < count; row++)
		fill_delay(model, &statistics[row], mr_finding_value(table, row, 0));
	return 0;
}

/* ---- all of them -------------------------------------------------------------------------------- */

static int add_tables(const struct mr_model *model, struct mr_findings *findings,
		      struct mr_finding *finding, struct mr_strings *names)
{
	int result = add_names(model, findings, finding, names);

	/* Without the dataflow level that would be one row. */
	if (result == 0 && mr_model_whole(model)->node_executions.table.count)
		result = add_nodes(model, findings, finding);
	if (result == 0)
		result = add_copies(model, findings, finding);
	if (result == 0)
		result = add_delays(model, findings, finding);
	return result < 0 ? result : mr_queue_depth_add(model, findings, finding);
}

int mr_analyse_device_operations(const struct mr_model *model, struct mr_findings *findings)
{
	struct mr_strings names = {0};

	if (model->device_operations.table.count == 0)
		return 0;
	struct mr_finding *finding = mr_finding_begin(findings, "device_operations");
	int result = finding ? add_tables(model, findings, finding, &names) : -ENOMEM;
	mr_strings_free(&names);
	return result < 0 ? mr_fail_errno(-result, "analyse the device operations") : 0;
}
