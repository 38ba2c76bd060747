/* SPDX-License-Identifier: Apache-2.0
 *
 * The critical path in tables: by level, by what happened, by node of the graph, by thread and device, by file.
 * Each table sums to the window.
 */
#ifndef MR_ANALYSIS_CRITICAL_PATH_TABLES_H
#define MR_ANALYSIS_CRITICAL_PATH_TABLES_H

#include "analysis/cause/critical_path.h"
#include "analysis/finding/finding.h"

/* Of the whole model. The table by level is the finding's first, that by what happened the second. -ENOMEM. */
int mr_path_tabulate(const struct mr_model *model, const struct mr_critical_path *path,
		     int64_t span_ns, struct mr_findings *findings, struct mr_finding *finding);

/* "disk: /data/train.tfrecord"; NULL without memory. */
const char *mr_path_link_text(const struct mr_model *model, struct mr_findings *findings,
			      struct mr_link link);

#endif
