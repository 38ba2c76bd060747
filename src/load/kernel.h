/* SPDX-License-Identifier: Apache-2.0
 *
 * Turns the events of the kernel level into rows. The streams of all CPUs are read together, in order of time, because
 * the events about a thread's states (states.h) come from whichever CPU it was on.
 */
#ifndef MR_LOAD_KERNEL_H
#define MR_LOAD_KERNEL_H

#include "model/model.h"

/* Fills the tables of kernel_columns.h; 0 or a negative errno. */
int mr_kernel_level_load(struct mr_model *model);

#endif
