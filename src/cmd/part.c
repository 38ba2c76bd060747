/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/part.h"

#include <inttypes.h>
#include <string.h>

#include "analysis/steps.h"
#include "base/error.h"
#include "base/format.h"
#include "cmd/progress_line.h"

enum {
	NAMED = 8 /* an error lists at most this many alternatives */
};

/* ---- processes ------------------------------------------------------------------------------------ */

/* The last part of the program's path. */
static const char *program_of(const struct mr_model *model, const struct mr_process *process)
{
	const char *program = mr_model_text(model, process->program);
	const char *slash = strrchr(program, '/');

	return slash && slash[1] ? slash + 1 : program;
}

enum {
	NAME_WIDTH = 64
};
typedef char program_name[4 * NAME_WIDTH + 4];

/* The same as a terminal may be shown it. */
static const char *shown_program(const struct mr_model *model, const struct mr_process *process,
				 program_name to)
{
	mr_text_fit(to, program_of(model, process), NAME_WIDTH);
	return to;
}

/* "python3.11" is called "python", too. */
static bool is_version_of(const char *program, const char *text)
{
	size_t length = strlen(text);

	return length && strncmp(program, text, length) == 0 &&
	       program[length + strspn(program + length, "0123456789.-")] == '\0';
}

static bool has_name(const struct mr_model *model, const struct mr_process *process,
		     const char *text)
{
	return process->number != MR_RECORDER_PROCESS &&
	       (strcmp(text, mr_model_text(model, process->program)) == 0 ||
		is_version_of(program_of(model, process), text));
}

static bool has_pid(const struct mr_process *process, const char *text)
{
	char pid[16];

	snprintf(pid, sizeof pid, "%u", process->pid);
	return process->number != MR_RECORDER_PROCESS && strcmp(text, pid) == 0;
}

static int64_t recorded_ns(const struct mr_process *process)
{
	return process->last_ns - process->first_ns;
}

/* The pid of the program that was recorded: of what began first. */
static uint32_t main_pid(const struct mr_survey *survey)
{
	const struct mr_process *first = NULL;

	for (size_t i = 0; i < survey->processes.count; i++) {
		const struct mr_process *process = &survey->processes.items[i];

		if (process->number != MR_RECORDER_PROCESS &&
		    (!first || process->first_ns < first->first_ns))
			first = process;
	}
	return first ? first->pid : 0;
}

/* The program itself comes before others of its name; of those, the one that was recorded longest. */
static bool is_better(const struct mr_survey *survey, const struct mr_process *process,
		      const struct mr_process *best)
{
	bool is_main = process->pid == main_pid(survey);

	if (!best || is_main != (best->pid == main_pid(survey)))
		return !best || is_main;
	return recorded_ns(process) > recorded_ns(best);
}

static int fail_process(const struct mr_model *model, const char *text)
{
	const struct mr_survey *survey = model->survey;
	char *list = NULL;
	size_t length, named = 0;
	FILE *file = open_memstream(&list, &length);

	if (!file)
		return -ENOMEM;
	for (size_t i = 0; i < survey->processes.count; i++) {
		const struct mr_process *process = &survey->processes.items[i];

		if (process->number == MR_RECORDER_PROCESS || named++ >= NAMED)
			continue;
		fprintf(file, "%s%u (%s)", named > 1 ? ", " : "", process->pid,
			program_of(model, process));
	}
	if (named > NAMED)
		fprintf(file, " and %zu more", named - NAMED);
	fclose(file);
	int result = mr_fail(ENOENT, "no process '%s': there %s %s", text,
			     named == 1 ? "is" : "are", named ? list : "none");
	free(list);
	return result;
}

/* Says which process is meant by a name that several have. */
static void print_choice(const struct mr_model *model, const char *text,
			 const struct mr_process *best)
{
	const struct mr_survey *survey = model->survey;
	program_name name;
	uint32_t others = 0;

	for (size_t i = 0; i < survey->processes.count; i++) {
		const struct mr_process *process = &survey->processes.items[i];

		others += process->pid != best->pid && has_name(model, process, text);
	}
	if (others == 0)
		return;
	mr_progress_line_stop();
	fprintf(stderr, "millrace: %u processes match '%s': %u (%s) %s and is shown; the other%s",
		others + 1, text, best->pid, shown_program(model, best, name),
		best->pid == main_pid(survey) ? "is the program that was recorded"
					      : "was recorded longest",
		others == 1 ? " is " : "s are ");
	for (size_t i = 0, named = 0; i < survey->processes.count && named < NAMED; i++) {
		const struct mr_process *process = &survey->processes.items[i];

		if (process->pid != best->pid && has_name(model, process, text))
			fprintf(stderr, "%s%u (%s)", named++ ? ", " : "", process->pid,
				shown_program(model, process, name));
	}
	fprintf(stderr, others > NAMED ? " and %u more\n" : "\n", others - NAMED);
}

