/* SPDX-License-Identifier: Apache-2.0
 *
 * Infers the steps of programs that mark none, process by process, from their launches: a training loop launches the
 * same operations again and again (period.h, rounds.h). A process that launches nothing may execute operations one by
 * one, and repeat those.
 *
 *     launches   i i  a b c d  a b c x d  y  a b c d  e      a step lasts from its first launch to the next
 *                     ├── 0 ──►├─── 1 ───►   ├── 2 ──►       launch after its last
 *
 * Launches alone do not show where a round begins. If whole rounds were recorded, rounds begin where the repetition
 * begins. Otherwise they begin after the longest time, in the median of all rounds, without a launch and without a
 * running operation of the graph.
 */
#ifndef MR_LOAD_INFER_STEPS_H
#define MR_LOAD_INFER_STEPS_H

#include "model/model.h"

/* When executions are nested and calls lead to their operations: fills in steps and model->inferences, if there are no
 * steps. -ENOMEM. */
int mr_steps_infer(struct mr_model *model);

#endif
