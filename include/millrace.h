/* SPDX-License-Identifier: Apache-2.0
 *
 * millrace.h: lets a dataflow program say what it is doing, for `millrace record` to see.
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
 * includes it is loaded, it looks whether a tracer is in the process. If not, each annotation is
 * one load and one branch that is never taken. With MILLRACE_DISABLE defined, or on other systems
 * than Linux, annotations compile to nothing.
 *
 * Ids. What is described once (texts, graphs, nodes, devices ...) is known by its id afterwards. 0 is
 * the id of nothing: it is returned when there is no tracer, and accepted everywhere. Ids are valid in
 * the whole process and in processes forked from it, and are never given back.
 *
 * Texts are UTF-8, copied before the call returns, cut after 16 KiB; NULL is no text.
 *
 * Threads and signals. Everything may be called by any thread at any time, also in signal handlers (a
 * definition in a handler that interrupted another definition gives id 0). Nothing blocks, fails,
 * allocates from the program's heap or changes errno.
 *
 * Times are ticks of the trace's own clock, as millrace_now() gives them.
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
 * Lives where the caller puts it, usually on the stack. The fields are the tracer's.
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
 * @correlation: number of the call, to be given to the operation that it launches; 0 if it is not recorded
 *
 * Lives where the caller puts it, usually on the stack. The other fields are the tracer's.
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
 * @name: what was done (millrace_string()), for instance the kernel's name
 * @correlation: of the call that launched it (millrace_launch_begin()); 0 if not known
 * @queued: when the program asked for it; 0 if not known
 * @submitted: when the device was told; 0 if not known
 * @start: when it began
 * @end: when it was done
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

/* What the tracer offers. Later versions only add to the end: `bytes` says how much is there. */
struct millrace_api {
	size_t bytes;
	const uint32_t *levels; /* what is being recorded now; changes at any time */
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

/* First of all constructors that may have a priority: theirs may use annotations. */
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
 * Never needed for safety; use it to save the work of preparing arguments.
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
 * Only differences and order have a meaning. 0 if there is no tracer.
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
 * Spans of a thread nest: the last begun is the first to end. Should the program be killed, the spans
 * that are open then are found in the trace, marked as unfinished.
 */
static inline struct millrace_span millrace_node_begin(uint32_t node, uint64_t step)
{
	struct millrace_span span = {0, 0, 0, 0, 0, 0};
	if (millrace_is_on())
		MILLRACE_TRACER_->node_begin(&span, node, step);
	return span;
}

/**
 * millrace_node_end() - the node has run
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
 * @end: millrace_now() when it had run
 *
 * For executions that wander between threads, or are only known afterwards.
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
 * millrace_memory_allocate() - memory is taken
 * @device: device that holds it; 0 for host memory
 * @allocator: who gave it (millrace_string())
 * @node: node it is for
 * @address: where it is; never followed
 * @bytes: its size
 */
static inline void millrace_memory_allocate(uint32_t device, uint32_t allocator, uint32_t node,
					    const void *address, uint64_t bytes)
{
	if (millrace_is_on())
		MILLRACE_TRACER_->memory_allocate(device, allocator, node, address, bytes);
}

/**
 * millrace_memory_free() - memory is given back
 * @device: device that held it; 0 for host memory
 * @allocator: who gave it (millrace_string())
 * @address: where it was; never followed
 * @bytes: its size; 0 if not known
 */
static inline void millrace_memory_free(uint32_t device, uint32_t allocator, const void *address,
					uint64_t bytes)
{
	if (millrace_is_on())
		MILLRACE_TRACER_->memory_free(device, allocator, address, bytes);
}

/**
 * millrace_message_send() - a message leaves for another thread, process or host
 * @channel: what both sides call the channel (millrace_string())
 * @key: number of the message; with the channel's name it tells the message from all others
 * @bytes: its size
 */
static inline void millrace_message_send(uint32_t channel, uint64_t key, uint64_t bytes)
{
	if (millrace_is_on())
		MILLRACE_TRACER_->message_send(channel, key, bytes);
}

/**
 * millrace_message_receive() - a message arrives
 * @channel: what both sides call the channel (millrace_string())
 * @key: number of the message, as its sender gave it
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
 * A runtime says which of its calls give a device work, which wait for it, and what the device did. Then
 * `millrace report` tells why a device was idle.
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
 *     operation.correlation = correlation;                               // whoever sees it done
 *     millrace_device_operation(&operation);
 */

/**
 * millrace_launch_begin() - this thread begins to give a device something to do
 * @function: what the function is called (millrace_string())
 * @queue: the queue that is to do it
 * @kind: kind of work
 *
 * Calls nest like spans. The operation carries the call's correlation, and is written when it is done.
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
 * millrace_launch_end() - the device has been told, or can fetch it
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
 * @function: what the function is called (millrace_string())
 * @queue: the queue it waits for; 0 for all
 * @correlation: of the launch whose operation it waits for; 0: all that was launched to the queue
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
 * millrace_wait_end() - what it waited for is done
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
