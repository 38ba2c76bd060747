/* SPDX-License-Identifier: Apache-2.0
 *
 * Small traces of all levels, written to ask for their critical path: one process, gpu0 with two queues, and threads
 * that only the kernel level knows. Times are microseconds from BASE.
 *
 *     path_start(true);                                // with the kernel level
 *     path_live_main();
 *     path_launch(10, 20, 1, 0, false);
 *     path_operate(1, 0, 30, 100);
 *     CHECK_PATH({BEFORE, "untraced", 0}, ...);        // loads it, compares the path, frees everything
 *
 * Events of a stream must come in order of time. One trace at a time. Failures end the test.
 */
#ifndef MR_TESTS_UNIT_PATH_TRACE_H
#define MR_TESTS_UNIT_PATH_TRACE_H

#include "kernel_trace.h"
#include "runtime_trace.h"

#define BASE   UINT64_C(1010000000)
#define AT(us) (BASE + 1000 * (uint64_t)(us))

enum {
	BEFORE = -10000, /* begin of the trace */
	AFTER = 90000,   /* its end */
	MAIN = 102,      /* thread of the user streams */
	WORKER = 103,    /* threads that only the kernel level knows */
	OTHER = 104,
	FOREIGN = 900, /* not traced */
};

/* Valid from path_load() to path_unload(). */
extern struct mr_model *path_model;

void path_start(bool has_kernel_level);
void path_load(void);
void path_unload(void);

/* MAIN is there from the begin of the trace on, and runs from 0 on. */
void path_live_main(void);

/* A thread that MAIN makes, and that runs at once on a CPU of its own. */
void path_live(uint32_t cpu, uint32_t tid, uint64_t us);

/* It exits; blocks; runs again; is woken. */
void path_leave(uint32_t cpu, uint32_t tid, uint64_t us);
void path_block(uint32_t cpu, uint32_t tid, uint64_t us);
void path_resume(uint32_t cpu, uint32_t tid, uint64_t us);
void path_wake(uint32_t cpu, uint32_t tid, uint32_t waker, uint64_t us);

/* Calls of MAIN: one that launches, one that waits for the device, one that does neither. */
void path_launch(uint64_t from, uint64_t until, uint64_t correlation, uint32_t queue,
		 bool is_blocking);
void path_synchronise(uint64_t from, uint64_t until);
void path_call(uint64_t from, uint64_t until);

/* A kernel; the queue is 0 or 1. */
void path_operate(uint64_t correlation, uint32_t queue, uint64_t from, uint64_t until);

/* A segment ends where the next one begins, the last one at the end of the window. */
struct path_expected {
	int64_t from_us;
	const char *cause;
	uint32_t who; /* tid, or correlation of an operation, or 0 for neither */
};

void path_check(const struct mr_model *looked_at, const struct path_expected *expected,
		size_t count);

#define CHECK_PATH(...)                                                        \
	do {                                                                   \
		static const struct path_expected expected_[] = {__VA_ARGS__}; \
		path_load();                                                   \
		path_check(path_model, expected_, mr_countof(expected_));      \
		path_unload();                                                 \
	} while (0)

#endif
