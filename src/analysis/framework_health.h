/* SPDX-License-Identifier: Apache-2.0
 *
 * How complete the recording of a framework's executions is, in words for the trace's health.
 */
#ifndef MR_ANALYSIS_FRAMEWORK_HEALTH_H
#define MR_ANALYSIS_FRAMEWORK_HEALTH_H

#include "analysis/finding/finding.h"
#include "model/model.h"

/* Sentences on executions of which the trace lacks something. -ENOMEM. */
int mr_tell_framework_health(const struct mr_model *model, struct mr_findings *findings,
			     struct mr_finding *finding);

#endif
