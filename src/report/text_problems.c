/* SPDX-License-Identifier: Apache-2.0
 *
 * What is wrong, on as many lines as the screen has left:
 *
 *     verdict     2 problems cost 48.1% of the steps, device works 32.1%, other 19.8%
 *
 *     1. Launch bound: 2.44 s, 16.0% of the steps
 *        why             as long as there is room; that of the first always
 *        > remedy        at most two lines
 *     2. Compile and warm-up: 10.0 s, once, before the steps
 *        > remedy
 *     Look next: ...
 *
 * The most costly comes first. That the device works is no fault: unless it stands first, only the line above says how
 * much of the time it takes.
 */
#include <inttypes.h>
#include <string.h>

#include "base/format.h"
#include "report/text.h"

enum {
	SHOWN = 3,
	INDENT = 3,
	REMEDY_INDENT = 5,
	REMEDY_LINES = 2,
	FIRST_WHY_LINES = 2, /* at least, if it needs them */
	SHORTEST_PLACE = 10, /* columns */
};

/* ---- the verdict ------------------------------------------------------------------------------------ */

static bool is_nothing(const struct mr_problem *problem)
{
	return strcmp(problem->key, "nothing_found") == 0;
}

/* What the time of the diagnosis goes to; sums to its whole. */
struct account {
	unsigned fault_count;
	int64_t fault_ns;
	int64_t device_ns;
	int64_t other_ns;
};

static struct account make_account(const struct mr_diagnosis *diagnosis)
{
	struct account account = {0};

	for (size_t i = 0; i < diagnosis->problems.count; i++) {
		const struct mr_problem *problem = &diagnosis->problems.items[i];

		if (problem->outside_ns || is_nothing(problem))
			continue;
		if (problem->is_verdict) {
			account.device_ns += problem->time_ns;
		} else {
			account.fault_count++;
			account.fault_ns += problem->time_ns;
		}
	}
	account.other_ns = diagnosis->whole_ns - account.fault_ns - account.device_ns;
	return account;
}

/* ", device works 32.1%"; nothing where there is none of it. */
static void add_share(FILE *text, const char *what, int64_t part_ns, int64_t whole_ns)
{
	char share[MR_FORMAT_BYTES];

	mr_format_percent(share, part_ns, whole_ns);
	if (part_ns > 0)
		fprintf(text, ", %s %s", what, share);
}

static void describe_account(FILE *text, const struct account *account,
			     const struct mr_diagnosis *diagnosis)
{
	char share[MR_FORMAT_BYTES];

	mr_format_percent(share, account->fault_count ? account->fault_ns : account->device_ns,
			  diagnosis->whole_ns);
	if (account->fault_count && account->fault_ns == 0) {
		fprintf(text, "%u problem%s", account->fault_count,
			mr_plural(account->fault_count));
		add_share(text, "device works", account->device_ns, diagnosis->whole_ns);
	} else if (account->fault_count) {
		fprintf(text, "%u problem%s cost%s %s of the %s", account->fault_count,
			mr_plural(account->fault_count), account->fault_count == 1 ? "s" : "",
			share, diagnosis->of);
		add_share(text, "device works", account->device_ns, diagnosis->whole_ns);
	} else if (account->device_ns) {
		fprintf(text, "the device works for %s of the %s", share, diagnosis->of);
	} else {
		fprintf(text, "no problem found in the %s", diagnosis->of);
		return;
	}
	add_share(text, "other", account->other_ns, diagnosis->whole_ns);
}

size_t mr_page_print_verdict(const struct mr_page *page, const struct mr_diagnosis *diagnosis)
{
	const struct account account = make_account(diagnosis);
	char line[MR_SCREEN_COLUMNS + 1] =
		"none: the trace does not show what the program's threads did";

	if (diagnosis->problems.count && is_nothing(&diagnosis->problems.items[0]))
		return 0; /* its title says so */
	if (diagnosis->problems.count) {
		FILE *text = fmemopen(line, sizeof line, "w");

		if (!text)
			return 0;
		describe_account(text, &account, diagnosis);
		fclose(text);
	}
	mr_page_print_line(page, "verdict", line);
	return 1;
}

/* ---- problems --------------------------------------------------------------------------------------- */

/* Those that the screen shows, and the lines of each. */
struct shown {
	const struct mr_problem *problems[SHOWN];
	size_t why_lines[SHOWN];
	size_t count;
};

static void choose(const struct mr_diagnosis *diagnosis, struct shown *shown)
{
	shown->count = 0;
	for (size_t i = 0; i < diagnosis->problems.count && shown->count < SHOWN; i++)
		if (i == 0 || !diagnosis->problems.items[i].is_verdict)
			shown->problems[shown->count++] = &diagnosis->problems.items[i];
}

static size_t count_lines(const struct mr_page *page, const char *text, size_t indent,
			  size_t max_lines)
{
	return text && *text ? mr_page_wrap_lines(page, text, indent, max_lines, false) : 0;
}

/* Titles and remedies always; the reasons in their order, as long as there is room for all of one. */
static void share_room(const struct mr_page *page, struct shown *shown, size_t room)
{
	size_t left = room;

	for (size_t i = 0; i < shown->count; i++)
		left -= mr_min(left, 1 + count_lines(page, shown->problems[i]->remedy,
						     REMEDY_INDENT, REMEDY_LINES));
	for (size_t i = 0; i < shown->count; i++) {
		size_t wanted = count_lines(page, shown->problems[i]->why, INDENT, room);

		if (i == 0)
			wanted = mr_min(wanted, mr_max(left, (size_t)FIRST_WHY_LINES));
		shown->why_lines[i] = wanted <= left || i == 0 ? wanted : 0;
		left -= mr_min(left, shown->why_lines[i]);
	}
}

