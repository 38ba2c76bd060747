/* SPDX-License-Identifier: Apache-2.0
 *
 * The file behind the arena. It lies in /dev/shm where that has room, since pages there are never
 * written back to a disk (write-back makes the next store into a page fault); else in the trace
 * directory. It grows as it is needed: its full size is mapped from the start, and memory is allocated
 * step by step, before the slots in it may be claimed.
 */
#ifndef MR_LAUNCH_ARENA_FILE_H
#define MR_LAUNCH_ARENA_FILE_H

#include "record/arena.h"

struct mr_arena_file {
	struct mr_arena *arena;
	int fd;
	char path[1024];
};

/* A size fit for the machine: 1/64 of its memory, between 64 MiB and 1 GiB. */
uint64_t mr_arena_default_bytes(void);

/* Makes an arena of about `bytes`; `directory` is where it goes if /dev/shm cannot hold it. */
int mr_arena_file_create(const char *directory, uint64_t bytes, struct mr_arena_file *ret_file);

/* Gives it its name, `path`: from now on it outlives record. */
int mr_arena_file_publish(const struct mr_arena_file *file);

/* Maps the arena of a recording whose recorder is gone. */
int mr_arena_file_open(const char *path, struct mr_arena_file *ret_file);

/* Makes more slots claimable if few of them are free. Failing to is no error: events get lost and are
 * counted when the slots run out. */
void mr_arena_file_grow(struct mr_arena_file *file, uint32_t free_slots);

/* Unmaps; `remove` also deletes the file. Accepts a zeroed struct. */
void mr_arena_file_close(struct mr_arena_file *file, bool remove);

#endif
