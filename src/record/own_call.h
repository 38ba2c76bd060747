/* SPDX-License-Identifier: Apache-2.0
 *
 * System calls that millrace makes inside a traced program, marked so that they do not count as the program's
 * (own_mark.h). They leave errno as it is.
 *
 *     ssize_t count = mr_own_call(SYS_pread64, file, bytes, count, offset);      negative: -errno
 *
 * The mark must not stay in its register, where the program's next call would carry it on.
 *
 * Not marked, as their sixth argument counts: the mmap() of the arena, once in a program. Nor can be what the
 * dynamic linker does to load the library.
 */
#ifndef MR_RECORD_OWN_CALL_H
#define MR_RECORD_OWN_CALL_H

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "record/own_mark.h"

#if defined(__x86_64__)
static inline long mr_own_call_with(long number, long first, long second, long third, long fourth,
				    long fifth)
{
	register long r10 __asm__("r10") = fourth;
	register long r8 __asm__("r8") = fifth;
	register long r9 __asm__("r9") = MR_OWN_MARK;
	long result;
	__asm__ volatile("syscall\n\txorl %%r9d, %%r9d"
			 : "=a"(result), "+r"(r9)
			 : "a"(number), "D"(first), "S"(second), "d"(third), "r"(r10), "r"(r8)
			 : "rcx", "r11", "memory");
	return result;
}
#elif defined(__aarch64__)
static inline long mr_own_call_with(long number, long first, long second, long third, long fourth,
				    long fifth)
{
	register long x8 __asm__("x8") = number;
	register long x0 __asm__("x0") = first;
	register long x1 __asm__("x1") = second;
	register long x2 __asm__("x2") = third;
	register long x3 __asm__("x3") = fourth;
	register long x4 __asm__("x4") = fifth;
	register long x5 __asm__("x5") = MR_OWN_MARK;
	__asm__ volatile("svc 0\n\tmov x5, xzr"
			 : "+r"(x0), "+r"(x5)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4)
			 : "memory");
	return x0;
}
#endif

/* With up to five arguments: numbers or pointers. */
#define mr_own_call(...) MR_OWN_CALL(__VA_ARGS__, 0, 0, 0, 0, 0)
#define MR_OWN_CALL(number, first, second, third, fourth, fifth, ...)                          \
	mr_own_call_with(number, (long)(first), (long)(second), (long)(third), (long)(fourth), \
			 (long)(fifth))

/* Memory of zeroes straight from the system; NULL if there is none. */
static inline void *mr_own_map(size_t bytes)
{
	long memory = mr_own_call(SYS_mmap, NULL, bytes, PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS, -1);
	return memory < 0 && memory > -4096 ? NULL : (void *)memory;
}

static inline void mr_own_unmap(void *memory, size_t bytes)
{
	mr_own_call(SYS_munmap, memory, bytes);
}

/* 0 or -errno, as the next two. */
static inline int mr_own_stat(int folder, const char *path, struct stat *ret_status)
{
	return (int)mr_own_call(SYS_newfstatat, folder, path, ret_status, 0);
}

/* By the effective ids. Kernels before 5.8 do not know the call: there the C library asks in other ways, and sets
 * errno. */
static inline int mr_own_access(int folder, const char *path, int mode)
{
#ifdef SYS_faccessat2
	int result = (int)mr_own_call(SYS_faccessat2, folder, path, mode, AT_EACCESS);
	if (result != -ENOSYS)
		return result;
#endif
	return faccessat(folder, path, mode, AT_EACCESS) == 0 ? 0 : -errno;
}

static inline pid_t mr_own_pid(void)
{
	return (pid_t)mr_own_call(SYS_getpid);
}

static inline pid_t mr_own_parent_pid(void)
{
	return (pid_t)mr_own_call(SYS_getppid);
}

#endif
