/* SPDX-License-Identifier: Apache-2.0
 *
 * Columns of the tables that the kernel level fills (kernel.c, states.c), described as in table.h.
 *
 * The states of a thread tile its life: from its creation to its last switch or the end of the recording
 * there is no gap and no overlap. If records are missing, the state is UNKNOWN, never a guess.
 *
 *     thread   RUN ──► BLOCKED ─────────► RUNNABLE ──► RUN ──► RUNNABLE ──► RUN ──► UNKNOWN ──► RUN
 *                      until it is woken   woken               preempted           records lost
 *
 * A traced thread that has no track in the user streams gets one anyway (task_tracks.h). Tids are those of the
 * initial pid namespace.
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

/* What a thread waits for that is blocked at a futex. */
enum mr_exchange {
	MR_EXCHANGE_UNKNOWN,   /* or it is blocked elsewhere */
	MR_EXCHANGE_LOCK,      /* threads take turns */
	MR_EXCHANGE_HAND_OVER, /* work, a result, a signal: it goes one way */
	MR_EXCHANGE_GIL,       /* the global lock of an interpreter */
	MR_EXCHANGE_COUNT
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

#define MR_ABOUT_states                                                                       \
	"What each thread did. The states of a thread tile its life: there is no gap and no " \
	"overlap."
#define MR_COLUMNS_states(COLUMN)                                                                \
	COLUMN(track, track, "the thread")                                                       \
	COLUMN(time_ns, start_ns, "when it began")                                               \
	COLUMN(int64_t, duration_ns, "how long it lasted")                                       \
	COLUMN(int64_t, interrupted_ns, "RUN: time taken by interrupts")                         \
	COLUMN(int64_t, ran_ns, "how long the thread had run before, or may have")               \
	COLUMN(cpu, cpu, "CPU it runs on or waits for; BLOCKED: CPU it ran on last")             \
	COLUMN(uint32_t, minor_faults, "RUN: minor page faults in that time")                    \
	COLUMN(row_of(system_calls), system_call, "BLOCKED: the system call it was in")          \
	COLUMN(row_of(wakeups), wakeup, "BLOCKED: the wake-up that ended it")                    \
	COLUMN(row_of(wakeups), ended_by,                                                        \
	       "BLOCKED: likewise, but of a timed wait that ran out and was repeated, "          \
	       "the wake-up of the last one")                                                    \
	COLUMN(track, released_by,                                                               \
	       "BLOCKED: the traced thread that ended it so, if one did; of a wait for the GIL " \
	       "that ran out: who had it")                                                       \
	COLUMN(one_of(exchange), exchange, "BLOCKED at a futex: what it waited for")             \
	COLUMN(site, site, "BLOCKED: line of Python that waits; NULL: none, or not known")       \
	COLUMN(one_of(thread_state), state, "what the thread did")                               \
	COLUMN(one_of(state_reason), reason, "why")

#define MR_ABOUT_cpu_runs                                                                    \
	"Which thread had a CPU. While no traced thread runs there or wants to, nothing is " \
	"recorded, and other threads may have run in between."
#define MR_COLUMNS_cpu_runs(COLUMN)                             \
	COLUMN(track, track, "track of the CPU")                \
	COLUMN(time_ns, start_ns, "when it began")              \
	COLUMN(int64_t, duration_ns, "how long it had the CPU") \
	COLUMN(tid, tid, "thread that had it; 0: idle")         \
	COLUMN(track, thread, "its track, if it is traced")

#define MR_ABOUT_wakeups "Who woke a thread."
#define MR_COLUMNS_wakeups(COLUMN)                                                      \
	COLUMN(track, track, "the thread that is woken")                                \
	COLUMN(time_ns, start_ns, "when")                                               \
	COLUMN(tid, waker_tid, "thread that ran then; it is the cause in context task") \
	COLUMN(track, waker, "its track, if it is traced")                              \
	COLUMN(string, source, "timer function, interrupt ...")                         \
	COLUMN(one_of(wake_context), context, "what woke it")

#define MR_ABOUT_system_calls                                                           \
	"System calls. If only blocking calls were recorded, a row covers the blocked " \
	"interval and has the flag BLOCKED."
#define MR_COLUMNS_system_calls(COLUMN)                                             \
	COLUMN(track, track, "calling thread")                                      \
	COLUMN(time_ns, start_ns, "when it began")                                  \
	COLUMN(int64_t, duration_ns, "how long it took")                            \
	COLUMN(int64_t, blocked_ns, "part of it in which the thread was blocked")   \
	COLUMN(int64_t, runnable_ns, "part of it in which the thread was runnable") \
	COLUMN(uint64_t, argument, "first argument, if it has no file")             \
	COLUMN(int64_t, result, "what it returned")                                 \
	COLUMN(system_call, number, "which call")                                   \
	COLUMN(file, file, "file that it uses")                                     \
	COLUMN(uint8_t, operation, "command of a futex call")                       \
	COLUMN(row_flags, flags, "special properties")

#define MR_ABOUT_block_io "Disk requests."
#define MR_COLUMNS_block_io(COLUMN)                                            \
	COLUMN(track, track, "thread that submitted it")                       \
	COLUMN(time_ns, start_ns, "when it was submitted")                     \
	COLUMN(int64_t, duration_ns, "until it was complete")                  \
	COLUMN(int64_t, queue_ns, "part of it until the disk got the request") \
	COLUMN(uint64_t, sector, "position on the disk")                       \
	COLUMN(uint32_t, device, "major times 2^20 plus minor")                \
	COLUMN(uint32_t, bytes, "size")                                        \
	COLUMN(uint32_t, error, "0, or an error number")                       \
	COLUMN(one_of(block_operation), operation, "what was done")

#define MR_ABOUT_major_faults "Page faults that had to wait for a disk."
#define MR_COLUMNS_major_faults(COLUMN)                  \
	COLUMN(track, track, "thread that caused it")    \
	COLUMN(time_ns, start_ns, "when it began")       \
	COLUMN(int64_t, duration_ns, "how long it took") \
	COLUMN(uint64_t, address, "address that was accessed")

#define MR_ABOUT_interrupts "Interrupts of a traced thread."
#define MR_COLUMNS_interrupts(COLUMN)                                            \
	COLUMN(track, track, "the thread it interrupted")                        \
	COLUMN(time_ns, start_ns, "when it began")                               \
	COLUMN(int64_t, duration_ns, "how long it took")                         \
	COLUMN(int64_t, self_ns, "duration without the interrupts nested in it") \
	COLUMN(row_of(interrupts), parent, "the interrupt it is nested in")      \
	COLUMN(uint32_t, number, "number within its kind")                       \
	COLUMN(one_of(interrupt_kind), kind, "kind of interrupt")                \
	COLUMN(row_flags, flags, "special properties")

#define MR_ABOUT_socket_bytes "Bytes sent and received through sockets."
#define MR_COLUMNS_socket_bytes(COLUMN)                      \
	COLUMN(track, track, "thread that sent or received") \
	COLUMN(time_ns, start_ns, "when")                    \
	COLUMN(file, file, "the socket")                     \
	COLUMN(uint32_t, bytes, "how many")                  \
	COLUMN(uint8_t, is_receive, "1: received")

#define MR_ABOUT_signals "Signals to traced threads."
#define MR_COLUMNS_signals(COLUMN)                          \
	COLUMN(track, track, "the receiver")                \
	COLUMN(time_ns, start_ns, "when")                   \
	COLUMN(tid, sender_tid, "thread that sent it")      \
	COLUMN(track, sender, "its track, if it is traced") \
	COLUMN(uint8_t, signal, "its number")               \
	COLUMN(one_of(signal_stage), stage, "sent, or delivered")

#define MR_ABOUT_uring_requests \
	"Requests of io_uring. Each has two rows, linked by request: submitted and complete."
#define MR_COLUMNS_uring_requests(COLUMN)                                               \
	COLUMN(track, track, "thread that submitted it, or that ran when it completed") \
	COLUMN(time_ns, start_ns, "when")                                               \
	COLUMN(uint64_t, request, "links the two rows of a request")                    \
	COLUMN(uint64_t, user_data, "value set by the program")                         \
	COLUMN(int64_t, result, "complete: its result")                                 \
	COLUMN(file, file, "submitted: the file it uses")                               \
	COLUMN(uint8_t, opcode, "submitted: requested operation")                       \
	COLUMN(uint8_t, is_complete, "1: complete; 0: submitted")

#define MR_ABOUT_migrations "A thread moved to another CPU."
#define MR_COLUMNS_migrations(COLUMN)        \
	COLUMN(track, track, "the thread")   \
	COLUMN(time_ns, start_ns, "when")    \
	COLUMN(cpu, from_cpu, "CPU it left") \
	COLUMN(cpu, to_cpu, "CPU it moved to")

#endif
