/* SPDX-License-Identifier: Apache-2.0
 *
 * Stand-ins for NVIDIA's libraries, for tests on machines without a GPU: libcuda, libcudart and libcupti, written here
 * from the public API alone. They are no replacement: NVIDIA's own libcudart refuses any driver but NVIDIA's, and that is
 * left alone. Programs that link libcudart dynamically run on them, unmodified.
 *
 *     program ──► runtime.c (libcudart) ──► driver.c (libcuda) ──► device.c: one thread per stream
 *                        │ enter, leave          │ enter, leave          │ done
 *                        └──────────────► struct soft_tool ◄─────────────┘
 *                                                ▲
 *                                         cupti.c (libcupti, built against the headers of the version under test)
 *
 * Copies and fills are real. A device kernel runs as a function of the host if the program exports one (struct
 * soft_kernel), and takes SOFT_CUDA_KERNEL_NS in any case. The device's times are a schedule that the stand-in keeps, so
 * they do not depend on how busy the machine is. Its clock is CLOCK_REALTIME.
 *
 * Environment, read once:
 *
 *     SOFT_CUDA_LOG=PATH         appends one line for each call and operation: what tests compare with
 *     SOFT_CUDA_KERNEL_NS=N      how long device kernels take; default 20000
 *     SOFT_CUDA_DEVICES=N        number of devices; default 1
 *     SOFT_CUDA_PART=N           the devices are parts of GPUs (MIG): their identities differ by this number
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SOFT_EXPORT __attribute__((visibility("default")))

enum soft_work {
	SOFT_KERNEL,
	SOFT_COPY,
	SOFT_FILL,
	SOFT_HOST, /* a function of the program */
	SOFT_MARK, /* nothing: waits for others, or is waited for */
};

enum {
	SOFT_ARGUMENTS = 8,
	SOFT_WAITS = 64,
};

/* What a program exports as soft_kernel_NAME, so that its device kernel computes something. Arguments are copied when it
 * is launched, eight bytes of each. */
struct soft_kernel {
	void (*run)(const uint32_t *grid, const uint32_t *block, const uint64_t *arguments);
	int arguments;
};

struct soft_stream;

/* All that was given to a stream up to a place. */
struct soft_place {
	struct soft_stream *stream;
	uint64_t number;
};

struct soft_operation {
	struct soft_operation *next;
	enum soft_work work;
	uint64_t number; /* in its stream, from 1 */
	uint32_t correlation, device, context, stream, graph;
	uint64_t node;
	const char *name;
	uint32_t grid[3], block[3], shared_bytes, static_bytes, registers;
	int target_device; /* of a copy between devices; else -1 */
	uint64_t bytes;
	int direction, from_kind, to_kind; /* as CUPTI calls them */
	int value;
	bool is_async;
	void *to;
	const void *from;
	const struct soft_kernel *kernel;
	uint64_t arguments[SOFT_ARGUMENTS];
	void (*function)(void *data);
	void *data;
	int wait_count;
	struct soft_place waits[SOFT_WAITS];
	uint64_t queued_ns, start_ns, end_ns;
	bool is_correlated;
	bool is_told; /* the tool knows that it has ended */
};

struct soft_context {
	uint32_t id;
	int device;
	struct soft_stream *default_stream;
	struct soft_stream *streams; /* all of them, linked by `next` */
};

struct soft_stream {
	struct soft_stream *next;
	struct soft_context *context;
	uint32_t id;
	unsigned int flags;
	uint64_t given, done; /* numbers of the last operations */
	uint64_t last_end_ns;
	struct soft_operation *first, **last;
	struct soft_operation *captured, **captured_last; /* while it is captured */
	bool is_capturing;
	bool is_destroyed;
	pthread_cond_t has_work;
};

