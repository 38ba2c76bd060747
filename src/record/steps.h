/* SPDX-License-Identifier: Apache-2.0
 *
 * `record --steps A..B`: the levels are on from the beginning of step A to the end of step B, counted from 0. Hooks
 * report when a step begins; only the steps of the first process that does so count. The levels are switched in the
 * traced process itself, so that user streams hold exactly those steps; `record` notices it and switches the kernel
 * level within milliseconds.
 */
#ifndef MR_RECORD_STEPS_H
#define MR_RECORD_STEPS_H

#include "record/recorder.h"
#include "schema/step_range.h"

/* Are steps needed? */
static inline bool mr_steps_matter(void)
{
	return mr_unlikely(mr_arena && mr_arena->step_levels);
}

/* If steps are needed: step `number` of this process begins, as marked by the program. */
void mr_steps_mark(uint64_t number);

/* If steps are needed: something that the program may do repeatedly begins; `key` identifies it. The most frequent one
 * is counted as the step, unless the program marks steps itself. */
void mr_steps_count(uint64_t key);

/* Whether ranges of that name are the steps, by the user's word; then nothing else is. */
static inline bool mr_steps_is_range(const char *name)
{
	return mr_steps_matter() && mr_arena->control->step_range[0] &&
	       mr_step_range_has(mr_arena->control->step_range, name);
}

/* Such a range begins. */
void mr_steps_note_range(void);

/* Step `number` of this process begins, as marked by the program. */
static inline void mr_steps_note(uint64_t number)
{
	if (mr_steps_matter())
		mr_steps_mark(number);
}

#endif
