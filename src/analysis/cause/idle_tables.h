/* SPDX-License-Identifier: Apache-2.0
 *
 * Idle time of devices as tables: by device, by cause, by chain, by the operation that did not start, by thread, by
 * step, and by all of these together. Each divides the same whole.
 */
#ifndef MR_ANALYSIS_IDLE_TABLES_H
#define MR_ANALYSIS_IDLE_TABLES_H

#include "analysis/cause/idle.h"
#include "analysis/finding/finding.h"
#include "analysis/step_index.h"

/* `model` is the whole one. -ENOMEM. */
int mr_idle_tabulate(const struct mr_model *model, const struct mr_idle *idle,
		     const struct mr_step_index *steps, struct mr_findings *findings,
		     struct mr_finding *finding);

/* What launched an operation: a node of the graph, else what the operation is called. */
const char *mr_operation_text(const struct mr_model *model, uint32_t operation);

#endif
