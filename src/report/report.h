/* SPDX-License-Identifier: Apache-2.0
 *
 * Findings as text for people and as JSON for programs. The JSON is complete and documented in
 * doc/json.md; the text shortens long tables, which then end with a row for all the others.
 */
#ifndef MR_REPORT_REPORT_H
#define MR_REPORT_REPORT_H

#include <stdio.h>

#include "analysis/finding/finding.h"
#include "analysis/finding/summary.h"
#include "base/json_writer.h"

struct mr_text_style {
	uint32_t width;    /* columns of the page */
	uint32_t max_rows; /* of a table; the others are summed up */
	bool colour;
	bool utf8;
	bool brief; /* of what is fine only the first sentence */
};

void mr_report_print_text(const struct mr_summary *summary, const struct mr_findings *findings,
			  const struct mr_text_style *style, FILE *file);

/* Findings alone, which have no evidence: nothing says when that would be. */
void mr_report_print_findings(const struct mr_findings *findings, const struct mr_text_style *style,
			      FILE *file);

/* One of two traces that are compared. */
struct mr_compared {
	const char *path;
	uint32_t step_count;
	struct mr_window window; /* of these steps */
};

int mr_report_print_diff_json(const struct mr_compared *before, const struct mr_compared *after,
			      const struct mr_findings *findings, FILE *file);

/* With `answers`, what programs ask for most also stands at the top. 0, or a negative errno with a cause. */
int mr_report_print_json(const struct mr_summary *summary, const struct mr_findings *findings,
			 bool answers, enum mr_json_style style, FILE *file);

/* The same on one line, for a page that is kept small: of answers no lists, and of each kind of cause one sum with its
 * largest culprit; of longer tables only the first rows and how many more there are, `left_out`. */
int mr_report_print_short_json(const struct mr_summary *summary, const struct mr_findings *findings,
			       uint32_t max_rows, FILE *file);

/* What ran: the first members of the report, into an object that is begun. */
void mr_report_print_summary_json(const struct mr_summary *summary, struct mr_json *json);

/* One table as the report has it, on one line: of its rows those from `first` on, at most so many. */
int mr_report_print_table_json(const struct mr_finding_table *table, uint32_t first,
			       uint32_t max_rows, FILE *file);

/* One page that opens from a disk and needs nothing else (html.c). */
int mr_report_print_html(const struct mr_summary *summary, const struct mr_findings *findings,
			 FILE *file);

/* One table, indented by two columns. */
void mr_finding_table_print(const struct mr_finding_table *table, const struct mr_text_style *style,
			    FILE *file);

#endif
