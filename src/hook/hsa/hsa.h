/* SPDX-License-Identifier: Apache-2.0
 *
 * Hooks inside HSA, the runtime below HIP (ROCr, libhsa-runtime64). ROCr loads libmillrace.so as a tools library and
 * gives it the tables through which all calls go; the hook replaces their entries (functions.def).
 *
 *     program or HIP ─► table ─► stub ─► mr_hsa_next[] ─► ROCr
 *                                  └ begin, end: one event for the call
 *
 *     dispatch packet ─► interceptor (queues.c) ─► own completion signal ─► device
 *                          └ launch, correlation        │ harvest: complete? times
 *                                                       ▼
 *                                                one event for the operation
 *
 * Completion. There are two kinds of own signals, and a limited number of each (signals.c):
 *   - Plain ones are words in memory, which only the device and millrace touch. Millrace looks at them when the program waits, has launched many more, or calls
 *     anything some milliseconds later. Nearly all dispatches of HIP bring no signal of their own and get a plain one.
 *   - Watched ones have ROCr call us. A dispatch that brings a signal, and every copy, gets one; the hook then completes
 *     the program's signal, with the device's times in it. So does one dispatch of a queue from time to time, lest nothing
 *     be seen of a program that calls nothing any more.
 * Where no signal is left the operation goes through as it is, and is recorded without times. No packet is added to a queue,
 * so device kernels overlap as they would.
 *
 * The program must not see a difference: profiling is on for all queues and copies, and its own questions about times get
 * the device's answers.
 *
 * Who launches: HIP's calls enclose those of HSA. While one is open on a thread, mr_hsa_caller leads to it, and all that is
 * launched belongs to it and its stream. Otherwise the packet or copy itself is the launch. HSA's calls inside of one of
 * HIP's are recorded as plain calls: what they wait for is what HIP's call waits for. If AMD_DIRECT_DISPATCH=0, threads of
 * HIP's own launch, one for each stream (workers.c).
 *
 * All changing data is in *mr_hsa, which is empty in forked children: HSA does not work there.
 */
#ifndef MR_HOOK_HSA_HSA_H
#define MR_HOOK_HSA_HSA_H

#include <stdatomic.h>

#include "hook/python/python.h"
#include "hook/shared/correlation.h"
#include "hook/shared/device_clock.h"
#include "hook/shared/handles.h"
#include "hook/shared/pending.h"
#include "record/interval.h"

/* ---- from functions.def ------------------------------------------------------------------------- */

/* All functions take at most ten arguments, each of which fits a word. */
#define MR_HSA_PARAMETERS                                                                          \
	uint64_t a0, uint64_t a1, uint64_t a2, uint64_t a3, uint64_t a4, uint64_t a5, uint64_t a6, \
		uint64_t a7, uint64_t a8, uint64_t a9
#define MR_HSA_ARGUMENTS a0, a1, a2, a3, a4, a5, a6, a7, a8, a9

typedef uint64_t mr_hsa_function(MR_HSA_PARAMETERS);

#define CALL_NEW(name)                 CALL(name)
#define ABOUT_NEW(name, object)        ABOUT(name, object)
#define BYTES_NEW(name, object, bytes) BYTES(name, object, bytes)
#define OWN_NEW(name)                  OWN(name)

enum mr_hsa_number {
#define CALL(name)                 MR_HSA_##name,
#define ABOUT(name, object)        MR_HSA_##name,
#define BYTES(name, object, bytes) MR_HSA_##name,
#define OWN(name)                  MR_HSA_##name,
#define HOT(name)                  MR_HSA_##name,
#define EXTENSIONS                 MR_HSA_CORE_FUNCTIONS, MR_HSA_LAST_OF_CORE = MR_HSA_CORE_FUNCTIONS - 1,
#include "hook/hsa/functions.def"
#undef CALL
#undef ABOUT
#undef BYTES
#undef OWN
#undef HOT
#undef EXTENSIONS
	MR_HSA_FUNCTIONS
};

/* Those with bodies of their own: uint64_t mr_hsa_own_hsa_queue_create(...) */
#define CALL(name)
#define ABOUT(name, object)
#define BYTES(name, object, bytes)
#define OWN(name) mr_hsa_function mr_hsa_own_##name;
#define HOT(name)
#define EXTENSIONS
#include "hook/hsa/functions.def"
#undef CALL
#undef ABOUT
#undef BYTES
#undef OWN
#undef HOT
#undef EXTENSIONS
#undef CALL_NEW
#undef ABOUT_NEW
#undef BYTES_NEW
#undef OWN_NEW

extern mr_hsa_function
	*mr_hsa_next[MR_HSA_FUNCTIONS];         /* what is called behind us; NULL: not there */
