/* SPDX-License-Identifier: Apache-2.0
 *
 * Small programs with one problem each, made by hand (hand_model.h): what they cost is known to the nanosecond, and the
 * diagnosis must say the same. Thread 0 is the main thread, whose time is looked at.
 *
 *     PROBLEM_CHECK({"two threads", take_turns, "lock_contention", 400 * MS, "thread 101 holds it"}, ...);
 *
 * Failures end the test.
 */
#ifndef MR_TESTS_UNIT_PROBLEM_ANSWER_H
#define MR_TESTS_UNIT_PROBLEM_ANSWER_H

#include "hand_model.h"

#define MS INT64_C(1000000)

enum {
	ROUNDS = 10,
	ROUND_MS = 100,
};

/* When a round begins. All programs have ROUNDS of them, and nothing before or after. */
#define ROUND(round) (ROUND_MS * MS * (round))

struct problem_program {
	const char *name;
	void (*make)(struct mr_model *model); /* adds the rows of all rounds */
	const char *key; /* of the first problem; or, if it costs 0, of one that is not named */
	int64_t cost_ns;
	const char *says; /* the problem's sentence contains this; NULL: whatever it is */
};

/* `is_of_steps`: what is looked at are the steps, as they go on. */
void problem_check(const struct problem_program *programs, size_t count, bool is_of_steps);

#define PROBLEM_CHECK_IN(is_of_steps, ...)                                       \
	do {                                                                     \
		static const struct problem_program programs_[] = {__VA_ARGS__}; \
		problem_check(programs_, mr_countof(programs_), is_of_steps);    \
	} while (0)
#define PROBLEM_CHECK(...)          PROBLEM_CHECK_IN(false, __VA_ARGS__)
#define PROBLEM_CHECK_OF_STEPS(...) PROBLEM_CHECK_IN(true, __VA_ARGS__)

/* The thread waits at a futex, as condition variables do, until the other wakes it. */
void problem_wait(uint32_t thread, int64_t from_ns, int64_t to_ns, uint64_t word, uint32_t waker);

/* The same at a mutex, which the thread gives back at `back_ns`. */
void problem_lock(uint32_t thread, int64_t from_ns, int64_t to_ns, uint64_t word, uint32_t holder,
		  int64_t back_ns);

/* It could run, but the thread of that tid has its CPU. */
void problem_preempt(uint32_t thread, int64_t from_ns, int64_t to_ns, uint32_t tid);

/* A copy of a device, which the call launched that began with it and waited for it, in thread 0. */
void problem_copy(struct mr_model *model, int64_t from_ns, int64_t to_ns, uint8_t kind,
		  uint64_t bytes, uint64_t correlation);

#endif
