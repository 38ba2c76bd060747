/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared by the parts of libmillrace.so that run inside the traced program; and the functions of a hook.
 *
 *     program begins ─► start ─┬─► _exit() ──────────────────────► leave(true)
 *                              ├─► exec ──► note_missing ────────► leave(false)
 *                              └─► exit() ─► end ─► note_missing
 *
 * No function is called when a level is switched, because no code of millrace runs in the process at that moment. A
 * hook checks mr_level_is_on() whenever it is called.
 */
#ifndef MR_HOOK_HOOK_H
#define MR_HOOK_HOOK_H

#include <stdbool.h>

/* Of a hook NAME of hooks.def it is mr_NAME_functions. NULL where there is nothing to do. */
struct mr_hook_functions {
	/* In every program, perhaps before the constructors of other libraries, also where it is not traced. */
	void (*start)(void);
	/* Before the process ends (`is_end`) or tries to execute another program. May be called anywhere, in a
	 * signal handler, too; at an end also in the child of a vfork, which must not do its parent's work. */
	void (*leave)(bool is_end);
	/* At exit(), when the libraries of others may be gone. */
	void (*end)(void);
	/* Writes hook_missing for what of it could not be hooked, once, if it is loaded at all. */
	void (*note_missing)(void);
};

/* Calls the functions of all hooks. (functions.c) */
void mr_hooks_start(void);
void mr_hooks_leave(bool is_end);
void mr_hooks_end(void);
void mr_hooks_note_missing(void);

/* Attaches the process if it is to be traced; only the first call does anything. Constructors of other
 * libraries run before ours, so everything they may call calls this first. (init.c) */
void mr_hook_start(void);

/* Looks up the functions that the exec and spawn wrappers replace, while it is still safe to
 * do so: the wrappers themselves may run in signal handlers. (exec.c) */
void mr_exec_prepare(void);

/* Likewise for _exit(). (exit.c) */
void mr_exit_prepare(void);

/* Likewise for prctl() and syscall(). `arena_path` is the value of MILLRACE_ARENA in the environment, or NULL.
 * (confinement.c) */
void mr_confinement_prepare(char *arena_path);

/* Likewise for setuid() and its like. (user.c) */
void mr_user_prepare(bool is_recorded);

/* In a process that is attached: looks which variables of hooks are taken by others, before the program changes its
 * environment. (seen.c) */
void mr_seen_prepare(void);

/* Writes runtime_seen for each framework and GPU runtime found in the process, once for each, and what of them is
 * not traced. (seen.c) */
void mr_seen_note(void);

#endif
