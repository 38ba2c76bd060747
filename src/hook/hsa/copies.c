/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies by the copy engines. Each gets a watched signal; the program's is completed afterwards. HSA keeps a copy's times
 * with the signal that it was given, so the program's questions are answered from what was found then.
 */
#include "hook/hsa/hsa.h"

enum {
	RECT_TO_DEVICE = 1, /* directions of a rectangle's copy */
	RECT_FROM_DEVICE = 2,
};

/* What is copied. */
struct copy {
	enum mr_hsa_number function;
	int signal; /* number of the argument that is the program's signal */
	uint64_t object;
	uint64_t bytes;
	struct mr_hsa_device *device; /* NULL: not known */
	uint8_t kind;                 /* enum mr_operation_kind */
};

/* Copies that no stream has asked for have a queue of their own on each device. */
static uint32_t queue_of(struct mr_hsa_device *device)
{
	uint32_t queue = mr_hsa_queue_of_launch(
		device, atomic_load_explicit(&device->copy_queue, memory_order_relaxed));
	if (!queue && mr_lock(&mr_hsa->lock)) {
		queue = atomic_load_explicit(&device->copy_queue, memory_order_relaxed);
		if (!queue)
			queue = mr_define_queue(device->id, mr_define_string("copies"),
						MR_queue_order_unknown, false);
		atomic_store_explicit(&device->copy_queue, queue, memory_order_relaxed);
		mr_unlock(&mr_hsa->lock);
	}
	return queue;
}

static uint64_t correlate(const struct copy *copy, uint32_t queue)
{
	struct mr_hsa_caller *caller = mr_hsa_caller;
	if (!caller)
		return mr_correlation_new();
	if (!caller->correlation)
		caller->correlation = mr_correlation_new();
	caller->launch_count++;
	caller->queue = queue;
	caller->kind = copy->kind;
	return caller->correlation;
}

/* Ends the call, which is the launch if no call of HIP is. */
static void end(struct mr_hsa_call *call, const struct copy *copy, uint32_t queue,
		uint64_t correlation, uint64_t result)
{
	const struct mr_hsa_about about = {queue, copy->object, copy->bytes};
	if (mr_hsa_caller || !mr_hsa_is_success(result)) {
		mr_hsa_end_about(call, (int32_t)result, &about);
		return;
	}
	struct mr_event_runtime_launch event = {.function = mr_hsa_names[call->function],
						.correlation = correlation,
						.queue = queue,
						.object = copy->object,
						.bytes = copy->bytes,
						.kind = copy->kind};
	mr_hsa_write_submission(correlation);
	mr_hsa_leave(mr_call_interval_end(&call->interval, MR_EVENT_runtime_launch, &event,
					  sizeof event));
}

static struct mr_pending_operation operation_of(const struct copy *copy, uint32_t queue,
						uint64_t correlation)
{
	return (struct mr_pending_operation){.correlation = correlation,
					     .bytes = copy->bytes,
					     .queue = queue,
					     .kind = copy->kind};
}

static struct mr_hsa_signal *take_signal(const struct copy *copy, uint32_t queue,
					 uint64_t correlation, uint64_t theirs)
{
	struct mr_hsa_signal *signal = mr_hsa_watched_take();
	if (!signal)
		return NULL;
	signal->is_copy = true;
	signal->theirs = theirs;
	signal->device = copy->device;
	signal->queue = NULL;
	signal->operation = operation_of(copy, queue, correlation);
	return signal;
}

/* A call that waits for this signal waits for this copy. */
static void note_theirs(uint64_t theirs, uint64_t correlation)
{
	const struct mr_handle entry = {
		.handle = (const void *)theirs, .value = correlation, .references = 1};
	if (!mr_hsa_caller)
		mr_handle_put(&mr_hsa->signal_map, &entry);
}

static uint64_t launch(const struct copy *copy, uint64_t *words)
{
	struct mr_hsa_call call;
	uint64_t theirs = words[copy->signal];
	if (!theirs || !copy->device || !mr_level_is_on(MR_LEVEL_runtime))
		return mr_hsa_call_ten(copy->function, words);
	uint32_t queue = queue_of(copy->device);
	uint64_t correlation = correlate(copy, queue);
	struct mr_hsa_signal *signal = take_signal(copy, queue, correlation, theirs);
	if (!mr_hsa_begin(&call, copy->function, mr_hsa_caller ? 0 : correlation)) {
		if (signal)
			mr_hsa_watched_give_back(signal);
		return mr_hsa_call_ten(copy->function, words);
	}
	/* Before the copy begins: HSA refuses here rather than when it is too late. */
	if (signal && !mr_hsa_watch(signal)) {
		mr_hsa_watched_give_back(signal);
		signal = NULL;
	}
	if (signal)
		words[copy->signal] = signal->handle;
	uint64_t result = mr_hsa_call_ten(copy->function, words);
	if (mr_hsa_is_success(result))
		note_theirs(theirs, correlation);
	else if (signal)
		mr_hsa_cancel(signal);
	const struct mr_pending_operation untimed = operation_of(copy, queue, correlation);
	if (mr_hsa_is_success(result) && !signal)
		mr_hsa_write_untimed(&untimed);
	end(&call, copy, queue, correlation, result);
	return result;
}

