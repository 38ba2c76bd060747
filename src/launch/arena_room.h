/* SPDX-License-Identifier: Apache-2.0
 *
 * The arena where control groups limit memory. Its packets count in the group of record, which is most often the program's,
 * and whoever needs more than is left there gets somebody killed. So, of what is left (memory_room.h):
 *
 *     at first                     one part in 64, at least 1 MiB
 *     as packets are needed        as much again each time, while more than an eighth of the limit is left
 *     when no more than that is    packets that are free, beyond the first ones, lose their memory: record withdraws them
 *                                  (MR_SLOT_WITHDRAWN) until there is room again
 *
 * Programs that allocate packets themselves keep to it, too (control->slots_allowed). What finds no packet is lost, and
 * counted as memory_limit.
 */
#ifndef MR_LAUNCH_ARENA_ROOM_H
#define MR_LAUNCH_ARENA_ROOM_H

#include "launch/arena_file.h"

/* The size that mr_arena_default_bytes() promises. */
uint64_t mr_arena_room_capacity(void);

/* How many slots to allocate at first, at most `usual`. */
uint32_t mr_arena_room_first(struct mr_arena_file *file, uint32_t usual);

/* Sets how many slots may be allocated, and withdraws some if need be. Looks only now and then; more often while
 * packets are scarce. */
void mr_arena_room_look(struct mr_arena_file *file, bool needs_more);

/* Frees a slot that has been taken; withdraws it if memory is short. */
void mr_arena_room_free(struct mr_arena_file *file, uint32_t slot);

/* Gives withdrawn slots their memory again, as far as there is room for it; false if none was withdrawn. */
bool mr_arena_room_restore(struct mr_arena_file *file);

#endif
