/* SPDX-License-Identifier: Apache-2.0
 *
 * The order in which calls put work into streams, where threads of HIP's own give it to devices (AMD_DIRECT_DISPATCH=0). There
 * is an event for each call that does so, and for each that waits; src/load/hip joins them with what those threads submit.
 * Nothing of this is done otherwise.
 */
#include "hook/hip/hip.h"
#include "hook/symbols.h"

_Thread_local uint32_t mr_hip_device __attribute__((tls_model("initial-exec")));

/* A function of HIP's, which is looked for once; NULL if this version has none. */
static void *find_once(_Atomic(void *) *known, const char *name)
{
	void *function = atomic_load_explicit(known, memory_order_relaxed);
	if (mr_unlikely(!function)) {
		function = mr_symbol_find(name);
		atomic_store_explicit(known, function, memory_order_relaxed);
	}
	return function;
}

/* HIP's own word for it; it has loaded the device kernel by now. 0: there is none. */
static uint32_t kernel_name(const struct mr_hip_call *call)
{
	typedef const char *name_by_pointer(const void *function, const void *stream);
	typedef const char *name_by_handle(const void *function);
	static _Atomic(void *) by_pointer, by_handle;
	const char *name = NULL;
	if (call->about->kernel == MR_HIP_BY_POINTER) {
		name_by_pointer *ask =
			(name_by_pointer *)find_once(&by_pointer, "hipKernelNameRefByPtr");
		name = ask ? ask((const void *)call->object, call->caller.stream) : NULL;
	} else if (call->about->kernel == MR_HIP_BY_HANDLE) {
		name_by_handle *ask = (name_by_handle *)find_once(&by_handle, "hipKernelNameRef");
		name = ask ? ask((const void *)call->object) : NULL;
	}
	return name ? mr_define_string(name) : 0;
}

/* What is captured for a graph is not launched. The default stream cannot be captured, nor asked. */
static bool is_captured(const struct mr_hip_call *call)
{
	enum {
		NOT_CAPTURED = 0
	};
	typedef uint32_t capture_status(const void *stream, uint32_t *ret_status);
	static _Atomic(void *) known;
	uint32_t status = NOT_CAPTURED;
	capture_status *ask = call->caller.stream
				      ? (capture_status *)find_once(&known, "hipStreamIsCapturing")
				      : NULL;
	return ask && ask(call->caller.stream, &status) == 0 && status != NOT_CAPTURED;
}

static void write_order(struct mr_hip_call *call, uint32_t stream, uint32_t device,
			bool is_blocking)
{
	if (!call->caller.correlation)
		call->caller.correlation = mr_correlation_new();
	mr_emit(hip_order, .correlation = call->caller.correlation, .stream = stream,
		.device = device, .name = kernel_name(call), .is_blocking = is_blocking);
}

void mr_hip_order_begin(struct mr_hip_call *call)
{
	uint32_t stream = 0;
	call->made_stream = 0;
	if (call->about->role == MR_HIP_MAKES_STREAM)
		stream = call->made_stream = mr_hip_stream_number_new();
	else if (call->about->role == MR_HIP_MAKES_OTHER_STREAMS)
		stream = MR_HSA_OTHER_STREAMS;
	else if (call->stream ||
		 (call->stream = mr_hip_stream_find(mr_hip_default_stream(mr_hip_device))))
		stream = call->stream->number;
	mr_hsa_caller_begin(&call->caller, stream);
}

void mr_hip_order_end(struct mr_hip_call *call, bool is_success)
{
	const void *handle = call->caller.stream;
	if (call->made_stream && is_success) {
		handle = *(const void **)call->words[0];
		mr_hip_stream_make(handle, call->made_stream, mr_hip_device);
	}
	mr_hsa_caller_end(&call->caller, handle);
	if (!is_success)
		return;
	switch (call->about->role) {
	case MR_HIP_SETS_DEVICE:
		mr_hip_device = (uint32_t)call->words[0];
		break;
	case MR_HIP_WAITS_FOR_ALL:
		write_order(call, 0, mr_hip_device, true);
		break;
	case MR_HIP_WAITS_FOR_STREAM:
		if (call->stream)
			write_order(call, call->stream->number, call->stream->device, true);
		break;
	case MR_HIP_LAUNCHES:
	case MR_HIP_LAUNCHES_AND_WAITS:
		if (!call->stream || call->caller.launch_count > 0 || is_captured(call))
			break;
		write_order(call, call->stream->number, call->stream->device,
			    call->about->role == MR_HIP_LAUNCHES_AND_WAITS);
		call->is_ordered = true;
		break;
	default:
		break;
	}
}
