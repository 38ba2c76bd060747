/* SPDX-License-Identifier: Apache-2.0
 *
 * Functions and variables that replace those of a framework written in C++. Its libraries reach them through their
 * linkage tables, so a definition in a preloaded library takes precedence; symbols.h finds the original.
 * Each is listed in exports.map.
 */
#ifndef MR_HOOK_SHARED_STAND_IN_H
#define MR_HOOK_SHARED_STAND_IN_H

#include <stdatomic.h>
#include <stddef.h>

#include "base/macros.h"
#include "hook/symbols.h"

/* The C++ name NAME as a C declaration, visible to the framework. */
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

/* std::string, as libstdc++ lays it out. */
struct mr_cxx_string {
	const char *data;
	size_t length;
	char inline_data[16];
};

#endif
