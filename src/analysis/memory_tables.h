/* SPDX-License-Identifier: Apache-2.0
 *
 * What the finding on memory says of one account: who holds its memory at the peak, and who holds more from step to
 * step.
 */
#ifndef MR_ANALYSIS_MEMORY_TABLES_H
#define MR_ANALYSIS_MEMORY_TABLES_H

#include "analysis/finding/finding.h"
#include "analysis/memory_growth.h"
#include "model/model.h"

/* Adds a table of the holders at the peak, and sentences and a table if it grows. -ENOMEM. */
int mr_memory_tell(const struct mr_model *model, struct mr_findings *findings,
		   struct mr_finding *finding, uint32_t account, int64_t peak_ns,
		   const struct mr_memory_growth *growth);

#endif
