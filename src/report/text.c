/* SPDX-License-Identifier: Apache-2.0 */
#include "report/report.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "base/format.h"
#include "base/utf8.h"

enum {
	EVIDENCE_WIDTH = 240 /* of the text of one, over several lines */
};

struct page {
	const struct mr_summary *summary;
	const struct mr_text_style *style;
	FILE *file;
};

static const char *code(const struct page *page, const char *colour)
{
	return page->style->colour ? colour : "";
}

#define BOLD   "\033[1m"
#define YELLOW "\033[33m"
#define NORMAL "\033[0m"

/* ---- what ran ------------------------------------------------------------------------------------- */

static void print_line(const struct page *page, const char *label, const char *text)
{
	size_t width = page->style->width > 12 ? page->style->width - 12 : 1;
	char cut[4 * width + 4];

	mr_text_fit(cut, text, width);
	fprintf(page->file, "%-10s  %s\n", label, cut);
}

static void print_recording(const struct page *page, const char *wall)
{
	time_t seconds = (time_t)(page->summary->started_realtime_ns / 1000000000);
	char since[32], line[128];
	struct tm local;

	strftime(since, sizeof since, "%Y-%m-%d %H:%M:%S", localtime_r(&seconds, &local));
	snprintf(line, sizeof line, "still, since %s (%s so far)", since, wall);
	print_line(page, "recording", line);
}

static void print_exit(const struct page *page)
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
	print_line(page, "ran for", line);
}

/* Times as --from and --to take them. */
static void print_part(const struct page *page)
{
	const struct mr_summary *summary = page->summary;
	int64_t first_ns = summary->window.first_ns - summary->first_ns;
	int64_t last_ns = summary->window.last_ns - summary->first_ns;
	char length[MR_FORMAT_BYTES], line[256];

	mr_format_ns(length, last_ns - first_ns, page->style->utf8);
	snprintf(line, sizeof line,
		 "%s%s%s from %" PRId64 ".%09" PRId64 " s to %" PRId64 ".%09" PRId64 " s", length,
		 *summary->part ? ", " : "", summary->part, first_ns / 1000000000,
		 first_ns % 1000000000, last_ns / 1000000000, last_ns % 1000000000);
	print_line(page, "of this", line);
}

static void print_summary(const struct page *page)
{
	const struct mr_summary *summary = page->summary;
	char events[MR_FORMAT_BYTES], bytes[MR_FORMAT_BYTES], line[160];
	char threads[MR_FORMAT_BYTES] = "no thread left events";

	print_line(page, "trace", summary->path);
	if (summary->command)
		print_line(page, "command", summary->command);
	print_exit(page);
	mr_format_count(events, (int64_t)summary->event_count);
	mr_format_bytes(bytes, (int64_t)summary->event_bytes);
	if (summary->thread_count)
		snprintf(threads, sizeof threads, "%u thread%s", summary->thread_count,
			 summary->thread_count == 1 ? "" : "s");
	snprintf(line, sizeof line, "%u process%s, %s, %s events in %s", summary->process_count,
		 summary->process_count == 1 ? "" : "es", threads, events, bytes);
	print_line(page, "recorded", line);
	if (summary->part)
		print_part(page);
}

/* ---- findings ------------------------------------------------------------------------------------- */

/* What a terminal must not get becomes ?. */
static void print_shown(FILE *file, const char *text, const char *end)
{
	while (text < end) {
		bool shown;
		size_t length = mr_utf8_character(text, &shown);

		fprintf(file, "%.*s", shown ? (int)length : 1, shown ? text : "?");
		text += length;
	}
}

