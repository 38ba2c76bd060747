/* SPDX-License-Identifier: Apache-2.0
 *
 * Operation latency: how long a node that had all its inputs waited before it was executed.
 *
 *     node A   ├───────┤
 *     node B      ├─────────┤              edges A → C and B → C: the latency of C is the time from the end
 *     node C                .    ├────┤    of B, the later one, to its start
 *                           ├────┤
 *
 * Inputs are those of the graph, control inputs included, as they were executed on the same occasion: in the same run
 * of a function, or where there are no runs in the same step. Of an input that was executed several times then the last
 * execution counts that had ended when the node began, or the first one if none had. Constants are there from the
 * beginning: a framework does not execute them. A node without other inputs has no latency; where an input was not
 * executed on the occasion it is not known, as in a framework's folding of constants, which is all one run; where one
 * ended later than the node began, it is negative. These are counted.
 */
#include "analysis/analysis.h"

#include <string.h>

#include "analysis/finding/breakdown.h"
#include "base/error.h"
#include "base/sort.h"

enum {
	EVIDENCE = 3,
};

/* clang-format off */
#define LATENCY_COLUMNS                                                                            \
	MR_FLAT_COLUMNS,                                                                           \
	{"negative", "negative", MR_UNIT_COUNT, MR_COLUMN_SUM | MR_COLUMN_RARE | MR_COLUMN_SPARE}, \
	{"unknown", "not known", MR_UNIT_COUNT, MR_COLUMN_SUM | MR_COLUMN_RARE | MR_COLUMN_SPARE}
static const struct mr_finding_column node_columns[] = {
	MR_NODE_COLUMNS,
	LATENCY_COLUMNS,
};
static const struct mr_finding_column type_columns[] = {
	{"type", "type", MR_UNIT_TEXT, 0},
	LATENCY_COLUMNS,
};
/* clang-format on */

/* ---- who gives input to whom, and when -------------------------------------------------------------- */

/* Sources of the edges into node n are sources[first[n]] ... sources[first[n + 1] - 1]. */
struct inputs {
	uint32_t *first;
	uint32_t *sources;
};

/* Executions of node n, by occasion and then by end, are rows[first[n]] ... */
struct executed {
	uint32_t *first;
	struct mr_sort_item *rows; /* index is the row */
};

static int inputs_make(const struct mr_definitions *definitions, struct inputs *inputs)
{
	size_t node_count = definitions->nodes.count;

	inputs->first = calloc(node_count + 2, sizeof *inputs->first);
	inputs->sources = malloc((definitions->edges.count + 1) * sizeof *inputs->sources);
	if (!inputs->first || !inputs->sources)
		return -ENOMEM;
	uint32_t *next = inputs->first + 1; /* becomes the ends, which are the starts */
	for (size_t i = 0; i < definitions->edges.count; i++)
		next[definitions->edges.items[i].target + 1]++;
	for (size_t i = 0; i < node_count; i++)
		next[i + 1] += next[i];
	for (size_t i = 0; i < definitions->edges.count; i++)
		inputs->sources[next[definitions->edges.items[i].target]++] =
			definitions->edges.items[i].source;
	return 0;
}

static int64_t end_of(const struct mr_node_executions *executions, uint32_t row)
{
	return executions->start_ns[row] + executions->duration_ns[row];
}

static uint64_t occasion_of(const struct mr_node_executions *executions, uint32_t row)
{
	return executions->run[row] ? executions->run[row] : executions->step[row];
}