/* " (2700 device kernels)", if the line has room for some of it. */
static void print_where(const struct mr_page *page, const char *where, size_t column)
{
	size_t room = page->style->width > column + 3 ? page->style->width - column - 3 : 0;
	char fitted[4 * room + 4];

	if (room < SHORTEST_PLACE)
		return;
	mr_text_fit(fitted, where, room);
	fputs(" (", page->file);
	mr_page_put(page, fitted);
	fputc(')', page->file);
}

/* "1. Launch bound: 2.44 s, 16.0% of the steps", and where, if no sentence below says so. */
static void print_title(const struct mr_page *page, const struct mr_diagnosis *diagnosis,
			const struct mr_problem *problem, size_t number, bool is_explained)
{
	char time[MR_FORMAT_BYTES], share[MR_FORMAT_BYTES], cost[4 * MR_FORMAT_BYTES];

	mr_format_ns(time, problem->time_ns, true);
	mr_format_percent(share, problem->time_ns, diagnosis->whole_ns);
	if (problem->cost)
		snprintf(cost, sizeof cost, ": %s", problem->cost);
	else if (problem->outside_ns)
		snprintf(cost, sizeof cost, ": %s, once, before the %s", time, diagnosis->of);
	else
		snprintf(cost, sizeof cost, ": %s, %s of the %s", time, share, diagnosis->of);
	fprintf(page->file, "%s%zu. %s%s", mr_page_colour(page, MR_BOLD), number, problem->title,
		mr_page_colour(page, MR_NORMAL));
	mr_page_put(page, cost);
	if (!is_explained && *problem->where)
		print_where(page, problem->where,
			    strlen("1. ") + mr_text_width(problem->title) + mr_text_width(cost));
	fputc('\n', page->file);
}

static void print_problem(const struct mr_page *page, const struct mr_diagnosis *diagnosis,
			  const struct shown *shown, size_t i)
{
	const struct mr_problem *problem = shown->problems[i];

	if (is_nothing(problem))
		fprintf(page->file, "%s%s%s\n", mr_page_colour(page, MR_BOLD), problem->title,
			mr_page_colour(page, MR_NORMAL));
	else
		print_title(page, diagnosis, problem, i + 1, shown->why_lines[i] > 0);
	if (shown->why_lines[i]) {
		fprintf(page->file, "%*s", INDENT, "");
		mr_page_wrap_lines(page, problem->why, INDENT, shown->why_lines[i], true);
	}
	if (problem->remedy && *problem->remedy) {
		fprintf(page->file, "%*s> ", INDENT, "");
		mr_page_wrap_lines(page, problem->remedy, REMEDY_INDENT, REMEDY_LINES, true);
	}
}

/* ---- where to look next ----------------------------------------------------------------------------- */

/* The finding that has the numbers of a problem. */
static const char *section_of(const char *key)
{
	static const struct {
		const char *key;
		const char *section;
	} sections[] = {
		{"memory_growth", "memory"},
		{"memory_peak", "memory"},
		{"input_bound", "input"},
		{"slow_worker", "threads"},
		{"launch_bound", "device_operations"},
		{"device_limit", "device_operations"},
		{"ping_pong", "device_operations"},
		{"synchronisation", "calls"},
		{"lock_contention", "waits"},
		{"gil_bound", "waits"},
		{"checkpoint", "input_output"},
		{"throttled", "threads"},
		{"oversubscribed", "preemption"},
		{"other_process", "preemption"},
		{"python_bound", "threads"},
		{"retracing", "operations"},
		{"call_overhead", "operations"},
		{"warm_up", "steps"},
		{"copies", "device_operations"},
		{"waiting", "waits"},
	};

	for (size_t i = 0; i < mr_countof(sections); i++)
		if (strcmp(sections[i].key, key) == 0)
			return sections[i].section;
	return "critical_path";
}

static void print_next(const struct mr_page *page, const struct mr_findings *findings,
		       const struct mr_problem *first)
{
	const struct mr_finding *section =
		mr_findings_find(findings, first ? section_of(first->key) : "overview");
	char line[2 * MR_SCREEN_COLUMNS] = "Look next:";
	size_t length = strlen(line);

	if (section)
		length += (size_t)snprintf(line + length, sizeof line - length, " \"%s\" below;",
					   section->title);
	length += (size_t)snprintf(line + length, sizeof line - length, " millrace view");
	if (first && first->evidence.count) {
		int64_t us = (first->evidence.items[0].start_ns - page->summary->first_ns) / 1000;

		snprintf(line + length, sizeof line - length, " at %" PRId64 ".%06" PRId64 " s",
			 us / 1000000, us % 1000000);
	}
	mr_page_wrap_lines(page, line, 0, 1, true);
}

void mr_page_print_problems(const struct mr_page *page, const struct mr_findings *findings,
			    size_t room)
{
	const struct mr_diagnosis *diagnosis = &findings->diagnosis;
	struct shown shown;

	choose(diagnosis, &shown);
	share_room(page, &shown, room > 1 ? room - 1 : 0);
	for (size_t i = 0; i < shown.count; i++)
		print_problem(page, diagnosis, &shown, i);
	print_next(page, findings, shown.count ? shown.problems[0] : NULL);
}
