/* SPDX-License-Identifier: Apache-2.0
 *
 * CUDA, through CUPTI (cupti.h). The driver loads libmillrace.so by CUDA_INJECTION64_PATH and calls InitializeInjection()
 * in cuInit(); that subscribes to calls, and asks for records of operations.
 *
 *     program's thread     cudaLaunchKernel ─► enter ─► leave: one event for the call, correlation 17     calls.c
 *     device                     └──────────► ▒▒▒▒▒▒▒▒▒
 *     CUPTI                                            └► record in a buffer of ours, correlation 17
 *     whoever completes it                                └► one event for the operation                 records.c
 *                                                            or for what else CUPTI reports              reports.c
 *
 *   - Calls are recorded where they happen, in millrace's clock. The driver's calls inside one of the runtime are not.
 *   - CUPTI's correlations join both. It makes them only for calls that it records itself, too; so it is asked to, for
 *     those that launch something, and these records are skipped.
 *   - The library has no thread. Buffers complete in CUPTI's own thread, or when we ask for them: after calls that wait,
 *     now and then after others, before a context is destroyed, and at the end (start.c).
 *   - Streams are queues (streams.c). What waits for what follows from the arguments of calls: streams, events, and the
 *     rules of the default stream (waits.c).
 *   - Other users of CUPTI get callbacks and buffers through us, as CUPTI has room for one (guest.c).
 *
 * All changing data is in *mr_cuda, which is empty in forked children, where CUDA does not work: they record calls alone.
 */
#ifndef MR_HOOK_CUDA_CUDA_H
#define MR_HOOK_CUDA_CUDA_H

#include <stdatomic.h>

#include "hook/cuda/cupti.h"
#include "hook/shared/device_clock.h"
#include "hook/shared/handles.h"
#include "record/interval.h"

/* ---- functions ---------------------------------------------------------------------------------------- */

enum mr_cuda_role {
	MR_CUDA_PLAIN,
	MR_CUDA_KERNEL,
	MR_CUDA_KERNEL_BY_CONFIGURATION, /* all is in a struct that the first argument points to */
	MR_CUDA_LAUNCH_MANY,             /* launches operations, known only from their records */
	MR_CUDA_COPY,                    /* or fills */
	MR_CUDA_WAIT,                    /* for everything */
	MR_CUDA_WAIT_FOR_STREAM,
	MR_CUDA_WAIT_FOR_EVENT,
	MR_CUDA_STREAM_WAITS, /* what is launched on a stream from now on waits for an event */
	MR_CUDA_EVENT_RECORD,
	MR_CUDA_EVENT_GONE,
	MR_CUDA_STREAM_MADE,
	MR_CUDA_ON_STREAM,
	MR_CUDA_CAPTURE_BEGIN,
	MR_CUDA_CAPTURE_END,
	MR_CUDA_ENDS_CONTEXT,
	MR_CUDA_ALLOCATE,
	MR_CUDA_ALLOCATE_HOST,
	MR_CUDA_FREE,
};

/* A function, and the places of its arguments in its parameters. The role says which it has; a launch without a stream
 * uses the default stream. */
struct mr_cuda_function {
	const char *title;     /* NULL: newer than CUPTI, which does not know it by its number */
	_Atomic uint32_t name; /* string; 0 until it is called */
	uint8_t role;          /* enum mr_cuda_role */
	uint8_t kind;          /* enum mr_operation_kind, where the function's name says it */
	uint8_t grid, block, stream, event, bytes, direction, flags, object;
	bool is_per_thread; /* its default stream is the thread's own */
};

/* Learns the names of all functions from CUPTI; false if there is no memory. (functions.c) */
bool mr_cuda_learn_functions(void);

/* By domain and number; NULL before they are learnt. Not changed after the start; a forked child has them, too. */
extern struct mr_cuda_function (*mr_cuda_all_functions)[MR_CUPTI_CALLBACKS];
extern struct mr_cuda_function mr_cuda_unknown_function; /* newer than this library */

/* By domain and number; NULL if it is no function. */
static inline struct mr_cuda_function *mr_cuda_function_find(int domain, uint32_t number)
{
	if (!mr_cuda_all_functions || (domain != MR_CUPTI_DRIVER && domain != MR_CUPTI_RUNTIME))
		return NULL;
	return mr_likely(number < MR_CUPTI_CALLBACKS) ? &mr_cuda_all_functions[domain][number]
						      : &mr_cuda_unknown_function;
}

