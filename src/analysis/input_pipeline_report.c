/* SPDX-License-Identifier: Apache-2.0
 *
 * Tells of the input pipeline: how much of the steps went by waiting for the next element, and what its stages did.
 */
#include <inttypes.h>
#include <string.h>

#include "analysis/analysis.h"
#include "analysis/input_loaders.h"
#include "analysis/input_pipeline.h"
#include "base/error.h"
#include "base/format.h"

enum {
	NOTABLE_PERMILLE = 50, /* waiting for less is no matter */
};

static const struct mr_finding_column taken_columns[] = {
	{"pid", "pid", MR_UNIT_NUMBER, 0},
	{"taken", "elements taken", MR_UNIT_COUNT, MR_COLUMN_SUM},
	{"wait_ns", "waited", MR_UNIT_NS, MR_COLUMN_SUM},
	{"step_ns", "steps", MR_UNIT_NS, MR_COLUMN_SUM},
	{"step_wait_ns", "waited in steps", MR_UNIT_NS, MR_COLUMN_SUM},
	{"step_wait_permille", "share", MR_UNIT_PERMILLE, 0},
};
static const struct mr_finding_column stage_columns[] = {
	{"stage", "stage", MR_UNIT_TEXT, MR_COLUMN_PATH},
	{"path", "path", MR_UNIT_TEXT, MR_COLUMN_DATA},
	{"pid", "pid", MR_UNIT_NUMBER, 0},
	{"elements", "elements", MR_UNIT_COUNT, MR_COLUMN_SUM | MR_COLUMN_SPARE},
	{"total_ns", "time", MR_UNIT_NS, MR_COLUMN_BREAKDOWN},
	{"run_ns", "running", MR_UNIT_NS, MR_COLUMN_SUM},
	{"runnable_ns", "runnable", MR_UNIT_NS, MR_COLUMN_SUM | MR_COLUMN_SPARE},
	{"blocked_ns", "blocked", MR_UNIT_NS, MR_COLUMN_SUM},
	{"unknown_ns", "unknown", MR_UNIT_NS, MR_COLUMN_SUM | MR_COLUMN_RARE | MR_COLUMN_SPARE},
	{"function_wait_ns", "for function", MR_UNIT_NS, MR_COLUMN_SUM | MR_COLUMN_SPARE},
	{"buffer_wait_ns", "waiting", MR_UNIT_NS, MR_COLUMN_SUM},
	{"pace_ns", "each", MR_UNIT_NS, 0},
	{"parallelism", "parallel", MR_UNIT_NUMBER, 0},
	{"buffer_limit", "buffer", MR_UNIT_NUMBER, 0},
	{"buffered_thousandths", "filled", MR_UNIT_THOUSANDTHS, 0},
	{"is_ahead", "ahead", MR_UNIT_NUMBER, MR_COLUMN_DATA},
	{"is_autotuned", "autotuned", MR_UNIT_NUMBER, MR_COLUMN_DATA},
	{"iterators", "iterators", MR_UNIT_COUNT, MR_COLUMN_SUM | MR_COLUMN_SPARE},
};

struct study {
	const struct mr_model *model;
	struct mr_findings *findings;
	struct mr_finding *finding;
	const struct mr_input_pipeline *pipeline;
};

static const char *name_of(const struct mr_model *model, const struct mr_input_stage *stage)
{
	const char *path = mr_model_text(model, stage->path);
	const char *name = path;

	for (const char *at = path; (at = strstr(at, "::")); at += 2)
		name = at + 2;
	return *name ? name : "(not known)";
}

/* ---- sentences ------------------------------------------------------------------------------------------ */

static int say_slowest(const struct study *study, uint32_t process, enum mr_severity severity)
{
	uint32_t slowest = mr_input_slowest_stage(study->pipeline, process);
	char pace[MR_FORMAT_BYTES];

	if (slowest == MR_NO_ROW)
		return 0;
	const struct mr_input_stage *stage = &study->pipeline->stages.items[slowest];
	mr_format_ns(pace, mr_input_stage_pace_ns(study->pipeline, stage), false);
	if (stage->parallelism != MR_NO_ORDINAL)
		return mr_finding_say(
			study->findings, study->finding, severity,
			"Its slowest stage is %s: %s for each element that the program "
			"takes, with up to %u elements at a time.",
			name_of(study->model, stage), pace, stage->parallelism);
	return mr_finding_say(
		study->findings, study->finding, severity,
		"Its slowest stage is %s: %s for each element that the program takes, "
		"one element at a time.",
		name_of(study->model, stage), pace);
}

