/* SPDX-License-Identifier: Apache-2.0
 *
 * What is known of each framework and GPU runtime (hooks.def), as facts: they are part of libmillrace.so and of
 * the command. What can only be done inside a traced program is in hook.h.
 *
 *     hooks.def ─┬─► mr_hooks, here        ◄── environment, seen; launcher, doctor
 *                └─► functions, hook.h     ◄── init, exit, exec, seen
 */
#ifndef MR_HOOK_HOOKS_H
#define MR_HOOK_HOOKS_H

#include <stdbool.h>
#include <stddef.h>

#include "schema/schema.h"

enum {
	MR_HOOK_LIBRARIES = 4,
	MR_HOOK_VARIABLES = 3,
};

/* A variable of the environment in which our library must stand for a runtime to load it.
 *   - A list: others' items stay, in their order.
 *   - One path: if there is another's already, that one stays and the runtime is not traced, which the trace says;
 *     an empty one counts as none. */
struct mr_hook_variable {
	const char *name;
	const char *
		separators; /* any of them parts the items of a list, and we write the first; NULL: one path */
	bool is_ours_last; /* in a list */
};

/* What `millrace doctor` looks for, and says. What is not needed is NULL. */
struct mr_hook_probe {
	const char *package;      /* as Python imports it */
	const char *first_tested; /* versions of it, "2.15" */
	const char *last_tested;
	const char *library;     /* or the shared library, without ".so" */
	const char *needed_text; /* that it must contain ... */
	const char *lack;        /* ... or what it is that an old one lacks */
	const char *
		driver_variable; /* names the folder in which its drivers make themselves known ... */
	const char *driver_folder; /* ... if it is not this ... */
	const char *driver_ending; /* ... by files that end like this */
	const char *instead;       /* of what is not traced: what is possible all the same */
	const char *remedy;        /* a command for what is missing */
	const char *driver_remedy; /* likewise, if it is a driver */
};

struct mr_hook {
	const char *name;
	const char *title; /* for people */
	enum mr_level level;
	bool is_traced; /* has functions (hook.h) */
	const char *libraries
		[MR_HOOK_LIBRARIES]; /* how the names of its files begin; others are NULL */
	struct mr_hook_variable variables[MR_HOOK_VARIABLES]; /* others have no name */
	struct mr_hook_probe
		probe; /* with neither package nor library there is nothing to look for */
};

/* Their number in the table, and how many there are. */
enum mr_hook_number {
#define MR_HOOK(name, ...)  MR_HOOK_NUMBER_##name,
#define MR_KNOWN(name, ...) MR_HOOK_NUMBER_##name,
#include "hook/hooks.def"
#undef MR_KNOWN
#undef MR_HOOK
	MR_HOOKS
};

extern const struct mr_hook mr_hooks[MR_HOOKS] __attribute__((visibility("hidden")));

#endif
