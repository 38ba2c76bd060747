/* SPDX-License-Identifier: Apache-2.0
 *
 * Tells of the steps of a run, whether they were marked or inferred, and how much of the time they are:
 *
 *     ├──── before ────┤├ step ┤├ between ┤├ step ┤├ step ┤├── after ──┤
 */
#include "analysis/analysis.h"

#include <inttypes.h>

#include "analysis/finding/breakdown.h"
#include "analysis/steps.h"
#include "base/error.h"

enum {
	NAMED = 3 /* so many functions are named */
};

/* clang-format off */
static const struct mr_finding_column thread_columns[] = {
	{"thread", "thread", MR_UNIT_TEXT, 0},
	{"pid", "pid", MR_UNIT_NUMBER, 0},
	{"tid", "tid", MR_UNIT_NUMBER, 0},
	MR_FLAT_COLUMNS,
};
/* clang-format on */
static const struct mr_finding_column phase_columns[] = {
	{"phase", "", MR_UNIT_TEXT, 0},
	{"time_ns", "time", MR_UNIT_NS, MR_COLUMN_BREAKDOWN},
};
static const struct mr_finding_column step_columns[] = {
	{"step", "step", MR_UNIT_NUMBER, 0},
	{"source", "source", MR_UNIT_TEXT, 0},
	{"thread", "thread", MR_UNIT_TEXT, 0},
	{"pid", "pid", MR_UNIT_NUMBER, 0},
	{"tid", "tid", MR_UNIT_NUMBER, 0},
	{"start_ns", "start", MR_UNIT_NUMBER, 0},
	{"duration_ns", "duration", MR_UNIT_NS, MR_COLUMN_BREAKDOWN},
	{"device_start_ns", "device start", MR_UNIT_NUMBER, 0},
	{"device_end_ns", "device end", MR_UNIT_NUMBER, 0},
};
static const struct mr_finding_column inference_columns[] = {
	{"pid", "pid", MR_UNIT_NUMBER, 0},
	{"from", "from", MR_UNIT_TEXT, 0},
	{"launches", "how many", MR_UNIT_COUNT, MR_COLUMN_SUM},
	{"period", "in a step", MR_UNIT_COUNT, 0},
	{"confidence_permille", "confidence", MR_UNIT_PERMILLE, 0},
	{"steps", "steps", MR_UNIT_COUNT, MR_COLUMN_SUM},
};

struct study {
	const struct mr_model *model;
	struct mr_findings *findings;
	struct mr_finding *finding;
	const struct mr_step_list *list;
};

static int add_threads(const struct study *study)
{
	uint32_t count = (uint32_t)study->list->steps.count;
	size_t track_count = study->model->survey->tracks.count;
	mr_auto(free) uint32_t *identity = mr_make_identity(track_count);
	mr_auto(free) int64_t *duration_ns = malloc(count * sizeof *duration_ns);
	mr_auto(free) uint32_t *track = malloc(count * sizeof *track);

	if (!identity || !duration_ns || !track)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++) {
		duration_ns[i] = study->list->steps.items[i].duration_ns;
		track[i] = study->list->steps.items[i].track;
	}
	const struct mr_breakdown by_thread = {
		.id = "by_thread",
		.title = "By thread",
		.columns = thread_columns,
		.column_count = mr_countof(thread_columns),
		.name_count = 3,
		.name = mr_name_track,
		.input = {count, duration_ns, NULL, track, identity, (uint32_t)track_count},
	};
	return mr_breakdown_add(study->model, study->findings, study->finding, &by_thread, NULL,
				NULL);
}

static int compare_starts(const void *left, const void *right)
{
	const struct mr_window *a = left, *b = right;

	return (a->first_ns > b->first_ns) - (a->first_ns < b->first_ns);
}

static int64_t clamp(int64_t ns, struct mr_window window)
{
	return mr_max(window.first_ns, mr_min(ns, window.last_ns));
}

/* The times of the steps in their order, as far as they lie in the window (in a damaged trace one may begin before it),
 * and how long at least one of them was going on: steps of several threads overlap. NULL without memory. */