/* The id of its name. */
static inline uint32_t mr_cuda_name_of(struct mr_cuda_function *function)
{
	uint32_t name = atomic_load_explicit(&function->name, memory_order_relaxed);
	if (mr_unlikely(!name)) {
		name = mr_define_string(function->title);
		atomic_store_explicit(&function->name, name, memory_order_relaxed);
	}
	return name;
}

/* ---- what is known ------------------------------------------------------------------------------------ */

enum {
	MR_CUDA_AWAITED =
		32, /* what a stream or event waits for: more are dropped, and counted as lost */
	MR_CUDA_DEVICES = 64,
	MR_CUDA_BUFFERS = 1024,
	MR_CUDA_BUFFER_BYTES = 256 << 10,
};

struct mr_cuda_stream;

/* Operations that something waits for: of each stream the last, as it ends after those before it. */
struct mr_cuda_awaited {
	uint32_t count;
	struct {
		uint64_t correlation;
		const struct mr_cuda_stream *stream; /* NULL: none, a call that launches nothing */
	} operations[MR_CUDA_AWAITED];
};

/* Streams stay where they are for ever. */
struct mr_cuda_stream {
	struct mr_cuda_stream *next;
	uint32_t context_id;
	uint32_t id; /* as CUPTI counts */
	uint32_t device;
	_Atomic uint32_t queue;
	_Atomic uint32_t epoch; /* of the clock that its queue was defined in */
	bool is_default; /* the one that all others of the context wait for, and it for them */
	atomic_bool is_non_blocking; /* ... except these */
	atomic_bool has_news;        /* since the default stream waited for it */
	_Atomic uint64_t last;       /* correlation of what was launched last */
	_Atomic uint64_t
		default_seen; /* the last of the default stream that it waits for already */
	_Atomic uint32_t default_waits; /* `waits` of the default stream that it knows */
	_Atomic uint32_t waits;         /* how often it was told to wait */
	_Atomic uint64_t capture;       /* not 0: launches are captured to be part of this graph */
	_Atomic uintptr_t lock;         /* of what it waits for */
	struct mr_cuda_awaited awaited;
};

struct mr_cuda_event {
	struct mr_cuda_event *next; /* of those not used */
	uint64_t capture;
	struct mr_cuda_awaited awaited;
};

struct mr_cuda_device {
	uint32_t id; /* 0: not defined */
	uint32_t epoch;
};

struct mr_cuda_buffer {
	atomic_bool is_used;
	uint8_t *memory;
};

struct mr_cuda_state {
	atomic_bool is_on;      /* CUPTI records operations */
	atomic_bool is_exiting; /* CUPTI may be gone */
	_Atomic uint64_t flush_due_ticks;
	_Atomic uint64_t last_capture;
	_Atomic uint32_t changes; /* how often a handle was forgotten */
	_Atomic uintptr_t lock;   /* of making streams, devices and events */
	_Atomic(struct mr_cuda_stream *) streams;
	struct mr_cuda_device devices[MR_CUDA_DEVICES];
	struct mr_cuda_event *free_events;
	struct mr_handle_map streams_by_handle; /* owner: struct mr_cuda_stream */
	struct mr_handle_map streams_by_id;     /* likewise */
	struct mr_handle_map events;            /* owner: struct mr_cuda_event */
	struct mr_handle_map threads;           /* as CUPTI calls them; value: tid */
	/* The clock of all devices. Each time somebody gives CUPTI another one, an epoch begins, with new devices. */
	_Atomic uint32_t epoch;
	struct mr_device_clock clock;
	_Atomic(mr_cupti_clock *) foreign_clock;
	struct mr_cuda_buffer buffers[MR_CUDA_BUFFERS];
};

extern struct mr_cuda_state *mr_cuda; /* NULL: CUDA is not traced; all zeroes in a forked child */

/* CUPTI's correlations, apart from those that hooks give out (shared/correlation.h). */
static inline uint64_t mr_cuda_correlation(uint32_t cupti)
{
	return cupti ? UINT64_C(1) << 40 | cupti : 0;
}

/* ---- start.c ------------------------------------------------------------------------------------------- */

/* Starts tracing CUDA, once; false if that is not possible, or not wished. */
bool mr_cuda_start(void);

/* The subscription with CUPTI; NULL: none. */
extern void *mr_cuda_subscription;

/* Asks CUPTI for what is complete, or for all there is. Never with a lock held, and only from the program's own calls. */
void mr_cuda_flush(bool is_forced);

/* Likewise, if that has not happened for a while; a short one after a call that waits. */
void mr_cuda_flush_if_due(uint64_t now, bool has_waited);

/* Whether we need records of this kind, or of calls of this function. */
bool mr_cuda_records(int kind);
bool mr_cuda_records_calls(int domain, uint32_t number);

