/* SPDX-License-Identifier: Apache-2.0
 *
 * The analyses: pure functions from the model to findings, one file per question. Each adds its
 * findings, or none where the trace has nothing to say; 0 or a negative errno with its cause.
 */
#ifndef MR_ANALYSIS_ANALYSIS_H
#define MR_ANALYSIS_ANALYSIS_H

#include "analysis/finding.h"
#include "model/model.h"

/* Can the trace be trusted: losses, damage, what was not traced, how exact times are. */
int mr_analyse_health(const struct mr_model *model, struct mr_findings *findings);

/* What is in the trace: events by kind, processes, threads, clocks. */
int mr_analyse_contents(const struct mr_model *model, struct mr_findings *findings);

/* Where the time went: by node, type and thread; steps; runtime calls; device operations. */
int mr_analyse_operations(const struct mr_model *model, struct mr_findings *findings);

#endif
