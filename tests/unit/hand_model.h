/* SPDX-License-Identifier: Apache-2.0
 *
 * Models for tests, made row by row and not from a trace: 40 threads (tracks 0 to 39, tids from 100), gpu0 with
 * two queues, gpu1 with one, all in order, and a CPU. Times are nanoseconds from 0.
 *
 *     struct mr_model *model = hand_model_start();
 *     hand_operation(QUEUE_A, 0, 100, "matmul", 1);
 *     hand_launch(0, 10, 20, 1);
 *     hand_model_load();                              // then mr_model_free(model)
 *
 * Rows may come in any order. Failures end the test. One model at a time.
 */
#ifndef MR_TESTS_UNIT_HAND_MODEL_H
#define MR_TESTS_UNIT_HAND_MODEL_H

#include "model/model.h"

enum {
	THREADS = 40,
	QUEUE_A = 1, /* of gpu0 */
	QUEUE_B = 2, /* of gpu0 */
	QUEUE_C = 3, /* of gpu1 */
	QUEUES = 3,
	CPUS = 1,
	FIRST_CPU_TRACK = THREADS + QUEUES,
	FOREIGN_TID = 900, /* it and the next are threads "cc" that are not traced */
};

struct mr_model *hand_model_start(void);

/* Sorts and links the rows. */
void hand_model_load(void);

/* A kernel; a marker. Calls and operations of one correlation belong together. */
void hand_operation(uint32_t queue, int64_t begin_ns, int64_t end_ns, const char *name,
		    uint64_t correlation);
void hand_marker(uint32_t queue, int64_t begin_ns, int64_t end_ns, uint64_t correlation);

/* `awaits`: the correlation of what the call or its operation waits for; 0: nothing. A launch that awaits its
 * own is blocking. */
void hand_call(uint32_t thread, int64_t begin_ns, int64_t end_ns, const char *function,
	       uint64_t correlation, enum mr_call_role role, uint64_t awaits);
void hand_launch(uint32_t thread, int64_t begin_ns, int64_t end_ns, uint64_t correlation);
void hand_node(uint32_t thread, int64_t begin_ns, int64_t end_ns, const char *name);

/* States of a thread, on CPU 0. */
void hand_state(uint32_t thread, int64_t begin_ns, int64_t end_ns, enum mr_thread_state state,
		enum mr_state_reason reason);
void hand_run(uint32_t thread, int64_t begin_ns, int64_t end_ns);
void hand_runnable(uint32_t thread, int64_t begin_ns, int64_t end_ns, enum mr_state_reason reason);

/* Blocked all through a system call; NULL: in none. */
void hand_blocked(uint32_t thread, int64_t begin_ns, int64_t end_ns, const char *system_call,
		  uint32_t of_file);

/* A call of futex about an address; blocked all through it, or not at all. */
void hand_futex(uint32_t thread, int64_t begin_ns, int64_t end_ns, uint64_t address,
		uint8_t command, bool is_blocked);

/* All threads belong to a Python interpreter that has its state there. */
void hand_interpreter(uint64_t address, uint32_t bytes);
uint32_t hand_file(const char *path);

/* By the thread `waker`; MR_NO_TRACK: by FOREIGN_TID, or no thread. */
void hand_woken(uint32_t thread, int64_t ns, enum mr_wake_context context, uint32_t waker,
		const char *source);

/* Who has CPU 0. */
void hand_cpu(int64_t begin_ns, int64_t end_ns, uint32_t tid, uint32_t thread);
void hand_interrupt(uint32_t thread, int64_t begin_ns, int64_t end_ns, uint32_t number);

#endif
