/* SPDX-License-Identifier: Apache-2.0
 *
 * Columns of the tables that the kernel level fills (kernel.c, states.c), in the manner of table.h.
 *
 * The states of a thread tile its life: from its birth to its last switch or the end of the recording
 * there is no gap and no overlap. Where records are missing the state is UNKNOWN, never a guess.
 *
 *     thread   RUN ──► BLOCKED ─────────► RUNNABLE ──► RUN ──► RUNNABLE ──► RUN ──► UNKNOWN ──► RUN
 *                      until it is woken   woken               preempted           records lost
 *
 * A thread that is traced but has no track of its own in the user streams has one all the same
 * (task_tracks.h). Tids are those of the initial pid namespace.
 */
#ifndef MR_MODEL_KERNEL_COLUMNS_H
#define MR_MODEL_KERNEL_COLUMNS_H

#define MR_NO_CPU UINT32_MAX
#define MR_NO_TID UINT32_MAX /* a thread that is not known */

enum mr_thread_state {
	MR_STATE_RUN,
	MR_STATE_RUNNABLE,
	MR_STATE_BLOCKED,
	MR_STATE_UNKNOWN,
	MR_STATE_COUNT
};

/* Why a thread is in its state. */
enum mr_state_reason {
	MR_REASON_NONE,            /* it runs */
	MR_REASON_NEW,             /* runnable: it was just born */
	MR_REASON_WOKEN,           /* runnable */
	MR_REASON_PREEMPTED,       /* runnable */
	MR_REASON_YIELDED,         /* runnable */
	MR_REASON_THROTTLED,       /* runnable, but its group has used up its share of the CPUs */
	MR_REASON_INTERRUPTIBLE,   /* blocked */
	MR_REASON_UNINTERRUPTIBLE, /* blocked */
	MR_REASON_DISK,            /* blocked, and waits for a disk */
	MR_REASON_STOPPED,         /* blocked: by a signal or a debugger */
	MR_REASON_NOT_TOLD,        /* blocked or runnable: the record does not say why */
	MR_REASON_LOST,            /* unknown: records are missing */
	MR_REASON_NOT_RECORDED,    /* unknown: the recording was off */
	MR_REASON_COUNT
};

#define MR_KERNEL_TABLES(TABLE) \
	TABLE(states)           \
	TABLE(cpu_runs)         \
	TABLE(wakeups)          \
	TABLE(system_calls)     \
	TABLE(block_io)         \
	TABLE(major_faults)     \
	TABLE(interrupts)       \
	TABLE(socket_bytes)     \
	TABLE(signals)          \
	TABLE(uring_requests)   \
	TABLE(migrations)

#define MR_COLUMNS_states(COLUMN)                                                            \
	COLUMN(uint32_t, track)                                                              \
	COLUMN(int64_t, start_ns)                                                            \
	COLUMN(int64_t, duration_ns)                                                         \
	COLUMN(int64_t, interrupted_ns) /* of RUN: taken by interrupts */                    \
	COLUMN(uint32_t, cpu) /* runs or waits there; of BLOCKED: ran there; or MR_NO_CPU */ \
	COLUMN(uint32_t, minor_faults) /* of RUN, while it lasted */                         \
	COLUMN(uint32_t, system_call)  /* of BLOCKED: row of the call, or MR_NO_ROW */       \
	COLUMN(uint32_t, wakeup)       /* of BLOCKED: row of what ended it, or MR_NO_ROW */  \
	COLUMN(uint8_t, state)         /* enum mr_thread_state */                            \
	COLUMN(uint8_t, reason)        /* enum mr_state_reason */

/* Who had a CPU. While no traced thread runs there or wants to, switches are not recorded: where the thread
 * that came is not the one that leaves there is no row, and where it is others may have run in between. */
#define MR_COLUMNS_cpu_runs(COLUMN)              \
	COLUMN(uint32_t, track) /* of the CPU */ \
	COLUMN(int64_t, start_ns)                \
	COLUMN(int64_t, duration_ns)             \
	COLUMN(uint32_t, tid)    /* 0: idle */   \
	COLUMN(uint32_t, thread) /* its track, or MR_NO_TRACK if not traced */

