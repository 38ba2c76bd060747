/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds the rounds of a sequence, once one of them is known (period.h). A round may hold things that the others do not
 * have, lack some, or have another in the place of one: a training loop also writes a summary now and then.
 *
 *     a b c d  a b c d  a b x c d  y  a b d  a e c d         the pattern is a b c d
 *     └──────┘ └──────┘ └────────┘    └────┘ └──────┘        x and y are extra, a c is missing, e is another
 *
 * From the pattern's own place rounds are followed to both ends. Where one does not follow the one before, it must
 * begin just like the pattern.
 */
#ifndef MR_LOAD_ROUNDS_H
#define MR_LOAD_ROUNDS_H

#include "model/inference.h"

#define MR_NO_PLACE UINT32_MAX

struct mr_round {
	uint32_t first;
	uint32_t end;
};

struct mr_rounds {
	mr_vec(struct mr_round) list; /* in order; they do not overlap */
	uint32_t *places;             /* by thing: its place in the pattern, or MR_NO_PLACE */
	uint64_t matched;             /* things that have a place */
	uint64_t missing;             /* places of rounds that nothing has */
};

/* The pattern is the round that begins at `pattern`, of `length` things, and is repeated from place `phase` on: a round
 * begins with that one. To be freed also after -ENOMEM. */
int mr_rounds_find(const uint32_t *ids, uint32_t count, const struct mr_period *period,
		   uint32_t phase, struct mr_rounds *ret_rounds);
void mr_rounds_free(struct mr_rounds *rounds);

static inline void mr_cleanup_rounds(struct mr_rounds *rounds)
{
	mr_rounds_free(rounds);
}

#endif
