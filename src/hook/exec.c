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
 * Each has to be wrapped, because inside libc they call one another directly. system() and popen() need no
 * wrapper: they start /bin/sh, which loads the library through the inherited environment.
 *
 * All of this may run in a signal handler, on a small stack, in the child of a vfork (whose memory is its
 * parent's) or of a fork in a program with threads: it uses no function of the C library that allocates or
 * locks, uses little stack, and leaves errno as the real function set it.
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
#include "record/own_call.h"
#include "record/recorder.h"

/* Memory for one call, straight from the system; the environment follows. Given back when the call returns.
 * The child of a vfork that executes its program cannot do so, and the memory is its parent's: so the
 * thread remembers it, for its next call. A user that is gone is told by its pid from one that a signal
 * handler interrupted. */
struct scratch {
	size_t bytes;
	pid_t user;
	char path[PATH_MAX];
	struct mr_target_scratch target;
	void *environment[];
};

enum {
	BLIND_ENVIRONMENT_BYTES = 8 << 10
};

static _Thread_local struct scratch *last_scratch __attribute__((tls_model("initial-exec")));

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

static struct scratch *new_scratch(size_t bytes)
{
	struct scratch *scratch = mr_own_map(bytes);
	if (scratch)
		scratch->bytes = bytes;
	return scratch;
}

/* NULL if there is no memory. */
static struct scratch *take_scratch(size_t environment_bytes)
{
	size_t bytes = sizeof(struct scratch) + environment_bytes;
	pid_t self = mr_own_pid();
	struct scratch *last = last_scratch;
	if (last && last->user != self) {
		last_scratch = NULL;
		mr_own_unmap(last, last->bytes);
	}
	struct scratch *taken = new_scratch(bytes);
	if (!taken)
		return NULL;
	taken->user = self;
	if (!last_scratch) /* else a signal handler interrupted its user */
		last_scratch = taken;
	return taken;
}

static void give_back(struct scratch *scratch)
{
	if (scratch == last_scratch)
		last_scratch = NULL;
	mr_own_unmap(scratch, scratch->bytes);
}

/* Before a process replaces its program. */
static void note_exec(const char *program)
{
	if (!mr_level_is_on(MR_LEVEL_core) || !mr_exit_is_own_process())
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

static int spawn(const struct request *request, const char *program, char *const *environment,
		 enum mr_untraced_reason reason)
{
	pid_t pid = 0;
	struct request with_pid = *request;
	with_pid.ret_pid = &pid;
	int result = run(&with_pid, environment);
	int saved_errno = errno;
	if (result == 0 && request->ret_pid)
		*request->ret_pid = pid;
	if (result == 0 && reason != MR_UNTRACED_NONE)
		mr_process_note_untraced((uint32_t)pid, program, reason);
	errno = saved_errno;
	return result;
}

/* Executes `program`, whose environment keeps the library out if there is a reason. */
static int execute_with(const struct request *request, int folder, const char *program,
			char *const *environment, enum mr_untraced_reason reason, int saved_errno)
{
	if (is_spawn(request)) {
		errno = saved_errno;
		return spawn(request, program, environment, reason);
	}
	/* A shell tries one folder of PATH after the other: only what can be executed is worth a note. */
	if (mr_own_access(folder, program, X_OK) == 0) {
		note_exec(program);
		if (reason != MR_UNTRACED_NONE)
			mr_process_note_untraced((uint32_t)mr_own_pid(), program, reason);
	}
	errno = saved_errno;
	return run(request, environment);
}

/* Executes a program that nobody has looked at, for want of memory: the library stays out. Unless the environment is
 * too long for the stack: then it stays as it is. Not inlined: no other call is to need so much stack. */
static __attribute__((noinline)) int execute_blindly(const struct request *request,
						     char *const *old, int saved_errno)
{
	void *memory[BLIND_ENVIRONMENT_BYTES / sizeof(void *)];
	const struct mr_environment_wish wish = {.library = mr_library_path,
						 .arena = mr_arena_path};
	if (mr_environment_bytes(old, &wish) > sizeof memory)
		return run(request, old);
	return execute_with(request, request->way == WAY_execveat ? request->descriptor : AT_FDCWD,
			    request->file ? request->file : "",
			    mr_environment_build(memory, old, &wish), MR_UNTRACED_NO_MEMORY,
			    saved_errno);
}

/* Executes `program`, which is what the request will find, or will fail to. */
static int execute(const struct request *request, int folder, const char *program, char *const *old,
		   struct scratch *scratch, int saved_errno)
{
	enum mr_untraced_reason reason =
		is_found_elsewhere(request, program)
			? MR_UNTRACED_UNREADABLE
			: mr_target_inspect(folder, program, &scratch->target);
	if (reason == MR_UNTRACED_NONE)
		reason = look_around();
	const struct mr_environment_wish wish = {.library = mr_library_path,
						 .arena = mr_arena_path,
						 .is_traced = reason == MR_UNTRACED_NONE};
	return execute_with(request, folder, program,
			    mr_environment_build(scratch->environment, old, &wish), reason,
			    saved_errno);
}

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

/* Finds out which file it is about, and executes it. */
static int execute_found(const struct request *request, char *const *old, struct scratch *scratch,
			 int saved_errno)
{
	int folder = request->way == WAY_execveat ? request->descriptor : AT_FDCWD;
	const char *program = request->file;
	bool is_searched = request->way == WAY_execvpe || request->way == WAY_posix_spawnp;
	if (request->way == WAY_fexecve || (request->way == WAY_execveat && !program[0])) {
		program = descriptor_path(request->descriptor, scratch->path);
		folder = AT_FDCWD;
	} else if (is_searched && mr_target_search(program, scratch->path, sizeof scratch->path)) {
		program = scratch->path;
	}
	return execute(request, folder, program, old, scratch, saved_errno);
}

static int launch(const struct request *request, char *const *old)
{
	mr_hook_start();
	int saved_errno = errno;
	const char *arena = mr_environment_get(old, "MILLRACE_ARENA");
	bool has_file = request->file && (request->file[0] || request->way == WAY_execveat);
	/* A program that is to be recorded by another `millrace record` is left to that one. */
	if (!mr_arena_path[0] || (arena && strcmp(arena, mr_arena_path) != 0) ||
	    (!has_file && request->way != WAY_fexecve))
		return run(request, old);
	const struct mr_environment_wish widest = {
		.library = mr_library_path, .arena = mr_arena_path, .is_traced = true};
	struct scratch *scratch = take_scratch(mr_environment_bytes(old, &widest));
	if (!scratch)
		return execute_blindly(request, old, saved_errno);
	errno = saved_errno;
	int result = execute_found(request, old, scratch, saved_errno);
	give_back(scratch);
	return result;
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
