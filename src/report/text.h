/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the text report: what its parts share.
 *
 *     text_screen.c     the first screen: what ran, and whether the trace can be trusted
 *     text_problems.c   its lower part: what is wrong, what to do about it, where to look next
 *     text.c            the findings, one after the other
 *     text_table.c      one table
 *     text_wrap.c       words as lines
 */
#ifndef MR_REPORT_TEXT_H
#define MR_REPORT_TEXT_H

#include "report/report.h"

struct mr_page {
	const struct mr_summary *summary;
	const struct mr_text_style *style;
	FILE *file;
};

#define MR_BOLD   "\033[1m"
#define MR_YELLOW "\033[33m"
#define MR_NORMAL "\033[0m"

/* "" on a page without colours. */
static inline const char *mr_page_colour(const struct mr_page *page, const char *colour)
{
	return page->style->colour ? colour : "";
}

/* The lines that a screen of 24 shows beside the prompt of a shell or pager. */
enum {
	MR_SCREEN_LINES = 23,
	MR_SCREEN_COLUMNS = 80,
};

/* A text as the terminal may get it. */
void mr_page_put(const struct mr_page *page, const char *text);

/* Words of a text, broken so that no line exceeds the page; `column`: where the first line goes on. */
void mr_page_wrap(const struct mr_page *page, const char *text, size_t column, size_t indent);

/* The same from column `indent` on, but no more than `max_lines`: "..." stands for what is left out, and a word wider
 * than a line loses its middle. Returns the number of lines; without `is_printed` it does no more. */
size_t mr_page_wrap_lines(const struct mr_page *page, const char *text, size_t indent,
			  size_t max_lines, bool is_printed);

/* "verdict     2 problems cost 48.1% of the steps": one line. */
void mr_page_print_line(const struct mr_page *page, const char *label, const char *text);

/* What the time of the diagnosis is, in one line; returns the number of lines, 0 or 1. */
size_t mr_page_print_verdict(const struct mr_page *page, const struct mr_diagnosis *diagnosis);

/* At most three problems with one remedy each, and where to look next, on so many lines. */
void mr_page_print_problems(const struct mr_page *page, const struct mr_findings *findings,
			    size_t room);

/* What ran, whether the trace can be trusted, and what is wrong: at most MR_SCREEN_LINES of MR_SCREEN_COLUMNS. */
void mr_page_print_screen(const struct mr_page *page, const struct mr_findings *findings);

#endif
