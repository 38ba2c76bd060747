/* SPDX-License-Identifier: Apache-2.0
 *
 * The kernel level's events as rows. The streams of all CPUs are read together, in order of time, because
 * the states of a thread (states.h) are told by whatever CPU it happened to be on.
 */
#ifndef MR_LOAD_KERNEL_H
#define MR_LOAD_KERNEL_H

#include "model/model.h"

/* Fills the tables of kernel_columns.h; 0 or a negative errno. */
int mr_kernel_level_load(struct mr_model *model);

#endif
