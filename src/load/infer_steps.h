/* SPDX-License-Identifier: Apache-2.0
 *
 * Steps of programs of which nobody says any: process by process, those that can be inferred from what it launches — a
 * training loop launches the same operations again and again (period.h).
 *
 *     launches   i i  a b c d  a b c d  a b c d  e        a step lasts from its first launch to the next
 *                     ├── 0 ──►├── 1 ──►├── 2 ──►         launch after its last
 *
 * Where a round begins the launches alone do not say. If whole rounds were recorded, they begin where the
 * repetition does; else where the longest time, in the median of all rounds, went by with no launch and no
 * operation of the graph going on.
 */
#ifndef MR_LOAD_INFER_STEPS_H
#define MR_LOAD_INFER_STEPS_H

#include "model/model.h"

/* When executions are nested and calls lead to their operations: fills in steps and model->inferences, if there are no
 * steps. -ENOMEM. */
int mr_steps_infer(struct mr_model *model);

#endif