static struct mr_window *sort_steps(const struct mr_step_list *list, struct mr_window window,
				    int64_t *ret_going_on_ns, int64_t *ret_last_ns)
{
	size_t count = list->steps.count;
	struct mr_window *times = malloc((count + 1) * sizeof *times);
	int64_t until_ns = INT64_MIN;

	*ret_going_on_ns = 0;
	for (size_t i = 0; times && i < count; i++) {
		const struct mr_step *step = &list->steps.items[i];

		times[i] = (struct mr_window){clamp(step->start_ns, window),
					      clamp(step->start_ns + step->duration_ns, window)};
	}
	if (times)
		qsort(times, count, sizeof *times, compare_starts);
	for (size_t i = 0; times && i < count; i++) {
		int64_t from_ns = mr_max(times[i].first_ns, until_ns);

		*ret_going_on_ns += mr_max(times[i].last_ns - from_ns, 0);
		until_ns = mr_max(until_ns, times[i].last_ns);
	}
	*ret_last_ns = until_ns;
	return times;
}

/* They divide the part of the trace that is looked at. */
static int add_phases(const struct study *study)
{
	struct mr_window window = mr_model_window(study->model);
	int64_t going_on_ns, last_ns;
	mr_auto(free) struct mr_window *times =
		sort_steps(study->list, window, &going_on_ns, &last_ns);
	struct mr_finding_table *table = mr_finding_add_table(
		study->findings, study->finding, "phases", "Before, in and after steps",
		phase_columns, mr_countof(phase_columns), MR_PHASE_COUNT);

	if (!times || !table)
		return -ENOMEM;
	const struct {
		const char *name;
		int64_t ns;
	} phases[MR_PHASE_COUNT] = {
		[MR_PHASE_BEFORE] = {"before the first step", times[0].first_ns - window.first_ns},
		[MR_PHASE_IN] = {"in steps", going_on_ns},
		[MR_PHASE_BETWEEN] = {"between steps", last_ns - times[0].first_ns - going_on_ns},
		[MR_PHASE_AFTER] = {"after the last step", window.last_ns - last_ns},
	};
	for (uint32_t i = 0; i < MR_PHASE_COUNT; i++) {
		union mr_value *cells = mr_finding_value(table, i, 0);

		cells[0].text = phases[i].name;
		cells[1].number = phases[i].ns;
	}
	table->wholes[1] = window.last_ns - window.first_ns;
	table->is_repetition = going_on_ns == table->wholes[1]; /* of a step */
	mr_finding_check(table);
	return 0;
}

static const char *const origins[] = {
	[MR_STEP_MARKED] = "marked",
	[MR_STEP_CALLED] = "called",
	[MR_STEP_INFERRED] = "inferred",
	[MR_STEP_TAKEN] = "taken",
};

static int64_t number_of(int64_t ns)
{
	return ns == MR_NO_TIME ? MR_NO_VALUE : ns;
}

/* One by one; texts have enough of the table above. */
static int add_steps(const struct study *study)
{
	uint32_t count = (uint32_t)study->list->steps.count;
	struct mr_finding_table *table =
		mr_finding_add_table(study->findings, study->finding, "steps", "Steps",
				     step_columns, mr_countof(step_columns), count);
	uint64_t sum_ns = 0;

	if (!table)
		return -ENOMEM;
	table->is_repetition = true;
	for (uint32_t i = 0; i < count; i++) {
		const struct mr_step *step = &study->list->steps.items[i];
		union mr_value *cells = mr_finding_value(table, i, 0);

		cells[0].number = (int64_t)step->number;
		cells[1].text = origins[step->origin];
		mr_name_track(study->model, NULL, step->track, &cells[2]);
		cells[5].number = step->start_ns;
		cells[6].number = step->duration_ns;
		cells[7].number = number_of(step->device_start_ns);
		cells[8].number = number_of(step->device_end_ns);
		sum_ns += (uint64_t)step->duration_ns;
	}
	table->wholes[6] = (int64_t)sum_ns;
	mr_finding_check(table);
	return 0;
}

static bool is_inferred(const struct study *study)
{
	for (size_t i = 0; i < study->list->inferences.count; i++)
		if (study->list->inferences.items[i].period.length)
			return true;
	return false;
}

