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

void mr_steps_switch(uint64_t number);

/* Step `number` of this process begins. */
static inline void mr_steps_note(uint64_t number)
{
	if (mr_unlikely(mr_arena && mr_arena->step_levels))
		mr_steps_switch(number);
}

#endif