/* A call that goes on. */
struct soft_frame {
	int domain; /* of CUPTI: 1 driver, 2 runtime */
	uint32_t cbid;
	const char *name;
	const void *parameters;
	uint32_t correlation; /* a call of the driver inside one of the runtime shares that one's */
	uint64_t start_ns;
	uint64_t data; /* of CUPTI's user */
	const char *symbol;
	struct soft_frame *outer;
};

enum soft_resource {
	SOFT_CONTEXT_CREATED = 1,
	SOFT_CONTEXT_DESTROYED = 2,
	SOFT_STREAM_CREATED = 3,
	SOFT_STREAM_DESTROYED = 4,
};

/* Memory that was allocated or freed, in the words of CUPTI. */
struct soft_memory {
	uint64_t address, bytes, pool;
	int kind, device;
	bool is_free, is_async;
};

/* What was waited for, and what took time besides, as CUPTI calls them. */
enum {
	SOFT_WAITED_EVENT = 1,
	SOFT_STREAM_WAITS = 2,
	SOFT_WAITED_STREAM = 3,
	SOFT_WAITED_CONTEXT = 4,
	SOFT_MODULE_LOADING = 4 << 16,
	SOFT_FUNCTION_LOADING = 5 << 16,
};

/* What libcupti is told. */
struct soft_tool {
	void (*enter)(struct soft_frame *frame);
	void (*leave)(struct soft_frame *frame, int result);
	void (*done)(const struct soft_operation *operation);
	void (*resource)(enum soft_resource what, struct soft_context *context,
			 struct soft_stream *stream);
	void (*waited)(int type, uint32_t context, uint32_t stream, uint32_t event,
		       uint64_t start_ns);
	void (*overhead)(int kind, uint64_t start_ns);
	void (*memory)(const struct soft_memory *memory);
	bool (*launch)(void); /* whether the operation that is given gets a correlation */
};

/* ---- device.c, in libcuda ------------------------------------------------------------------------- */

extern SOFT_EXPORT struct soft_tool *soft_tool;
extern SOFT_EXPORT
	uint64_t (*soft_clock)(void); /* another clock that libcupti was given, or NULL */
extern SOFT_EXPORT _Thread_local struct soft_frame *soft_innermost;
extern SOFT_EXPORT _Thread_local const char
	*soft_symbol; /* device kernel of the call to be entered */

SOFT_EXPORT uint64_t soft_now_ns(void);

/* Times are from this clock from now on; NULL: from its own. Nothing may be under way. */
SOFT_EXPORT void soft_set_clock(uint64_t (*clock)(void));
SOFT_EXPORT void soft_enter(struct soft_frame *frame, int domain, uint32_t cbid, const char *name,
			    const void *parameters);
SOFT_EXPORT void soft_leave(struct soft_frame *frame, int result);

/* The context that is current in the calling thread, or NULL. (driver.c) */
SOFT_EXPORT struct soft_context *soft_current(void);

/* Tells the tool of all operations that have not ended, with end 0. */
SOFT_EXPORT void soft_tell_unfinished(void (*tell)(const struct soft_operation *operation));

void soft_start(void);
void soft_log(const char *format, ...) __attribute__((format(printf, 1, 2)));
struct soft_context *soft_context_make(int device);
void soft_context_free(struct soft_context *context);
struct soft_stream *soft_stream_make(struct soft_context *context, unsigned int flags);

/* The default stream of the calling thread alone. */
SOFT_EXPORT struct soft_stream *soft_stream_of_thread(struct soft_context *context);
void soft_stream_free(struct soft_stream *stream);

/* Gives a copy of the operation to the stream, which does it later; a stream that is captured keeps it. */
struct soft_place soft_give(struct soft_stream *stream, const struct soft_operation *operation);
void soft_capture_begin(struct soft_stream *stream);
struct soft_operation *soft_capture_end(struct soft_stream *stream);
bool soft_is_done(struct soft_place place);
void soft_wait(struct soft_place place);
uint64_t soft_end_of(struct soft_stream *stream);
