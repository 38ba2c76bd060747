/* SPDX-License-Identifier: Apache-2.0
 *
 * Start and end of libmillrace.so in a process. LD_PRELOAD loads it, and it finds the arena through
 * MILLRACE_ARENA. Without an arena, or if anything fails, no part of the library does anything, except that exec.c
 * keeps it out of programs that it would harm: it is in the environment that they inherit.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "hook/hook.h"
#include "record/recorder.h"

/* Of a process that cannot attach. The paths of others stand in the arena. */
static void find_paths(const char *arena_path)
{
	Dl_info self;
	if (!dladdr(mr_library_path, &self) || strlen(self.dli_fname) >= sizeof mr_library_path ||
	    strlen(arena_path) >= sizeof mr_arena_path)
		return;
	strcpy(mr_library_path, self.dli_fname);
	strcpy(mr_arena_path, arena_path);
}

void mr_hook_start(void)
{
	static atomic_bool started;
	if (mr_likely(atomic_load_explicit(&started, memory_order_relaxed)) ||
	    atomic_exchange(&started, true))
		return;
	int saved_errno = errno;
	mr_exec_prepare();
	mr_exit_prepare();
	const char *arena_path = secure_getenv("MILLRACE_ARENA");
	if (arena_path)
		mr_process_attach(arena_path);
	if (mr_arena)
		mr_seen_prepare();
	else if (arena_path)
		find_paths(arena_path);
	mr_hooks_start();
	errno = saved_errno;
}

__attribute__((constructor)) static void on_load(void)
{
	mr_hook_start();
}

/* Runs at exit(), not at _exit() (exit.c): everything that must not be missed is in the arena already. */
__attribute__((destructor)) static void on_exit_of_process(void)
{
	if (!mr_arena)
		return;
	mr_hooks_end();
	mr_seen_note();
	mr_process_end();
}
