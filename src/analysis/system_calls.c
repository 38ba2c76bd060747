/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/analysis.h"

#include <inttypes.h>
#include <string.h>

#include "analysis/cause/waiting.h"
#include "analysis/finding/breakdown.h"
#include "analysis/finding/tally.h"
#include "base/error.h"

enum {
	BRIEF_ROWS = 10
};

static const struct mr_finding_column columns[] = {
	{"call", "system call", MR_UNIT_TEXT, 0},
	MR_FLAT_COLUMNS,
	{"blocked_ns", "blocked", MR_UNIT_NS, MR_COLUMN_SUM},
};

/* All numbers are below it. */
static uint32_t limit_of_numbers(const struct mr_system_calls *calls)
{
	uint32_t highest = 0;

	for (uint32_t row = 0; row < calls->table.count; row++)
		highest = mr_max(highest, calls->number[row]);
	return highest + 1;
}

/* Names by number, of the calls that occur. */
static int make_names(const struct mr_model *model, struct mr_findings *findings,
		      const char **names)
{
	const struct mr_system_calls *calls = &model->system_calls;

	for (uint32_t row = 0; row < calls->table.count; row++) {
		uint32_t number = calls->number[row];

		if (!names[number])
			names[number] = mr_system_call_text(model, findings, number);
		if (!names[number])
			return -ENOMEM;
	}
	return 0;
}

static void name_call(const struct mr_model *model, const void *groups, uint32_t group,
		      union mr_value *cells)
{
	const char *const *names = groups;

	(void)model;
	cells[0].text = names[group];
}

static void add_blocked(const struct mr_model *model, const struct mr_finding *finding,
			const struct mr_statistic *statistics, int64_t *blocked_ns)
{
	const struct mr_system_calls *calls = &model->system_calls;
	struct mr_finding_table *table = finding->tables.items[0];

	table->brief_rows = BRIEF_ROWS;
	for (uint32_t row = 0; row < calls->table.count; row++)
		mr_ns_add(&blocked_ns[calls->number[row]], calls->blocked_ns[row]);
	for (uint32_t row = 0; row < table->row_count; row++)
		mr_finding_value(table, row, mr_countof(columns) - 1)->number =
			blocked_ns[statistics[row].group];
}

/* Where not every call is known, the counts below must not be taken for the program's. */
static int say_what_is_missing(const struct mr_model *model, struct mr_findings *findings,
			       struct mr_finding *finding)
{
	const char *which = model->manifest->kernel_level.syscalls;
	uint64_t reduced = model->manifest->kernel_level.processes_reduced;

	if (model->manifest->kernel_level.all_reduced_since_ns)
		return mr_finding_say(
			findings, finding, MR_SEVERITY_FINE,
			"Only calls in which a thread blocked were recorded from some "
			"time on, of all processes: see the trace's health.");
	if (reduced)
		return mr_finding_say(
			findings, finding, MR_SEVERITY_FINE,
			"Of %" PRIu64 " process%s that made very many calls, only those in "
			"which a thread blocked were recorded from some time on: see the "
			"trace's health.",
			reduced, reduced == 1 ? "" : "es");
	if (which && strcmp(which, "blocking") == 0)
		return mr_finding_say(
			findings, finding, MR_SEVERITY_FINE,
			"Only calls in which a thread blocked were recorded, and of these "
			"the time in which it did.");
	return 0;
}

static int analyse(const struct mr_model *model, struct mr_findings *findings)
{
	const struct mr_system_calls *calls = &model->system_calls;
	struct mr_finding *finding = mr_finding_begin(findings, "system_calls");
	uint32_t numbers = limit_of_numbers(calls);
	mr_auto(free) const char **names = calloc(numbers, sizeof *names);
	mr_auto(free) int64_t *blocked_ns = calloc(numbers, sizeof *blocked_ns);
	mr_auto(free) uint32_t *identity = mr_make_identity(numbers);
	mr_auto(free) struct mr_statistic *statistics = NULL;
	uint32_t count;

	if (!finding || !names || !blocked_ns || !identity ||
	    make_names(model, findings, names) < 0)
		return -ENOMEM;
	if (say_what_is_missing(model, findings, finding) < 0)
		return -ENOMEM;
	const struct mr_breakdown by_call = {
		.id = "by_call",
		.title = "By name",
		.columns = columns,
		.column_count = mr_countof(columns),
		.name_count = 1,
		.name = name_call,
		.groups = names,
		.input = {.row_count = calls->table.count,
			  .duration_ns = calls->duration_ns,
			  .key = calls->number,
			  .group_of = identity,
			  .group_count = numbers},
	};
	int result = mr_breakdown_add(model, findings, finding, &by_call, &statistics, &count);
	if (result == 0)
		add_blocked(model, finding, statistics, blocked_ns);
	return result;
}

int mr_analyse_system_calls(const struct mr_model *model, struct mr_findings *findings)
{
	int result = model->system_calls.table.count ? analyse(model, findings) : 0;

	return result < 0 ? mr_fail_errno(-result, "analyse the system calls") : 0;
}
