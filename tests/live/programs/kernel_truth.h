/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared by the programs traced at the kernel level: they print what they did, to be compared with what
 * the trace says. One line for each thing, "what key=value key=value ...". Times are nanoseconds of
 * CLOCK_MONOTONIC, which is the clock of the kernel's events.
 */
#ifndef KERNEL_TRUTH_H
#define KERNEL_TRUTH_H

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static inline uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;
	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

static inline uint64_t now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

static inline uint64_t own_cpu_ns(void)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

static inline int own_tid(void)
{
	return (int)syscall(SYS_gettid);
}

static inline void sleep_ms(long ms)
{
	struct timespec time = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
	while (nanosleep(&time, &time) != 0)
		;
}

/* A call that cannot fail in a sane test: ends the program if it does. */
#define must(call)                            \
	({                                    \
		__auto_type result_ = (call); \
		if (result_ < 0) {            \
			perror(#call);        \
			exit(1);              \
		}                             \
		result_;                      \
	})

#endif
