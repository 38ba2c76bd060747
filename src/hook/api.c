/* SPDX-License-Identifier: Apache-2.0
 *
 * The implementation of include/millrace.h: the table of functions that annotated programs look up.
 */
#include <stdatomic.h>

#define MILLRACE_TYPES_ONLY
#include "hook/hook.h"
#include "hook/python/python.h"
#include "hook/shared/correlation.h"
#include "millrace.h"
#include "record/interval.h"
#include "record/recorder.h"
#include "record/steps.h"

/* A span is an interval that the program keeps for us. */
_Static_assert(sizeof(struct millrace_span) == sizeof(struct mr_interval), "same layout");
#define SAME_PLACE(span_field, interval_field)                               \
	_Static_assert(offsetof(struct millrace_span, span_field) ==         \
			       offsetof(struct mr_interval, interval_field), \
		       "same layout")
SAME_PLACE(start, start_ticks);
SAME_PLACE(step, step);
SAME_PLACE(what, what);
SAME_PLACE(depth, depth);
SAME_PLACE(thread, tid);

_Static_assert(MILLRACE_LEVEL_DATAFLOW == (int)MR_LEVEL_dataflow, "public numbers are ours");
_Static_assert(MILLRACE_LEVEL_RUNTIME == (int)MR_LEVEL_runtime, "public numbers are ours");
_Static_assert(MILLRACE_DEVICE_ACCELERATOR == (int)MR_device_kind_accelerator, "likewise");
_Static_assert(MILLRACE_OPERATION_BARRIER == (int)MR_operation_kind_barrier, "likewise");

static uint32_t api_graph(const char *name)
{
	return mr_define_graph(mr_define_string(name));
}

static uint32_t api_node(uint32_t graph, const char *name, const char *type, uint32_t device)
{
	return mr_define_node(graph, mr_define_string(name), mr_define_string(type), device);
}

static void api_edge(uint32_t source, uint16_t source_output, uint32_t target,
		     uint16_t target_input, uint8_t is_control)
{
	const struct mr_event_def_edge edge = {
		.source = source,
		.target = target,
		.source_output = source_output,
		.target_input = target_input,
		.kind = is_control ? MR_edge_kind_control : MR_edge_kind_data,
	};
	mr_define_edge(&edge);
}

static uint32_t api_device(const char *name, enum millrace_device_kind kind)
{
	return mr_define_device(mr_define_string(name), mr_arena->user_clock,
				(enum mr_device_kind)kind);
}

static void api_device_identity(uint32_t device, const char *identity)
{
	mr_define_device_identity(device, identity);
}

static uint32_t api_queue(uint32_t device, const char *name)
{
	return mr_define_queue(device, mr_define_string(name), MR_queue_order_unknown, false);
}

static uint64_t api_now(void)
{
	return mr_ticks_now();
}

static void api_node_begin(struct millrace_span *span, uint32_t node, uint64_t step)
{
	mr_python_note();
	mr_interval_begin((struct mr_interval *)span, MR_EVENT_node_interval, node, step);
}

static void api_node_end(const struct millrace_span *span)
{
	mr_node_interval_end((const struct mr_interval *)span);
}

static void api_node_complete(uint32_t node, uint64_t step, uint64_t start, uint64_t end)
{
	mr_python_note();
	mr_node_interval_at(node, step, mr_arena->user_clock, start, end);
}

static inline void put_instant(uint32_t node, uint64_t step)
{
	mr_emit(node_instant, .node = node, .step = (uint32_t)step);
}

/* A function of its own, and called last: so the other needs no stack frame. */
static __attribute__((noinline)) void put_instant_and_site(uint32_t node, uint64_t step)
{
	mr_python_note_site();
	put_instant(node, step);
}

static void api_node_instant(uint32_t node, uint64_t step)
{
	if (mr_python_is_there())
		put_instant_and_site(node, step);
	else
		put_instant(node, step);
}

static void api_step_begin(struct millrace_span *span, uint64_t step)
{
	static _Atomic uint64_t begun;
	mr_steps_note(atomic_fetch_add_explicit(&begun, 1, memory_order_relaxed));
	if (!mr_level_is_on(MR_LEVEL_dataflow))
		return;
	mr_python_note();
	mr_interval_begin((struct mr_interval *)span, MR_EVENT_step_interval, 0, step);
}

