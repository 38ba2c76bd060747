/* SPDX-License-Identifier: Apache-2.0
 *
 * The OpenCL layer: libmillrace.so stands between the program and the OpenCL loader's dispatch, for every
 * function of the table (functions.def).
 *
 *     program ─► loader ─► mr_opencl_clName() ─► mr_opencl_next.clName() ─► driver
 *                            │ begin, end: one event for the call
 *                            └ launches: the operation's event goes into the queue's ring
 *                                                     │ harvest: complete? four times, release
 *                                                     ▼
 *                                              one event for the operation
 *
 * The program must not see a difference:
 *   - The layer enables profiling on every queue, and hides this from a program that did not request it. If the
 *     driver refuses, the layer repeats the program's own request, and the operations of that queue have no times.
 *   - If the program requests no event for an operation, the layer creates one. If it does, the layer retains
 *     the event until the operation is complete, and subtracts its own reference when the program queries the
 *     count.
 *   - The layer adds no command and no queue, and only two callbacks: the destructor callback of memory, which is
 *     set first and so runs last; and, for some operations, one that harvests when they are complete and releases
 *     the events that would keep a queue and its context alive.
 *   - The layer holds no lock while the driver may call back into the program.
 *
 * The layer checks for completion in batches: when the program waits, polls, has launched many more, or calls
 * anything some milliseconds later; when the driver calls back; and when the program ends (operations.c).
 *
 * When the level is off, calls go straight through. The layer then does only what it cannot do later: it enables
 * profiling on queues, and remembers objects.
 *
 * All changing data is in *mr_opencl, which is empty in forked children: they do not know the objects of their
 * parent, and record only calls about them.
 */
#ifndef MR_HOOK_OPENCL_LAYER_H
#define MR_HOOK_OPENCL_LAYER_H

#include <stdatomic.h>

#include "hook/opencl/types.h"
#include "hook/python/python.h"
#include "hook/shared/correlation.h"
#include "hook/shared/device_clock.h"
#include "hook/shared/handles.h"
#include "hook/shared/pending.h"
#include "record/interval.h"

/* ---- from functions.def ------------------------------------------------------------------------- */

#define CALL(type, name, parameters, arguments)        OWN(type, name, parameters, arguments)
#define ABOUT(type, name, parameters, arguments, ...)  OWN(type, name, parameters, arguments)
#define MAKE(type, name, parameters, arguments)        OWN(type, name, parameters, arguments)
#define MEMORY(name, parameters, arguments, ...)       OWN(cl_mem, name, parameters, arguments)
#define LAUNCH(kind, name, parameters, arguments, ...) OWN(cl_int, name, parameters, arguments)

/* As every loader and driver has it. */
struct mr_opencl_dispatch {
#define OWN(type, name, parameters, arguments) type(*name) parameters;
#define ABSENT(name)                           void *name;
#include "hook/opencl/functions.def"
#undef OWN
#undef ABSENT
};

enum mr_opencl_function {
#define OWN(type, name, parameters, arguments) MR_OPENCL_##name,
#define ABSENT(name)                           MR_OPENCL_##name,
#include "hook/opencl/functions.def"
#undef OWN
#undef ABSENT
	MR_OPENCL_FUNCTIONS
};

/* cl_int mr_opencl_clFinish(cl_command_queue command_queue) ... */
#define OWN(type, name, parameters, arguments) type mr_opencl_##name parameters;
#define ABSENT(name)
#include "hook/opencl/functions.def"
#undef OWN
#undef ABSENT

#undef CALL
#undef ABOUT
#undef MAKE
#undef MEMORY
#undef LAUNCH

_Static_assert(sizeof(struct mr_opencl_dispatch) == MR_OPENCL_FUNCTIONS * sizeof(void *),
	       "nothing but pointers");

/* ---- what the layer knows ------------------------------------------------------------------------ */

enum {
	MR_OPENCL_PROPERTIES = 33, /* 16 pairs and the end: queues with more are left as they are */
};

struct mr_opencl_device {
	struct mr_opencl_device *next;
	uint32_t id;
	struct mr_device_clock clock;
};

