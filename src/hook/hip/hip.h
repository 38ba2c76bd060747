/* SPDX-License-Identifier: Apache-2.0
 *
 * Hooks inside HIP (libamdhip64). libmillrace.so exports functions with the names and versions of HIP's, which take
 * precedence in programs that were linked with HIP. Those that ask for a function by its name, as Python's ctypes does, get
 * ours if they would get HIP's (hook/lookup.c, hipGetProcAddress). Where there is no HIP, nobody finds any of them.
 *
 *     program ─► hipLaunchKernel() of ours ─► HIP's ─► HSA ─► hook/hsa
 *                  └ mr_hsa_caller: correlation, stream  ◄─────┘ what is launched
 *
 * One shape of function serves all: it passes on all words that arguments may take. What is launched while a call of HIP is
 * open on the thread belongs to that call, and to the queue of the stream which the call names (hook/hsa). HIP's own threads,
 * which launch if AMD_DIRECT_DISPATCH=0, have no open call: then the order of the calls is recorded (order.c), and joined
 * with the order of what was launched when the trace is loaded.
 *
 * Events and streams: an event stands for the last operation that was launched on its stream when it was recorded. A stream
 * that waits for an event has its next launch wait; that launch's correlation is chosen already then.
 */
#ifndef MR_HOOK_HIP_HIP_H
#define MR_HOOK_HIP_HIP_H

#include "hook/hsa/hsa.h"

enum mr_hip_role {
	MR_HIP_PLAIN,
	MR_HIP_LAUNCHES,
	MR_HIP_LAUNCHES_AND_WAITS,
	MR_HIP_LAUNCHES_ANYWHERE, /* on streams that stand in structures */
	MR_HIP_WAITS_FOR_ALL,
	MR_HIP_WAITS_FOR_STREAM,
	MR_HIP_WAITS_FOR_EVENT,
	MR_HIP_RECORDS_EVENT,
	MR_HIP_STREAM_WAITS, /* for an event */
	MR_HIP_ENDS_STREAM,
	MR_HIP_ENDS_EVENT,
	MR_HIP_GIVES_FUNCTION, /* by its name: the first argument; the second is where its address goes */
	MR_HIP_MAKES_STREAM,        /* the first argument is where it goes */
	MR_HIP_MAKES_OTHER_STREAMS, /* of which the program does not know */
	MR_HIP_SETS_DEVICE,         /* of this thread, to the first argument */
};

/* How a function names the device kernel that it launches. */
enum mr_hip_kernel_name {
	MR_HIP_NO_KERNEL,
	MR_HIP_BY_POINTER, /* of the host's function for it */
	MR_HIP_BY_HANDLE,  /* of a function of a module */
};

/* What a function's arguments are: their numbers, in words from 1; 0: it has none such. */
struct mr_hip_about {
	uint8_t role; /* enum mr_hip_role */
	uint8_t stream;
	uint8_t object;
	uint8_t bytes;
	uint8_t direction; /* of a copy, as HIP numbers them */
	uint8_t copy_kind; /* enum mr_operation_kind: what it copies, if the function says so */
	uint8_t kernel;    /* enum mr_hip_kernel_name: what its object is */
};

enum mr_hip_number {
#define SHORT(name, ...) MR_HIP_##name,
#define LONG(name, ...)  MR_HIP_##name,
#include "hook/hip/functions.def"
#undef SHORT
#undef LONG
	MR_HIP_FUNCTIONS
};

/* ---- stubs.c ------------------------------------------------------------------------------------------ */

extern const struct mr_hip_about mr_hip_abouts[MR_HIP_FUNCTIONS];
extern const char *const mr_hip_names[MR_HIP_FUNCTIONS]; /* as HIP exports them */

/* What stands in front of the function that HIP has by this name; `found` if that is not HIP's. */
void *mr_hip_stub_of(const char *name, void *found);

/* ---- streams.c --------------------------------------------------------------------------------------- */

struct mr_hip_stream {
	struct mr_hip_stream *next; /* unused one */
	_Atomic uint64_t last_correlation;
	_Atomic uint64_t
		next_correlation; /* of the next launch, which waits for something; 0: of none */
	uint32_t number;          /* in the process, from 1 */
	uint32_t device;          /* HIP's number of it */
};

/* The stream that is the default of a device, as a handle; where there is no difference, it is NULL. */
const void *mr_hip_default_stream(uint32_t device);

uint32_t mr_hip_stream_number_new(void);

/* A stream with a number of before is made; NULL if it cannot be kept. */
struct mr_hip_stream *mr_hip_stream_make(const void *handle, uint32_t number, uint32_t device);

/* NULL if it cannot be kept. */
struct mr_hip_stream *mr_hip_stream_find(const void *handle);
void mr_hip_stream_end(const void *handle);

void mr_hip_event_record(const void *event, const struct mr_hip_stream *stream);
uint64_t mr_hip_event_awaited(const void *event); /* correlation; 0: nothing */
void mr_hip_event_end(const void *event);

/* ---- order.c: where HIP's own threads launch ------------------------------------------------------------ */

struct mr_hip_call;

extern _Thread_local uint32_t mr_hip_device __attribute__((tls_model("initial-exec")));

/* Around a call. Before it ends, gives it a correlation, if it has put work into a stream. */
void mr_hip_order_begin(struct mr_hip_call *call);
void mr_hip_order_end(struct mr_hip_call *call, bool is_success);

/* ---- calls.c: around a call ---------------------------------------------------------------------------- */

struct mr_hip_call {
	struct mr_interval interval;
	struct mr_hsa_caller caller;
	const struct mr_hip_about *about;
	const uint64_t *words;        /* its arguments */
	struct mr_hip_stream *stream; /* NULL: the function has none, or it is not known */
	uint64_t object;
	uint64_t bytes;
	uint32_t made_stream; /* number of the stream that it makes; 0: none */
	bool is_inner;        /* a call of HIP is open already */
	bool is_ordered;      /* HIP's own threads launch what it has put into a stream */
};

static inline bool mr_hip_is_launch(const struct mr_hip_about *about)
{
	return about->role >= MR_HIP_LAUNCHES && about->role <= MR_HIP_LAUNCHES_ANYWHERE;
}

/* False if it is not to be recorded. The words must stay where they are until it ends. */
bool mr_hip_begin(struct mr_hip_call *call, enum mr_hip_number number, const uint64_t *words);
void mr_hip_end(struct mr_hip_call *call, uint64_t result);

#endif
