/* SPDX-License-Identifier: Apache-2.0
 *
 * Wraps the functions that change the user of a process. The arena is shared by the processes of one user: one that
 * becomes another user for good gives it up, with all that is mapped of it, and is not recorded from then on. What it
 * executes afterwards cannot open the arena.
 *
 *     uid: real, effective, saved        before ─► after
 *     setuid(33) as root                 0 0 0  ─► 33 33 33     gives up
 *     seteuid(33) as root                0 0 0  ─► 0 33 0       may go back: stays
 *     setresuid(33, 33, 33) then         0 33 0 ─► 33 33 33     gives up
 *
 * The child of a vfork uses its parent's memory and leaves it alone; it is about to execute a program. A program that
 * makes the system call itself, past the C library, keeps the memory of the arena: see doc/security.md.
 */
#include <dlfcn.h>
#include <stdatomic.h>
#include <unistd.h>

#include "hook/hook.h"
#include "record/identity.h"
#include "record/own_call.h"
#include "record/recorder.h"

struct users {
	uid_t real, effective, saved;
};

typedef int one_user_function(uid_t user);
typedef int two_users_function(uid_t real, uid_t effective);
typedef int three_users_function(uid_t real, uid_t effective, uid_t saved);

enum way {
	SETUID,
	SETEUID,
	SETREUID,
	SETRESUID,
	WAYS
};

static _Atomic(void *) next_functions[WAYS];

static _Atomic uid_t
	home; /* the user whose arena it is, as this process's user namespace calls it */

/* What would be called without us. Looked up here if another thread is just starting the library. */
static void *next(enum way way)
{
	static const char *const names[WAYS] = {"setuid", "seteuid", "setreuid", "setresuid"};
	void *function = atomic_load_explicit(&next_functions[way], memory_order_relaxed);
	if (!function) {
		function = dlsym(RTLD_NEXT, names[way]);
		atomic_store_explicit(&next_functions[way], function, memory_order_relaxed);
	}
	return function;
}

static bool get_users(struct users *ret_users)
{
	return mr_own_call(SYS_getresuid, &ret_users->real, &ret_users->effective,
			   &ret_users->saved) == 0;
}

void mr_user_prepare(bool is_recorded)
{
	struct users users;
	if (is_recorded && get_users(&users))
		home = users.effective;
	for (int way = 0; way < WAYS; way++)
		next((enum way)way);
}

static bool is_among(uid_t user, const struct users *users)
{
	return user == users->real || user == users->effective || user == users->saved;
}

/* Before the change: in a user namespace of its own a process has got other numbers, but is still the same user. */
static void look_before(void)
{
	struct users users;
	if (mr_arena && get_users(&users) && !is_among(home, &users))
		home = users.effective;
}

/* A forked child that has recorded nothing has no entry yet that could say why. A process that may not ask who it is
 * (hook/confinement.c) gives up in any case. */
static int look_after(int result)
{
	struct users users;
	if (result != 0 || !mr_arena || (get_users(&users) && is_among(home, &users)))
		return result;
	if (mr_this_process.generation == 0)
		mr_process_restart();
	if (mr_is_own_process() || !mr_own_call_is_allowed(SYS_getpid))
		mr_process_leave(MR_UNTRACED_OTHER_USER);
	return result;
}

#define EXPORT __attribute__((visibility("default")))

EXPORT int setuid(uid_t user)
{
	mr_hook_start();
	look_before();
	return look_after(((one_user_function *)next(SETUID))(user));
}

EXPORT int seteuid(uid_t user)
{
	mr_hook_start();
	look_before();
	return look_after(((one_user_function *)next(SETEUID))(user));
}

EXPORT int setreuid(uid_t real, uid_t effective)
{
	mr_hook_start();
	look_before();
	return look_after(((two_users_function *)next(SETREUID))(real, effective));
}

EXPORT int setresuid(uid_t real, uid_t effective, uid_t saved)
{
	mr_hook_start();
	look_before();
	return look_after(((three_users_function *)next(SETRESUID))(real, effective, saved));
}
