/* SPDX-License-Identifier: Apache-2.0
 *
 * Links between rows of the kernel level, in a model or in a cut of one.
 */
#ifndef MR_MODEL_KERNEL_LINK_H
#define MR_MODEL_KERNEL_LINK_H

#include "model/model.h"

/* Once they are sorted: which call a thread blocked in, what woke it, what interrupts took from it. -ENOMEM. */
int mr_kernel_level_link(struct mr_model *model);

/* The address of a futex as a name for what it stands for: a condition variable uses two words next to each other. */
static inline uint64_t mr_futex_word(uint64_t address)
{
	return address & ~UINT64_C(7);
}

/* A timed wait that ran out and the next are one if the thread ran for so little between them. */
static inline bool mr_is_repeat(int64_t wait_ns, int64_t ran_ns)
{
	return ran_ns < 100000 || ran_ns < wait_ns / 20;
}

/* Did threads of one process wait at the same futex in these states? All that belong to the GIL are the same. */
bool mr_is_same_futex(const struct mr_model *model, uint32_t a, uint32_t b);

#endif