static void api_step_end(const struct millrace_span *span)
{
	mr_step_interval_end((const struct mr_interval *)span);
}

static void api_memory_allocate(uint32_t device, uint32_t allocator, uint32_t node,
				const void *address, uint64_t bytes)
{
	mr_python_note();
	mr_emit(memory_allocate, .device = device, .allocator = allocator, .node = node,
		.address = (uintptr_t)address, .bytes = bytes);
}

static void api_memory_free(uint32_t device, uint32_t allocator, const void *address,
			    uint64_t bytes)
{
	mr_emit(memory_free, .device = device, .allocator = allocator,
		.address = (uintptr_t)address, .bytes = bytes);
}

static void api_message_send(uint32_t channel, uint64_t key, uint64_t bytes)
{
	mr_emit(message_send, .channel = channel, .key = key, .bytes = bytes);
}

static void api_message_receive(uint32_t channel, uint64_t key, uint64_t bytes)
{
	mr_emit(message_receive, .channel = channel, .key = key, .bytes = bytes);
}

static void api_counter(uint32_t name, int64_t value)
{
	mr_emit(counter, .name = name, .value = value);
}

static void api_device_operation(const struct millrace_operation *operation)
{
	mr_emit(device_operation, .queue = operation->queue, .name = operation->name,
		.correlation = operation->correlation, .queued = operation->queued,
		.submitted = operation->submitted, .start = operation->start, .end = operation->end,
		.bytes = operation->bytes, .kind = (uint8_t)operation->kind);
}

static void call_begin(struct millrace_call *call, uint32_t function, uint32_t queue)
{
	mr_python_note();
	call->correlation = mr_correlation_new();
	call->queue = queue;
	mr_interval_begin((struct mr_interval *)&call->span, MR_EVENT_runtime_call, function,
			  call->correlation);
}

static void api_launch_begin(struct millrace_call *call, uint32_t function, uint32_t queue,
			     enum millrace_operation_kind kind)
{
	call->kind = kind;
	call_begin(call, function, queue);
}

static void api_launch_end(const struct millrace_call *call)
{
	struct mr_event_runtime_launch event = {.function = call->span.what,
						.correlation = call->correlation,
						.queue = call->queue,
						.kind = (uint8_t)call->kind};
	mr_call_interval_end((const struct mr_interval *)&call->span, MR_EVENT_runtime_launch,
			     &event, sizeof event);
}

static void api_wait_begin(struct millrace_call *call, uint32_t function, uint32_t queue,
			   uint64_t correlation)
{
	call_begin(call, function, queue);
	mr_emit(runtime_wait, .correlation = call->correlation, .awaited = correlation);
}

static void api_wait_end(const struct millrace_call *call)
{
	struct mr_event_runtime_call_on event = {.function = call->span.what,
						 .correlation = call->correlation,
						 .queue = call->queue};
	mr_call_interval_end((const struct mr_interval *)&call->span, MR_EVENT_runtime_call_on,
			     &event, sizeof event);
}

static struct millrace_api api = {
	.bytes = sizeof api,
	.string = mr_define_string,
	.graph = api_graph,
	.node = api_node,
	.edge = api_edge,
	.device = api_device,
	.queue = api_queue,
	.now = api_now,
	.node_begin = api_node_begin,
	.node_end = api_node_end,
	.node_complete = api_node_complete,
	.node_instant = api_node_instant,
	.step_begin = api_step_begin,
	.step_end = api_step_end,
	.memory_allocate = api_memory_allocate,
	.memory_free = api_memory_free,
	.message_send = api_message_send,
	.message_receive = api_message_receive,
	.counter = api_counter,
	.device_operation = api_device_operation,
	.launch_begin = api_launch_begin,
	.launch_end = api_launch_end,
	.wait_begin = api_wait_begin,
	.wait_end = api_wait_end,
	.device_identity = api_device_identity,
};

/* The table, or NULL if the process is not traced. Its name carries the version of the table. */
__attribute__((visibility("default"))) const struct millrace_api *millrace_api_1(void);

const struct millrace_api *millrace_api_1(void)
{
	mr_hook_start();
	if (!mr_arena)
		return NULL;
	api.levels = (const uint32_t *)mr_levels;
	return &api;
}
