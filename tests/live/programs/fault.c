/* SPDX-License-Identifier: Apache-2.0
 *
 * Makes one call fail. It is preloaded and controlled by environment variables:
 *
 *     FAULT_FUNCTION      name of the function of the C library that fails
 *     FAULT_SYSTEM_CALL   or: name of the system call that fails where libmillrace.so makes it (own_call.h)
 *     FAULT_ERROR         with which errno, a number; only for system calls
 *     FAULT_NUMBER        which of its calls fails, from 1
 *     FAULT_PROGRAM       only in programs whose name this is
 *     FAULT_CALLER        only calls made by the program or library whose file name ends so; may be missing
 *     FAULT_FILE          made when the fault has happened
 *
 * Reading the environment happens in a constructor: calls before it, by the dynamic linker and other
 * constructors, are not counted.
 *
 * Functions are interposed. System calls are trapped by a seccomp filter that looks for the mark:
 *
 *     marked call ─► filter ─► SIGSYS ─► on_marked_call ─┬► the one that fails: -errno
 *                                                        └► any other: made again, without the mark
 *
 * Programs that the one with the fault executes inherit the filter but not the handler: each of them sets it. They do
 * so in time, as the linker runs the constructors of what is preloaded from the last to the first, and
 * libmillrace.so is the first.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "record/own_mark.h"

static const char *function, *caller, *file;
static long number;
static atomic_long calls;

/* Counts a call. True of the one that must fail. */
static bool is_the_one(void)
{
	if (atomic_fetch_add(&calls, 1) + 1 != number)
		return false;
	long made = syscall(SYS_openat, AT_FDCWD, file, O_WRONLY | O_CREAT, 0600, 0, 0);
	if (made >= 0)
		syscall(SYS_close, made, 0, 0, 0, 0, 0);
	return true;
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
	    !is_the_one())
		return false;
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

/* What pthread_atfork() calls, which is linked into each library. */
extern int __register_atfork(void (*)(void), void (*)(void), void (*)(void), void *);

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
FAULTY(int, __register_atfork, ENOMEM, ENOMEM,
       (void (*prepare)(void), void (*parent)(void), void (*child)(void), void *library),
       (prepare, parent, child, library))
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

/* ---- system calls ------------------------------------------------------------------------------- */

#if defined(__x86_64__)
#define MACHINE                  AUDIT_ARCH_X86_64
#define ARGUMENT(context, which) ((context)->uc_mcontext.gregs[argument_registers[which]])
#define RESULT(context)          ((context)->uc_mcontext.gregs[REG_RAX])
static const int argument_registers[] = {REG_RDI, REG_RSI, REG_RDX, REG_R10, REG_R8};
#elif defined(__aarch64__)
#define MACHINE                  AUDIT_ARCH_AARCH64
#define ARGUMENT(context, which) ((context)->uc_mcontext.regs[which])
#define RESULT(context)          ((context)->uc_mcontext.regs[0])
#endif

#ifndef SYS_faccessat2 /* since Linux 5.8 */
#define SYS_faccessat2 439
#endif

static const struct {
	const char *name;
	long number;
} system_calls[] = {
	{"close", SYS_close},
	{"faccessat2", SYS_faccessat2},
	{"fstat", SYS_fstat},
	{"getresgid", SYS_getresgid},
	{"getresuid", SYS_getresuid},
	{"madvise", SYS_madvise},
	{"mmap", SYS_mmap},
	{"munmap", SYS_munmap},
	{"newfstatat", SYS_newfstatat},
	{"openat", SYS_openat},
	{"prctl", SYS_prctl},
	{"pread64", SYS_pread64},
	{"readlinkat", SYS_readlinkat},
};

static int system_call_error;

static void on_marked_call(int signal, siginfo_t *info, void *interrupted)
{
	(void)signal;
	int saved_errno = errno;
	ucontext_t *context = interrupted;
	bool fails = number && is_the_one();
	long result = 0;
	/* A descriptor is closed even if close() fails. */
	if (!fails || info->si_syscall == SYS_close)
		result = syscall(info->si_syscall, ARGUMENT(context, 0), ARGUMENT(context, 1),
				 ARGUMENT(context, 2), ARGUMENT(context, 3), ARGUMENT(context, 4),
				 0);
	if (result == -1)
		result = -errno;
	RESULT(context) = fails ? -system_call_error : result;
	errno = saved_errno;
}

/* Half of the sixth argument, as the filter sees it. Both machines have the lower half first. */
#define SIXTH_ARGUMENT(half) (offsetof(struct seccomp_data, args[5]) + (half) * sizeof(uint32_t))

static bool trap(long system_call)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, MACHINE, 0, 7),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)system_call, 0, 5),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, SIXTH_ARGUMENT(0)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)MR_OWN_MARK, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, SIXTH_ARGUMENT(1)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(MR_OWN_MARK >> 32), 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = {.len = sizeof code / sizeof *code, .filter = code};
	/* The C library's own: libmillrace.so, which stands in front of it, would not make the calls any more. */
	void *library = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
	__typeof__(&prctl) libc_prctl =
		library ? (__typeof__(&prctl))dlsym(library, "prctl") : NULL;
	return libc_prctl && libc_prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       libc_prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0) == 0;
}

static void trap_named(const char *name)
{
	for (size_t i = 0; i < sizeof system_calls / sizeof *system_calls; i++)
		if (strcmp(name, system_calls[i].name) == 0 && trap(system_calls[i].number))
			return;
	fprintf(stderr, "cannot trap %s: %s\n", name, strerror(errno));
	abort();
}

__attribute__((constructor(101))) static void prepare(void)
{
	const char *program = getenv("FAULT_PROGRAM");
	const char *system_call = getenv("FAULT_SYSTEM_CALL");
	file = getenv("FAULT_FILE");
	if (!program || !file)
		return;
	struct sigaction action = {.sa_sigaction = on_marked_call,
				   .sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK | SA_RESTART};
	if (system_call)
		sigaction(SIGSYS, &action, NULL);
	if (strcmp(program, program_invocation_short_name) != 0)
		return;
	number = atol(getenv("FAULT_NUMBER"));
	caller = getenv("FAULT_CALLER");
	function = getenv("FAULT_FUNCTION");
	if (system_call) {
		system_call_error = atoi(getenv("FAULT_ERROR"));
		trap_named(system_call);
	}
}
