/* SPDX-License-Identifier: Apache-2.0
 *
 * millrace.h: annotations with which a dataflow program describes its graph and its work to
 * `millrace record`.
 *
 *     #include <millrace.h>
 *
 *     uint32_t graph = millrace_graph("radio");                         // once, at the start
 *     uint32_t fft = millrace_node(graph, "fft", "FFT", 0);
 *     ...
 *     struct millrace_span span = millrace_node_begin(fft, frame);      // each time it runs
 *     transform(samples);
 *     millrace_node_end(&span);
 *
 *     $ cc -o radio radio.c                 (with a C library older than glibc 2.34: -ldl)
 *     $ millrace record -- ./radio
 *
 * Header only: nothing to link, C99 or C++11, gcc or clang. When the program or library that
 * includes it is loaded, it checks whether the process contains a tracer. If not, each annotation
 * costs one load and one branch that is never taken. With MILLRACE_DISABLE defined, or on systems
 * other than Linux, annotations compile to nothing.
 *
 * Ids. The program describes each text, graph, node, device ... once and refers to it by its id from
 * then on. Id 0 means "nothing": functions return it when there is no tracer, and accept it
 * everywhere. Ids are valid in the whole process and in processes forked from it. They are never
 * released.
 *
 * Texts are UTF-8. They are copied before the call returns, and truncated after 16 KiB; NULL is no
 * text.
 *
 * Threads and signals. Any thread may call any function at any time, also in a signal handler (a
 * definition made in a handler that interrupted another definition gets id 0). No function blocks,
 * fails, allocates from the program's heap or changes errno.
 *
 * Times are ticks of the trace's own clock, as returned by millrace_now().
 */
#ifndef MILLRACE_H
#define MILLRACE_H

#include <stddef.h>
#include <stdint.h>

#if !defined(MILLRACE_DISABLE) && !(defined(__linux__) && defined(__GNUC__))
#define MILLRACE_DISABLE
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- types ---------------------------------------------------------------------------------- */

enum millrace_device_kind {
	MILLRACE_DEVICE_OTHER = 0,
	MILLRACE_DEVICE_CPU = 1,
	MILLRACE_DEVICE_GPU = 2,
	MILLRACE_DEVICE_ACCELERATOR = 3
};

enum millrace_operation_kind {
	MILLRACE_OPERATION_OTHER = 0,
	MILLRACE_OPERATION_KERNEL = 1,
	MILLRACE_OPERATION_COPY_TO_DEVICE = 2,
	MILLRACE_OPERATION_COPY_FROM_DEVICE = 3,
	MILLRACE_OPERATION_COPY_ON_DEVICE = 4,
	MILLRACE_OPERATION_COPY_BETWEEN_DEVICES = 5,
	MILLRACE_OPERATION_FILL = 6,
	MILLRACE_OPERATION_BARRIER = 7
};

/**
 * struct millrace_span - an execution or a step that has begun and not ended
 *
 * The caller owns its memory, usually on the stack. The fields are private to the tracer.
 */
struct millrace_span {
	uint64_t start;
	uint64_t step;
	uint32_t what;
	uint32_t depth;
	uint32_t thread; /* 0: nothing to end */
	uint32_t reserved;
};

/**
 * struct millrace_call - a call of a device's runtime that has begun and not ended
 * @correlation: number of the call; pass it to the operation that the call launches; 0 if not recorded
 *
 * The caller owns its memory, usually on the stack. The other fields are private to the tracer.
 */
struct millrace_call {
	struct millrace_span span;
	uint64_t correlation;
	uint32_t queue;
	enum millrace_operation_kind kind;
};

/**
 * struct millrace_operation - something a device has done
 * @queue: the queue it was done for (millrace_queue())
 * @name: what was done (millrace_string()), for instance the device kernel's name
 * @correlation: of the call that launched it (millrace_launch_begin()); 0 if not known
 * @queued: when the program asked for it; 0 if not known
 * @submitted: when it was handed to the device; 0 if not known
 * @start: when it began
 * @end: when it ended
 * @bytes: how much was copied or filled; 0 if nothing was
 * @kind: kind of work
 */
