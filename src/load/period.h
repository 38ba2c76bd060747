/* SPDX-License-Identifier: Apache-2.0
 *
 * Does a sequence of things repeat itself? Finds the part of it that does, and how long one round is.
 *
 *     i n i t  a b c d  a b c d  a x c d  a b  e n d         one round is 4 long, 13 of 14 match the one
 *              └─────────── repeats ────────┘                4 later
 *
 * Two things are alike by chance, too: of a sequence that is mostly the same thing, any two neighbours are.
 * Confidence is therefore how much of the likeness that chance does not explain there is (Cohen's kappa):
 * 0 is what chance gives, 1 is a perfect repetition. The shortest round that comes to 0.9 is taken.
 */
#ifndef MR_LOAD_PERIOD_H
#define MR_LOAD_PERIOD_H

#include "model/inference.h"

/* Things are alike if their ids are; ids are below `count`. Time grows linearly with it. -ENOMEM. */
int mr_period_find(const uint32_t *ids, uint32_t count, struct mr_period *ret_period);

#endif