/* A pid is all programs that it was; a name is one process. */
static int choose_processes(const struct mr_model *model, const char *text, bool *chosen)
{
	const struct mr_survey *survey = model->survey;
	const struct mr_process *best = NULL;
	bool any = false;

	for (size_t i = 0; i < survey->processes.count; i++) {
		chosen[i] = has_pid(&survey->processes.items[i], text);
		any |= chosen[i];
	}
	for (size_t i = 0; !any && i < survey->processes.count; i++) {
		const struct mr_process *process = &survey->processes.items[i];

		if (has_name(model, process, text) && is_better(survey, process, best))
			best = process;
	}
	if (!any && !best)
		return fail_process(model, text);
	if (best) {
		chosen[best - survey->processes.items] = true;
		print_choice(model, text, best);
	}
	return 0;
}

/* The part of the window in which the chosen processes live; all of it where they live in none of it. */
static void choose_life(const struct mr_survey *survey, const bool *chosen,
			struct mr_window *window)
{
	struct mr_window life = {INT64_MAX, INT64_MIN};

	for (size_t i = 0; i < survey->processes.count; i++) {
		if (!chosen[i])
			continue;
		life.first_ns = mr_min(life.first_ns, survey->processes.items[i].first_ns);
		life.last_ns = mr_max(life.last_ns, survey->processes.items[i].last_ns);
	}
	life.first_ns = mr_max(life.first_ns, window->first_ns);
	life.last_ns = mr_min(life.last_ns, window->last_ns);
	if (life.first_ns < life.last_ns)
		*window = life;
}

/* ---- steps ---------------------------------------------------------------------------------------- */

static int compare_steps(const void *left, const void *right)
{
	const struct mr_step *a = left, *b = right;

	return (a->number > b->number) - (a->number < b->number);
}

/* "1 to 5, 7, 9 to 12": the existing step numbers. */
static void print_numbers(FILE *file, const struct mr_step *steps, size_t count)
{
	size_t named = 0;

	for (size_t i = 0, next; i < count; i = next) {
		for (next = i + 1; next < count && steps[next].number - steps[next - 1].number <= 1;
		     next++)
			;
		if (named++ == NAMED) {
			fputs(" and more", file);
			return;
		}
		fprintf(file, "%s%" PRIu64, i ? ", " : "", steps[i].number);
		if (steps[next - 1].number > steps[i].number)
			fprintf(file, " to %" PRIu64, steps[next - 1].number);
	}
}

static int fail_step(struct mr_step_list *list, uint64_t number)
{
	char *numbers = NULL;
	size_t length, count = list->steps.count;

	if (count == 0)
		return mr_fail(ENOENT,
			       "no step %" PRIu64
			       ": the program marks no steps, and none can be inferred",
			       number);
	FILE *file = open_memstream(&numbers, &length);
	if (!file)
		return -ENOMEM;
	qsort(list->steps.items, count, sizeof *list->steps.items, compare_steps);
	print_numbers(file, list->steps.items, count);
	fclose(file);
	int result = mr_fail(ENOENT, "no step %" PRIu64 ": there are %s", number, numbers);
	free(numbers);
	return result;
}

/* From when the first thread begins the step until the last has ended it, and devices what was launched in it. */
static int find_step(struct mr_step_list *list, uint64_t number, struct mr_window *ret_window)
{
	struct mr_window window = {INT64_MAX, INT64_MIN};
	uint32_t last_track = MR_NO_TRACK;

	for (size_t i = 0; i < list->steps.count; i++) {
		const struct mr_step *step = &list->steps.items[i];

		if (step->number != number)
			continue;
		if (step->track == last_track)
			return mr_fail(EINVAL,
				       "several steps have the number %" PRIu64 ": choose one with "
				       "--from and --to",
				       number);
		last_track = step->track;
		window.first_ns = mr_min(window.first_ns, step->start_ns);
		window.last_ns = mr_max(window.last_ns, step->start_ns + step->duration_ns);
		window.last_ns = mr_max(window.last_ns, step->device_end_ns);
	}
	if (last_track == MR_NO_TRACK)
		return fail_step(list, number);
	if (window.first_ns == window.last_ns)
		return mr_fail(EINVAL, "step %" PRIu64 " takes no time", number);
	*ret_window = window;
	return 0;
}

