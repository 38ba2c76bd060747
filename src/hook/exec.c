/* SPDX-License-Identifier: Apache-2.0
 *
 * Wraps the functions that execute programs, so that the library is loaded into every program that can load
 * it, whatever the caller does to the environment, and stays out of all others.
 *
 *     execl execle execv ─► execve ─┐                                   ┌─► the next execve ...
 *     execlp execvp ─► execvpe ─────┤                                   │   (libc's, or another
 *     execveat, fexecve ────────────┼─► inspect target, ─► environment ─┤    preloaded library's)
 *     posix_spawn, posix_spawnp ────┘   note it                         └─► result unchanged
 *
 * What cannot be read is passed on as it is: the kernel or the C library has an answer to it. In a process that is
 * confined (hook/confinement.c) nothing is inspected, and the library stays out of what it executes.
 *
 * Each has to be wrapped, because inside libc they call one another directly. system() and popen() need no
 * wrapper: they start /bin/sh, which loads the library through the inherited environment.
 *
 * All of this may run in a signal handler, on a small stack, in the child of a vfork (whose memory is its
 * parent's) or of a fork in a program with threads: it uses no function of the C library that allocates or
 * locks, uses little stack, and leaves errno as the real function set it. Memory belongs to one call and is reached
 * from its stack alone, since the same call may run in several processes that share everything else.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdarg.h>

#include "hook/environment.h"
#include "hook/hook.h"
#include "hook/target.h"
#include "record/identity.h"
#include "record/own_call.h"
#include "record/peek.h"
#include "record/recorder.h"

/* What an inspection needs, straight from the system. Given back before the program is executed: the child of a vfork
 * could not do it afterwards, and the memory is its parent's, too. */
struct room {
	char path[PATH_MAX];
	struct mr_target_scratch target;
};

enum {
	STACK_BYTES = 4 << 10,           /* for an environment: what any stack has */
	CONFINED_STACK_BYTES = 64 << 10, /* where there is no other memory */
};

/* The ways there are to execute a program; the others are reduced to these. */
#define WAYS(way) \
	way(execve) way(execvpe) way(execveat) way(fexecve) way(posix_spawn) way(posix_spawnp)

#define WAY_NUMBER(name) WAY_##name,
enum way {
	WAYS(WAY_NUMBER) WAY_COUNT
};

#define WAY_NAME(name) #name,
static const char *const way_names[WAY_COUNT] = {WAYS(WAY_NAME)};

static _Atomic(void *) next_functions[WAY_COUNT];

/* The file that a request will find, or will fail to, and why it cannot have the library. */
struct target {
	int folder;
	const char *program;
	enum mr_untraced_reason reason;
};

/* One call of any of them. */
struct request {
	enum way way;
	int descriptor; /* fexecve; folder of execveat */
	int flags;      /* execveat */
	const char *file;
	char *const *argv;
	pid_t *ret_pid; /* posix_spawn, as the next two */
	const posix_spawn_file_actions_t *actions;
	const posix_spawnattr_t *attributes;
};

static void *next_function(enum way way)
{
	void *function = atomic_load_explicit(&next_functions[way], memory_order_relaxed);
	if (mr_unlikely(!function)) {
		function = dlsym(RTLD_NEXT, way_names[way]);
		atomic_store_explicit(&next_functions[way], function, memory_order_relaxed);
	}
	return function;
}

void mr_exec_prepare(void)
{
	for (int way = 0; way < WAY_COUNT; way++)
		next_function((enum way)way);
}

/* next(execve)(...) calls what would be called without us. */
#define next(name) ((__typeof__(&name))next_function(WAY_##name))

