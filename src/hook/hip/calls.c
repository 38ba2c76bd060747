/* SPDX-License-Identifier: Apache-2.0
 *
 * What is recorded around a call of HIP.
 */
#include "hook/hip/hip.h"

#include <stdio.h>
#include <stdlib.h>

#include "hook/hook.h"

enum {
	HOST_TO_DEVICE = 1, /* directions of HIP's copies */
	DEVICE_TO_HOST = 2,
};

static _Atomic uint32_t function_ids[MR_HIP_FUNCTIONS]; /* of their names; 0: not yet defined */

/* Of a function of C++ the name alone: _Z24hipExtModuleLaunchKernelP18... */
static uint32_t define_name(const char *name)
{
	char plain[64], *start;
	if (strncmp(name, "_Z", 2) != 0)
		return mr_define_string(name);
	int length = (int)strtoul(name + 2, &start, 10);
	snprintf(plain, sizeof plain, "%.*s", length, start);
	return mr_define_string(plain);
}

static uint32_t function_id(enum mr_hip_number number)
{
	uint32_t id = atomic_load_explicit(&function_ids[number], memory_order_relaxed);
	if (mr_unlikely(!id)) {
		id = define_name(mr_hip_names[number]);
		atomic_store_explicit(&function_ids[number], id, memory_order_relaxed);
	}
	return id;
}

static uint64_t word(const uint64_t *words, uint8_t number)
{
	return number ? words[number - 1] : 0;
}

static uint8_t copy_kind(const struct mr_hip_about *about, const uint64_t *words)
{
	switch (about->direction ? (uint32_t)word(words, about->direction) : 0) {
	case HOST_TO_DEVICE:
		return MR_operation_kind_copy_to_device;
	case DEVICE_TO_HOST:
		return MR_operation_kind_copy_from_device;
	default:
		return about->copy_kind;
	}
}

/* ---- waits --------------------------------------------------------------------------------------------- */

static void write_wait(struct mr_hip_call *call, uint64_t awaited)
{
	call->caller.correlation = mr_correlation_new();
	mr_emit(runtime_wait, .correlation = call->caller.correlation, .awaited = awaited);
}

/* Before the call: what it will wait for, and what follows from its arguments. */
static void note_before(struct mr_hip_call *call)
{
	switch (call->about->role) {
	case MR_HIP_WAITS_FOR_ALL:
	case MR_HIP_WAITS_FOR_STREAM:
		write_wait(call, 0);
		break;
	case MR_HIP_WAITS_FOR_EVENT: {
		uint64_t awaited = mr_hip_event_awaited((const void *)call->object);
		if (awaited)
			write_wait(call, awaited);
		break;
	}
	case MR_HIP_ENDS_STREAM:
		mr_hip_stream_end(call->caller.stream);
		call->stream = NULL;
		if (mr_hsa)
			mr_hsa_stream_forget(call->caller.stream);
		break;
	case MR_HIP_ENDS_EVENT:
		mr_hip_event_end((const void *)call->object);
		break;
	default:
		break;
	}
	if (call->stream && mr_hip_is_launch(call->about) &&
	    atomic_load_explicit(&call->stream->next_correlation, memory_order_relaxed))
		call->caller.correlation = atomic_exchange(&call->stream->next_correlation, 0);
}

/* The next launch on the stream waits for what the event stands for. */
static void note_stream_wait(const struct mr_hip_call *call)
{
	uint64_t awaited = mr_hip_event_awaited((const void *)call->object);
	if (!call->stream || !awaited)
		return;
	uint64_t correlation =
		atomic_load_explicit(&call->stream->next_correlation, memory_order_relaxed);
	if (!correlation) {
		correlation = mr_correlation_new();
		atomic_store_explicit(&call->stream->next_correlation, correlation,
				      memory_order_relaxed);
	}
	mr_emit(runtime_wait, .correlation = correlation, .awaited = awaited);
}

/* What HIP has found by its name is what the program will call. */
static void give_stub(const uint64_t *words)
{
	void **found = (void **)words[1];
	if (words[0] && found && *found)
		*found = mr_hip_stub_of((const char *)words[0], *found);
}

static void note_after(const struct mr_hip_call *call, bool is_success)
{
	if (call->stream && (call->caller.launch_count > 0 || call->is_ordered))
		atomic_store_explicit(&call->stream->last_correlation, call->caller.correlation,
				      memory_order_relaxed);
	else if (call->stream && mr_hip_is_launch(call->about) && call->caller.correlation)
		atomic_store_explicit(
			&call->stream->next_correlation, call->caller.correlation,
			memory_order_relaxed); /* nothing was launched: it still waits */
	if (is_success && call->about->role == MR_HIP_RECORDS_EVENT)
		mr_hip_event_record((const void *)call->object, call->stream);
	if (is_success && call->about->role == MR_HIP_STREAM_WAITS)
		note_stream_wait(call);
	if (is_success && call->about->role == MR_HIP_GIVES_FUNCTION)
		give_stub(call->words);
}

