/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls of GPU runtimes: functions by time, those that waited for a device, and what runtimes did besides.
 */
#include "analysis/analysis.h"

#include "analysis/finding/breakdown.h"
#include "base/error.h"

/* clang-format off */
static const struct mr_finding_column call_columns[] = {
	{"function", "function", MR_UNIT_TEXT, 0},
	MR_NESTED_COLUMNS(0),
};
static const struct mr_finding_column waiting_columns[] = {
	{"function", "function", MR_UNIT_TEXT, 0},
	MR_FLAT_COLUMNS,
};
static const struct mr_finding_column overhead_columns[] = {
	{"what", "what", MR_UNIT_TEXT, 0},
	MR_FLAT_COLUMNS,
};
/* clang-format on */

static int add_functions(const struct mr_model *model, struct mr_findings *findings,
			 struct mr_finding *finding, const uint32_t *identity)
{
	const struct mr_calls *calls = &model->calls;
	const struct mr_breakdown by_name = {
		.id = "by_name",
		.title = "By name",
		.columns = call_columns,
		.column_count = mr_countof(call_columns),
		.name_count = 1,
		.name = mr_name_string,
		.input = {calls->table.count, calls->duration_ns, calls->self_ns, calls->function,
			  identity, mr_strings_count(&model->survey->definitions.strings)},
	};

	return mr_breakdown_add(model, findings, finding, &by_name, NULL, NULL);
}

static bool is_waiting(const struct mr_calls *calls, uint32_t row)
{
	return calls->role[row] == MR_CALL_WAIT || calls->is_blocking[row];
}

static int add_waiting(const struct mr_model *model, struct mr_findings *findings,
		       struct mr_finding *finding, const uint32_t *identity)
{
	const struct mr_calls *calls = &model->calls;
	size_t room = calls->table.count;
	mr_auto(free) int64_t *duration_ns = malloc(room * sizeof *duration_ns);
	mr_auto(free) uint32_t *function = malloc(room * sizeof *function);
	uint32_t count = 0;

	if (!duration_ns || !function)
		return -ENOMEM;
	for (uint32_t row = 0; row < calls->table.count; row++) {
		if (!is_waiting(calls, row))
			continue;
		duration_ns[count] = calls->duration_ns[row];
		function[count++] = calls->function[row];
	}
	if (count == 0)
		return 0;
	const struct mr_breakdown waiting = {
		.id = "waiting",
		.title = "Calls that waited for a device",
		.columns = waiting_columns,
		.column_count = mr_countof(waiting_columns),
		.name_count = 1,
		.name = mr_name_string,
		.input = {count, duration_ns, NULL, function, identity,
			  mr_strings_count(&model->survey->definitions.strings)},
	};
	return mr_breakdown_add(model, findings, finding, &waiting, NULL, NULL);
}

/* Loading and compiling code, and what the runtime's own tracer takes: part of the calls in which it happens. */
static int add_overheads(const struct mr_model *model, struct mr_findings *findings,
			 struct mr_finding *finding, const uint32_t *identity)
{
	const struct mr_overheads *overheads = &model->overheads;
	const struct mr_breakdown by_name = {
		.id = "overheads",
		.title = "What the runtime did besides, within calls or beside them",
		.columns = overhead_columns,
		.column_count = mr_countof(overhead_columns),
		.name_count = 1,
		.name = mr_name_string,
		.input = {overheads->table.count, overheads->duration_ns, NULL, overheads->name,
			  identity, mr_strings_count(&model->survey->definitions.strings)},
	};

	if (overheads->table.count == 0)
		return 0;
	return mr_breakdown_add(model, findings, finding, &by_name, NULL, NULL);
}

int mr_analyse_calls(const struct mr_model *model, struct mr_findings *findings)
{
	if (model->calls.table.count == 0)
		return 0;
	struct mr_finding *finding = mr_finding_begin(findings, "calls");
	mr_auto(free) uint32_t *identity =
		mr_make_identity(mr_strings_count(&model->survey->definitions.strings));
	int result =
		finding && identity ? add_functions(model, findings, finding, identity) : -ENOMEM;
	if (result == 0)
		result = add_waiting(model, findings, finding, identity);
	if (result == 0)
		result = add_overheads(model, findings, finding, identity);
	return result < 0 ? mr_fail_errno(-result, "analyse the runtime calls") : 0;
}