static int run(const struct request *request, char *const *environment)
{
	switch (request->way) {
	case WAY_execve:
		return next(execve)(request->file, request->argv, environment);
	case WAY_execvpe:
		return next(execvpe)(request->file, request->argv, environment);
	case WAY_execveat:
		if (!next(execveat)) /* an old libc has none, though our presence made it seem so */
			return (int)syscall(SYS_execveat, request->descriptor, request->file,
					    request->argv, environment, request->flags);
		return next(execveat)(request->descriptor, request->file, request->argv,
				      environment, request->flags);
	case WAY_fexecve:
		return next(fexecve)(request->descriptor, request->argv, environment);
	case WAY_posix_spawn:
		return next(posix_spawn)(request->ret_pid, request->file, request->actions,
					 request->attributes, request->argv, environment);
	case WAY_posix_spawnp:
		return next(posix_spawnp)(request->ret_pid, request->file, request->actions,
					  request->attributes, request->argv, environment);
	case WAY_COUNT:
		break;
	}
	return -1;
}

static bool is_spawn(const struct request *request)
{
	return request->way == WAY_posix_spawn || request->way == WAY_posix_spawnp;
}

/* Before a process replaces its program. */
static void note_exec(const char *program)
{
	if (!mr_level_is_on(MR_LEVEL_core) || !mr_is_own_process())
		return;
	mr_hooks_leave(false);
	mr_seen_note();
	/* Among the definitions: a child that does nothing else needs no packet for events. */
	const struct mr_event_process_exec exec = {};
	mr_define_event(MR_EVENT_process_exec, &exec, sizeof exec, program);
}

/* The target is harmless: can it also reach the library and the arena, after chroot or setuid? */
static enum mr_untraced_reason look_around(void)
{
	if (mr_own_access(AT_FDCWD, mr_library_path, R_OK) < 0)
		return MR_UNTRACED_NO_LIBRARY;
	if (mr_own_access(AT_FDCWD, mr_arena_path, R_OK | W_OK) < 0)
		return MR_UNTRACED_NO_ARENA;
	return MR_UNTRACED_NONE;
}

/* A spawned program with a relative path may be looked for in another folder than the present one. */
static bool is_found_elsewhere(const struct request *request, const char *program)
{
	return is_spawn(request) && request->actions && program[0] != '/';
}

/* ---- the environment ---------------------------------------------------------------------------- */

/* Not inlined: no other call is to need so much stack. */
static __attribute__((noinline)) int run_from_stack(const struct request *request, char *const *old,
						    const struct mr_environment_wish *wish,
						    size_t bytes)
{
	void *memory[bytes / sizeof(void *) + 1];
	return run(request, mr_environment_build(memory, old, wish));
}

/* The child of a vfork that executes a program leaves this memory to its parent. That is the price of a large
 * environment that has to be changed. */
static int run_from_map(const struct request *request, char *const *old,
			const struct mr_environment_wish *wish, size_t bytes)
{
	void *memory = mr_own_map(bytes);
	if (!memory)
		return bytes <= CONFINED_STACK_BYTES ? run_from_stack(request, old, wish, bytes)
						     : run(request, old);
	int result = run(request, mr_environment_build(memory, old, wish));
	mr_own_unmap(memory, bytes);
	return result;
}

/* With an environment that has the library in it, or not. */
static int run_with(const struct request *request, char *const *old, bool is_traced)
{
	const struct mr_environment_wish wish = {
		.library = mr_library_path, .arena = mr_arena_path, .is_traced = is_traced};
	if (mr_environment_is_as_wished(old, &wish))
		return run(request, old);
	size_t bytes = mr_environment_bytes(old, &wish);
	return bytes <= STACK_BYTES ? run_from_stack(request, old, &wish, bytes)
				    : run_from_map(request, old, &wish, bytes);
}

/* ---- the target --------------------------------------------------------------------------------- */

/* "/proc/self/fd/N" */
static const char *descriptor_path(int descriptor, char *ret_path)
{
	char digits[12];
	char *at = digits + sizeof digits - 1;
	*at = 0;
	unsigned int rest = (unsigned int)descriptor;
	do
		*--at = (char)('0' + rest % 10);
	while (rest /= 10);
	strcpy(ret_path, "/proc/self/fd/");
	return strcat(ret_path, at);
}

