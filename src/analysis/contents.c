/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/analysis.h"

#include <inttypes.h>

#include "analysis/device_order.h"
#include "base/error.h"
#include "base/sort.h"

static int add_events(const struct mr_model *model, struct mr_findings *findings,
		      struct mr_finding *finding)
{
	static const struct mr_finding_column columns[] = {
		{"event", "event", MR_UNIT_TEXT, 0},
		{"level", "level", MR_UNIT_TEXT, 0},
		{"count", "count", MR_UNIT_COUNT, MR_COLUMN_BREAKDOWN},
	};
	const struct mr_survey *survey = model->survey;
	uint32_t kinds = 0, row = 0;

	for (int id = 0; id < 256; id++)
		kinds += survey->event_counts[id] != 0;
	struct mr_finding_table *table = mr_finding_add_table(findings, finding, "events", "Events",
							      columns, mr_countof(columns), kinds);
	if (!table)
		return -ENOMEM;
	for (int id = 0; id < 256; id++) {
		if (survey->event_counts[id] == 0)
			continue;
		mr_finding_value(table, row, 0)->text = mr_event_table[id].name;
		mr_finding_value(table, row, 1)->text = mr_level_name(mr_event_table[id].level);
		mr_finding_value(table, row++, 2)->number = (int64_t)survey->event_counts[id];
	}
	table->wholes[2] = (int64_t)survey->event_count;
	mr_finding_check(table);
	return 0;
}

static void fill_process(const struct mr_model *model, uint32_t index, union mr_value *cells)
{
	static const char *const ends[] = {"not seen", "exit", "exec"};
	const struct mr_process *process = &model->survey->processes.items[index];
	bool is_recorder = process->number == MR_RECORDER_PROCESS;
	const char *program = process->program ? mr_model_text(model, process->program) : "?";

	cells[0].number = process->number ? process->number : MR_NO_VALUE;
	cells[1].number = process->pid;
	cells[2].text = is_recorder ? "(recorder)" : program;
	cells[3].number = process->thread_count;
	cells[4].number = (int64_t)process->event_count;
	cells[5].number = process->last_ns - process->first_ns;
	cells[6].text = is_recorder ? "" : ends[process->end];
}

/* By number, then those that the kernel level alone saw, in order of birth. The recorder's own stream is
 * listed too, so that the events sum up. */
static int add_processes(const struct mr_model *model, struct mr_findings *findings,
			 struct mr_finding *finding)
{
	static const struct mr_finding_column columns[] = {
		{"process", "process", MR_UNIT_NUMBER, 0},
		{"pid", "pid", MR_UNIT_NUMBER, 0},
		{"program", "program", MR_UNIT_TEXT, 0},
		{"threads", "threads", MR_UNIT_COUNT, MR_COLUMN_SUM},
		{"events", "events", MR_UNIT_COUNT, MR_COLUMN_BREAKDOWN},
		{"span_ns", "span", MR_UNIT_NS, 0},
		{"ended", "ended", MR_UNIT_TEXT, 0},
	};
	const struct mr_survey *survey = model->survey;
	uint32_t count = (uint32_t)survey->processes.count;
	mr_auto(free) struct mr_sort_item *order = calloc(2 * (size_t)count + 1, sizeof *order);
	struct mr_finding_table *table = mr_finding_add_table(
		findings, finding, "processes", "Processes", columns, mr_countof(columns), count);

	if (!table || !order)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++)
		order[i] = (struct mr_sort_item){survey->processes.items[i].number - 1, i};
	mr_sort(order, order + count, count);
	for (uint32_t i = 0; i < count; i++)
		fill_process(model, order[i].index, mr_finding_value(table, i, 0));
	table->wholes[4] = (int64_t)survey->event_count;
	mr_finding_check(table);
	return 0;
}

static uint64_t bound_of(const struct mr_survey *survey, const struct mr_clock_map *map)
{
	if (map->knot_count == 0)
		return MR_CLOCK_BOUND_UNKNOWN;
	if (map == survey->clocks->user)
		return mr_clock_max_bound_ns(map, survey->first_user_ticks,
					     survey->last_user_ticks);
	return mr_clock_max_bound_ns(map, map->knots[0].ticks,
				     map->knots[map->knot_count - 1].ticks);
}

static int add_clocks(const struct mr_model *model, struct mr_findings *findings,
		      struct mr_finding *finding)
{
	static const struct mr_finding_column columns[] = {
		{"clock", "clock", MR_UNIT_TEXT, 0},
		{"samples", "samples", MR_UNIT_COUNT, 0},
		{"knots", "knots", MR_UNIT_COUNT, 0},
		{"left_out", "left out", MR_UNIT_COUNT, 0},
		{"bound_ns", "exact within", MR_UNIT_NS, 0},
		{"ticks_per_second", "ticks/s", MR_UNIT_COUNT, 0},
	};
	const struct mr_survey *survey = model->survey;
	const struct mr_clocks *clocks = survey->clocks;
	struct mr_finding_table *table =
		mr_finding_add_table(findings, finding, "clocks", "Clocks", columns,
				     mr_countof(columns), clocks->map_count);

	if (!table)
		return -ENOMEM;
	for (uint32_t i = 0; i < clocks->map_count; i++) {
		const struct mr_clock_map *map = &clocks->maps[i];
		uint32_t name = survey->definitions.clocks.items[map->clock].name;
		uint64_t bound = bound_of(survey, map);
		union mr_value *cells = mr_finding_value(table, i, 0);

		cells[0].text = name ? mr_model_text(model, name) : "(no name)";
		cells[1].number = map->sample_count;
		cells[2].number = map->sample_count ? map->knot_count : 0;
		cells[3].number = map->left_out;
		cells[4].number = bound == MR_CLOCK_BOUND_UNKNOWN ? MR_NO_VALUE : (int64_t)bound;
		cells[5].number = map->knot_count ? (int64_t)mr_clock_frequency(map) : MR_NO_VALUE;
	}
	return 0;
}

/* Other readers of the trace know only the straight line of the metadata. */
static int add_linear_error(const struct mr_model *model, struct mr_findings *findings,
			    struct mr_finding *finding)
{
	const struct mr_survey *survey = model->survey;
	uint64_t error = mr_clocks_linear_error_ns(survey->clocks, survey->first_user_ticks,
						   survey->last_user_ticks);

	if (error == MR_CLOCK_BOUND_UNKNOWN)
		return mr_finding_say(findings, finding, MR_SEVERITY_NOTE,
				      "How far babeltrace2's nanoseconds are from the truth is not "
				      "known: there are too few clock samples.");
	return mr_finding_say(findings, finding, MR_SEVERITY_FINE,
			      "babeltrace2's nanoseconds lie within %" PRIu64 " ns of the truth.",
			      error);
}

int mr_analyse_contents(const struct mr_model *model, struct mr_findings *findings)
{
	struct mr_finding *finding = mr_findings_add(findings, "contents", "Contents");

	if (!finding || add_events(model, findings, finding) < 0 ||
	    add_processes(model, findings, finding) < 0 ||
	    add_clocks(model, findings, finding) < 0 ||
	    mr_tabulate_device_order(model, findings, finding) < 0 ||
	    add_linear_error(model, findings, finding) < 0)
		return mr_fail_errno(ENOMEM, "list the contents");
	return 0;
}