extern uint32_t mr_hsa_names[MR_HSA_FUNCTIONS]; /* ids of the functions' names */

/* mr_hsa_call_next(hsa_signal_destroy, signal): calls what is behind us. The arguments it lacks are 0. */
#define mr_hsa_call_next(name, ...) \
	mr_hsa_call_ten(MR_HSA_##name, (const uint64_t[10]){__VA_ARGS__})

static inline uint64_t mr_hsa_call_ten(enum mr_hsa_number number, const uint64_t *a)
{
	return mr_hsa_next[number](a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9]);
}

/* Most functions return a status, which is an int; 0 is success. */
static inline bool mr_hsa_is_success(uint64_t result)
{
	return (uint32_t)result == 0;
}

/* ---- types of HSA that the hook looks into ----------------------------------------------------- */

enum {
	MR_HSA_PACKET_BYTES = 64,
	MR_HSA_PACKET_DISPATCH = 2,
	MR_HSA_PACKET_BARRIER_BIT = 1 << 8,
	MR_HSA_QUEUE_COOPERATIVE = 2,
	MR_HSA_CONDITION_LESS = 2,
};

/* Where the parts of a dispatch packet are. */
struct mr_hsa_dispatch_packet {
	uint16_t header;
	uint16_t setup;
	uint16_t group_size[3];
	uint16_t reserved0;
	uint32_t grid_size[3];
	uint32_t private_bytes;
	uint32_t group_bytes;
	uint64_t kernel_object;
	uint64_t arguments;
	uint64_t reserved1;
	uint64_t signal;
};
_Static_assert(sizeof(struct mr_hsa_dispatch_packet) == MR_HSA_PACKET_BYTES, "as specified");

/* What the handle of a signal points to, as AMD's ABI has it. */
struct mr_hsa_signal_memory {
	int64_t kind;
	_Atomic int64_t value;
	uint64_t mailbox;
	uint32_t event;
	uint32_t reserved;
	uint64_t start_ticks;
	uint64_t end_ticks;
};

struct mr_hsa_times {
	uint64_t start;
	uint64_t end;
};

/* ---- what the hook knows ------------------------------------------------------------------------- */

struct mr_hsa_device {
	struct mr_hsa_device *next;
	uint64_t agent;
	uint32_t id;
	bool is_cpu;
	_Atomic uint32_t
		copy_queue; /* id of the queue of copies that no stream has asked for; 0: none yet */
	struct mr_device_clock clock;
};

/* Queues stay where they are for ever; one that is destroyed is used again. */
struct mr_hsa_queue {
	_Atomic uintptr_t lock; /* of what follows the line */
	struct mr_hsa_queue *next;
	struct mr_hsa_device *device;
	uint32_t id;
	atomic_bool is_destroyed;
	/* ---- */
	struct mr_pending pending; /* event: handle of a plain signal */
	uint32_t harvest_at;       /* pending operations at which it is worth looking */
	uint32_t since_watched;    /* dispatches */
	uint64_t watched_ticks;    /* when the last watched one was launched */
};

/* A watched signal of ours. */
struct mr_hsa_signal {
	struct mr_hsa_signal *next; /* free one */
	uint64_t handle;            /* 0: not yet made */
	/* ---- of the operation that uses it */
	bool is_copy;
	bool is_cancelled;   /* HSA has refused it */
	atomic_bool is_over; /* and recorded, in whatever way */
	uint64_t theirs;     /* the program's signal; 0: none */
	struct mr_hsa_device *device;
	struct mr_hsa_queue *queue; /* NULL: a copy */
	struct mr_pending_operation operation;
};

enum {
	MR_HSA_PLAIN_SIGNALS = 16384, /* as many as a queue of HIP has places */
	MR_HSA_WATCHED_SIGNALS = 512, /* ROCr has some thousand for all */
};

