/* SPDX-License-Identifier: Apache-2.0
 *
 * Inspects a program before it is executed: can libmillrace.so be loaded into it?
 *
 *     program ─┬─ "#!" script ──► its interpreter, and so on
 *              ├─ ELF: class and machine ─ interpreter (which libc) ─ names it links (sanitizers)
 *              └─ anything else: the kernel or the shell decides; the library does no harm
 *
 * Used by the exec and spawn wrappers and by the launcher. Everything here may run in a vfork child or
 * in a signal handler: no allocation, no lock, little stack, no descriptor left open.
 */
#ifndef MR_HOOK_TARGET_H
#define MR_HOOK_TARGET_H

#include <stdbool.h>
#include <stddef.h>

#include "record/arena.h"

/* Memory that an inspection needs, so that it needs few reads: too much for any stack. What is not touched costs
 * nothing, if it comes from mmap. */
struct mr_target_scratch {
	char bytes[(1 << 20) + (32 << 10)];
} __attribute__((aligned(16)));

/* Why the library must stay out of PATH, relative to the descriptor `directory` (or AT_FDCWD).
 * MR_UNTRACED_NONE if it may go in, also for files that cannot be executed at all: executing them
 * fails as it would anyway. */
enum mr_untraced_reason mr_target_inspect(int directory, const char *path,
					  struct mr_target_scratch *scratch);

/* Finds NAME along $PATH as execvp() does; a name with a slash is a path already. On failure what is
 * in ret_path has no meaning, and errno says why: EACCES if there is one that may not be executed. */
bool mr_target_search(const char *name, char *ret_path, size_t bytes);

/* For people: "statically linked" ... */
const char *mr_untraced_reason_text(enum mr_untraced_reason reason);

#endif
