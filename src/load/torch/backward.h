/* SPDX-License-Identifier: Apache-2.0
 *
 * Joins the threads on which autograd computes gradients to the thread that waits for them, for traces that do not know
 * the states of threads:
 *
 *     forward    ── aten::linear ──┤  nothing that is recorded, or an annotation around it   ├── aten::add_ ──
 *     autograd                       ├ evaluate_function ┤├ evaluate_function ┤├─ ... ─┤
 *     thread_waits                   ├───────────────────── waited ────────────────────┤
 *
 * backward() returns when all gradients are there. So the thread that called it records nothing new meanwhile: whatever
 * autograd executes from begin to end in such a gap was waited for. A gap at whose edge autograd is in the middle of a
 * function is none: then the thread went on at the same time.
 */
#ifndef MR_LOAD_TORCH_BACKWARD_H
#define MR_LOAD_TORCH_BACKWARD_H

#include "model/model.h"

/* Fills thread_waits. -ENOMEM. */
int mr_torch_join_backward(struct mr_model *model);

#endif
