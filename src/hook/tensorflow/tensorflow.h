/* SPDX-License-Identifier: Apache-2.0
 *
 * TensorFlow from the inside, unmodified: versions 2.15 to 2.21 of the published wheels, all by the same symbols.
 *
 *     traceme.c     its own tracing (TraceMe): every operation, executor run, iterator ... as it ends
 *     watcher.c     its activity watcher: device and inputs of each node, while the graph is being discovered
 *     eager.c       operations that the program executes one by one, with their actual devices
 *     executor.c    the same where they are asynchronous: executed later, by a thread of TensorFlow's
 *     session.c     runs of sessions, which count as steps
 *     allocator.c   memory of the CPU allocator
 *
 * TensorFlow's libraries reach these symbols through their linkage tables, so a definition in a preloaded
 * library stands in front of theirs; the originals are found by symbols.h. Nothing is decided here that can be
 * decided later: texts are recorded as they are, and understood by src/model.
 *
 * std::string as libstdc++ lays it out; nothing else of C++ is known here but what watcher.c checks.
 */
#ifndef MR_HOOK_TENSORFLOW_H
#define MR_HOOK_TENSORFLOW_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hook/symbols.h"
#include "record/recorder.h"

extern atomic_bool mr_tensorflow_is_traced __attribute__((visibility("hidden")));

/* The C++ name NAME as a C declaration, visible to TensorFlow. */
#define MR_STAND_IN(name) __asm__(name) __attribute__((visibility("default")))

/* The original of a function that stands in front of it: looked up once; several threads may do it at once, with the
 * same result. It is there, as it is called by its name. */
#define MR_ORIGINAL(function, symbol)                                                   \
	({                                                                              \
		static _Atomic(__typeof__(&function)) known;                            \
		__typeof__(&function) original_ =                                       \
			atomic_load_explicit(&known, memory_order_relaxed);             \
		if (mr_unlikely(!original_)) {                                          \
			original_ = (__typeof__(&function))mr_symbol_find(symbol);      \
			atomic_store_explicit(&known, original_, memory_order_relaxed); \
		}                                                                       \
		original_;                                                              \
	})

struct mr_cxx_string {
	const char *data;
	size_t length;
	char inline_data[16];
};

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
