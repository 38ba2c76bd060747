/* SPDX-License-Identifier: Apache-2.0
 *
 * Steps of a program that marks none, but calls a function again and again: process by process, the function that is
 * called most often, whatever graphs were made of it. `record --steps` counts in the same way (record/steps.h), so that
 * the first step in the trace has the requested number.
 *
 *     calls           ├ f ┤     ├── f ──┤ ├g┤├g┤├g┤   ├ f ┤          a step also has what led to its call: the
 *     steps           ├ 0 ┤├───── 1 ────┤         ├── 2 ──┤          wait for its input, the tracing of a graph
 *
 * What lies before the first call is no step, nor is another loop, of a function that is not usually called between
 * two steps: an evaluation. A call may make several steps, if it takes several elements of the input:
 *
 *     call            ├─────────────────────────────┤
 *     takes             ├─┤      ├──┤      ├─┤                       each step begins with an element
 *     steps           ├─── 0 ───┤├─── 1 ──┤├─── 2 ──┤
 */
#ifndef MR_LOAD_CALLED_STEPS_H
#define MR_LOAD_CALLED_STEPS_H

#include "model/model.h"

/* When function_calls and input_work are complete and in order: fills in steps. Of a program that marks its steps it
 * counts calls of its function that lie outside of them (mr_model.calls_marked). -ENOMEM. */
int mr_called_steps_add(struct mr_model *model);

#endif
