/* SPDX-License-Identifier: Apache-2.0
 *
 * Stands in front of the functions that execute programs, so that the library comes along into every
 * program it can live in, whatever the caller does to the environment, and stays out of all others.
 *
 *     execl execle execv ─► execve ─┐                                   ┌─► the next execve ...
 *     execlp execvp ─► execvpe ─────┤                                   │   (libc's, or another
 *     execveat, fexecve ────────────┼─► inspect target, ─► environment ─┤    preloaded library's)
 *     posix_spawn, posix_spawnp ────┘   note it                         └─► result unchanged
 *
 * Each has to be wrapped: inside libc they call one another directly. system() and popen() need
 * nothing: they start /bin/sh, into which the library goes by the inherited environment.
 *
 * All of it may run in a signal handler, in the child of a vfork (whose memory is its parent's) or of a
 * fork in a program with threads: no allocation, no lock, errno as the real function leaves it.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "hook/environment.h"
#include "hook/hook.h"
#include "hook/target.h"
#include "record/recorder.h"

enum {
	STACK_BYTES = 64 << 10,     /* an environment larger than this gets memory of its own */
	DESCRIPTOR_PATH_BYTES = 32, /* "/proc/self/fd/N" */
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

/* Not so in the child of a vfork, which uses the memory and the place in the arena of its parent. */
static bool is_own_process(void)
{
	return mr_this_process.generation == 0 ||
	       mr_arena_process(mr_arena, (uint32_t)mr_this_process.slot)->pid ==
		       (uint32_t)getpid();
}

/* Before a process replaces its program. */
static void note_exec(const char *program)
{
	if (!mr_level_is_on(MR_LEVEL_core) || !is_own_process())
		return;
	/* A forked child has its parent's libraries, and perhaps its dynamic linker's lock, taken by a
	 * thread that the child does not have. */
	if (mr_this_process.generation != 0 &&
	    mr_arena_process(mr_arena, (uint32_t)mr_this_process.slot)->origin ==
		    MR_process_origin_exec)
		mr_seen_note();
	/* Beside process_start: a child that does nothing else needs no packet for events. */
	const struct mr_event_process_exec exec = {};
	mr_define_event(MR_EVENT_process_exec, &exec, sizeof exec, program);
}

/* Runs the program in an environment that stands in `memory`. */
static int run_in(void *memory, const struct request *request, char *const *old,
		  const struct mr_environment_wish *wish, int saved_errno)
{
	char **environment = mr_environment_build(memory, old, wish);
	errno = saved_errno;
	return run(request, environment);
}

static int run_in_environment(const struct request *request, char *const *old,
			      const struct mr_environment_wish *wish, int saved_errno)
{
	size_t bytes = mr_environment_bytes(old, wish);
	if (bytes <= STACK_BYTES) {
		char *memory[bytes / sizeof(char *) + 1];
		return run_in(memory, request, old, wish, saved_errno);
	}
	/* In the child of a vfork this outlives a successful call; there is no one to give it back. */
	void *memory =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED) {
		errno = saved_errno;
		return run(request, old);
	}
	int result = run_in(memory, request, old, wish, saved_errno);
	saved_errno = errno;
	munmap(memory, bytes);
	errno = saved_errno;
	return result;
}

/* The target is harmless: can it also reach the library and the arena, after chroot or setuid? */
static enum mr_untraced_reason look_around(void)
{
	if (faccessat(AT_FDCWD, mr_arena->library_path, R_OK, AT_EACCESS) != 0)
		return MR_UNTRACED_NO_LIBRARY;
	if (faccessat(AT_FDCWD, mr_arena->arena_path, R_OK | W_OK, AT_EACCESS) != 0)
		return MR_UNTRACED_NO_ARENA;
	return MR_UNTRACED_NONE;
}

/* Executes `program`, which is what the request will find, or will fail to. */
static int execute(const struct request *request, int folder, const char *program, char *const *old)
{
	int saved_errno = errno;
	enum mr_untraced_reason reason = mr_target_inspect(folder, program);
	if (reason == MR_UNTRACED_NONE)
		reason = look_around();
	const struct mr_environment_wish wish = {.library = mr_arena->library_path,
						 .arena = mr_arena->arena_path,
						 .is_traced = reason == MR_UNTRACED_NONE};
	if (is_spawn(request)) {
		pid_t pid = 0;
		struct request spawn = *request;
		spawn.ret_pid = &pid;
		int result = run_in_environment(&spawn, old, &wish, saved_errno);
		saved_errno = errno;
		if (result == 0 && request->ret_pid)
			*request->ret_pid = pid;
		if (result == 0 && !wish.is_traced)
			mr_process_note_untraced((uint32_t)pid, program, reason);
		errno = saved_errno;
		return result;
	}
	/* A shell tries one folder of PATH after the other: only what can be executed is worth a note. */
	if (faccessat(folder, program, X_OK, AT_EACCESS) == 0) {
		note_exec(program);
		if (!wish.is_traced)
			mr_process_note_untraced((uint32_t)getpid(), program, reason);
	}
	return run_in_environment(request, old, &wish, saved_errno);
}

/* What a name without a slash stands for is found as libc will find it. */
static int execute_searched(const struct request *request, char *const *old)
{
	char path[PATH_MAX];
	bool found = mr_target_search(request->file, path, sizeof path);
	return execute(request, AT_FDCWD, found ? path : request->file, old);
}

static int execute_descriptor(const struct request *request, char *const *old)
{
	char path[DESCRIPTOR_PATH_BYTES] = "/proc/self/fd/";
	char digits[12];
	char *at = digits + sizeof digits - 1;
	*at = 0;
	unsigned int rest = (unsigned int)request->descriptor;
	do
		*--at = (char)('0' + rest % 10);
	while (rest /= 10);
	strcat(path, at);
	return execute(request, AT_FDCWD, path, old);
}

static int launch(const struct request *request, char *const *old)
{
	mr_hook_start();
	const char *arena = mr_environment_get(old, "MILLRACE_ARENA");
	/* A program that is to be recorded by another `millrace record` is left to that one. */
	if (!mr_arena || (arena && strcmp(arena, mr_arena->arena_path) != 0))
		return run(request, old);
	bool has_file = request->file && request->file[0];
	if (request->way == WAY_fexecve || (request->way == WAY_execveat && !has_file))
		return execute_descriptor(request, old);
	if (!has_file)
		return run(request, old);
	if (request->way == WAY_execvpe || request->way == WAY_posix_spawnp)
		return execute_searched(request, old);
	int folder = request->way == WAY_execveat ? request->descriptor : AT_FDCWD;
	return execute(request, folder, request->file, old);
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
