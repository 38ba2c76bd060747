/* SPDX-License-Identifier: Apache-2.0
 *
 * The frames of a thread that runs while they are read. Each look reads them one after the other, so they need not
 * belong together. Therefore two looks must agree:
 *
 *     first look     main:88   load:41   decode:12
 *     second look    main:88   load:41   decode:15       the innermost may have gone on within its function
 *     second look    main:88   load:43   resize:7        only main:88 was there all the time: look again
 *
 * If no two looks agree, the frames count that the last two had in common: the thread was there, and called something
 * short. If they have none in common, the sample is torn.
 */
#ifndef MR_LAUNCH_PYTHON_STACK_H
#define MR_LAUNCH_PYTHON_STACK_H

#include "hook/python/code.h"
#include "launch/python_memory.h"

/* From the innermost on. */
struct mr_python_stack {
	uint32_t count;
	struct mr_python_frame frames[MR_PYTHON_FRAMES];
	uintptr_t at[MR_PYTHON_FRAMES]; /* the frames themselves */
};

enum mr_python_sight {
	MR_PYTHON_SEEN,
	MR_PYTHON_TORN,
	MR_PYTHON_UNREADABLE, /* perhaps the thread or the process is gone: memory->error says more */
};

enum mr_python_sight mr_python_stack_see(const struct mr_python *python,
					 struct mr_python_memory *memory, uintptr_t thread_state,
					 struct mr_python_stack *ret_stack);

#endif