/* The steps as they go on, if there are any. */
static int choose_steps(const struct mr_model *model, struct mr_part *part)
{
	struct mr_step_list list = {0};
	struct mr_steady steady;
	int result = mr_step_list_make(model, part->processes, &list);

	if (result == 0)
		result = mr_steps_steady(model, &list, &steady);
	if (result > 0)
		part->window = steady.window;
	mr_step_list_free(&list);
	return mr_min(result, 0);
}

/* ---- time ----------------------------------------------------------------------------------------- */

static int choose_time(const struct mr_model *model, const struct mr_part_options *options,
		       struct mr_window *window)
{
	uint64_t span_ns = (uint64_t)(window->last_ns - window->first_ns);

	if (options->from_ns != MR_NOT_GIVEN && options->from_ns >= span_ns) {
		char span[MR_FORMAT_BYTES];

		mr_format_ns(span, (int64_t)span_ns, false);
		return mr_fail(EINVAL, "--from is after the end of the trace, at %s", span);
	}
	if (options->to_ns < span_ns)
		window->last_ns = model->survey->first_ns + (int64_t)options->to_ns;
	if (options->from_ns != MR_NOT_GIVEN)
		window->first_ns += (int64_t)options->from_ns;
	return 0;
}

/* ---- together ------------------------------------------------------------------------------------- */

static int choose(const struct mr_model *model, const struct mr_part_options *options, bool *chosen,
		  struct mr_part *part)
{
	bool has_time = options->from_ns != MR_NOT_GIVEN || options->to_ns != MR_NOT_GIVEN;
	struct mr_step_list list = {0};

	if (options->process) {
		int result = choose_processes(model, options->process, chosen);

		if (result < 0)
			return result;
		part->processes = chosen;
		if (!has_time)
			choose_life(model->survey, chosen, &part->window);
	}
	if (!has_time && options->step == MR_NOT_GIVEN && !options->whole)
		return choose_steps(model, part);
	if (options->step == MR_NOT_GIVEN)
		return choose_time(model, options, &part->window);
	int result = mr_step_list_make(model, part->processes, &list);
	if (result == 0)
		result = find_step(&list, options->step, &part->window);
	mr_step_list_free(&list);
	return result;
}

int mr_part_find(const struct mr_model *model, const struct mr_part_options *options,
		 struct mr_model **ret_cut)
{
	const struct mr_window whole = mr_model_window(model), recorded = mr_model_recorded(model);
	bool is_cut = options->step != MR_NOT_GIVEN || options->from_ns != MR_NOT_GIVEN ||
		      options->to_ns != MR_NOT_GIVEN;
	struct mr_part part = {.window = whole};

	/* The report covers only the time that the user asked to record. */
	if (!is_cut && recorded.first_ns < recorded.last_ns)
		part.window = recorded;
	mr_auto(free) bool *chosen = calloc(model->survey->processes.count + 1, sizeof *chosen);
	int result = chosen ? choose(model, options, chosen, &part) : -ENOMEM;
	bool is_whole = !part.processes && part.window.first_ns == whole.first_ns &&
			part.window.last_ns == whole.last_ns;
	*ret_cut = NULL;
	if (result == 0 && (is_cut || !is_whole))
		result = mr_model_cut(model, &part, ret_cut);
	return result == -ENOMEM ? mr_fail_errno(ENOMEM, "select a part of the trace") : result;
}

/* Of the processes that are looked at, which are one pid, the one that was recorded longest. */
static const struct mr_process *longest_of(const struct mr_model *cut)
{
	const struct mr_survey *survey = cut->survey;
	const struct mr_process *longest = NULL;

	for (size_t i = 0; i < survey->processes.count; i++) {
		const struct mr_process *process = &survey->processes.items[i];

		if (cut->part.processes[i] &&
		    (!longest || recorded_ns(process) > recorded_ns(longest)))
			longest = process;
	}
	return longest;
}

const char *mr_part_text(const struct mr_model *cut, const struct mr_part_options *options,
			 struct mr_region *region)
{
	bool has_step = options->step != MR_NOT_GIVEN;
	const char *step = has_step ? mr_region_print(region, "step %" PRIu64, options->step) : "";

	if (!cut->part.processes || !step)
		return step;
	const struct mr_process *process = longest_of(cut);
	return mr_region_print(region, "%s%sprocess %u (%s)", step, has_step ? " of " : "",
			       process->pid, program_of(cut, process));
}
