/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls of CUDA, as CUPTI reports them: entered and left, on the thread that makes them. Of a call of the runtime and those
 * of the driver inside it, only the outer one is recorded.
 *
 *     cudaMemcpy ├─────────────────────────────┤      recorded
 *     cuMemcpyHtoD   ├───────────────────────┤        inside: not recorded
 */
#include "hook/cuda/cuda.h"
#include "hook/python/python.h"

/* The call that goes on. If its parameters are not published (__cudaLaunchKernel of CUDA 13), what it launches is known from
 * the driver's call inside it. */
struct open_call {
	struct mr_cuda_function *function;
	uint32_t name;
	uint64_t generation; /* of the process that made it */
	uint32_t correlation;
	uint32_t inside; /* calls that were made in it */
	int domain;
	bool has_kernel;
	struct mr_event_runtime_launch_kernel kernel; /* launched by a call inside it */
	struct mr_interval interval;
};

_Thread_local bool mr_cuda_is_own_call __attribute__((tls_model("initial-exec")));
static _Thread_local struct open_call open_call __attribute__((tls_model("initial-exec")));

bool mr_cuda_is_in_call(void)
{
	return open_call.function && open_call.generation == mr_this_process.generation;
}

/* ---- arguments ---------------------------------------------------------------------------------------- */

static void *pointer_at(const void *parameters, uint8_t place)
{
	void *value;
	memcpy(&value, (const char *)parameters + place, sizeof value);
	return value;
}

static uint64_t number_at(const void *parameters, uint8_t place)
{
	uint64_t value;
	memcpy(&value, (const char *)parameters + place, sizeof value);
	return value;
}

static uint32_t word_at(const void *parameters, uint8_t place)
{
	uint32_t value;
	memcpy(&value, (const char *)parameters + place, sizeof value);
	return value;
}

static struct mr_cuda_stream *stream_of(const struct mr_cupti_call *call,
					struct mr_cuda_function *function, void *handle)
{
	return mr_cuda->clock.id
		       ? mr_cuda_stream_find(call->context, handle, function->is_per_thread)
		       : NULL;
}

static struct mr_cuda_stream *stream_at(const struct mr_cupti_call *call,
					struct mr_cuda_function *function)
{
	return stream_of(call, function, pointer_at(call->parameters, function->stream));
}

static int32_t result_of(const struct mr_cupti_call *call)
{
	int32_t result = 0;
	if (call->result)
		memcpy(&result, call->result, sizeof result);
	return result;
}

/* cudaMemcpyKind; from and to the host alone, or unknown: none of ours. */
static uint8_t kind_of_direction(uint32_t direction)
{
	static const uint8_t kinds[] = {0, MR_operation_kind_copy_to_device,
					MR_operation_kind_copy_from_device,
					MR_operation_kind_copy_on_device};
	return direction < mr_countof(kinds) ? kinds[direction] : 0;
}

/* ---- events of calls ------------------------------------------------------------------------------------ */

static uint64_t end_plain(const struct mr_cupti_call *call)
{
	struct mr_event_runtime_call event = {.function = open_call.name,
					      .correlation = mr_cuda_correlation(call->correlation),
					      .result = result_of(call)};
	return mr_call_interval_end(&open_call.interval, MR_EVENT_runtime_call, &event,
				    sizeof event);
}

static uint64_t end_about(const struct mr_cupti_call *call, struct mr_cuda_stream *stream,
			  const void *object, uint64_t bytes)
{
	struct mr_event_runtime_call_on event = {.function = open_call.name,
						 .correlation =
							 mr_cuda_correlation(call->correlation),
						 .result = result_of(call),
						 .queue = stream ? mr_cuda_queue_of(stream) : 0,
						 .object = (uintptr_t)object,
						 .bytes = bytes};
	return mr_call_interval_end(&open_call.interval, MR_EVENT_runtime_call_on, &event,
				    sizeof event);
}

/* What is launched on a stream that is captured happens when the graph is launched. */
static bool is_launched(const struct mr_cupti_call *call, struct mr_cuda_stream *stream)
{
	return stream && result_of(call) == 0 &&
	       !atomic_load_explicit(&stream->capture, memory_order_relaxed);
}