static int say_taken(const struct study *study, const struct mr_input_taken *taken)
{
	int64_t permille = mr_permille(taken->wait_step_ns, taken->step_ns);
	uint32_t pid = study->model->survey->processes.items[taken->process].pid;
	char wait[MR_FORMAT_BYTES], all[MR_FORMAT_BYTES];
	enum mr_severity severity =
		permille >= NOTABLE_PERMILLE ? MR_SEVERITY_NOTE : MR_SEVERITY_FINE;
	int result;

	mr_format_ns(wait, taken->step_ns ? taken->wait_step_ns : taken->wait_ns, false);
	mr_format_ns(all, taken->step_ns, false);
	if (taken->step_ns == 0)
		result = mr_finding_say(study->findings, study->finding, MR_SEVERITY_FINE,
					"Process %u waited %s for %" PRIu64
					" elements of its input.",
					pid, wait, taken->take_count);
	else
		result = mr_finding_say(
			study->findings, study->finding, severity,
			"The steps of process %u spent %" PRId64 ".%" PRId64
			"%% of their time (%s of %s) waiting for the next element of the input.",
			pid, permille / 10, permille % 10, wait, all);
	return result < 0 ? result : say_slowest(study, taken->process, severity);
}

/* ---- tables --------------------------------------------------------------------------------------------- */

static int add_taken(const struct study *study)
{
	uint32_t count = (uint32_t)study->pipeline->taken.count;
	struct mr_finding_table *table = mr_finding_add_table(
		study->findings, study->finding, "taken", "Waiting for elements", taken_columns,
		mr_countof(taken_columns), count);

	if (!table)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++) {
		const struct mr_input_taken *taken = &study->pipeline->taken.items[i];
		union mr_value *cells = mr_finding_value(table, i, 0);

		cells[0].number = study->model->survey->processes.items[taken->process].pid;
		cells[1].number = (int64_t)taken->take_count;
		cells[2].number = taken->wait_ns;
		cells[3].number = taken->step_ns;
		cells[4].number = taken->wait_step_ns;
		cells[5].number = mr_permille(taken->wait_step_ns, taken->step_ns);
	}
	return 0;
}

static int64_t number_of(uint32_t ordinal)
{
	return ordinal == MR_NO_ORDINAL ? MR_NO_VALUE : ordinal;
}

static int fill_stage(const struct study *study, const struct mr_input_stage *stage,
		      union mr_value *cells)
{
	const struct mr_model *model = study->model;
	int64_t total_ns = 0;

	for (int i = 0; i < MR_INPUT_TIMES; i++)
		total_ns += stage->ns[i];
	cells[0].text = mr_region_print(&study->findings->region, "%*s%s", (int)stage->depth, "",
					name_of(model, stage));
	cells[1].text = mr_model_text(model, stage->path);
	cells[2].number = model->survey->processes.items[stage->process].pid;
	cells[3].number = (int64_t)stage->request_count;
	cells[4].number = total_ns;
	for (int i = 0; i < MR_INPUT_TIMES; i++)
		cells[5 + i].number = stage->ns[i];
	cells[11].number = mr_input_stage_pace_ns(study->pipeline, stage);
	cells[12].number = number_of(stage->parallelism);
	cells[13].number = number_of(stage->buffer_limit);
	cells[14].number = stage->buffer_reports
				   ? (int64_t)(1000 * stage->buffered / stage->buffer_reports)
				   : MR_NO_VALUE;
	cells[15].number = stage->is_ahead;
	cells[16].number = stage->is_autotuned;
	cells[17].number = stage->iterator_count;
	return cells[0].text ? 0 : -ENOMEM;
}

static int add_stages(const struct study *study)
{
	uint32_t count = (uint32_t)study->pipeline->stages.count;
	struct mr_finding_table *table =
		mr_finding_add_table(study->findings, study->finding, "stages", "Stages",
				     stage_columns, mr_countof(stage_columns), count);
	int result = table ? 0 : -ENOMEM;

	for (uint32_t i = 0; result == 0 && i < count; i++) {
		union mr_value *cells = mr_finding_value(table, i, 0);

		result = fill_stage(study, &study->pipeline->stages.items[i], cells);
		if (result == 0)
			table->wholes[4] += cells[4].number;
	}
	if (result == 0)
		mr_finding_check(table);
	return result;
}

static int tell(const struct study *study)
{
	int result = 0;

	for (size_t i = 0; result == 0 && i < study->pipeline->taken.count; i++)
		result = say_taken(study, &study->pipeline->taken.items[i]);
	if (result == 0)
		result = add_taken(study);
	return result < 0 ? result : add_stages(study);
}

int mr_analyse_input(const struct mr_model *model, struct mr_findings *findings)
{
	mr_auto(input_pipeline) struct mr_input_pipeline pipeline = {0};
	mr_auto(input_loaders) struct mr_input_loaders loaders = {0};
	struct study study = {model, findings, NULL, &pipeline};
	int result = mr_input_pipeline_make(model, &pipeline);

	if (result == 0)
		result = mr_input_loaders_make(model, &loaders);
	if (result == 0 && pipeline.stages.count + loaders.teams.count) {
		study.finding = mr_finding_begin(findings, "input");
		result = study.finding ? 0 : -ENOMEM;
	}
	if (result == 0 && pipeline.stages.count)
		result = tell(&study);
	if (result == 0 && loaders.teams.count)
		result = mr_input_loaders_tell(model, findings, study.finding, &loaders);
	return result < 0 ? mr_fail_errno(-result, "analyse the input pipeline") : 0;
}