#define MR_COLUMNS_wakeups(COLUMN)                                                 \
	COLUMN(uint32_t, track) /* of the thread that is woken */                  \
	COLUMN(int64_t, start_ns)                                                  \
	COLUMN(uint32_t, waker_tid) /* what ran then: the cause in context task */ \
	COLUMN(uint32_t, waker)     /* its track, or MR_NO_TRACK */                \
	COLUMN(uint32_t, source)    /* string: timer function, interrupt ... */    \
	COLUMN(uint8_t, context)    /* enum mr_wake_context */

/* Where only calls that block are recorded, a row covers the blocked interval (MR_ROW_BLOCKED). */
#define MR_COLUMNS_system_calls(COLUMN)                                 \
	COLUMN(uint32_t, track)                                         \
	COLUMN(int64_t, start_ns)                                       \
	COLUMN(int64_t, duration_ns)                                    \
	COLUMN(int64_t, blocked_ns)  /* of it */                        \
	COLUMN(int64_t, runnable_ns) /* of it */                        \
	COLUMN(uint64_t, argument)   /* first one, if it has no file */ \
	COLUMN(int64_t, result)                                         \
	COLUMN(uint32_t, number)                                        \
	COLUMN(uint32_t, file)                                          \
	COLUMN(uint8_t, operation) /* command of a futex call */        \
	COLUMN(uint8_t, flags)

#define MR_COLUMNS_block_io(COLUMN)                                   \
	COLUMN(uint32_t, track) /* of the thread that submitted it */ \
	COLUMN(int64_t, start_ns)                                     \
	COLUMN(int64_t, duration_ns)                                  \
	COLUMN(int64_t, queue_ns) /* of it, until the disk got it */  \
	COLUMN(uint64_t, sector)                                      \
	COLUMN(uint32_t, device) /* major times 2^20 plus minor */    \
	COLUMN(uint32_t, bytes)                                       \
	COLUMN(uint32_t, error)    /* 0, or an error number */        \
	COLUMN(uint8_t, operation) /* enum mr_block_operation */

#define MR_COLUMNS_major_faults(COLUMN) \
	COLUMN(uint32_t, track)         \
	COLUMN(int64_t, start_ns)       \
	COLUMN(int64_t, duration_ns)    \
	COLUMN(uint64_t, address)

#define MR_COLUMNS_interrupts(COLUMN)                              \
	COLUMN(uint32_t, track) /* of the thread it interrupted */ \
	COLUMN(int64_t, start_ns)                                  \
	COLUMN(int64_t, duration_ns)                               \
	COLUMN(int64_t, self_ns)                                   \
	COLUMN(uint32_t, parent)                                   \
	COLUMN(uint32_t, number)                                   \
	COLUMN(uint8_t, kind) /* enum mr_interrupt_kind */         \
	COLUMN(uint8_t, flags)

#define MR_COLUMNS_socket_bytes(COLUMN) \
	COLUMN(uint32_t, track)         \
	COLUMN(int64_t, start_ns)       \
	COLUMN(uint32_t, file)          \
	COLUMN(uint32_t, bytes)         \
	COLUMN(uint8_t, is_receive)

#define MR_COLUMNS_signals(COLUMN)                               \
	COLUMN(uint32_t, track) /* of the receiver */            \
	COLUMN(int64_t, start_ns)                                \
	COLUMN(uint32_t, sender_tid)                             \
	COLUMN(uint32_t, sender) /* its track, or MR_NO_TRACK */ \
	COLUMN(uint8_t, signal)                                  \
	COLUMN(uint8_t, stage) /* enum mr_signal_stage */

/* A request has two rows, tied by the request's name: submitted, and complete. */
#define MR_COLUMNS_uring_requests(COLUMN)                \
	COLUMN(uint32_t, track)                          \
	COLUMN(int64_t, start_ns)                        \
	COLUMN(uint64_t, request)                        \
	COLUMN(uint64_t, user_data)                      \
	COLUMN(int64_t, result) /* of a complete one */  \
	COLUMN(uint32_t, file)  /* of a submitted one */ \
	COLUMN(uint8_t, opcode) /* of a submitted one */ \
	COLUMN(uint8_t, is_complete)

#define MR_COLUMNS_migrations(COLUMN) \
	COLUMN(uint32_t, track)       \
	COLUMN(int64_t, start_ns)     \
	COLUMN(uint32_t, from_cpu)    \
	COLUMN(uint32_t, to_cpu)

#endif