/* Sorts by end, then by occasion, then by node: each sorting keeps the order of the one before. */
static int executed_make(const struct mr_model *model, struct executed *executed)
{
	const struct mr_node_executions *executions = &model->node_executions;
	size_t node_count = model->survey->definitions.nodes.count;
	uint32_t count = executions->table.count;
	mr_auto(free) struct mr_sort_item *scratch = malloc(((size_t)count + 1) * sizeof *scratch);

	executed->first = calloc(node_count + 2, sizeof *executed->first);
	executed->rows = malloc(((size_t)count + 1) * sizeof *executed->rows);
	if (!scratch || !executed->first || !executed->rows)
		return -ENOMEM;
	for (uint32_t row = 0; row < count; row++)
		executed->rows[row] =
			(struct mr_sort_item){mr_sort_key(end_of(executions, row)), row};
	mr_sort(executed->rows, scratch, count);
	for (uint32_t i = 0; i < count; i++)
		executed->rows[i].key = occasion_of(executions, executed->rows[i].index);
	mr_sort(executed->rows, scratch, count);
	for (uint32_t i = 0; i < count; i++)
		executed->rows[i].key = executions->node[executed->rows[i].index];
	mr_sort(executed->rows, scratch, count);
	for (uint32_t row = 0; row < count; row++)
		executed->first[executions->node[row] + 1]++;
	for (size_t i = 0; i <= node_count; i++)
		executed->first[i + 1] += executed->first[i];
	return 0;
}

