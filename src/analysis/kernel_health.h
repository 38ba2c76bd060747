/* SPDX-License-Identifier: Apache-2.0
 *
 * How the recording of the kernel level went, in words for the trace's health.
 */
#ifndef MR_ANALYSIS_KERNEL_HEALTH_H
#define MR_ANALYSIS_KERNEL_HEALTH_H

#include "analysis/finding/finding.h"
#include "model/model.h"

/* Sentences on what is not known, and the table of losses by CPU. -ENOMEM. */
int mr_tell_kernel_health(const struct mr_model *model, struct mr_findings *findings,
			  struct mr_finding *finding);

#endif