static int folder_of(const struct request *request)
{
	return request->way == WAY_execveat ? request->descriptor : AT_FDCWD;
}

/* Finds out which file it is about, and what that is. */
static struct target find_target(const struct request *request, struct room *room)
{
	struct target target = {.folder = folder_of(request), .program = request->file};
	bool is_searched = request->way == WAY_execvpe || request->way == WAY_posix_spawnp;
	if (request->way == WAY_fexecve || (request->way == WAY_execveat && !request->file[0])) {
		target.program = descriptor_path(request->descriptor, room->path);
		target.folder = AT_FDCWD;
	} else if (is_searched && mr_target_search(request->file, room->path, sizeof room->path)) {
		target.program = room->path;
	}
	target.reason = is_found_elsewhere(request, target.program)
				? MR_UNTRACED_UNREADABLE
				: mr_target_inspect(target.folder, target.program, &room->target);
	if (target.reason == MR_UNTRACED_NONE)
		target.reason = look_around();
	return target;
}

/* One that nobody has looked at. */
static struct target unknown_target(const struct request *request, enum mr_untraced_reason reason)
{
	return (struct target){.folder = folder_of(request),
			       .program = request->file ? request->file : "",
			       .reason = reason};
}

/* ---- executing it ------------------------------------------------------------------------------- */

static int spawn(const struct request *request, const struct target *target, char *const *old)
{
	pid_t pid = 0;
	struct request with_pid = *request;
	with_pid.ret_pid = &pid;
	int result = run_with(&with_pid, old, target->reason == MR_UNTRACED_NONE);
	int saved_errno = errno;
	if (result == 0 && request->ret_pid)
		*request->ret_pid = pid;
	if (result == 0 && target->reason != MR_UNTRACED_NONE)
		mr_process_note_untraced((uint32_t)pid, target->program, target->reason);
	errno = saved_errno;
	return result;
}

/* A shell tries one folder of PATH after the other: only what can be executed is worth a note. Where that may not be
 * asked, everything is. */
static void note(const struct target *target)
{
	if (mr_own_call_is_allowed(SYS_faccessat2) &&
	    mr_own_access(target->folder, target->program, X_OK) != 0)
		return;
	note_exec(target->program);
	if (target->reason != MR_UNTRACED_NONE)
		mr_process_note_untraced(mr_own_pid(), target->program, target->reason);
}

static int execute(const struct request *request, char *const *old, int saved_errno)
{
	const bool is_confined = mr_is_confined();
	struct room *room = is_confined ? NULL : mr_own_map(sizeof *room);
	const struct target target =
		room ? find_target(request, room)
		     : unknown_target(request,
				      is_confined ? MR_UNTRACED_CONFINED : MR_UNTRACED_NO_MEMORY);
	int result = 0;
	errno = saved_errno;
	if (is_spawn(request))
		result = spawn(request, &target, old);
	else
		note(&target);
	if (room)
		mr_own_unmap(room, sizeof *room);
	if (is_spawn(request))
		return result;
	errno = saved_errno;
	return run_with(request, old, target.reason == MR_UNTRACED_NONE);
}

/* Whether we can look at what we have to look at. */
static bool is_readable(const struct request *request, char *const *environment)
{
	struct mr_peek peek = {.count = 0};
	if (!mr_peek_is_possible())
		return true; /* we cannot tell */
	if (request->file && !mr_peek_text(&peek, request->file, PATH_MAX))
		return false;
	for (; environment; environment++) {
		if (!mr_peek_bytes(&peek, environment, sizeof *environment))
			return false;
		if (!*environment)
			break;
		if (!mr_peek_text(&peek, *environment, SIZE_MAX))
			return false;
	}
	return true;
}

