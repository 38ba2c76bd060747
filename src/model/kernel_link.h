/* SPDX-License-Identifier: Apache-2.0
 *
 * Links between rows of the kernel level, in a model or in a cut of one.
 */
#ifndef MR_MODEL_KERNEL_LINK_H
#define MR_MODEL_KERNEL_LINK_H

#include "model/model.h"

/* Once they are sorted: which call a thread blocked in, what woke it, what interrupts took from it. -ENOMEM. */
int mr_kernel_level_link(struct mr_model *model);

#endif
