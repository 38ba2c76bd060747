/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds the part of a sequence that repeats, and the length of one round.
 *
 *     i n i t  a b c d  a b c d  a b x c d  a b  e n d       one round is 4 long, 14 of 15 things have a place in
 *              └──────────── repeats ─────────┘              the pattern a b c d
 *
 * A stretch in which things equal those one round later has the pattern; rounds.h finds the rounds like it. Things can
 * also match by chance: if most of a sequence is the same thing, any two neighbours match. Confidence is therefore the
 * agreement beyond chance (Cohen's kappa): 0 is chance, 1 is perfect repetition. The shortest round that reaches 0.9 is
 * taken. What occurs in no round does not count against it, as long as it is rare.
 */
#ifndef MR_LOAD_PERIOD_H
#define MR_LOAD_PERIOD_H

#include "model/inference.h"

/* Things are alike if their ids are; ids are below `count`. Time grows linearly with it. -ENOMEM. */
int mr_period_find(const uint32_t *ids, uint32_t count, struct mr_period *ret_period);

#endif
