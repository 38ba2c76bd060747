/* SPDX-License-Identifier: Apache-2.0 */
#include "report/text.h"

#include <inttypes.h>

#include "base/format.h"

enum {
	EVIDENCE_WIDTH = 240 /* of the text of one, over several lines */
};

/* ---- findings ------------------------------------------------------------------------------------- */

/* In brief, what is fine is said only where nothing else is, and only the first of it. */
static bool is_shown(const struct mr_page *page, const struct mr_finding *finding, size_t index)
{
	if (!page->style->brief || finding->sentences.items[index].severity > MR_SEVERITY_FINE)
		return true;
	return finding->severity == MR_SEVERITY_FINE && index == 0;
}

static void print_sentences(const struct mr_page *page, const struct mr_finding *finding)
{
	for (size_t i = 0; i < finding->sentences.count; i++) {
		const struct mr_sentence *sentence = &finding->sentences.items[i];
		bool is_warning = sentence->severity == MR_SEVERITY_WARNING;

		if (!is_shown(page, finding, i))
			continue;
		fprintf(page->file, "  %s%s%s ", is_warning ? mr_page_colour(page, MR_YELLOW) : "",
			is_warning ? "!" : "-", is_warning ? mr_page_colour(page, MR_NORMAL) : "");
		mr_page_wrap(page, sentence->text, 4, 4);
	}
}

static void print_evidence(const struct mr_page *page, const struct mr_finding *finding)
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
		mr_page_wrap(page, what, (size_t)column, 4);
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

static void print_finding(const struct mr_page *page, const struct mr_finding *finding)
{
	fprintf(page->file, "\n%s%s%s\n", mr_page_colour(page, MR_BOLD), finding->title,
		mr_page_colour(page, MR_NORMAL));
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
	const struct mr_page page = {summary, style, file};

	mr_page_print_screen(&page, findings);
	for (size_t i = 0; i < findings->list.count; i++)
		print_finding(&page, findings->list.items[i]);
}

void mr_report_print_findings(const struct mr_findings *findings, const struct mr_text_style *style,
			      FILE *file)
{
	const struct mr_page page = {NULL, style, file};

	for (size_t i = 0; i < findings->list.count; i++)
		print_finding(&page, findings->list.items[i]);
}