struct millrace_operation {
	uint32_t queue;
	uint32_t name;
	uint64_t correlation;
	uint64_t queued;
	uint64_t submitted;
	uint64_t start;
	uint64_t end;
	uint64_t bytes;
	enum millrace_operation_kind kind;
};

/* The functions of the tracer. Later versions only append to the end: `bytes` is the struct's size. */
struct millrace_api {
	size_t bytes;
	const uint32_t *levels; /* what is being recorded now; may change at any time */
	uint32_t (*string)(const char *text);
	uint32_t (*graph)(const char *name);
	uint32_t (*node)(uint32_t graph, const char *name, const char *type, uint32_t device);
	void (*edge)(uint32_t source, uint16_t source_output, uint32_t target,
		     uint16_t target_input, uint8_t is_control);
	uint32_t (*device)(const char *name, enum millrace_device_kind kind);
	uint32_t (*queue)(uint32_t device, const char *name);
	uint64_t (*now)(void);
	void (*node_begin)(struct millrace_span *span, uint32_t node, uint64_t step);
	void (*node_end)(const struct millrace_span *span);
	void (*node_complete)(uint32_t node, uint64_t step, uint64_t start, uint64_t end);
	void (*node_instant)(uint32_t node, uint64_t step);
	void (*step_begin)(struct millrace_span *span, uint64_t step);
	void (*step_end)(const struct millrace_span *span);
	void (*memory_allocate)(uint32_t device, uint32_t allocator, uint32_t node,
				const void *address, uint64_t bytes);
	void (*memory_free)(uint32_t device, uint32_t allocator, const void *address,
			    uint64_t bytes);
	void (*message_send)(uint32_t channel, uint64_t key, uint64_t bytes);
	void (*message_receive)(uint32_t channel, uint64_t key, uint64_t bytes);
	void (*counter)(uint32_t name, int64_t value);
	void (*device_operation)(const struct millrace_operation *operation);
	void (*launch_begin)(struct millrace_call *call, uint32_t function, uint32_t queue,
			     enum millrace_operation_kind kind);
	void (*launch_end)(const struct millrace_call *call);
	void (*wait_begin)(struct millrace_call *call, uint32_t function, uint32_t queue,
			   uint64_t correlation);
	void (*wait_end)(const struct millrace_call *call);
	void (*device_identity)(uint32_t device, const char *identity);
};

enum {
	MILLRACE_LEVEL_DATAFLOW = 1 << 1,
	MILLRACE_LEVEL_RUNTIME = 1 << 2
};

#ifndef MILLRACE_TYPES_ONLY

/* ---- how the tracer is found ------------------------------------------------------------------ */

#ifdef MILLRACE_DISABLE

#define MILLRACE_TRACER_ ((const struct millrace_api *)0)

#else