static uint64_t end_copy(const struct mr_cupti_call *call, struct mr_cuda_function *function)
{
	struct mr_cuda_stream *stream =
		function->stream ? stream_at(call, function) : stream_of(call, function, NULL);
	uint64_t correlation = mr_cuda_correlation(call->correlation);
	struct mr_event_runtime_launch event = {
		.function = open_call.name,
		.correlation = correlation,
		.result = result_of(call),
		.bytes = number_at(call->parameters, function->bytes),
		.kind = function->direction
				? kind_of_direction(word_at(call->parameters, function->direction))
				: function->kind};
	if (!is_launched(call, stream))
		return end_about(call, stream, NULL, event.bytes);
	if (event.bytes == 0) /* which does nothing */
		return end_about(call, stream, NULL, 0);
	event.queue = mr_cuda_queue_of(stream);
	mr_cuda_note_launch(stream, correlation);
	if (event.kind == 0)
		return end_about(call, stream, NULL, event.bytes);
	return mr_call_interval_end(&open_call.interval, MR_EVENT_runtime_launch, &event,
				    sizeof event);
}

static uint32_t work_items(uint64_t blocks, uint32_t threads, uint64_t *ret_all)
{
	*ret_all = blocks * threads;
	return (uint32_t)mr_min(*ret_all, (uint64_t)UINT32_MAX);
}

/* What a call launches, as the event of the outer call; false if it launches nothing. */
static bool describe_kernel(const struct mr_cupti_call *call, struct mr_cuda_function *function,
			    struct mr_event_runtime_launch_kernel *ret_event)
{
	const void *from = function->role == MR_CUDA_KERNEL ? call->parameters
							    : pointer_at(call->parameters, 0);
	struct mr_cuda_stream *stream =
		from ? stream_of(call, function, pointer_at(from, function->stream)) : NULL;
	uint64_t correlation = mr_cuda_correlation(open_call.correlation), sizes[3];
	if (!is_launched(call, stream))
		return false;
	uint32_t grid[3], block[3];
	memcpy(grid, (const char *)from + function->grid, sizeof grid);
	memcpy(block, (const char *)from + function->block, sizeof block);
	*ret_event = (struct mr_event_runtime_launch_kernel){
		.function = open_call.name,
		.correlation = correlation,
		.result = 0,
		.queue = mr_cuda_queue_of(stream),
		.name = call->symbol ? mr_define_string(call->symbol) : 0,
		.global_x = work_items(grid[0], block[0], &sizes[0]),
		.global_y = work_items(grid[1], block[1], &sizes[1]),
		.global_z = work_items(grid[2], block[2], &sizes[2]),
		.local_x = block[0],
		.local_y = block[1],
		.local_z = block[2]};
	if (mr_unlikely((sizes[0] | sizes[1] | sizes[2]) > UINT32_MAX))
		mr_emit(runtime_launch_size, .correlation = correlation, .global_x = sizes[0],
			.global_y = sizes[1], .global_z = sizes[2]);
	mr_cuda_note_launch(stream, correlation);
	return true;
}

static uint64_t end_kernel(const struct mr_cupti_call *call, struct mr_cuda_function *function)
{
	struct mr_event_runtime_launch_kernel event;
	if (!describe_kernel(call, function, &event))
		return end_about(call, NULL, NULL, 0);
	return mr_call_interval_end(&open_call.interval, MR_EVENT_runtime_launch_kernel, &event,
				    sizeof event);
}

static uint64_t end_other(const struct mr_cupti_call *call)
{
	if (!open_call.has_kernel || result_of(call) != 0)
		return end_plain(call);
	return mr_call_interval_end(&open_call.interval, MR_EVENT_runtime_launch_kernel,
				    &open_call.kernel, sizeof open_call.kernel);
}

static bool is_kernel(const struct mr_cuda_function *function)
{
	return function->role == MR_CUDA_KERNEL ||
	       function->role == MR_CUDA_KERNEL_BY_CONFIGURATION;
}

/* A call inside another one ends. */
static void end_inside(const struct mr_cupti_call *call, struct mr_cuda_function *function)
{
	if (mr_unlikely(open_call.function->role == MR_CUDA_PLAIN && is_kernel(function) &&
			call->parameters))
		open_call.has_kernel = describe_kernel(call, function, &open_call.kernel);
}

