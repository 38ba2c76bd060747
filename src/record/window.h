/* SPDX-License-Identifier: Apache-2.0
 *
 * Windows: the parts of the arena's slots that a program has mapped. What is mapped counts against limits of the
 * program (RLIMIT_AS, RLIMIT_MEMLOCK, mlockall()), so it is little:
 *
 *     control page, tables     1.4 to 1.9 MiB    mapped when the process attaches
 *     MR_WINDOWS_ALWAYS        2 MiB             likewise: 28 packets at once, and 4 of definitions
 *     further windows          1 MiB each        when a thread finds no free packet, unless the program's address space
 *                                                is limited; never locked
 *
 * A forked child goes on with the windows of its parent. A window is opened by the arena's path, mapped, and the
 * descriptor closed again. Where one cannot be mapped, events are lost, and counted as such (memory_limit).
 */
#ifndef MR_RECORD_WINDOW_H
#define MR_RECORD_WINDOW_H

#include "record/arena.h"

enum {
	MR_WINDOWS_ALWAYS = 2
};

enum mr_window_result {
	MR_WINDOW_MAPPED,
	MR_WINDOW_NONE_FREE, /* there is none with a free slot */
	MR_WINDOW_LIMITED,   /* the program has no room for another */
};

/* Maps control page, tables and the first windows of the file at PATH. If it fails, nothing stays mapped. */
enum mr_untraced_reason mr_windows_open(const char *path, struct mr_arena *ret_arena);

/* Maps one more window with free slots below `limit` for packets of that kind. */
enum mr_window_result mr_windows_map_more(struct mr_arena *arena, enum mr_packet_kind kind,
					  uint32_t limit);

/* Allocates the memory of a slot that this process has claimed; false if that cannot be done. */
bool mr_windows_allocate(struct mr_arena *arena, uint32_t slot);

/* Puts private memory in the place of all that is mapped: whoever is still writing there harms nobody. */
void mr_windows_leave(struct mr_arena *arena);

#endif
