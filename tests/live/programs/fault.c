/* SPDX-License-Identifier: Apache-2.0
 *
 * Makes one call of a function fail. It is preloaded and controlled by environment variables:
 *
 *     FAULT_FUNCTION   name of the function
 *     FAULT_NUMBER     which of its calls fails, from 1
 *     FAULT_PROGRAM    only in programs whose name this is
 *     FAULT_CALLER     only calls made by the program or library whose file name ends so; may be missing
 *     FAULT_FILE       made when the fault has happened
 *
 * Reading the environment happens in a constructor: calls before it, by the dynamic linker and other
 * constructors, are not counted.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char *function, *caller, *file;
static long number;
static atomic_long calls;

__attribute__((constructor(101))) static void prepare(void)
{
	const char *program = getenv("FAULT_PROGRAM");
	file = getenv("FAULT_FILE");
	if (!program || strcmp(program, program_invocation_short_name) != 0 || !file)
		return;
	number = atol(getenv("FAULT_NUMBER"));
	caller = getenv("FAULT_CALLER");
	function = getenv("FAULT_FUNCTION");
}

static bool is_called_by(const char *ending, const void *address)
{
	Dl_info info;
	if (!ending || !dladdr(address, &info))
		return !ending;
	size_t length = strlen(info.dli_fname), wanted = strlen(ending);
	return length >= wanted && strcmp(info.dli_fname + length - wanted, ending) == 0;
}

static bool must_fail_at(const char *name, int error, const void *address)
{
	if (!function || strcmp(function, name) != 0 || !is_called_by(caller, address) ||
	    atomic_fetch_add(&calls, 1) + 1 != number)
		return false;
	long made = syscall(SYS_openat, AT_FDCWD, file, O_WRONLY | O_CREAT, 0600);
	if (made >= 0)
		syscall(SYS_close, made);
	errno = error;
	return true;
}

#define must_fail(name, error) must_fail_at(name, error, __builtin_return_address(0))

/* real(name) is the function that would have been called without us. */
#define real(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

/* Defines `name`, whose call numbered FAULT_NUMBER returns `failure` with errno `error`. */
#define FAULTY(type, name, error, failure, parameters, arguments) \
	type name parameters                                      \
	{                                                         \
		static __typeof__(&name) next;                    \
		if (must_fail(#name, error))                      \
			return failure;                           \
		if (!next)                                        \
			next = real(name);                        \
		return next arguments;                            \
	}

/* dlsym() may allocate, so these go to libc under its own names. */
extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);

void *malloc(size_t size)
{
	return must_fail("malloc", ENOMEM) ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
	return must_fail("calloc", ENOMEM) ? NULL : __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
	return must_fail("realloc", ENOMEM) ? NULL : __libc_realloc(old, size);
}

FAULTY(void *, mmap, ENOMEM, MAP_FAILED,
       (void *at, size_t size, int protection, int flags, int fd, off_t offset),
       (at, size, protection, flags, fd, offset))
FAULTY(ssize_t, write, ENOSPC, -1, (int fd, const void *bytes, size_t count), (fd, bytes, count))
FAULTY(pid_t, fork, EAGAIN, -1, (void), ())
FAULTY(int, madvise, EINVAL, -1, (void *at, size_t size, int advice), (at, size, advice))
FAULTY(ssize_t, readlink, EACCES, -1, (const char *path, char *target, size_t size),
       (path, target, size))
FAULTY(int, stat, EACCES, -1, (const char *path, struct stat *status), (path, status))
FAULTY(int, fstat, EACCES, -1, (int fd, struct stat *status), (fd, status))
FAULTY(int, pthread_key_create, EAGAIN, EAGAIN, (pthread_key_t * key, void (*destroy)(void *)),
       (key, destroy))
FAULTY(int, pthread_setspecific, ENOMEM, ENOMEM, (pthread_key_t key, const void *value),
       (key, value))
FAULTY(int, pipe2, EMFILE, -1, (int fds[2], int flags), (fds, flags))
FAULTY(int, ftruncate, EIO, -1, (int fd, off_t size), (fd, size))
FAULTY(int, fallocate, ENOSPC, -1, (int fd, int mode, off_t offset, off_t size),
       (fd, mode, offset, size))
FAULTY(int, epoll_create1, EMFILE, -1, (int flags), (flags))
FAULTY(int, mkdir, EACCES, -1, (const char *path, mode_t mode), (path, mode))
FAULTY(int, mkdirat, EACCES, -1, (int folder, const char *path, mode_t mode), (folder, path, mode))
FAULTY(int, symlinkat, EACCES, -1, (const char *target, int folder, const char *path),
       (target, folder, path))
FAULTY(int, renameat, EACCES, -1, (int from, const char *old, int to, const char *new),
       (from, old, to, new))
FAULTY(int, flock, EWOULDBLOCK, -1, (int fd, int operation), (fd, operation))

/* What cannot be written when a file is closed is lost, but the file is closed. */
int fclose(FILE *stream)
{
	int result = real(fclose)(stream);
	return must_fail("fclose", ENOSPC) ? EOF : result;
}

static int open_mode(int flags, va_list arguments)
{
	return flags & (O_CREAT | O_TMPFILE) ? va_arg(arguments, int) : 0;
}

int open(const char *path, int flags, ...)
{
	va_list arguments;
	va_start(arguments, flags);
	int mode = open_mode(flags, arguments);
	va_end(arguments);
	return must_fail("open", EMFILE) ? -1 : real(open)(path, flags, mode);
}

int openat(int folder, const char *path, int flags, ...)
{
	va_list arguments;
	va_start(arguments, flags);
	int mode = open_mode(flags, arguments);
	va_end(arguments);
	return must_fail("openat", EMFILE) ? -1 : real(openat)(folder, path, flags, mode);
}