static uint64_t end_many(const struct mr_cupti_call *call, struct mr_cuda_function *function)
{
	struct mr_cuda_stream *stream =
		function->stream ? stream_at(call, function) : stream_of(call, function, NULL);
	if (is_launched(call, stream))
		mr_cuda_note_launch(stream, mr_cuda_correlation(call->correlation));
	return end_about(call, stream, NULL, 0);
}

static uint64_t end_allocation(const struct mr_cupti_call *call, struct mr_cuda_function *function)
{
	void *where = pointer_at(call->parameters, function->object);
	uint64_t bytes = number_at(call->parameters, function->bytes);
	void *object = where && result_of(call) == 0 ? pointer_at(where, 0) : NULL;
	bool is_on_device = function->role == MR_CUDA_ALLOCATE;
	if (object)
		mr_emit(runtime_allocate, .function = open_call.name,
			.device = is_on_device ? mr_cuda_device_of_context(call->context) : 0,
			.object = (uintptr_t)object, .bytes = bytes);
	return end_about(call, NULL, object, bytes);
}

/* ---- calls that concern streams and events ---------------------------------------------------------------- */

static uint64_t end_event_call(const struct mr_cupti_call *call, struct mr_cuda_function *function)
{
	void *event = pointer_at(call->parameters, function->event);
	uint64_t correlation = mr_cuda_correlation(call->correlation);
	struct mr_cuda_stream *stream = NULL;
	if (function->role == MR_CUDA_STREAM_WAITS || function->role == MR_CUDA_EVENT_RECORD)
		stream = stream_at(call, function);
	if (function->role == MR_CUDA_EVENT_RECORD && stream && result_of(call) == 0)
		mr_cuda_note_record(event, stream, correlation);
	else if (function->role == MR_CUDA_STREAM_WAITS && stream && result_of(call) == 0)
		mr_cuda_note_stream_waits(stream, event);
	else if (function->role == MR_CUDA_WAIT_FOR_EVENT)
		mr_cuda_note_event_wait(event, correlation);
	else if (function->role == MR_CUDA_EVENT_GONE)
		mr_cuda_note_event_gone(event);
	return end_about(call, stream, event, 0);
}

static uint64_t end_stream_call(const struct mr_cupti_call *call, struct mr_cuda_function *function)
{
	struct mr_cuda_stream *stream;
	if (function->role == MR_CUDA_STREAM_MADE) {
		void *where = pointer_at(call->parameters, function->stream);
		void *handle = where && result_of(call) == 0 ? pointer_at(where, 0) : NULL;
		stream = handle ? stream_of(call, function, handle) : NULL;
		if (stream)
			atomic_store_explicit(&stream->is_non_blocking,
					      word_at(call->parameters, function->flags) & 1,
					      memory_order_relaxed);
		return end_about(call, stream, handle, 0);
	}
	stream = stream_at(call, function);
	if (stream && function->role == MR_CUDA_WAIT_FOR_STREAM)
		mr_cuda_note_stream_wait(stream, mr_cuda_correlation(call->correlation));
	else if (stream && function->role == MR_CUDA_CAPTURE_BEGIN && result_of(call) == 0)
		atomic_store_explicit(
			&stream->capture,
			atomic_fetch_add_explicit(&mr_cuda->last_capture, 1, memory_order_relaxed) +
				1,
			memory_order_relaxed);
	else if (stream && function->role == MR_CUDA_CAPTURE_END)
		mr_cuda_note_capture_end(stream);
	return end_about(call, stream, NULL, 0);
}

static uint64_t end_wait(const struct mr_cupti_call *call)
{
	if (mr_cuda->clock.id && result_of(call) == 0)
		mr_cuda_note_context_wait(call->context, mr_cuda_correlation(call->correlation));
	return end_plain(call);
}

