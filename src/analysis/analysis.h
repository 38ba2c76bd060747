/* SPDX-License-Identifier: Apache-2.0
 *
 * The analyses: pure functions from the model to findings, one file per question, one row each in
 * analyses.def. Each adds its finding, or none where the trace has nothing to say; 0 or a negative errno with
 * its cause.
 */
#ifndef MR_ANALYSIS_ANALYSIS_H
#define MR_ANALYSIS_ANALYSIS_H

#include "analysis/finding/finding.h"
#include "model/model.h"

typedef int mr_analysis(const struct mr_model *model, struct mr_findings *findings);

#define MR_ANALYSIS(key, title, ...) mr_analysis mr_analyse_##key;
#include "analysis/analyses.def"
#undef MR_ANALYSIS

/* All of a report: every analysis of the table, in its order. */
mr_analysis mr_analyse_all;

/* What is in the trace: events by kind, processes, threads, clocks. No part of a report. */
mr_analysis mr_analyse_contents;

/* Whether all files are as they were written; a warning if not. No part of a report. */
mr_analysis mr_analyse_verification;

/* Adds the finding of an analysis, under its title in the table. NULL without memory. */
struct mr_finding *mr_finding_begin(struct mr_findings *findings, const char *key);

#endif