/* Has CUPTI record operations, or not, as the level is. */
void mr_cuda_follow_level(bool is_on);

/* ---- calls.c ------------------------------------------------------------------------------------------- */

/* CUPTI's callback. */
void mr_cuda_call_back(void *data, int domain, uint32_t number, const void *call);

/* The calling thread calls CUDA on our behalf: that is not recorded. */
extern _Thread_local bool mr_cuda_is_own_call __attribute__((tls_model("initial-exec")));

/* Whether the calling thread is in a call of CUDA. */
bool mr_cuda_is_in_call(void);

/* ---- streams.c ----------------------------------------------------------------------------------------- */

/* The stream of a handle in a context; NULL if CUPTI does not know it. */
struct mr_cuda_stream *mr_cuda_stream_find(void *context, void *handle, bool is_per_thread);

/* The stream with these ids; NULL if it is new. */
struct mr_cuda_stream *mr_cuda_stream_known(uint32_t context_id, uint32_t id);

/* Likewise, which it gets if it is new; NULL without memory. */
struct mr_cuda_stream *mr_cuda_stream_by_id(uint32_t device, uint32_t context_id, uint32_t id);

/* The handle will be used for another stream. */
void mr_cuda_stream_forget(void *handle);

/* The program names a stream: its queue has that name from now on. */
void mr_cuda_stream_name(void *handle, const char *name);

/* The id of a stream's queue, defined anew in each epoch. */
uint32_t mr_cuda_queue_of(struct mr_cuda_stream *stream);

/* The id of a device; 0 if it cannot be defined. */
uint32_t mr_cuda_device_of(uint32_t ordinal);
uint32_t mr_cuda_device_of_context(void *context);

/* Begins an epoch: CUPTI's times come from this clock now; NULL: its own. */
void mr_cuda_clock_open(mr_cupti_clock *foreign);

/* Perhaps writes a sample of the clock. */
void mr_cuda_clock_note(void);

/* ---- waits.c ------------------------------------------------------------------------------------------- */

/* Something with this correlation is launched on the stream: writes what it waits for. */
void mr_cuda_note_launch(struct mr_cuda_stream *stream, uint64_t correlation);

void mr_cuda_note_record(void *event, struct mr_cuda_stream *stream, uint64_t correlation);
void mr_cuda_note_stream_waits(struct mr_cuda_stream *stream, void *event);
void mr_cuda_note_stream_wait(struct mr_cuda_stream *stream, uint64_t correlation);
void mr_cuda_note_context_wait(void *context, uint64_t correlation);
void mr_cuda_note_event_wait(void *event, uint64_t correlation);
void mr_cuda_note_event_gone(void *event);
void mr_cuda_note_capture_end(struct mr_cuda_stream *stream);

/* ---- records.c ----------------------------------------------------------------------------------------- */

/* CUPTI's callbacks for buffers. */
void mr_cuda_request_buffer(uint8_t **ret_buffer, size_t *ret_bytes, size_t *ret_most);
void mr_cuda_complete_buffer(void *context, uint32_t stream, uint8_t *buffer, size_t bytes,
			     size_t used);

/* Writes what the records of a buffer say. One of a guest then has only the records that the guest wants: gives how many
 * bytes these are. */
size_t mr_cuda_read_buffer(uint8_t *buffer, size_t used, bool is_guests);

/* ---- reports.c ----------------------------------------------------------------------------------------- */

/* Writes what a record says that is not about an operation; false if it is too short. */
bool mr_cuda_read_report(uint32_t kind, const uint8_t *record, size_t bytes);

/* The calling thread uses CUDA for the first time. */
void mr_cuda_note_thread(void);

/* ---- guest.c ------------------------------------------------------------------------------------------- */

/* Another user of CUPTI has subscribed, once. */
extern atomic_bool mr_cuda_has_guest;

/* Passes on to another user of CUPTI what it has asked for. */
void mr_cuda_guest_call_back(int domain, uint32_t number, const void *call);
bool mr_cuda_guest_request(uint8_t **ret_buffer, size_t *ret_bytes, size_t *ret_most);
bool mr_cuda_guest_complete(void *context, uint32_t stream, uint8_t *buffer, size_t bytes,
			    size_t used);

/* Whether the other user wants a kind of records, or one of them; `number` is that of the function, for records of calls. */
bool mr_cuda_guest_wants(int kind);
bool mr_cuda_guest_wants_record(uint32_t kind, uint32_t number);

/* Whether a buffer is the other user's. */
bool mr_cuda_guest_has(const uint8_t *buffer);

#endif
