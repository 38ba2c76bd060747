/* SPDX-License-Identifier: Apache-2.0 */
#include "record/steps.h"

/* One thread of one process counts, as a rule. Should two switch at once, the next step puts it right. */
void mr_steps_switch(uint64_t number)
{
	/* A forked child that has written nothing yet has no number. */
	if (mr_this_process.generation == 0 && !mr_process_restart())
		return;
	uint32_t own = (uint32_t)mr_this_process.generation;
	uint32_t owner = 0;
	if (!atomic_compare_exchange_strong(&mr_arena->step_process, &owner, own) && owner != own)
		return;
	uint32_t off = MR_LEVEL_core;
	uint32_t on = MR_LEVEL_core | mr_arena->step_levels;
	/* Levels that are all off stay off: the recording has ended. */
	if (number >= mr_arena->first_step && number <= mr_arena->last_step)
		atomic_compare_exchange_strong(&mr_arena->levels, &off, on);
	else
		atomic_compare_exchange_strong(&mr_arena->levels, &on, off);
}