/* Queues stay where they are for ever; one that is released and empty is used again. */
struct mr_opencl_queue {
	_Atomic uintptr_t lock; /* of what follows the line */
	struct mr_opencl_queue *next;
	struct mr_opencl_device *device;
	uint32_t id;
	bool is_in_order;
	bool is_profiled; /* by the driver */
	bool is_hidden;   /* ... which the program did not ask for */
	bool is_added;    /* ... and which stands in the properties where it had given none */
	uint32_t property_count; /* as the program gave them, with the 0 at the end ... */
	cl_queue_properties properties[MR_OPENCL_PROPERTIES]; /* ... if is_added */
	_Atomic uint64_t last_correlation;
	atomic_bool is_released;
	/* ---- */
	struct mr_pending pending;
	uint32_t harvest_at; /* pending operations at which it is worth looking */
	/* ---- being called back */
	uint32_t watched;           /* operations that are ... */
	uint32_t watched_before;    /* ... and were before it became quiet: may be far ahead */
	uint32_t watch_links;       /* callbacks asked for ... */
	uint64_t watch_start_ticks; /* ... since then */
	uint32_t watch_distance;    /* how far ahead the next one is to be */
	bool is_quiet;  /* the program waits, or has flushed and launched nothing since */
	bool is_missed; /* there was one, or one to ask for, while others were looking */
};

struct mr_opencl_state {
	_Atomic uint64_t harvest_due_ticks; /* 0: nothing is pending */
	_Atomic uint32_t queue_number;
	_Atomic uint32_t changes; /* how often a queue or kernel became known, or was forgotten */
	atomic_bool is_exit_prepared;
	atomic_bool is_exiting; /* drivers may be gone */
	atomic_bool is_leaving; /* by _exit(): nothing need be given back */
	_Atomic uintptr_t lock; /* of making queues and devices */
	_Atomic(struct mr_opencl_queue *) queues;
	_Atomic(struct mr_opencl_device *) devices;
	struct mr_handle_map queue_map;   /* owner: struct mr_opencl_queue */
	struct mr_handle_map device_map;  /* owner: struct mr_opencl_device */
	struct mr_handle_map context_map; /* value: id of its only device; 0 if it has several */
	struct mr_handle_map kernel_map;  /* value: id of its name */
	struct mr_handle_map event_map;   /* value: correlation; owner: queue */
};

extern struct mr_opencl_dispatch mr_opencl_next;      /* what is called behind us */
extern uint32_t mr_opencl_names[MR_OPENCL_FUNCTIONS]; /* ids of the functions' names */
extern struct mr_opencl_state *mr_opencl;             /* never NULL when a function is called */
extern _Thread_local uint32_t mr_opencl_depth __attribute__((tls_model("initial-exec")));

/* What a thread looked up last: many calls in a row name the same queue and kernel. Good for as long as
 * nothing has changed, in the process that looked. */
struct mr_opencl_memo {
	const void *handle;
	uint64_t generation;
	uint32_t changes;
	uint32_t name;                 /* of a kernel */
	struct mr_opencl_queue *queue; /* or the queue */
};

static inline bool mr_opencl_recalls(const struct mr_opencl_memo *memo, const void *handle)
{
	return memo->handle == handle && memo->generation == mr_this_process.generation &&
	       memo->changes == atomic_load_explicit(&mr_opencl->changes, memory_order_relaxed);
}

static inline void mr_opencl_note_change(void)
{
	atomic_fetch_add_explicit(&mr_opencl->changes, 1, memory_order_release);
}

/* ---- devices.c ----------------------------------------------------------------------------------- */

/* NULL if it cannot be kept. */
struct mr_opencl_device *mr_opencl_device_find(cl_device_id handle);

/* ---- identity.c ---------------------------------------------------------------------------------- */

enum {
	MR_OPENCL_IDENTITY_BYTES = 64,
};

/* Writes that many bytes at most; false: the driver does not say. The lock of making devices is held. */
bool mr_opencl_identify(cl_device_id device, char *ret_identity);

/* An operation was queued at this time of its device: perhaps a clock sample. */
void mr_opencl_clock_note(struct mr_opencl_device *device,
			  const struct mr_pending_operation *operation, uint64_t queued);

/* Writes the last samples. */
void mr_opencl_clocks_close(void);

/* ---- queues.c ------------------------------------------------------------------------------------ */

/* NULL if it is not known. */
struct mr_opencl_queue *mr_opencl_queue_find(cl_command_queue handle);

/* Learns about a queue that was made behind our back, and through which something has just succeeded. */
void mr_opencl_queue_adopt(cl_command_queue handle);

/* ---- end.c --------------------------------------------------------------------------------------- */

/* Sees to it that exit() does not miss anything. */
void mr_opencl_prepare_exit(void);

/* Before the process ends (`is_end`) or tries to execute another program, by a function that may be called
 * anywhere: writes what devices have done and, at the end, what not, if it is safe to ask their drivers. */
void mr_opencl_leave_program(bool is_end);

/* ---- operations.c -------------------------------------------------------------------------------- */

/* Keeps an operation until it is complete. Its event's reference is ours from `now` on. */
void mr_opencl_keep(struct mr_opencl_queue *queue, const struct mr_pending_operation *operation,
		    uint64_t now);