static int add_inferences(const struct study *study)
{
	uint32_t count = (uint32_t)study->list->inferences.count;
	struct mr_finding_table *table = mr_finding_add_table(
		study->findings, study->finding, "inferred", "Inferred from what repeats",
		inference_columns, mr_countof(inference_columns), count);

	if (!table)
		return -ENOMEM;
	table->is_repetition = !is_inferred(study);
	for (uint32_t i = 0; i < count; i++) {
		const struct mr_inference *inference = &study->list->inferences.items[i];
		union mr_value *cells = mr_finding_value(table, i, 0);
		bool repeats = inference->period.length > 0;

		cells[0].number = study->model->survey->processes.items[inference->process].pid;
		cells[1].text = inference->is_of_operations ? "operations" : "launches";
		cells[2].number = inference->item_count;
		cells[3].number = repeats ? inference->period.length : MR_NO_VALUE;
		cells[4].number = repeats ? inference->period.confidence_permille : MR_NO_VALUE;
		cells[5].number = inference->step_count;
	}
	return 0;
}

/* Launches of all processes, if each launches the same thing all the time; 0 otherwise. */
static uint64_t count_uniform(const struct study *study)
{
	uint64_t count = 0;

	for (size_t i = 0; i < study->list->inferences.count; i++) {
		if (!study->list->inferences.items[i].is_uniform)
			return 0;
		count += study->list->inferences.items[i].item_count;
	}
	return count;
}

static int say_inference(const struct study *study)
{
	uint64_t uniform = count_uniform(study);

	if (!is_inferred(study) && uniform)
		return mr_finding_say(study->findings, study->finding, MR_SEVERITY_FINE,
				      "The program marks no steps. Its %" PRIu64
				      " launches are all alike, so they do not show where a step "
				      "begins.",
				      uniform);
	if (!is_inferred(study))
		return mr_finding_say(study->findings, study->finding, MR_SEVERITY_FINE,
				      "The program marks no steps, and none can be inferred: its "
				      "launches do not follow a repeating pattern.");
	return mr_finding_say(
		study->findings, study->finding, MR_SEVERITY_NOTE,
		"The program marks no steps. These are inferred from %s, which follow "
		"a repeating pattern.",
		study->list->inferences.items[0].is_of_operations
			? "the operations that it executes"
			: "its launches");
}

/* A framework may mark steps only while a profiler of its own looks. */
static int say_marked(const struct study *study)
{
	const struct mr_calls_marked calls = mr_model_whole(study->model)->calls_marked;

	if (calls.outside <= calls.count - calls.outside)
		return 0;
	return mr_finding_say(
		study->findings, study->finding, MR_SEVERITY_NOTE,
		"The program marks only some of its steps: %u of %u calls of the function that "
		"it calls most often lie outside them.",
		calls.outside, calls.count);
}

/* Each process has a function of its own. */
static int say_functions(const struct study *study)
{
	const struct mr_step_list *list = study->list;
	const char *names = NULL;
	uint32_t last = 0, named = 0;

	for (size_t i = 0; i < list->steps.count; i++) {
		uint32_t function = list->steps.items[i].function;

		if (!function || function == last || named > NAMED)
			continue;
		const char *name =
			named == NAMED ? "and others" : mr_model_text(study->model, function);
		names = names ? mr_region_print(&study->findings->region, "%s, %s", names, name)
			      : name;
		if (!names)
			return -ENOMEM;
		last = function;
		named++;
	}
	if (!names)
		return list->steps.count ? say_marked(study) : 0;
	return mr_finding_say(
		study->findings, study->finding, MR_SEVERITY_NOTE,
		list->steps.items[0].origin == MR_STEP_TAKEN
			? "The program marks no steps. The function that it calls most often takes "
			  "several elements of the input in a call; each of them begins a step: %s."
			: "The program marks no steps. A step is a call of the function that a "
			  "process "
			  "calls most often, with everything since the call before: %s.",
		names);
}

static int tell(const struct study *study)
{
	int result = study->list->inferences.count ? say_inference(study) : say_functions(study);

	if (result == 0 && study->list->steps.count)
		result = add_phases(study);
	if (result == 0 && study->list->steps.count)
		result = add_threads(study);
	if (result == 0)
		result = add_steps(study);
	if (result == 0 && study->list->inferences.count)
		result = add_inferences(study);
	return result;
}

int mr_analyse_steps(const struct mr_model *model, struct mr_findings *findings)
{
	struct mr_step_list list = {0};
	struct study study = {model, findings, NULL, &list};
	int result = mr_step_list_make(model, model->part.processes, &list);

	if (result == 0 && list.steps.count + list.inferences.count) {
		study.finding = mr_finding_begin(findings, "steps");
		result = study.finding ? tell(&study) : -ENOMEM;
	}
	mr_step_list_free(&list);
	return result < 0 ? mr_fail_errno(-result, "analyse the steps") : 0;
}
