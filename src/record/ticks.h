/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads the trace's user clock: the CPU's time-stamp counter if it runs at one rate on all CPUs,
 * otherwise CLOCK_MONOTONIC. `record` decides once and writes the choice to the arena.
 *
 * Reading the counter is not ordered with memory operations; order between threads comes from
 * ids and kernel wake-ups, never from comparing these ticks.
 */
#ifndef MR_RECORD_TICKS_H
#define MR_RECORD_TICKS_H

#include <stdint.h>
#include <time.h>

static inline uint64_t mr_ticks_of_counter(void)
{
#if defined(__x86_64__)
	return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
	uint64_t ticks;
	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
	return ticks;
#else
#error "millrace supports x86-64 and aarch64"
#endif
}

static inline uint64_t mr_ticks_of_system(clockid_t clock)
{
	struct timespec now;
	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

#endif
