/* SPDX-License-Identifier: Apache-2.0
 *
 * Wraps the functions that end a process without running its exit handlers: _exit(), _Exit(). They may be
 * called anywhere: in the child of a vfork, or in a signal handler.
 */
#include <dlfcn.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "hook/hook.h"
#include "record/recorder.h"

typedef void exit_function(int status);

static _Atomic(exit_function *) next_exit;

void mr_exit_prepare(void)
{
	atomic_store_explicit(&next_exit, (exit_function *)dlsym(RTLD_NEXT, "_exit"),
			      memory_order_relaxed);
}

#define EXPORT __attribute__((visibility("default")))

EXPORT void _exit(int status)
{
	exit_function *next = atomic_load_explicit(&next_exit, memory_order_relaxed);
	if (mr_arena)
		mr_hooks_leave(true);
	if (next)
		next(status);
	for (;;)
		syscall(SYS_exit_group, status);
}

EXPORT void _Exit(int status)
{
	_exit(status);
}
