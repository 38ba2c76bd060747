/* SPDX-License-Identifier: Apache-2.0
 *
 * The facts about each framework and GPU runtime (hooks.def). They are part of libmillrace.so and of the command.
 * Functions that can run only inside a traced program are in hook.h.
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
	/* Any of them parts the items of a list, and we write the first. NULL: one path. */
	const char *separators;
	bool is_ours_last; /* in a list */
};

/* What `millrace doctor` looks for, and says. What is not needed is NULL. */
struct mr_hook_probe {
	/* A package of Python, by the name it is imported with, and which versions of it are tested ("2.15"). */
	const char *package;
	const char *first_tested;
	const char *last_tested;
	/* Or a shared library, without ".so"; a text that it must contain, and what it lacks without. */
	const char *library;
	const char *needed_text;
	const char *lack;
	/* Drivers make themselves known by files with this ending, in this folder or the variable's. */
	const char *driver_ending;
	const char *driver_folder;
	const char *driver_variable;
	/* Another library, through which it is traced; folders of it, parted by ':', besides those of the dynamic
	 * linker; and what is to be said if it is in none of them. */
	const char *helper;
	const char *helper_folders;
	const char *helper_lack;
	const char *helper_remedy;
	/* What is possible with one that is not traced. */
	const char *instead;
	/* Commands: for one that is missing or has another version, or is not traced; if a driver is missing. */
	const char *remedy;
	const char *driver_remedy;
};

struct mr_hook {
	const char *name;
	const char *title; /* for people */
	enum mr_level level;
	bool is_traced; /* has functions (hook.h) */
	/* How the names of its files begin. Unused places are NULL. */
	const char *libraries[MR_HOOK_LIBRARIES];
	/* Unused places have no name. */
	struct mr_hook_variable variables[MR_HOOK_VARIABLES];
	/* With neither package nor library there is nothing to look for. */
	struct mr_hook_probe probe;
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
