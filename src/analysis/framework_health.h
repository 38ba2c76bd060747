/* SPDX-License-Identifier: Apache-2.0
 *
 * How the recording of frameworks from their inside went, in words for the trace's health.
 */
#ifndef MR_ANALYSIS_FRAMEWORK_HEALTH_H
#define MR_ANALYSIS_FRAMEWORK_HEALTH_H

#include "analysis/finding/finding.h"
#include "model/model.h"

/* Sentences on what a framework's version could not tell, and on what tracing did to it. -ENOMEM. */
int mr_tell_framework_health(const struct mr_model *model, struct mr_findings *findings,
			     struct mr_finding *finding);

#endif
