/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory of a thread for a hook. Thread-local variables of a preloaded library take room from the stack of every thread of
 * every program, and such a stack may be as small as 16 KiB. So a hook that keeps more than a few words for each thread has
 * them here, and only threads that use the hook do:
 *
 *     struct state *state = mr_thread_room(MR_ROOM_torch);      zeroes at first; NULL: there is no memory
 *
 * It is given back when the thread ends; from then on there is none. So it is asked for anew each time, and not kept.
 */
#ifndef MR_RECORD_THREAD_ROOM_H
#define MR_RECORD_THREAD_ROOM_H

#include "base/macros.h"

enum mr_room {
	MR_ROOM_nvtx,
	MR_ROOM_python,
	MR_ROOM_torch,
	MR_ROOM_modules,
	MR_ROOMS
};

enum {
	MR_ROOM_BYTES = 4096,
};

#pragma GCC visibility push(hidden)
extern _Thread_local void *mr_rooms[MR_ROOMS] __attribute__((tls_model("initial-exec")));

void *mr_thread_room_make(enum mr_room room);

/* At the end of the thread. */
void mr_thread_rooms_free(void);
#pragma GCC visibility pop

static inline void *mr_thread_room(enum mr_room room)
{
	void *memory = mr_rooms[room];
	return mr_likely(memory != NULL) ? memory : mr_thread_room_make(room);
}

#endif
