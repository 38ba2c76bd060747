/* SPDX-License-Identifier: Apache-2.0
 *
 * Hooks inside unmodified TensorFlow: versions 2.15 to 2.21 of the published wheels, all through the same symbols.
 *
 *     traceme.c     its own tracing (TraceMe): every operation, executor run, iterator ... as it ends
 *     watcher.c     its activity watcher: device and inputs of each node, while the graph is being discovered
 *     eager.c       operations that the program executes one by one, with their actual devices
 *     executor.c    the same if they are asynchronous: executed later, by a thread of TensorFlow
 *     session.c     runs of sessions, which count as steps
 *     allocator.c   memory of the CPU allocator
 *
 * TensorFlow's libraries reach these symbols through their linkage tables, so a definition in a preloaded
 * library takes precedence; symbols.h finds the originals. The hooks decide nothing that can be decided later:
 * they record texts unchanged, and src/load interprets them.
 *
 * The only C++ layouts used here are std::string and those that watcher.c checks.
 */
#ifndef MR_HOOK_TENSORFLOW_H
#define MR_HOOK_TENSORFLOW_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hook/shared/stand_in.h"
#include "record/recorder.h"

extern atomic_bool mr_tensorflow_is_traced __attribute__((visibility("hidden")));

/* Sets TensorFlow's own switches as the level is now. (traceme.c) */
void mr_tensorflow_switch(void);

/* Is the level on? Called wherever TensorFlow calls us, so that its switches follow. */
static inline bool mr_tensorflow_is_on(void)
{
	bool is_on = mr_level_is_on(MR_LEVEL_dataflow);
	if (mr_unlikely(is_on !=
			atomic_load_explicit(&mr_tensorflow_is_traced, memory_order_relaxed)))
		mr_tensorflow_switch();
	return is_on;
}

/* Something is met for the first time: the watcher looks on for a while. (watcher.c) */
void mr_watcher_wake(void);

/* Can be seen when asynchronous operations are executed? (executor.c) */
bool mr_executor_is_seen(void);

/* The watcher was given up: a layout that is not known, or reading memory is forbidden. (watcher.c) */
bool mr_watcher_is_lost(void);

#endif
