/* SPDX-License-Identifier: Apache-2.0
 *
 * What threads of Python wait for from each other, a lock or a hand-over: column exchange of the states, as doc/causes.md
 * defines it, corrected where the line of Python says more than the kernel can.
 */
#ifndef MR_LOAD_PYTHON_WAITS_H
#define MR_LOAD_PYTHON_WAITS_H

#include "model/model.h"

/* After mr_exchanges_link(). -ENOMEM. */
int mr_python_waits_judge(struct mr_model *model);

#endif