struct mr_hsa_state {
	_Atomic uint64_t harvest_due_ticks; /* 0: nothing is pending */
	_Atomic uint32_t queue_number;
	_Atomic uint32_t stream_number;
	_Atomic uint32_t changes; /* how often a stream or kernel became known, or was forgotten */
	atomic_bool is_exit_prepared;
	_Atomic uintptr_t lock;        /* of making queues and devices */
	_Atomic uintptr_t signal_lock; /* of the pools */
	_Atomic(struct mr_hsa_queue *) queues;
	_Atomic(struct mr_hsa_device *) devices;
	struct mr_handle_map queue_map;  /* owner: struct mr_hsa_queue */
	struct mr_handle_map device_map; /* by agent; owner: struct mr_hsa_device */
	struct mr_handle_map pool_map;   /* by memory pool or region; owner: struct mr_hsa_device */
	struct mr_handle_map kernel_map; /* by kernel object; value: as kernels.c packs it */
	struct mr_handle_map stream_map; /* by HIP's stream and device; value: id of its queue */
	struct mr_handle_map signal_map; /* by the program's signal; value: correlation */
	struct mr_handle_map time_map;   /* likewise, of copies; value: start; owner: end */
	struct mr_hsa_signal *free_watched;
	uint32_t used_watched; /* ever */
	uint32_t used_plain;
	uint32_t free_plain_count;
	uint64_t free_plain[MR_HSA_PLAIN_SIGNALS]; /* handles: the last is taken first */
	uint64_t plain[MR_HSA_PLAIN_SIGNALS];      /* all, as made */
	struct mr_hsa_signal watched[MR_HSA_WATCHED_SIGNALS];
};

extern struct mr_hsa_state *mr_hsa; /* NULL: HSA is not in use, or not traced */

/* ---- who calls ------------------------------------------------------------------------------------- */

/* A call of HIP that is open on this thread. */
struct mr_hsa_caller {
	uint64_t correlation;  /* 0: none so far */
	const void *stream;    /* NULL: the default stream */
	bool has_stream;       /* false: it is not known */
	uint32_t function;     /* id of its name */
	uint32_t launch_count; /* what it has launched, and of the last: */
	uint32_t queue;
	uint8_t kind;      /* enum mr_operation_kind */
	uint8_t copy_kind; /* likewise, which a copy is by HIP's word; 0: not said */
};

extern _Thread_local struct mr_hsa_caller *mr_hsa_caller __attribute__((tls_model("initial-exec")));
extern _Thread_local uint32_t mr_hsa_depth __attribute__((tls_model("initial-exec")));

/* A thread of HIP's that gives the operations of one stream to the device. It stays where it is for ever. */
struct mr_hsa_worker {
	_Atomic uint32_t stream;      /* HIP's number of it */
	_Atomic(const void *) handle; /* of the stream; NULL: the default stream */
};

extern _Thread_local struct mr_hsa_worker *mr_hsa_worker __attribute__((tls_model("initial-exec")));

/* ---- workers.c ------------------------------------------------------------------------------------- */

/* Whether HIP has such threads. */
bool mr_hsa_has_workers(void);

enum {
	MR_HSA_OTHER_STREAMS = UINT32_MAX, /* those of HIP's own that nobody knows */
};

/* A call of HIP begins, which makes the worker of the stream with this number, if there is none yet. */
void mr_hsa_caller_begin(const struct mr_hsa_caller *caller, uint32_t stream);

/* It ends: the worker that it has made serves the stream with this handle. */
void mr_hsa_caller_end(const struct mr_hsa_caller *caller, const void *handle);

/* This thread gives a device an operation: of which stream, if it is a worker. */
static inline void mr_hsa_write_submission(uint64_t correlation)
{
	if (mr_unlikely(mr_hsa_worker != NULL))
		mr_emit(hip_submission, .correlation = correlation,
			.stream =
				atomic_load_explicit(&mr_hsa_worker->stream, memory_order_relaxed));
}

/* On a thread without a call of HIP, which does what a new worker does first: finds out whether it is one. */
void mr_hsa_worker_note(void);

/* ---- agents.c -------------------------------------------------------------------------------------- */

/* NULL if it cannot be kept. */
struct mr_hsa_device *mr_hsa_device_find(uint64_t agent);

/* The device of a memory pool or region; NULL: not known. */
struct mr_hsa_device *mr_hsa_device_of_pool(uint64_t pool);

/* Nanoseconds from what HSA's clock counts. */
uint64_t mr_hsa_to_ns(uint64_t time);

void mr_hsa_clocks_close(void);

/* Whether somebody has looked for a GPU, and there was none. */
bool mr_hsa_lacks_gpu(void);

/* ---- kernels.c ------------------------------------------------------------------------------------- */

struct mr_hsa_kernel {
	uint32_t name;
	uint32_t argument_bytes;
	uint8_t kind; /* enum mr_operation_kind: HIP copies and fills with device kernels, too */
};

struct mr_hsa_kernel mr_hsa_kernel_find(uint64_t object);

/* ---- queues.c -------------------------------------------------------------------------------------- */

/* The id of the queue that stands for a stream of HIP on a device. */
uint32_t mr_hsa_stream_queue(const void *stream, const struct mr_hsa_device *device);

/* The id of the queue of what is launched now on this thread: that of the stream, if it is known, else `otherwise`. */
uint32_t mr_hsa_queue_of_launch(const struct mr_hsa_device *device, uint32_t otherwise);

