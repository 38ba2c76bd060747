/* SPDX-License-Identifier: Apache-2.0 */
#include "record/thread_room.h"

#include "record/own_call.h"
#include "record/recorder.h"

_Thread_local void *mr_rooms[MR_ROOMS] __attribute__((tls_model("initial-exec")));

void *mr_thread_room_make(enum mr_room room)
{
	if (mr_self.ended)
		return NULL;
	void *memory = mr_own_map(MR_ROOM_BYTES);
	mr_signal_fence();
	if (mr_rooms[room]) { /* a signal handler was faster */
		if (memory)
			mr_own_unmap(memory, MR_ROOM_BYTES);
		return mr_rooms[room];
	}
	mr_rooms[room] = memory;
	return memory;
}

void mr_thread_rooms_free(void)
{
	for (int i = 0; i < MR_ROOMS; i++) {
		void *memory = mr_take(mr_rooms[i]);
		mr_signal_fence();
		if (memory)
			mr_own_unmap(memory, MR_ROOM_BYTES);
	}
}
