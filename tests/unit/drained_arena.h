/* SPDX-License-Identifier: Apache-2.0
 *
 * All that drains an arena, in one process, for tests that write anything into it: what reaches the stream files must
 * be whole packets, whatever was there.
 */
#ifndef MR_TEST_DRAINED_ARENA_H
#define MR_TEST_DRAINED_ARENA_H

#include "launch/drain.h"

struct drained_arena {
	struct mr_arena_file file;
	char folder_path[64];
	int folder; /* of the stream files */
	struct mr_streams streams;
	struct mr_processes processes;
	struct mr_drain drain;
};

/* Makes a folder and an arena of `slots` slots, in memory if `in_memory`, else in a file that has a name. */
void drained_arena_init(struct drained_arena *drained, uint32_t slots, bool in_memory);

/* Attaches this process as the recorder; the second drains the rest, writes a manifest to nowhere, checks that the
 * stream files hold whole packets, and deletes them. The arena may be used again. */
void drained_arena_begin(struct drained_arena *drained);
void drained_arena_end(struct drained_arena *drained);

void drained_arena_fini(struct drained_arena *drained);

#endif
