/* SPDX-License-Identifier: Apache-2.0
 *
 * When the devices of a process do one kind of work, and not also another that hides it:
 *
 *     queue 1     ├─ kernel ───────┤            ├─ kernel ──┤
 *     queue 2           ├─ copy ──────────────────────┤
 *     exposed                      ├────────────┤
 */
#ifndef MR_ANALYSIS_PROBLEM_EXPOSED_H
#define MR_ANALYSIS_PROBLEM_EXPOSED_H

#include "analysis/problem/problem.h"

enum mr_device_role {
	MR_DEVICE_COMPUTES,
	MR_DEVICE_COPIES,
	MR_DEVICE_COMMUNICATES, /* collectives, by the names of their device kernels */
};

/* Of a device operation of the whole model, or of the part: both have the same strings. */
enum mr_device_role mr_device_role_of(const struct mr_case *of, const struct mr_model *model,
				      uint32_t operation);

/* Claims all moments, or parts of them, in which a device of the subject's process works, all that runs is of this role,
 * or of one that comes after it. -ENOMEM. */
int mr_claim_exposed(struct mr_case *of, enum mr_device_role role);

#endif