/* ---- the functions ------------------------------------------------------------------------------------- */

/* Fills in device and kind, by the agents at both ends. */
static void find_ends(struct copy *copy, uint64_t to_agent, uint64_t from_agent)
{
	struct mr_hsa_device *to = mr_hsa_device_find(to_agent);
	struct mr_hsa_device *from = mr_hsa_device_find(from_agent);
	if (!to || !from)
		return;
	copy->device = to->is_cpu ? from : to;
	if (to->is_cpu)
		copy->kind =
			from->is_cpu ? MR_operation_kind_other : MR_operation_kind_copy_from_device;
	else if (from->is_cpu)
		copy->kind = MR_operation_kind_copy_to_device;
	else
		copy->kind = to == from ? MR_operation_kind_copy_on_device
					: MR_operation_kind_copy_between_devices;
	const struct mr_hsa_caller *caller = mr_hsa_caller;
	if (copy->kind == MR_operation_kind_copy_on_device && caller && caller->copy_kind)
		copy->kind = caller->copy_kind; /* memory of the host, given as the device's */
}

static uint64_t copy_bytes(enum mr_hsa_number function, MR_HSA_PARAMETERS)
{
	uint64_t words[10] = {MR_HSA_ARGUMENTS};
	struct copy copy = {.function = function, .signal = 7, .object = a0, .bytes = a4};
	find_ends(&copy, a1, a3);
	return launch(&copy, words);
}

uint64_t mr_hsa_own_hsa_amd_memory_async_copy(MR_HSA_PARAMETERS)
{
	return copy_bytes(MR_HSA_hsa_amd_memory_async_copy, MR_HSA_ARGUMENTS);
}

uint64_t mr_hsa_own_hsa_amd_memory_async_copy_on_engine(MR_HSA_PARAMETERS)
{
	return copy_bytes(MR_HSA_hsa_amd_memory_async_copy_on_engine, MR_HSA_ARGUMENTS);
}

/* Arguments: destination, its offset, source, its offset, size in three dimensions, agent, direction, signals to wait for,
 * the program's signal. Destination and source are structures that begin with an address. */
uint64_t mr_hsa_own_hsa_amd_memory_async_copy_rect(MR_HSA_PARAMETERS)
{
	uint64_t words[10] = {MR_HSA_ARGUMENTS};
	const uint32_t *size = (const uint32_t *)a4;
	struct copy copy = {.function = MR_HSA_hsa_amd_memory_async_copy_rect,
			    .signal = 9,
			    .object = a0 ? *(const uint64_t *)a0 : 0,
			    .bytes = size ? (uint64_t)size[0] * size[1] * size[2] : 0,
			    .device = mr_hsa_device_find(a5),
			    .kind = MR_operation_kind_copy_on_device};
	if ((uint32_t)a6 == RECT_TO_DEVICE)
		copy.kind = MR_operation_kind_copy_to_device;
	else if ((uint32_t)a6 == RECT_FROM_DEVICE)
		copy.kind = MR_operation_kind_copy_from_device;
	return launch(&copy, words);
}

/* ---- the program's own questions ------------------------------------------------------------------------ */

uint64_t mr_hsa_own_hsa_amd_profiling_get_async_copy_time(MR_HSA_PARAMETERS)
{
	struct mr_hsa_call call;
	struct mr_handle entry;
	uint64_t result = 0;
	mr_hsa_begin(&call, MR_HSA_hsa_amd_profiling_get_async_copy_time, 0);
	if (a1 && mr_handle_get(&mr_hsa->time_map, (const void *)a0, &entry))
		*(struct mr_hsa_times *)a1 =
			(struct mr_hsa_times){entry.value, (uintptr_t)entry.owner};
	else
		result =
			mr_hsa_next[MR_HSA_hsa_amd_profiling_get_async_copy_time](MR_HSA_ARGUMENTS);
	mr_hsa_end_about(&call, (int32_t)result, &(struct mr_hsa_about){.object = a0});
	return result;
}

/* Stays on. */
uint64_t mr_hsa_own_hsa_amd_profiling_async_copy_enable(MR_HSA_PARAMETERS)
{
	struct mr_hsa_call call;
	mr_hsa_begin(&call, MR_HSA_hsa_amd_profiling_async_copy_enable, 0);
	a0 = true;
	uint64_t result = mr_hsa_next[MR_HSA_hsa_amd_profiling_async_copy_enable](MR_HSA_ARGUMENTS);
	mr_hsa_end(&call, (int32_t)result);
	return result;
}