/* Writes the operations that are complete; `is_thorough`: all of them, be there ever so many. */
void mr_opencl_harvest(struct mr_opencl_queue *queue, bool is_thorough);
void mr_opencl_harvest_all(bool is_thorough);

/* How many operations are not known to be complete. */
uint32_t mr_opencl_count_pending(struct mr_opencl_queue *queue);

/* Gives back our reference to an event, whose operation goes unrecorded if it is not complete. */
void mr_opencl_let_go(struct mr_opencl_queue *queue, cl_event event);

/* Writes what devices had not finished when the process ends. */
void mr_opencl_write_unfinished(void);

/* ---- watch.c: the driver calls us when something is complete --------------------------------------- */

/* The event to watch next, with a reference more, if there is one, and the driver has not been asked too
 * often; else NULL. The queue's lock is held. */
cl_event mr_opencl_choose_watched(struct mr_opencl_queue *queue, uint64_t now);

/* Has the driver call us when the event is complete, and gives back a reference to it. */
void mr_opencl_call_back(struct mr_opencl_queue *queue, cl_event event);

/* Both. */
void mr_opencl_watch(struct mr_opencl_queue *queue);

/* Likewise, if so many operations are pending: the program may call nothing for a while. */
void mr_opencl_watch_quiet(struct mr_opencl_queue *queue, uint32_t least);

/* Watches as many as it takes to see all of them complete: the program may call nothing any more. */
void mr_opencl_harvest_later(struct mr_opencl_queue *queue);

/* ---- events.c ------------------------------------------------------------------------------------ */

/* Writes what a call or launch waits for. */
void mr_opencl_note_waits(uint64_t correlation, cl_uint count, const cl_event *events);

/* ---- memory.c ------------------------------------------------------------------------------------ */

void mr_opencl_note_memory(enum mr_opencl_function function, cl_context context, cl_mem memory,
			   uint64_t flags, uint64_t bytes);

uint64_t mr_opencl_memory_bytes(cl_mem memory);

/* ---- kernels.c ----------------------------------------------------------------------------------- */

/* The id of a valid kernel's name. */
uint32_t mr_opencl_kernel_name(cl_kernel kernel);

/* ---- one call ------------------------------------------------------------------------------------ */

struct mr_opencl_call {
	struct mr_interval interval;
	uint64_t correlation;
	enum mr_opencl_function function;
	bool is_recorded;
};

/* What a call is about. */
struct mr_opencl_about {
	cl_command_queue queue;
	const void *object;
	uint64_t bytes;
};

/* Begins a call; false if it is not to be recorded. `correlation` 0: none. */
static inline bool mr_opencl_begin(struct mr_opencl_call *call, enum mr_opencl_function function,
				   uint64_t correlation)
{
	call->is_recorded = mr_level_is_on(MR_LEVEL_runtime);
	if (!call->is_recorded)
		return false;
	call->function = function;
	call->correlation = correlation;
	mr_opencl_depth++;
	mr_python_note();
	mr_interval_begin(&call->interval, MR_EVENT_runtime_call, mr_opencl_names[function],
			  correlation);
	return true;
}

/* After every call: looks after operations that nobody asked about for a while. */
static inline void mr_opencl_leave(uint64_t now)
{
	mr_opencl_depth--;
	uint64_t due = atomic_load_explicit(&mr_opencl->harvest_due_ticks, memory_order_relaxed);
	if (mr_unlikely(due != 0 && now > due))
		mr_opencl_harvest_all(false);
}

static inline void mr_opencl_end(struct mr_opencl_call *call, int64_t result)
{
	if (!call->is_recorded)
		return;
	struct mr_event_runtime_call event = {.function = mr_opencl_names[call->function],
					      .correlation = call->correlation,
					      .result = result};
	mr_opencl_leave(
		mr_call_interval_end(&call->interval, MR_EVENT_runtime_call, &event, sizeof event));
}

static inline void mr_opencl_end_about(struct mr_opencl_call *call, int64_t result,
				       const struct mr_opencl_about *about)
{
	if (!call->is_recorded)
		return;
	const struct mr_opencl_queue *queue =
		about->queue ? mr_opencl_queue_find(about->queue) : NULL;
	struct mr_event_runtime_call_on event = {.function = mr_opencl_names[call->function],
						 .correlation = call->correlation,
						 .result = result,
						 .queue = queue ? queue->id : 0,
						 .object = (uintptr_t)about->object,
						 .bytes = about->bytes};
	mr_opencl_leave(mr_call_interval_end(&call->interval, MR_EVENT_runtime_call_on, &event,
					     sizeof event));
}

/* For functions that return an object. */
static inline void mr_opencl_end_made(struct mr_opencl_call *call, const void *made, cl_int error)
{
	mr_opencl_end_about(call, error, &(struct mr_opencl_about){.object = made});
}

#endif
