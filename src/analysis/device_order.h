/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether the times of device operations agree with what must be (model/constraints.h), in words for the
 * trace's health and as a table for its contents.
 */
#ifndef MR_ANALYSIS_DEVICE_ORDER_H
#define MR_ANALYSIS_DEVICE_ORDER_H

#include "analysis/finding/finding.h"
#include "model/model.h"

/* Sentences on devices whose times contradict others or are not exactly known, and on operations that only order ties to
 * calls. -ENOMEM. */
int mr_tell_device_order(const struct mr_model *model, struct mr_findings *findings,
			 struct mr_finding *finding);

/* The table of all checks, unless there are no device operations. -ENOMEM. */
int mr_tabulate_device_order(const struct mr_model *model, struct mr_findings *findings,
			     struct mr_finding *finding);

#endif
