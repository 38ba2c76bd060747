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
#include "hook/rank.h"
#include "record/own_call.h"
#include "record/recorder.h"

/* From its own environment and memory, before anything else can have changed them: children get them, too. */
static void find_paths(const char *arena_path)
{
	Dl_info self;
	if (!dladdr(mr_library_path, &self) || strlen(self.dli_fname) >= sizeof mr_library_path ||
	    strlen(arena_path) >= sizeof mr_arena_path)
		return;
	strcpy(mr_library_path, self.dli_fname);
	strcpy(mr_arena_path, arena_path);
}

static char *put_number(char *at, uint32_t number)
{
	char digits[10];
	int count = 0;
	do
		digits[count++] = (char)('0' + number % 10);
	while (number /= 10);
	while (count > 0)
		*at++ = digits[--count];
	return at;
}

/* Tells record that this program could not attach, by a link beside the arena (launch/notes.h): for that nothing is
 * needed that may be lacking. Where the arena is gone, or out of sight after a chroot, nobody would collect it. */
static void note_failure(enum mr_untraced_reason reason)
{
	char link[MR_ARENA_PATH_BYTES + 16], text[256];
	const char *name = strrchr(mr_arena_path, '/');
	if (!name || strncmp(name, "/millrace-arena-", strlen("/millrace-arena-")) != 0 ||
	    mr_own_access(AT_FDCWD, mr_arena_path, F_OK) == -ENOENT)
		return;
	char *at = stpcpy(link, mr_arena_path);
	*at++ = '.';
	*put_number(at, (uint32_t)mr_own_call(SYS_getpid)) = 0;
	at = put_number(text, (uint32_t)reason);
	*at++ = ' ';
	long length = mr_own_call(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", at,
				  text + sizeof text - at - 1);
	at[length > 0 ? length : 0] = 0;
	mr_own_call(SYS_symlinkat, text, AT_FDCWD, link);
}

/* At the start; or at the end, if the program has told itself since. */
static void note_rank(void)
{
	static atomic_bool is_noted;
	struct mr_rank rank;

	if (!mr_rank_find(&rank) || atomic_exchange(&is_noted, true))
		return;
	const struct mr_event_process_rank event = {
		.rank = rank.rank, .world_size = rank.world_size, .local_rank = rank.local_rank};
	mr_define_event(MR_EVENT_process_rank, &event, sizeof event, rank.source);
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
	char *arena_path = secure_getenv("MILLRACE_ARENA");
	if (arena_path && !*arena_path)
		arena_path = NULL; /* a confined program has executed this one (confinement.c) */
	mr_confinement_prepare(arena_path);
	mr_user_prepare(arena_path != NULL);
	if (arena_path)
		find_paths(arena_path);
	enum mr_untraced_reason reason = mr_arena_path[0] ? mr_process_attach() : MR_UNTRACED_NONE;
	if (reason != MR_UNTRACED_NONE)
		note_failure(reason);
	if (mr_arena) {
		mr_seen_prepare();
		note_rank();
	}
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
	note_rank();
	mr_process_end();
}