/* Words of a text, broken so that no line exceeds the page. */
static void print_wrapped(const struct page *page, const char *text, size_t column, size_t indent)
{
	const char *separator = "";

	while (*text) {
		size_t length = strcspn(text, " ");
		size_t width = mr_text_width(text) - mr_text_width(text + length);

		if (*separator && column + 1 + width > page->style->width) {
			fprintf(page->file, "\n%*s", (int)indent, "");
			column = indent;
			separator = "";
		}
		fputs(separator, page->file);
		print_shown(page->file, text, text + length);
		column += width + strlen(separator);
		separator = " ";
		text += length + strspn(text + length, " ");
	}
	fputc('\n', page->file);
}

/* In brief, what is fine is said only where nothing else is, and only the first of it. */
static bool is_shown(const struct page *page, const struct mr_finding *finding, size_t index)
{
	if (!page->style->brief || finding->sentences.items[index].severity > MR_SEVERITY_FINE)
		return true;
	return finding->severity == MR_SEVERITY_FINE && index == 0;
}

static void print_sentences(const struct page *page, const struct mr_finding *finding)
{
	for (size_t i = 0; i < finding->sentences.count; i++) {
		const struct mr_sentence *sentence = &finding->sentences.items[i];
		bool is_warning = sentence->severity == MR_SEVERITY_WARNING;

		if (!is_shown(page, finding, i))
			continue;
		fprintf(page->file, "  %s%s%s ", is_warning ? code(page, YELLOW) : "",
			is_warning ? "!" : "-", is_warning ? code(page, NORMAL) : "");
		print_wrapped(page, sentence->text, 4, 4);
	}
}

static void print_evidence(const struct page *page, const struct mr_finding *finding)
{
	fputs("\nEvidence:\n", page->file);
	for (size_t i = 0; i < finding->evidence.count; i++) {
		const struct mr_evidence *evidence = &finding->evidence.items[i];
		int64_t offset_ns = evidence->start_ns - page->summary->first_ns;
		char duration[MR_FORMAT_BYTES], what[4 * EVIDENCE_WIDTH + 4], place[32] = "";

		mr_format_ns(duration, evidence->duration_ns, page->style->utf8);
		mr_text_fit(what, evidence->what, EVIDENCE_WIDTH);
		if (evidence->tid)
			snprintf(place, sizeof place, " in %u/%u", evidence->pid, evidence->tid);
		else if (evidence->track != MR_NO_TRACK)
			snprintf(place, sizeof place, " in %u", evidence->pid);
		int column =
			fprintf(page->file, "  - %s at %" PRId64 ".%09" PRId64 " s%s: ", duration,
				offset_ns / 1000000000, offset_ns % 1000000000, place);
		print_wrapped(page, what, (size_t)column, 4);
	}
}

static bool is_table_shown(const struct mr_finding_table *table)
{
	return table->row_count > 0 && !table->is_repetition;
}

/* A table that stands alone needs no title besides that of the finding. */
static bool has_titles(const struct mr_finding *finding)
{
	size_t shown = 0;

	for (size_t i = 0; i < finding->tables.count; i++)
		shown += is_table_shown(finding->tables.items[i]);
	return shown > 1 || finding->sentences.count > 0;
}

static void print_finding(const struct page *page, const struct mr_finding *finding)
{
	fprintf(page->file, "\n%s%s%s\n", code(page, BOLD), finding->title, code(page, NORMAL));
	print_sentences(page, finding);
	for (size_t i = 0; i < finding->tables.count; i++) {
		const struct mr_finding_table *table = finding->tables.items[i];

		if (!is_table_shown(table))
			continue;
		if (has_titles(finding))
			fprintf(page->file, "\n%s:\n", table->title);
		mr_finding_table_print(table, page->style, page->file);
	}
	if (finding->evidence.count && !finding->is_proved_before)
		print_evidence(page, finding);
}

void mr_report_print_text(const struct mr_summary *summary, const struct mr_findings *findings,
			  const struct mr_text_style *style, FILE *file)
{
	const struct page page = {summary, style, file};

	print_summary(&page);
	for (size_t i = 0; i < findings->list.count; i++)
		print_finding(&page, findings->list.items[i]);
}