static int launch(const struct request *request, char *const *old)
{
	mr_hook_start();
	int saved_errno = errno;
	if (!mr_arena_path[0] || !is_readable(request, old))
		return run(request, old);
	const char *arena = mr_environment_get(old, "MILLRACE_ARENA");
	bool has_file = request->file && (request->file[0] || request->way == WAY_execveat);
	/* A program that is to be recorded by another `millrace record` is left to that one. */
	if ((arena && *arena && strcmp(arena, mr_arena_path) != 0) ||
	    (!has_file && request->way != WAY_fexecve))
		return run(request, old);
	return execute(request, old, saved_errno);
}

/* ---- the wrappers ------------------------------------------------------------------------------- */

#define EXPORT __attribute__((visibility("default")))

EXPORT int execve(const char *file, char *const argv[], char *const envp[])
{
	return launch(&(struct request){.way = WAY_execve, .file = file, .argv = argv}, envp);
}

EXPORT int execvpe(const char *file, char *const argv[], char *const envp[])
{
	return launch(&(struct request){.way = WAY_execvpe, .file = file, .argv = argv}, envp);
}

EXPORT int execv(const char *file, char *const argv[])
{
	return execve(file, argv, environ);
}

EXPORT int execvp(const char *file, char *const argv[])
{
	return execvpe(file, argv, environ);
}

EXPORT int execveat(int folder, const char *file, char *const argv[], char *const envp[], int flags)
{
	return launch(&(struct request){.way = WAY_execveat,
					.descriptor = folder,
					.file = file,
					.argv = argv,
					.flags = flags},
		      envp);
}

EXPORT int fexecve(int file, char *const argv[], char *const envp[])
{
	return launch(&(struct request){.way = WAY_fexecve, .descriptor = file, .argv = argv},
		      envp);
}

EXPORT int posix_spawn(pid_t *ret_pid, const char *file, const posix_spawn_file_actions_t *actions,
		       const posix_spawnattr_t *attributes, char *const argv[], char *const envp[])
{
	return launch(&(struct request){.way = WAY_posix_spawn,
					.file = file,
					.argv = argv,
					.ret_pid = ret_pid,
					.actions = actions,
					.attributes = attributes},
		      envp);
}

EXPORT int posix_spawnp(pid_t *ret_pid, const char *file, const posix_spawn_file_actions_t *actions,
			const posix_spawnattr_t *attributes, char *const argv[], char *const envp[])
{
	return launch(&(struct request){.way = WAY_posix_spawnp,
					.file = file,
					.argv = argv,
					.ret_pid = ret_pid,
					.actions = actions,
					.attributes = attributes},
		      envp);
}

/* Number of arguments up to the NULL that ends them; the list is walked again to copy them. */
static size_t count_arguments(const char *first, va_list more)
{
	va_list rest;
	va_copy(rest, more);
	size_t count = 0;
	for (const char *argument = first; argument; argument = va_arg(rest, const char *))
		count++;
	va_end(rest);
	return count;
}

static void copy_arguments(char **ret_argv, const char *first, va_list *rest)
{
	for (const char *argument = first; argument; argument = va_arg(*rest, const char *))
		*ret_argv++ = (char *)argument;
	*ret_argv = NULL;
}

EXPORT int execl(const char *file, const char *first, ...)
{
	va_list rest;
	va_start(rest, first);
	char *argv[count_arguments(first, rest) + 1];
	copy_arguments(argv, first, &rest);
	va_end(rest);
	return execve(file, argv, environ);
}

EXPORT int execlp(const char *file, const char *first, ...)
{
	va_list rest;
	va_start(rest, first);
	char *argv[count_arguments(first, rest) + 1];
	copy_arguments(argv, first, &rest);
	va_end(rest);
	return execvpe(file, argv, environ);
}

EXPORT int execle(const char *file, const char *first, ...)
{
	va_list rest;
	va_start(rest, first);
	char *argv[count_arguments(first, rest) + 1];
	copy_arguments(argv, first, &rest);
	char *const *envp = va_arg(rest, char *const *);
	va_end(rest);
	return execve(file, argv, envp);
}