/* ---- calls --------------------------------------------------------------------------------------------- */

static struct mr_hip_stream *find_stream(const void *handle)
{
	return mr_hip_stream_find(handle ? handle : mr_hip_default_stream(mr_hip_device));
}

bool mr_hip_begin(struct mr_hip_call *call, enum mr_hip_number number, const uint64_t *words)
{
	if (!mr_level_is_on(MR_LEVEL_runtime))
		return false;
	const struct mr_hip_about *about = &mr_hip_abouts[number];
	call->about = about;
	call->words = words;
	call->is_inner = mr_hsa_caller != NULL;
	call->object = word(words, about->object);
	call->bytes = word(words, about->bytes);
	call->caller = (struct mr_hsa_caller){.stream = (const void *)word(words, about->stream),
					      .has_stream = about->role != MR_HIP_LAUNCHES_ANYWHERE,
					      .function = function_id(number),
					      .copy_kind = copy_kind(about, words)};
	call->is_ordered = false;
	call->stream = (about->stream || mr_hip_is_launch(about)) && call->caller.has_stream
			       ? find_stream(call->caller.stream)
			       : NULL;
	if (mr_hsa_depth++ == 0)
		mr_python_note();
	if (!call->is_inner) {
		note_before(call);
		mr_hsa_caller = &call->caller;
		if (mr_unlikely(mr_hsa_has_workers()))
			mr_hip_order_begin(call);
	}
	mr_interval_begin(&call->interval, MR_EVENT_runtime_call, call->caller.function,
			  call->caller.correlation);
	return true;
}

/* The queue that the call is about: of its stream, if something was launched there, whose device is then known. */
static uint32_t queue_of(const struct mr_hip_call *call)
{
	if (call->caller.queue || !mr_hsa || !call->stream || !call->about->stream)
		return call->caller.queue;
	return mr_hsa_stream_queue_if_known(call->caller.stream);
}

static uint64_t write_launch(const struct mr_hip_call *call, int32_t result)
{
	return mr_call_end(&call->interval, runtime_launch, .function = call->caller.function,
			   .correlation = call->caller.correlation, .result = result,
			   .queue = call->caller.queue, .object = call->object,
			   .bytes = call->bytes, .kind = call->caller.kind,
			   .is_blocking = call->about->role == MR_HIP_LAUNCHES_AND_WAITS);
}

/* A correlation that was chosen for a launch is not this call's, if it has launched nothing. */
static uint64_t write_call(const struct mr_hip_call *call, int32_t result)
{
	bool is_idle_launch = mr_hip_is_launch(call->about) && !call->is_ordered;

	return mr_call_end(&call->interval, runtime_call_on, .function = call->caller.function,
			   .correlation = is_idle_launch ? 0 : call->caller.correlation,
			   .result = result, .queue = queue_of(call), .object = call->object,
			   .bytes = call->bytes);
}

void mr_hip_end(struct mr_hip_call *call, uint64_t result)
{
	if (!call->is_inner) {
		mr_hsa_caller = NULL;
		if (mr_unlikely(mr_hsa_has_workers()))
			mr_hip_order_end(call, (uint32_t)result == 0);
		note_after(call, (uint32_t)result == 0);
	}
	uint64_t now = call->caller.launch_count > 0 ? write_launch(call, (int32_t)result)
						     : write_call(call, (int32_t)result);
	if (mr_hsa)
		mr_hsa_leave(now);
	else
		mr_hsa_depth--;
}

/* ---- the end ------------------------------------------------------------------------------------------- */

/* Whether a call was recorded. */
static bool is_in_use(void)
{
	for (int i = 0; i < MR_HIP_FUNCTIONS; i++)
		if (atomic_load_explicit(&function_ids[i], memory_order_relaxed))
			return true;
	return false;
}

static void note_missing(void)
{
	static atomic_bool is_noted;
	if (!mr_hsa_is_loaded() && is_in_use() && !atomic_exchange(&is_noted, true))
		mr_define_event(MR_EVENT_hook_missing, NULL, 0,
				"HSA, which HIP could not start: there is no GPU, or no driver for "
				"it, or no right to use /dev/kfd");
}

const struct mr_hook_functions mr_hip_functions = {.note_missing = note_missing};
