/* SPDX-License-Identifier: Apache-2.0
 *
 * The environment of a program to be executed: the one that its parent gave it, with the library added to the
 * variables of all hooks (hooks.def: LD_PRELOAD, OPENCL_LAYERS ...) and the arena's path in MILLRACE_ARENA, or
 * with all of these removed. In both cases the libraries of others stay, in their order.
 *
 * The new environment is in one piece of memory that the caller provides; the strings of the old environment
 * must outlive it. No allocation, no lock: usable in vfork children and signal handlers.
 *
 *     memory ─► [ ● │ ● │ ... │ ● │ ● │ NULL ] "LD_PRELOAD=..." ... "MILLRACE_ARENA=..."
 *                 └───┴── old strings   └───┴──────┴──────────────────┘
 */
#ifndef MR_HOOK_ENVIRONMENT_H
#define MR_HOOK_ENVIRONMENT_H

#include <stdbool.h>
#include <stddef.h>

struct mr_environment_wish {
	const char *library; /* path of libmillrace.so */
	const char *arena;   /* path of the arena */
	bool is_traced;      /* put them in; else take them out */
};

/* The value of a variable, or NULL. Of several the last, as for the dynamic linker. */
const char *mr_environment_get(char *const *environment, const char *name);

/* True if nothing needs to be added or removed. */
bool mr_environment_is_as_wished(char *const *old, const struct mr_environment_wish *wish);

/* How much memory mr_environment_build() needs at most. */
size_t mr_environment_bytes(char *const *old, const struct mr_environment_wish *wish);

/* Builds the new environment in `memory`, aligned for pointers. `old` may be NULL: empty. */
char **mr_environment_build(void *memory, char *const *old, const struct mr_environment_wish *wish);

#endif
