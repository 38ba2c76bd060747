/* SPDX-License-Identifier: Apache-2.0
 *
 * When each level is recorded. The core level always is; the others are switched on and off together:
 *
 *     (no option)             on from the beginning
 *     --delay, --duration     off ── delay ──► on ── duration ──► off
 *     --steps                 on from the first step to the last: the program switches the arena's levels itself,
 *                             where its steps begin; only the kernel level has to be switched after it
 *
 * After the drain has stopped the recording, the arena's levels stay as the drain set them.
 */
#ifndef MR_LAUNCH_LEVEL_SWITCH_H
#define MR_LAUNCH_LEVEL_SWITCH_H

#include "launch/drain.h"
#include "launch/kernel_level.h"
#include "launch/session.h"

struct mr_level_switch {
	const struct mr_session_options *options; /* these are borrowed */
	const struct mr_arena_file *file;
	struct mr_kernel_level *kernel;
	const struct mr_drain *drain;
	uint32_t mask; /* of enum mr_level: recorded while it is on, besides the core level */
	bool is_on;
};

/* Nothing is switched yet. The kernel level must have been started: if that failed, it is left out. */
void mr_level_switch_init(struct mr_level_switch *levels, const struct mr_session_options *options,
			  const struct mr_arena_file *file, struct mr_kernel_level *kernel,
			  const struct mr_drain *drain);

/* Before the program runs. */
void mr_level_switch_start(struct mr_level_switch *levels);

/* To be called again and again while it runs. */
void mr_level_switch_update(struct mr_level_switch *levels, uint64_t since_start_ns);

#endif