/* The first place from `low` on that belongs to a later occasion, or to the same and ends after `ns`. */
static uint32_t find_place(const struct mr_node_executions *executions,
			   const struct executed *executed, uint32_t low, uint32_t high,
			   uint64_t occasion, int64_t ns)
{
	while (low < high) {
		uint32_t middle = low + (high - low) / 2, row = executed->rows[middle].index;
		uint64_t its = occasion_of(executions, row);

		if (its < occasion || (its == occasion && end_of(executions, row) <= ns))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The execution of the node on that occasion that counts for one which begins at `ns`; MR_NO_ROW if there is
 * none. */
static uint32_t find_input(const struct mr_node_executions *executions,
			   const struct executed *executed, uint32_t node, uint64_t occasion,
			   int64_t ns)
{
	uint32_t first = executed->first[node], end = executed->first[node + 1];
	uint32_t place = find_place(executions, executed, first, end, occasion, ns);

	if (place > first && occasion_of(executions, executed->rows[place - 1].index) == occasion)
		return executed->rows[place - 1].index;
	if (place < end && occasion_of(executions, executed->rows[place].index) == occasion)
		return executed->rows[place].index;
	return MR_NO_ROW;
}

/* ---- latencies -------------------------------------------------------------------------------------- */

struct latencies {
	const struct mr_model *model; /* whole */
	struct mr_findings *findings;
	struct mr_finding *finding;
	struct inputs inputs;
	struct executed executed;

	int64_t *latency_ns; /* those that are known and not negative */
	uint32_t *node;      /* of each */
	uint32_t *row;       /* of each */
	uint32_t count;

	uint32_t *negative; /* by node */
	uint32_t *unknown;  /* by node */
	uint64_t negative_count, unknown_count, without_inputs;
};

static void free_latencies(struct latencies *latencies)
{
	free(latencies->inputs.first);
	free(latencies->inputs.sources);
	free(latencies->executed.first);
	free(latencies->executed.rows);
	free(latencies->latency_ns);
	free(latencies->node);
	free(latencies->row);
	free(latencies->negative);
	free(latencies->unknown);
}

static int start(struct latencies *latencies)
{
	const struct mr_model *model = latencies->model;
	size_t room = (size_t)model->node_executions.table.count + 1;
	size_t node_count = model->survey->definitions.nodes.count;

	latencies->latency_ns = malloc(room * sizeof *latencies->latency_ns);
	latencies->node = malloc(room * sizeof *latencies->node);
	latencies->row = malloc(room * sizeof *latencies->row);
	latencies->negative = calloc(node_count, sizeof *latencies->negative);
	latencies->unknown = calloc(node_count, sizeof *latencies->unknown);
	if (!latencies->latency_ns || !latencies->node || !latencies->row || !latencies->negative ||
	    !latencies->unknown)
		return -ENOMEM;
	int result = inputs_make(&model->survey->definitions, &latencies->inputs);
	return result < 0 ? result : executed_make(model, &latencies->executed);
}

/* One that waits for something is none. */
static bool is_constant(const struct latencies *latencies, uint32_t node)
{
	const struct mr_model *model = latencies->model;
	const uint32_t *first = latencies->inputs.first;

	return node && first[node] == first[node + 1] &&
	       strcmp(mr_model_text(model, model->survey->definitions.nodes.items[node].type),
		      "Const") == 0;
}

static void measure(struct latencies *latencies, uint32_t row)
{
	const struct mr_node_executions *executions = &latencies->model->node_executions;
	const struct inputs *inputs = &latencies->inputs;
	uint32_t node = executions->node[row];
	uint64_t occasion = occasion_of(executions, row);
	int64_t start_ns = executions->start_ns[row], ready_ns = INT64_MIN;

	bool is_known = executions->run[row] ? executions->run[row] != MR_FOLDING_RUN
					     : executions->step[row] != MR_NO_STEP;
	for (uint32_t i = inputs->first[node]; node && i < inputs->first[node + 1]; i++) {
		uint32_t source = inputs->sources[i]; /* 0: it is not defined */
		uint32_t input = source && is_known ? find_input(executions, &latencies->executed,
								 source, occasion, start_ns)
						    : MR_NO_ROW;

		if (input == MR_NO_ROW && is_constant(latencies, source))
			continue;
		if (input == MR_NO_ROW) {
			latencies->unknown[node]++;
			latencies->unknown_count++;
			return;
		}
		ready_ns = mr_max(ready_ns, end_of(executions, input));
	}
	if (ready_ns == INT64_MIN) {
		latencies->without_inputs++;
		return;
	}
	if (ready_ns > start_ns) {
		latencies->negative[node]++;
		latencies->negative_count++;
		return;
	}
	latencies->latency_ns[latencies->count] = start_ns - ready_ns;
	latencies->node[latencies->count] = node;
	latencies->row[latencies->count++] = row;
}

/* Of the executions that begin in the window. */
static void measure_all(struct latencies *latencies, const struct mr_model *model)
{
	const struct mr_node_executions *executions = &latencies->model->node_executions;
	struct mr_window window = mr_model_window(model);
	const bool *processes = model->part.processes;

	for (uint32_t row = 0; row < executions->table.count; row++) {
		uint32_t process = model->survey->tracks.items[executions->track[row]].process;

		if (executions->start_ns[row] >= window.first_ns &&
		    (executions->start_ns[row] < window.last_ns ||
		     window.last_ns == model->survey->last_ns) &&
		    (!processes || processes[process]))
			measure(latencies, row);
	}
}

/* ---- tables ----------------------------------------------------------------------------------------- */

/* Adds the counts of nodes to the last two columns of the last table. */
static int add_counts(const struct latencies *latencies, const struct mr_statistic *statistics,
		      const uint32_t *group_of, uint32_t group_count)
{
	const struct mr_finding *finding = latencies->finding;
	const struct mr_finding_table *table = finding->tables.items[finding->tables.count - 1];
	size_t node_count = latencies->model->survey->definitions.nodes.count;
	mr_auto(free) int64_t *counts = calloc(2 * (size_t)group_count + 1, sizeof *counts);

	if (!counts)
		return -ENOMEM;
	for (size_t i = 0; i < node_count; i++) {
		counts[2 * (size_t)group_of[i]] += latencies->negative[i];
		counts[2 * (size_t)group_of[i] + 1] += latencies->unknown[i];
	}
	for (uint32_t row = 0; row < table->row_count; row++) {
		union mr_value *cells = mr_finding_value(table, row, table->column_count - 2);
		const int64_t *of_group = &counts[2 * (size_t)statistics[row].group];

		cells[0].number = of_group[0];
		cells[1].number = of_group[1];
	}
	return 0;
}

/* What took longest, of the rows of the table that were longest in all. */
static int prove(const struct latencies *latencies, const struct mr_statistic *statistics,
		 uint32_t count)
{
	const struct mr_model *model = latencies->model;

	for (uint32_t i = 0; i < count && i < EVIDENCE; i++) {
		uint32_t row = latencies->row[statistics[i].longest];
		uint32_t node = model->node_executions.node[row];
		const struct mr_track *track =
			&model->survey->tracks.items[model->node_executions.track[row]];
		int64_t latency_ns = latencies->latency_ns[statistics[i].longest];
		struct mr_evidence evidence = {
			.what = mr_node_text(model,
					     model->survey->definitions.nodes.items[node].name),
			.track = model->node_executions.track[row],
			.pid = model->survey->processes.items[track->process].pid,
			.tid = track->tid,
			.start_ns = model->node_executions.start_ns[row] - latency_ns,
			.duration_ns = latency_ns,
		};

		if (mr_finding_prove(latencies->finding, evidence) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* By groups of nodes; `look` lacks the input. */
static int add_table(struct latencies *latencies, struct mr_breakdown look,
		     const uint32_t *group_of, uint32_t group_count, bool is_proof)
{
	mr_auto(free) struct mr_statistic *statistics = NULL;
	uint32_t count;

	look.input = (struct mr_statistics_input){
		latencies->count, latencies->latency_ns, NULL, latencies->node, group_of,
		group_count};
	int result = mr_breakdown_add(latencies->model, latencies->findings, latencies->finding,
				      &look, &statistics, &count);
	if (result == 0)
		result = add_counts(latencies, statistics, group_of, group_count);
	return result < 0 || !is_proof ? result : prove(latencies, statistics, count);
}

static int add_tables(struct latencies *latencies)
{
	mr_auto(type_groups) struct mr_type_groups types = {0};
	mr_auto(node_groups) struct mr_node_groups groups = {0};

	if (mr_type_groups_make(latencies->model, latencies->findings, &types) < 0 ||
	    mr_node_groups_make(latencies->model, &groups) < 0)
		return -ENOMEM;
	int result = add_table(latencies,
			       (struct mr_breakdown){.id = "by_node",
						     .title = "By node",
						     .columns = node_columns,
						     .column_count = mr_countof(node_columns),
						     .name_count = MR_NODE_CELLS,
						     .name = mr_name_node,
						     .groups = &groups},
			       groups.of_node, mr_node_groups_count(&groups), true);
	if (result == 0)
		result = add_table(latencies,
				   (struct mr_breakdown){.id = "by_type",
							 .title = "By type",
							 .columns = type_columns,
							 .column_count = mr_countof(type_columns),
							 .name_count = 1,
							 .name = mr_name_type,
							 .groups = &types},
				   types.of_node, types.count, false);
	return result;
}

static int say(const struct latencies *latencies)
{
	return mr_finding_say(
		latencies->findings, latencies->finding, MR_SEVERITY_FINE,
		"Latency is the time from the end of a node's last input to its start. It is "
		"known for %u executions, %llu of which began before an input had ended. It is "
		"not known where an input was not executed in the same run or step (%llu), "
		"nor for nodes without inputs other than constants (%llu).",
		latencies->count, (unsigned long long)latencies->negative_count,
		(unsigned long long)latencies->unknown_count,
		(unsigned long long)latencies->without_inputs);
}

/* ---- all together ----------------------------------------------------------------------------------- */

static int tell(struct latencies *latencies)
{
	latencies->finding = mr_finding_begin(latencies->findings, "latency");
	if (!latencies->finding)
		return -ENOMEM;
	int result = say(latencies);
	return result < 0 ? result : add_tables(latencies);
}

int mr_analyse_latency(const struct mr_model *model, struct mr_findings *findings)
{
	struct latencies latencies = {.model = mr_model_whole(model), .findings = findings};

	if (model->survey->definitions.edges.count == 0 || model->node_executions.table.count == 0)
		return 0;
	int result = start(&latencies);
	if (result == 0) {
		measure_all(&latencies, model);
		result = tell(&latencies);
	}
	free_latencies(&latencies);
	return result < 0 ? mr_fail_errno(-result, "analyse the latency of operations") : 0;
}
