/* SPDX-License-Identifier: Apache-2.0
 *
 * `record --steps A..B`: the levels are on from the begin of step A to the end of step B, counted from 0. Hooks say
 * when a step begins; the first process that does is the one whose steps count. The levels are
 * switched right here, so that user streams hold just those steps; `record` sees it and lets the kernel level
 * follow within milliseconds.
 */
#ifndef MR_RECORD_STEPS_H
#define MR_RECORD_STEPS_H

#include "record/recorder.h"

/* Does anybody want to know of steps? */
static inline bool mr_steps_matter(void)
{
	return mr_unlikely(mr_arena && mr_arena->step_levels);
}

/* If they matter: step `number` of this process begins, as the program says. */
void mr_steps_mark(uint64_t number);

/* If they matter: something that the program may do again and again begins, told apart from the rest by its key. What
 * has been done most often is what counts, unless the program says what a step is. */
void mr_steps_count(uint64_t key);

/* Step `number` of this process begins, as the program says. */
static inline void mr_steps_note(uint64_t number)
{
	if (mr_steps_matter())
		mr_steps_mark(number);
}

#endif
