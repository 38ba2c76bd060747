/* SPDX-License-Identifier: Apache-2.0
 *
 * Tells of loaders in processes of their own: how long the steps waited for them, and what they did.
 */
#include <string.h>

#include "analysis/finding/tally.h"
#include "analysis/input_loaders.h"
#include "base/format.h"

enum {
	NOTABLE_PERMILLE = 50, /* waiting for less is no matter */
};

static const struct mr_finding_column columns[] = {
	{"program", "process", MR_UNIT_TEXT, MR_COLUMN_TELLING},
	{"pid", "pid", MR_UNIT_NUMBER, MR_COLUMN_TELLING},
	{"of_pid", "for", MR_UNIT_NUMBER, 0},
	{"given", "ended", MR_UNIT_COUNT, MR_COLUMN_SUM},
	{"wait_ns", "waited", MR_UNIT_NS, MR_COLUMN_SUM},
	{"total_ns", "its time", MR_UNIT_NS, MR_COLUMN_BREAKDOWN},
	{"run_ns", "running", MR_UNIT_NS, MR_COLUMN_SUM},
	{"runnable_ns", "runnable", MR_UNIT_NS, MR_COLUMN_SUM},
	{"disk_ns", "disk", MR_UNIT_NS, MR_COLUMN_SUM},
	{"program_wait_ns", "program", MR_UNIT_NS, MR_COLUMN_SUM},
	{"blocked_ns", "blocked", MR_UNIT_NS, MR_COLUMN_SUM},
	{"unknown_ns", "unknown", MR_UNIT_NS, MR_COLUMN_SUM | MR_COLUMN_RARE | MR_COLUMN_SPARE},
};

enum {
	FIRST_TIME = 6, /* column of MR_LOADER_RUNS */
};

static int64_t total_of(const int64_t *ns)
{
	int64_t total_ns = 0;

	for (int i = 0; i < MR_LOADER_TIMES; i++)
		mr_ns_add(&total_ns, ns[i]);
	return total_ns;
}

/* ---- sentences ---------------------------------------------------------------------------------------- */

/* " (mostly sleep)": what they were blocked for; "" if they were not. NULL without memory. */
static const char *name_blocked(struct mr_findings *findings, const struct mr_loader_team *team)
{
	enum mr_wait_kind most = 0;

	for (int kind = 1; kind < MR_WAIT_COUNT; kind++)
		if (team->blocked_ns[kind] > team->blocked_ns[most])
			most = kind;
	return team->blocked_ns[most] == 0 ? ""
					   : mr_region_print(&findings->region, " (mostly %s)",
							     mr_wait_kind_name(most));
}

static int say_doing(struct mr_findings *findings, struct mr_finding *finding,
		     const struct mr_loader_team *team, enum mr_severity severity)
{
	const char *blocked = name_blocked(findings, team);
	char shares[MR_LOADER_TIMES][MR_FORMAT_BYTES];
	int64_t ns[MR_LOADER_TIMES] = {0};

	for (size_t i = 0; i < team->loaders.count; i++)
		for (int time = 0; time < MR_LOADER_TIMES; time++)
			mr_ns_add(&ns[time], team->loaders.items[i].ns[time]);
	int64_t total_ns = total_of(ns);
	if (total_ns <= 0 || !blocked)
		return blocked ? 0 : -ENOMEM;
	for (int time = 0; time < MR_LOADER_TIMES; time++)
		mr_format_percent(shares[time], ns[time], total_ns);
	return mr_finding_say(
		findings, finding, severity,
		"The loaders spent their time like this: running %s, waiting for a CPU "
		"%s, for a disk %s, for the program %s, otherwise blocked %s%s.",
		shares[MR_LOADER_RUNS], shares[MR_LOADER_RUNNABLE], shares[MR_LOADER_DISK],
		shares[MR_LOADER_FOR_PROGRAM], shares[MR_LOADER_BLOCKED], blocked);
}

static int say_team(const struct mr_model *model, struct mr_findings *findings,
		    struct mr_finding *finding, const struct mr_loader_team *team)
{
	enum mr_severity severity = mr_permille(team->wait_ns, team->whole_ns) >= NOTABLE_PERMILLE
					    ? MR_SEVERITY_NOTE
					    : MR_SEVERITY_FINE;
	char share[MR_FORMAT_BYTES], wait[MR_FORMAT_BYTES], all[MR_FORMAT_BYTES];

	mr_format_percent(share, team->wait_ns, team->whole_ns);
	mr_format_ns(wait, team->wait_ns, true);
	mr_format_ns(all, team->whole_ns, true);
	int result = mr_finding_say(
		findings, finding, severity,
		"%s process %u spent %s of %s time (%s of %s) waiting for %zu loader process%s.",
		team->has_steps ? "The steps of" : "The main thread of",
		model->survey->processes.items[team->process].pid, share,
		team->has_steps ? "their" : "its", wait, all, team->loaders.count,
		team->loaders.count == 1 ? "" : "es");
	return result < 0 ? result : say_doing(findings, finding, team, severity);
}

/* ---- table -------------------------------------------------------------------------------------------- */

static void fill_row(const struct mr_model *model, const struct mr_loader_team *team,
		     const struct mr_input_loader *loader, union mr_value *cells)
{
	const struct mr_process *processes = model->survey->processes.items;

	const char *program = mr_model_text(model, processes[loader->process].program);
	const char *slash = strrchr(program, '/');

	cells[0].text = slash ? slash + 1 : program;
	cells[1].number = processes[loader->process].pid;
	cells[2].number = processes[team->process].pid;
	cells[3].number = (int64_t)loader->given;
	cells[4].number = loader->waited_ns;
	cells[5].number = total_of(loader->ns);
	for (int i = 0; i < MR_LOADER_TIMES; i++)
		cells[FIRST_TIME + i].number = loader->ns[i];
}

static int add_table(const struct mr_model *model, struct mr_findings *findings,
		     struct mr_finding *finding, const struct mr_input_loaders *loaders)
{
	uint32_t count = 0, row = 0;

	for (size_t i = 0; i < loaders->teams.count; i++)
		count += (uint32_t)loaders->teams.items[i].loaders.count;
	struct mr_finding_table *table =
		mr_finding_add_table(findings, finding, "loaders", "Loader processes", columns,
				     mr_countof(columns), count);
	if (!table)
		return -ENOMEM;
	for (size_t i = 0; i < loaders->teams.count; i++) {
		const struct mr_loader_team *team = &loaders->teams.items[i];

		for (size_t j = 0; j < team->loaders.count; j++) {
			union mr_value *cells = mr_finding_value(table, row++, 0);

			fill_row(model, team, &team->loaders.items[j], cells);
			mr_ns_add(&table->wholes[5], cells[5].number);
		}
	}
	mr_finding_check(table);
	return 0;
}

int mr_input_loaders_tell(const struct mr_model *model, struct mr_findings *findings,
			  struct mr_finding *finding, const struct mr_input_loaders *loaders)
{
	int result = 0;

	for (size_t i = 0; result == 0 && i < loaders->teams.count; i++)
		result = say_team(model, findings, finding, &loaders->teams.items[i]);
	return result < 0 ? result : add_table(model, findings, finding, loaders);
}
