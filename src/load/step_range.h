/* SPDX-License-Identifier: Apache-2.0
 *
 * Steps by the user's word (`--step-range NAME`): each scope of that name is a step, whatever the program marks or calls.
 *
 *     scopes   ├─ step ─┤ ├─ other ─┤ ├─ step ─┤        thread 1
 *     steps    ├── 0 ───┤             ├── 1 ───┤
 *
 * They are counted from 0, or from the first that was recorded, for each process in order of time. If scopes of several
 * threads overlap, each thread counts for itself: they take part in the same steps.
 */
#ifndef MR_LOAD_STEP_RANGE_H
#define MR_LOAD_STEP_RANGE_H

#include "model/model.h"

/* When scopes are complete: replaces the steps by those that manifest->step_range names, if it does. -ENOMEM. */
int mr_steps_choose_range(struct mr_model *model);

#endif
