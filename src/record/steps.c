/* SPDX-License-Identifier: Apache-2.0 */
#include "record/steps.h"

static atomic_bool is_marked; /* the program marks steps itself */

/* Usually one thread of one process counts. If two switch at the same time, the next step corrects it. */
static void switch_levels(uint64_t number)
{
	/* A forked child that has written nothing yet has no number. */
	if (mr_this_process.generation == 0 && !mr_process_restart())
		return;
	uint32_t own = (uint32_t)mr_this_process.generation;
	uint32_t owner = 0;
	if (!atomic_compare_exchange_strong(&mr_arena->tables->step_process, &owner, own) &&
	    owner != own)
		return;
	uint32_t off = MR_LEVEL_core;
	uint32_t on = MR_LEVEL_core | mr_arena->step_levels;
	bool is_on = number >= mr_arena->first_step && number <= mr_arena->last_step;
	/* Levels that are all off stay off: the recording has ended. */
	if (is_on ? atomic_compare_exchange_strong(&mr_arena->tables->step_levels, &off, on)
		  : atomic_compare_exchange_strong(&mr_arena->tables->step_levels, &on, off))
		mr_emit(recording_switched, .is_on = is_on);
}

void mr_steps_note_range(void)
{
	static _Atomic uint64_t begun;
	if (mr_steps_matter())
		switch_levels(atomic_fetch_add_explicit(&begun, 1, memory_order_relaxed));
}

void mr_steps_mark(uint64_t number)
{
	if (mr_arena->control->step_range[0])
		return;
	atomic_store_explicit(&is_marked, true, memory_order_relaxed);
	switch_levels(number);
}

void mr_steps_count(uint64_t key)
{
	enum {
		KEY_BITS = 12,
	};
	static _Atomic uint64_t
		counts[1 << KEY_BITS]; /* two keys with the same hash are counted together */
	static _Atomic uint64_t most;
	if (atomic_load_explicit(&is_marked, memory_order_relaxed) ||
	    mr_arena->control->step_range[0])
		return;
	uint64_t place = key * UINT64_C(0x9E3779B97F4A7C15) >> (64 - KEY_BITS);
	uint64_t count = atomic_fetch_add_explicit(&counts[place], 1, memory_order_relaxed);
	if (count < atomic_load_explicit(&most, memory_order_relaxed))
		return;
	atomic_store_explicit(&most, count, memory_order_relaxed);
	switch_levels(count);
}