/* Apart from the others, whose fast path needs few registers. */
__attribute__((noinline)) static uint64_t end_call(const struct mr_cupti_call *call,
						   struct mr_cuda_function *function)
{
	if (function->role == MR_CUDA_WAIT) /* without parameters */
		return end_wait(call);
	switch (call->parameters ? (enum mr_cuda_role)function->role : MR_CUDA_PLAIN) {
	case MR_CUDA_KERNEL:
	case MR_CUDA_KERNEL_BY_CONFIGURATION:
		return end_kernel(call, function);
	case MR_CUDA_COPY:
		return end_copy(call, function);
	case MR_CUDA_LAUNCH_MANY:
		return end_many(call, function);
	case MR_CUDA_ALLOCATE:
	case MR_CUDA_ALLOCATE_HOST:
		return end_allocation(call, function);
	case MR_CUDA_FREE:
		return end_about(call, NULL, pointer_at(call->parameters, function->object), 0);
	case MR_CUDA_STREAM_WAITS:
	case MR_CUDA_EVENT_RECORD:
	case MR_CUDA_EVENT_GONE:
	case MR_CUDA_WAIT_FOR_EVENT:
		return end_event_call(call, function);
	case MR_CUDA_WAIT_FOR_STREAM:
	case MR_CUDA_STREAM_MADE:
	case MR_CUDA_ON_STREAM:
	case MR_CUDA_CAPTURE_BEGIN:
	case MR_CUDA_CAPTURE_END:
		return end_stream_call(call, function);
	default:
		return end_other(call);
	}
}

/* ---- callbacks -------------------------------------------------------------------------------------------- */

static bool is_inside(int domain, const struct mr_cupti_call *call)
{
	if (!mr_cuda_is_in_call())
		return false;
	return call->correlation == open_call.correlation ||
	       (open_call.domain == MR_CUPTI_RUNTIME && domain == MR_CUPTI_DRIVER);
}

__attribute__((noinline)) static void enter(struct mr_cuda_function *function, int domain,
					    const struct mr_cupti_call *call)
{
	if (is_inside(domain, call)) {
		open_call.inside++;
		return;
	}
	open_call.function = NULL;
	bool is_on = mr_level_is_on(MR_LEVEL_runtime);
	if (mr_unlikely(is_on != atomic_load_explicit(&mr_cuda->is_on, memory_order_relaxed)))
		mr_cuda_follow_level(is_on);
	if (!is_on)
		return;
	mr_python_note();
	if (mr_unlikely(open_call.generation != mr_this_process.generation) && mr_cuda->clock.id)
		mr_cuda_note_thread();
	if (mr_unlikely(function->role == MR_CUDA_ENDS_CONTEXT))
		mr_cuda_flush(false);
	open_call.generation = mr_this_process.generation;
	open_call.correlation = call->correlation;
	open_call.domain = domain;
	open_call.inside = 0;
	open_call.has_kernel = false;
	open_call.name = mr_likely(function->title != NULL) ? mr_cuda_name_of(function)
							    : mr_define_string(call->function);
	mr_interval_begin(&open_call.interval, MR_EVENT_runtime_call, open_call.name,
			  mr_cuda_correlation(call->correlation));
	if (function->role == MR_CUDA_FREE && call->parameters)
		/* Before it is free: another thread may get the same address at once. */
		mr_emit(runtime_free, .object = number_at(call->parameters, function->object));
	open_call.generation = mr_this_process.generation; /* which the first event may set */
	mr_signal_fence();
	open_call.function = function;
}

__attribute__((noinline)) static void leave(struct mr_cuda_function *function,
					    const struct mr_cupti_call *call)
{
	if (!mr_cuda_is_in_call())
		return;
	if (open_call.inside > 0) {
		open_call.inside--;
		end_inside(call, function);
		return;
	}
	uint64_t now = function->role == MR_CUDA_PLAIN && !open_call.has_kernel
			       ? end_plain(call)
			       : end_call(call, function);
	open_call.function = NULL;
	if (mr_cuda->clock.id)
		mr_cuda_flush_if_due(now, function->role >= MR_CUDA_WAIT &&
						  function->role <= MR_CUDA_WAIT_FOR_EVENT);
}

void mr_cuda_call_back(void *data, int domain, uint32_t number, const void *what)
{
	(void)data;
	if (mr_cuda_is_own_call)
		return;
	struct mr_cuda_function *function = mr_cuda_function_find(domain, number);
	if (mr_likely(function != NULL)) {
		const struct mr_cupti_call *call = what;
		if (call->site == 0)
			enter(function, domain, call);
		else
			leave(function, call);
	} else if (domain == MR_CUPTI_RESOURCE && number == MR_CUPTI_STREAM_DESTROY_STARTING) {
		mr_cuda_stream_forget(((const struct mr_cupti_resource_data *)what)->stream);
	}
	if (mr_unlikely(atomic_load_explicit(&mr_cuda_has_guest, memory_order_relaxed)))
		mr_cuda_guest_call_back(domain, number, what);
}
