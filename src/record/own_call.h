/* SPDX-License-Identifier: Apache-2.0
 *
 * System calls that millrace makes inside a traced program, marked so that they do not count as the program's
 * (own_mark.h). They leave errno as it is.
 *
 *     ssize_t count = mr_own_call(SYS_pread64, file, bytes, count, offset);      negative: -errno
 *
 * A call that a seccomp filter of the program might not allow is not made: it fails with -EPERM (hook/confinement.c
 * finds out which, before the filter is in force). So every caller works without. What makes a system call by other
 * means, such as a function of libc, asks mr_own_call_is_allowed() first, unless it runs only while the process attaches.
 *
 * The mark must not stay in its register, where the program's next call would carry it on.
 *
 * Not marked, as their sixth argument counts: each mmap() of a part of the arena. Nor can be what the dynamic linker
 * does to load the library.
 */
#ifndef MR_RECORD_OWN_CALL_H
#define MR_RECORD_OWN_CALL_H

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "record/own_mark.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* kernels before 5.14 refuse it */
#endif

/* All calls that the library makes. */
#define MR_OWN_CALLS(call)                                                                       \
	call(close) call(faccessat2) call(fgetxattr) call(fstat) call(getpid) call(getppid)      \
		call(getresgid) call(getresuid) call(gettid) call(madvise) call(mmap)            \
			call(munlock) call(munmap) call(prlimit64) call(newfstatat) call(openat) \
				call(prctl) call(pread64) call(readlinkat) call(rt_sigprocmask)  \
					call(sched_yield) call(sigaltstack) call(symlinkat)

enum mr_own_call_number {
#define MR_OWN_CALL_NUMBER(name) MR_OWN_CALL_##name,
	MR_OWN_CALLS(MR_OWN_CALL_NUMBER)
#undef MR_OWN_CALL_NUMBER
	MR_OWN_CALL_COUNT
};

#define MR_ALL_OWN_CALLS ((UINT32_C(1) << MR_OWN_CALL_COUNT) - 1)

/* Those that a filter might not allow, as bits: 0 in a process without such a filter. A forked child has its parent's.
 * (process.c) */
extern _Atomic uint32_t mr_forbidden_calls __attribute__((visibility("hidden")));

/* Of a call that is not in the list: all. */
static inline uint32_t mr_own_call_bit(long number)
{
	switch (number) {
#define MR_OWN_CALL_BIT(name) \
	case SYS_##name:      \
		return UINT32_C(1) << MR_OWN_CALL_##name;
		MR_OWN_CALLS(MR_OWN_CALL_BIT)
#undef MR_OWN_CALL_BIT
	default:
		return MR_ALL_OWN_CALLS;
	}
}

static inline bool mr_own_call_is_allowed(long number)
{
	uint32_t forbidden = atomic_load_explicit(&mr_forbidden_calls, memory_order_relaxed);
	return __builtin_expect(forbidden == 0, 1) || !(forbidden & mr_own_call_bit(number));
}

/* True if there is a filter that might not allow everything we do. */
static inline bool mr_is_confined(void)
{
	return atomic_load_explicit(&mr_forbidden_calls, memory_order_relaxed) != 0;
}

#if defined(__x86_64__)
static inline long mr_own_call_with(long number, long first, long second, long third, long fourth,
				    long fifth)
{
	if (!mr_own_call_is_allowed(number))
		return -EPERM;
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
	if (!mr_own_call_is_allowed(number))
		return -EPERM;
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
#ifdef __SANITIZE_THREAD__
	/* It must see this call, or it takes the next use of the same addresses for a race. */
	munmap(memory, bytes);
#else
	mr_own_call(SYS_munmap, memory, bytes);
#endif
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
	int result = (int)mr_own_call(SYS_faccessat2, folder, path, mode, AT_EACCESS);
	if (result != -ENOSYS)
		return result;
	return faccessat(folder, path, mode, AT_EACCESS) == 0 ? 0 : -errno;
}

#endif
