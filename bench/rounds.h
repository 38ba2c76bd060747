/* SPDX-License-Identifier: Apache-2.0
 *
 * Compares loops with one another inside one process.
 *
 *     round 1    a  b  c        each letter: one block of operations, timed as a whole
 *     round 2    c  b  a        (the order is reversed, so that none always follows another)
 *     round 3    a  b  c  ...
 *
 * Prints one line of names and one line per round: nanoseconds of the thread's CPU time per
 * operation. The first round warms up and is not printed. Between blocks the thread sleeps a
 * little, so that the recorder keeps up and nothing is lost.
 */
#ifndef BENCH_ROUNDS_H
#define BENCH_ROUNDS_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>

struct bench_loop {
	const char *name;
	void (*run)(uint32_t count); /* performs the operation `count` times */
};

void bench_rounds(const struct bench_loop *const *loops, size_t loop_count, uint32_t rounds,
		  uint32_t block);

/* Every loop does this once per operation, so that the compiler moves nothing out of it. */
#define bench_keep(value) __asm__ volatile("" : : "r"(value) : "memory")

static inline uint64_t bench_clock_ns(clockid_t clock)
{
	struct timespec now;
	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

/* The same numbers in every run. */
uint64_t bench_random(void);

/* Sorts the values. */
uint64_t bench_median(uint64_t *values, size_t count);

/* Parses a number from the command line; ends the program if it is not one. */
uint32_t bench_number(const char *text);

#endif
