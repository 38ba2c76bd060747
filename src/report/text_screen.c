/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "base/format.h"
#include "report/text.h"

enum {
	LABEL_COLUMNS = 12,
	DOUBT_LINES = 2,
};

/* ---- what ran ------------------------------------------------------------------------------------- */

static size_t line_columns(const struct mr_page *page)
{
	return page->style->width > LABEL_COLUMNS ? page->style->width - LABEL_COLUMNS : 1;
}

void mr_page_print_line(const struct mr_page *page, const char *label, const char *text)
{
	size_t width = line_columns(page);
	char cut[4 * width + 4];

	mr_text_fit(cut, text, width);
	fprintf(page->file, "%-*s", LABEL_COLUMNS, label);
	mr_page_put(page, cut);
	fputc('\n', page->file);
}

static void print_recording(const struct mr_page *page, const char *wall)
{
	time_t seconds = (time_t)(page->summary->started_realtime_ns / 1000000000);
	char since[32], line[128];
	struct tm local;

	strftime(since, sizeof since, "%Y-%m-%d %H:%M:%S", localtime_r(&seconds, &local));
	snprintf(line, sizeof line, "still, since %s (%s so far)", since, wall);
	mr_page_print_line(page, "recording", line);
}

static void print_exit(const struct mr_page *page)
{
	const struct mr_summary *summary = page->summary;
	char wall[MR_FORMAT_BYTES], line[2 * MR_FORMAT_BYTES + 32];

	mr_format_ns(wall, summary->wall_ns, page->style->utf8);
	if (summary->is_recording) {
		print_recording(page, wall);
		return;
	}
	switch (summary->exit_kind) {
	case MR_EXIT_CODE:
		snprintf(line, sizeof line, "%s, exit status %d", wall, summary->exit_value);
		break;
	case MR_EXIT_SIGNAL:
		snprintf(line, sizeof line, "%s, killed by signal %d (%s)", wall,
			 summary->exit_value, strsignal(summary->exit_value));
		break;
	case MR_EXIT_UNKNOWN:
		snprintf(line, sizeof line, "%s", wall);
		break;
	}
	mr_page_print_line(page, "ran for", line);
}

/* Times as --from and --to take them. */
static void print_part(const struct mr_page *page)
{
	const struct mr_summary *summary = page->summary;
	int64_t first_ns = summary->window.first_ns - summary->first_ns;
	int64_t last_ns = summary->window.last_ns - summary->first_ns;
	bool is_steps = summary->start_up != NULL;
	char length[MR_FORMAT_BYTES], line[256];

	mr_format_ns(length, last_ns - first_ns, page->style->utf8);
	snprintf(line, sizeof line,
		 "%s%s%s, from %" PRId64 ".%09" PRId64 " s to %" PRId64 ".%09" PRId64 " s%s",
		 summary->part, *summary->part ? ", " : "", length, first_ns / 1000000000,
		 first_ns % 1000000000, last_ns / 1000000000, last_ns % 1000000000,
		 is_steps ? "; --whole: all" : "");
	mr_page_print_line(page, is_steps ? "steps" : "part", line);
}

static size_t print_around(const struct mr_page *page, const char *label, const char *text)
{
	if (!text || !*text)
		return 0;
	mr_page_print_line(page, label, text);
	return 1;
}

/* "3 processes", "process 812 'python3.11' and 40 others": what really ran may have been started by a script. */
static void describe_processes(char *text, size_t size, const struct mr_summary *summary,
			       const struct mr_diagnosis *diagnosis)
{
	uint32_t count = summary->process_count;

	if (count > 1 && diagnosis->process)
		snprintf(text, size, "%s and %u other%s", diagnosis->process, count - 1,
			 mr_plural(count - 1));
	else
		snprintf(text, size, "%u process%s", count, count == 1 ? "" : "es");
}

static void print_recorded(const struct mr_page *page, const struct mr_diagnosis *diagnosis)
{
	const struct mr_summary *summary = page->summary;
	char events[MR_FORMAT_BYTES], bytes[MR_FORMAT_BYTES], processes[160], line[320];
	char threads[MR_FORMAT_BYTES] = "no thread left events";

	mr_format_count(events, (int64_t)summary->event_count);
	mr_format_bytes(bytes, (int64_t)summary->event_bytes);
	if (summary->thread_count)
		snprintf(threads, sizeof threads, "%u thread%s", summary->thread_count,
			 mr_plural(summary->thread_count));
	describe_processes(processes, sizeof processes, summary, diagnosis);
	int length = snprintf(line, sizeof line, "%s, %s, %s event%s", processes, threads, events,
			      mr_plural(summary->event_count));
	if ((size_t)length + strlen(" in ") + strlen(bytes) <= line_columns(page))
		snprintf(line + length, sizeof line - (size_t)length, " in %s", bytes);
	mr_page_print_line(page, "recorded", line);
}

/* Returns the number of lines. */
static size_t print_summary(const struct mr_page *page, const struct mr_diagnosis *diagnosis)
{
	const struct mr_summary *summary = page->summary;
	size_t lines = 3;

	mr_page_print_line(page, "trace", summary->path);
	lines += print_around(page, "command", summary->command);
	print_exit(page);
	print_recorded(page, diagnosis);
	if (summary->part) {
		print_part(page);
		lines++;
	}
	lines += print_around(page, "before", summary->start_up);
	lines += print_around(page, "after", summary->end);
	return lines;
}

/* ---- the screen ------------------------------------------------------------------------------------- */

/* A trace that cannot be trusted is worth a line before all others. Returns the number of lines. */
static size_t print_doubts(const struct mr_page *page, const struct mr_findings *findings)
{
	const struct mr_finding *health = mr_findings_find(findings, "health");

	for (size_t i = 0; health && i < health->sentences.count; i++) {
		if (health->sentences.items[i].severity != MR_SEVERITY_WARNING)
			continue;
		fprintf(page->file, "%s!%s ", mr_page_colour(page, MR_YELLOW),
			mr_page_colour(page, MR_NORMAL));
		return mr_page_wrap_lines(page, health->sentences.items[i].text, 2, DOUBT_LINES,
					  true);
	}
	return 0;
}

void mr_page_print_screen(const struct mr_page *page, const struct mr_findings *findings)
{
	struct mr_text_style style = *page->style;
	const struct mr_page screen = {page->summary, &style, page->file};
	const struct mr_diagnosis *diagnosis = &findings->diagnosis;

	style.width = mr_min(style.width, (uint32_t)MR_SCREEN_COLUMNS);
	size_t lines = print_summary(&screen, diagnosis);
	if (diagnosis->problems.count == 0 && !mr_findings_find(findings, "overview"))
		return; /* `info`, which looks for no problems */
	lines += mr_page_print_verdict(&screen, diagnosis) + 1;
	fputc('\n', page->file);
	lines += print_doubts(&screen, findings);
	mr_page_print_problems(&screen, findings, MR_SCREEN_LINES - lines);
}