/* Likewise, of a stream, if something was launched there; else 0. */
uint32_t mr_hsa_stream_queue_if_known(const void *stream);

/* A stream is no more. */
void mr_hsa_stream_forget(const void *stream);

/* ---- signals.c ------------------------------------------------------------------------------------- */

/* The handle of a plain signal with the value 1; 0 if there is none left. */
uint64_t mr_hsa_plain_take(void);
void mr_hsa_plain_give_back(const uint64_t *handles, uint32_t count);

/* A watched signal, likewise; NULL if there is none left. */
struct mr_hsa_signal *mr_hsa_watched_take(void);
void mr_hsa_watched_give_back(struct mr_hsa_signal *signal);

/* All of them: HSA is about to be shut down. */
void mr_hsa_signals_destroy(void);

/* ---- operations.c ---------------------------------------------------------------------------------- */

/* Keeps a dispatch with a plain signal until it is complete. */
bool mr_hsa_keep(struct mr_hsa_queue *queue, const struct mr_pending_operation *operation);

/* Has ROCr call us when the operation of a watched signal is complete; false if it does not. */
bool mr_hsa_watch(struct mr_hsa_signal *signal);

/* The operation of a watched signal was refused: nobody else will complete the signal. */
void mr_hsa_cancel(struct mr_hsa_signal *signal);

/* Writes an operation that is not timed. */
void mr_hsa_write_untimed(const struct mr_pending_operation *operation);

void mr_hsa_harvest(struct mr_hsa_queue *queue);
void mr_hsa_harvest_all(void);
void mr_hsa_harvest_watched(void);

/* Writes what the device had not finished when the process ends. */
void mr_hsa_write_unfinished(void);

/* ---- end.c ----------------------------------------------------------------------------------------- */

/* Sees to it that exit() does not miss anything. */
void mr_hsa_prepare_exit(void);

/* HSA is shut down: nothing that is known of its objects holds any more. */
void mr_hsa_forget_all(void);

/* ---- table.c --------------------------------------------------------------------------------------- */

/* Writes hook_missing, if HSA's tables are not as expected, or there is no GPU. */
void mr_hsa_note_missing(void);

/* Whether HSA has started in this process. */
bool mr_hsa_is_loaded(void);

/* ---- one call -------------------------------------------------------------------------------------- */

struct mr_hsa_call {
	struct mr_interval interval;
	uint64_t correlation;
	enum mr_hsa_number function;
	bool is_recorded;
};

/* What a call is about. */
struct mr_hsa_about {
	uint32_t queue;
	uint64_t object;
	uint64_t bytes;
};

/* Where Python runs, the outermost call notes its line. */
static inline void mr_hsa_enter(struct mr_interval *interval, enum mr_hsa_number function,
				uint64_t correlation)
{
	bool is_outermost = mr_hsa_depth++ == 0;
	if (mr_python_is_there() && is_outermost)
		mr_python_note_site();
	mr_interval_begin(interval, MR_EVENT_runtime_call, mr_hsa_names[function], correlation);
}

/* Begins a call; false if it is not to be recorded. */
static inline bool mr_hsa_begin(struct mr_hsa_call *call, enum mr_hsa_number function,
				uint64_t correlation)
{
	call->is_recorded = mr_level_is_on(MR_LEVEL_runtime);
	if (!call->is_recorded)
		return false;
	call->function = function;
	call->correlation = correlation;
	mr_hsa_enter(&call->interval, function, correlation);
	return true;
}

/* After every call: looks after operations that nobody asked about for a while. */
static inline void mr_hsa_leave(uint64_t now)
{
	mr_hsa_depth--;
	uint64_t due = atomic_load_explicit(&mr_hsa->harvest_due_ticks, memory_order_relaxed);
	if (mr_unlikely(due != 0 && now > due))
		mr_hsa_harvest_all();
}

static inline void mr_hsa_end(struct mr_hsa_call *call, int64_t result)
{
	if (!call->is_recorded)
		return;
	mr_hsa_leave(mr_call_end(&call->interval, runtime_call,
				 .function = mr_hsa_names[call->function],
				 .correlation = call->correlation, .result = result));
}

static inline void mr_hsa_end_about(struct mr_hsa_call *call, int64_t result,
				    const struct mr_hsa_about *about)
{
	if (!call->is_recorded)
		return;
	mr_hsa_leave(mr_call_end(
		&call->interval, runtime_call_on, .function = mr_hsa_names[call->function],
		.correlation = call->correlation, .result = result, .queue = about->queue,
		.object = about->object, .bytes = about->bytes));
}

#endif