#ifdef __cplusplus
}
#endif
#include <dlfcn.h>
#include <string.h>
#ifdef __cplusplus
extern "C" {
#endif

/* One for each program or library that includes this header. NULL: no tracer. */
__attribute__((weak, visibility("hidden"))) const struct millrace_api *millrace_tracer_;

#define MILLRACE_TRACER_ millrace_tracer_

/* Runs before all other constructors with a priority, so that they may use annotations. */
__attribute__((constructor(101))) static void millrace_bind_(void)
{
	const struct millrace_api *(*find)(void);
	void *symbol = dlsym((void *)0 /* RTLD_DEFAULT */, "millrace_api_1");
	if (!symbol || millrace_tracer_)
		return;
	memcpy(&find, &symbol, sizeof find); /* a cast would not be standard C */
	millrace_tracer_ = find();
}

#endif

static inline int millrace_level_is_on_(uint32_t level)
{
	return MILLRACE_TRACER_ &&
	       (__atomic_load_n(MILLRACE_TRACER_->levels, __ATOMIC_RELAXED) & level) != 0;
}

/**
 * millrace_is_on() - is anything being recorded at this moment?
 *
 * Never needed for safety; use it to avoid preparing arguments for nothing.
 */
static inline int millrace_is_on(void)
{
	return millrace_level_is_on_(MILLRACE_LEVEL_DATAFLOW);
}

/* ---- descriptions: once, at any time before use, also while nothing is recorded ------------------ */

/**
 * millrace_string() - gives a text an id
 * @text: the text
 *
 * The same text always has the same id.
 */
static inline uint32_t millrace_string(const char *text)
{
	return MILLRACE_TRACER_ ? MILLRACE_TRACER_->string(text) : 0;
}

/**
 * millrace_graph() - describes a dataflow graph
 * @name: its name
 */
static inline uint32_t millrace_graph(const char *name)
{
	return MILLRACE_TRACER_ ? MILLRACE_TRACER_->graph(name) : 0;
}

/**
 * millrace_node() - describes a node of a graph
 * @graph: the graph
 * @name: its name, unique within the graph
 * @type: the operation it performs
 * @device: where it is placed (millrace_device()); 0 if it does not matter
 */
static inline uint32_t millrace_node(uint32_t graph, const char *name, const char *type,
				     uint32_t device)
{
	return MILLRACE_TRACER_ ? MILLRACE_TRACER_->node(graph, name, type, device) : 0;
}

/**
 * millrace_edge() - data flows from one node to another
 * @source: node that produces
 * @source_output: which of its outputs, from 0
 * @target: node that consumes
 * @target_input: which of its inputs, from 0
 */
static inline void millrace_edge(uint32_t source, uint16_t source_output, uint32_t target,
				 uint16_t target_input)
{
	if (MILLRACE_TRACER_)
		MILLRACE_TRACER_->edge(source, source_output, target, target_input, 0);
}

/**
 * millrace_control_edge() - one node runs after another, without data between them
 * @source: node that comes first
 * @target: node that waits for it
 */
static inline void millrace_control_edge(uint32_t source, uint32_t target)
{
	if (MILLRACE_TRACER_)
		MILLRACE_TRACER_->edge(source, 0, target, 0, 1);
}

/**
 * millrace_device() - describes a device that executes operations
 * @name: its name
 * @kind: its kind
 */
static inline uint32_t millrace_device(const char *name, enum millrace_device_kind kind)
{
	return MILLRACE_TRACER_ ? MILLRACE_TRACER_->device(name, kind) : 0;
}

/**
 * millrace_device_identity() - says which device of the host it is
 * @device: the device
 * @identity: the same in every process that uses it, and of no other device of the host: "pci 0000:3b:00.0"
 *
 * Processes that share a device each describe it. By its identity they are seen to mean the same one.
 */
static inline void millrace_device_identity(uint32_t device, const char *identity)
{
	if (MILLRACE_TRACER_ &&
	    MILLRACE_TRACER_->bytes > offsetof(struct millrace_api, device_identity))
		MILLRACE_TRACER_->device_identity(device, identity);
}

/**
 * millrace_queue() - describes a queue (stream) of a device
 * @device: the device it feeds
 * @name: its name
 */
static inline uint32_t millrace_queue(uint32_t device, const char *name)
{
	return MILLRACE_TRACER_ ? MILLRACE_TRACER_->queue(device, name) : 0;
}

/* ---- executions and steps ----------------------------------------------------------------------- */

/**
 * millrace_now() - the time now, for millrace_node_complete() and millrace_device_operation()
 *
 * Only differences and order are meaningful. 0 if there is no tracer.
 */
static inline uint64_t millrace_now(void)
{
	return MILLRACE_TRACER_ ? MILLRACE_TRACER_->now() : 0;
}

/**
 * millrace_node_begin() - a node begins to run on this thread
 * @node: the node
 * @step: the step it works for; the trace keeps the low 32 bits
 *
 * Spans of a thread nest: the last one begun is the first to end. If the program is killed, the trace
 * contains the spans that were open then, marked as unfinished.
 */
static inline struct millrace_span millrace_node_begin(uint32_t node, uint64_t step)
{
	struct millrace_span span = {0, 0, 0, 0, 0, 0};
	if (millrace_is_on())
		MILLRACE_TRACER_->node_begin(&span, node, step);
	return span;
}

/**
 * millrace_node_end() - the node has finished running
 * @span: what millrace_node_begin() returned, on the same thread; ending it twice does no harm
 */
static inline void millrace_node_end(struct millrace_span *span)
{
	if (MILLRACE_TRACER_ && span->thread)
		MILLRACE_TRACER_->node_end(span);
	span->thread = 0;
}

/**
 * millrace_node_complete() - a node has run, at times measured by the program
 * @node: the node
 * @step: the step it worked for
 * @start: millrace_now() when it began
 * @end: millrace_now() when it ended
 *
 * For executions that move between threads, or that the program only knows about afterwards.
 */
static inline void millrace_node_complete(uint32_t node, uint64_t step, uint64_t start,
					  uint64_t end)
{
	if (millrace_is_on())
		MILLRACE_TRACER_->node_complete(node, step, start, end);
}

/**
 * millrace_node_instant() - something happens at a node
 * @node: the node
 * @step: the step it works for
 */
static inline void millrace_node_instant(uint32_t node, uint64_t step)
{
	if (millrace_is_on())
		MILLRACE_TRACER_->node_instant(node, step);
}

/**
 * millrace_step_begin() - a step (training iteration, request, frame ...) begins
 * @step: its number
 */
static inline struct millrace_span millrace_step_begin(uint64_t step)
{
	struct millrace_span span = {0, 0, 0, 0, 0, 0};
	if (MILLRACE_TRACER_) /* also while nothing is recorded: steps are counted */
		MILLRACE_TRACER_->step_begin(&span, step);
	return span;
}

/**
 * millrace_step_end() - the step is done
 * @span: what millrace_step_begin() returned, on the same thread; ending it twice does no harm
 */
static inline void millrace_step_end(struct millrace_span *span)
{
	if (MILLRACE_TRACER_ && span->thread)
		MILLRACE_TRACER_->step_end(span);
	span->thread = 0;
}

/* ---- memory, messages, counters ------------------------------------------------------------------- */

/**
 * millrace_memory_allocate() - memory is allocated
 * @device: device that holds it; 0 for host memory
 * @allocator: name of the allocator (millrace_string())
 * @node: node it is for
 * @address: where it is; never dereferenced
 * @bytes: its size
 */
static inline void millrace_memory_allocate(uint32_t device, uint32_t allocator, uint32_t node,
					    const void *address, uint64_t bytes)
{
	if (millrace_is_on())
		MILLRACE_TRACER_->memory_allocate(device, allocator, node, address, bytes);
}

/**
 * millrace_memory_free() - memory is freed
 * @device: device that held it; 0 for host memory
 * @allocator: name of the allocator (millrace_string())
 * @address: where it was; never dereferenced
 * @bytes: its size; 0 if not known
 */
static inline void millrace_memory_free(uint32_t device, uint32_t allocator, const void *address,
					uint64_t bytes)
{
	if (millrace_is_on())
		MILLRACE_TRACER_->memory_free(device, allocator, address, bytes);
}

/**
 * millrace_message_send() - a message is sent to another thread, process or host
 * @channel: name of the channel, the same on both sides (millrace_string())
 * @key: number of the message; together with the channel's name it identifies the message
 * @bytes: its size
 */
static inline void millrace_message_send(uint32_t channel, uint64_t key, uint64_t bytes)
{
	if (millrace_is_on())
		MILLRACE_TRACER_->message_send(channel, key, bytes);
}

/**
 * millrace_message_receive() - a message arrives
 * @channel: name of the channel, the same on both sides (millrace_string())
 * @key: number of the message, as the sender gave it
 * @bytes: its size
 */
static inline void millrace_message_receive(uint32_t channel, uint64_t key, uint64_t bytes)
{
	if (millrace_is_on())
		MILLRACE_TRACER_->message_receive(channel, key, bytes);
}

/**
 * millrace_counter() - a quantity has a new value
 * @name: what is counted (millrace_string())
 * @value: its value from now on
 */
static inline void millrace_counter(uint32_t name, int64_t value)
{
	if (millrace_is_on())
		MILLRACE_TRACER_->counter(name, value);
}

/* ---- devices --------------------------------------------------------------------------------------
 *
 * A runtime records which of its calls give work to a device, which wait for it, and what the device did.
 * From this, `millrace report` finds out why a device was idle.
 *
 *     struct millrace_call launch =                                      // the program's thread
 *             millrace_launch_begin(submit, queue, MILLRACE_OPERATION_KERNEL);
 *     put(work, launch.correlation);
 *     millrace_launch_end(&launch);
 *
 *     struct millrace_call wait = millrace_wait_begin(finish, queue, launch.correlation);
 *     wait_for(work);
 *     millrace_wait_end(&wait);
 *
 *     operation.correlation = correlation;                               // the thread that sees it end
 *     millrace_device_operation(&operation);
 */

/**
 * millrace_launch_begin() - this thread begins to launch an operation on a device
 * @function: name of the function (millrace_string())
 * @queue: the queue it is launched on
 * @kind: kind of work
 *
 * Calls nest like spans. The operation carries the call's correlation, and is recorded when it has ended.
 */
static inline struct millrace_call millrace_launch_begin(uint32_t function, uint32_t queue,
							 enum millrace_operation_kind kind)
{
	struct millrace_call call = {{0, 0, 0, 0, 0, 0}, 0, 0, MILLRACE_OPERATION_OTHER};
	if (millrace_level_is_on_(MILLRACE_LEVEL_RUNTIME))
		MILLRACE_TRACER_->launch_begin(&call, function, queue, kind);
	return call;
}

/**
 * millrace_launch_end() - the device has been given the operation, or can fetch it
 * @call: what millrace_launch_begin() returned, on the same thread; ending it twice does no harm
 */
static inline void millrace_launch_end(struct millrace_call *call)
{
	if (MILLRACE_TRACER_ && call->span.thread)
		MILLRACE_TRACER_->launch_end(call);
	call->span.thread = 0;
}

/**
 * millrace_wait_begin() - this thread begins to wait for a device
 * @function: name of the function (millrace_string())
 * @queue: the queue it waits for; 0 for all
 * @correlation: of the launch whose operation it waits for; 0: everything launched on the queue
 */
static inline struct millrace_call millrace_wait_begin(uint32_t function, uint32_t queue,
						       uint64_t correlation)
{
	struct millrace_call call = {{0, 0, 0, 0, 0, 0}, 0, 0, MILLRACE_OPERATION_OTHER};
	if (millrace_level_is_on_(MILLRACE_LEVEL_RUNTIME))
		MILLRACE_TRACER_->wait_begin(&call, function, queue, correlation);
	return call;
}

/**
 * millrace_wait_end() - the thread has finished waiting
 * @call: what millrace_wait_begin() returned, on the same thread; ending it twice does no harm
 */
static inline void millrace_wait_end(struct millrace_call *call)
{
	if (MILLRACE_TRACER_ && call->span.thread)
		MILLRACE_TRACER_->wait_end(call);
	call->span.thread = 0;
}

/**
 * millrace_device_operation() - a device has done something
 * @operation: what, and when; read before the call returns
 */
static inline void millrace_device_operation(const struct millrace_operation *operation)
{
	if (millrace_level_is_on_(MILLRACE_LEVEL_RUNTIME))
		MILLRACE_TRACER_->device_operation(operation);
}

#endif /* MILLRACE_TYPES_ONLY */

#ifdef __cplusplus
}
#endif

#endif
