/* SPDX-License-Identifier: Apache-2.0
 *
 * Queues of HSA, and those that stand for HIP's streams. Streams share queues of HSA, so an operation's queue is that of the
 * stream which HIP's call names, if there is such a call.
 *
 * Every queue of the program is made as one whose packets can be intercepted, with profiling. Of a tool that intercepts
 * packets, too, we see the packets that it lets through. Cooperative queues, which ROCr shares, are left alone.
 */
#include <stdio.h>

#include "hook/hsa/dispatches.h"
#include "hook/hsa/hsa.h"
#include "record/own_call.h"

/* ---- streams ----------------------------------------------------------------------------------------- */

struct memo {
	const void *key;
	uint64_t generation;
	uint32_t changes;
	uint32_t queue;
};

static _Thread_local struct memo memo __attribute__((tls_model("initial-exec")));

/* Addresses leave the topmost bits alone. */
static const void *key_of(const void *stream, const struct mr_hsa_device *device)
{
	return (const void *)((uintptr_t)stream ^ (uintptr_t)(uint16_t)device->id << 48);
}

static uint32_t define_stream(const void *stream, const struct mr_hsa_device *device)
{
	char name[32] = "default stream";
	if (stream)
		snprintf(
			name, sizeof name, "stream %u",
			atomic_fetch_add_explicit(&mr_hsa->stream_number, 1, memory_order_relaxed) +
				1);
	return mr_define_queue(device->id, mr_define_string(name), MR_queue_order_in_order, false);
}

uint32_t mr_hsa_stream_queue(const void *stream, const struct mr_hsa_device *device)
{
	const void *key = key_of(stream, device);
	uint32_t changes = atomic_load_explicit(&mr_hsa->changes, memory_order_acquire);
	if (mr_likely(memo.key == key && memo.changes == changes &&
		      memo.generation == mr_this_process.generation))
		return memo.queue;
	struct mr_handle entry = {.handle = key, .references = 1};
	if (!mr_handle_get(&mr_hsa->stream_map, key, &entry)) {
		if (!mr_lock(&mr_hsa->lock))
			return 0;
		if (!mr_handle_get(&mr_hsa->stream_map, key, &entry)) {
			entry.value = define_stream(stream, device);
			mr_handle_put(&mr_hsa->stream_map, &entry);
		}
		mr_unlock(&mr_hsa->lock);
	}
	memo = (struct memo){key, mr_this_process.generation, changes, (uint32_t)entry.value};
	return (uint32_t)entry.value;
}

uint32_t mr_hsa_queue_of_launch(const struct mr_hsa_device *device, uint32_t otherwise)
{
	const struct mr_hsa_caller *caller = mr_hsa_caller;
	if (caller)
		return caller->has_stream ? mr_hsa_stream_queue(caller->stream, device) : otherwise;
	const struct mr_hsa_worker *worker = mr_hsa_worker;
	return worker ? mr_hsa_stream_queue(
				atomic_load_explicit(&worker->handle, memory_order_relaxed), device)
		      : otherwise;
}

uint32_t mr_hsa_stream_queue_if_known(const void *stream)
{
	struct mr_handle entry;
	const struct mr_hsa_device *device =
		atomic_load_explicit(&mr_hsa->devices, memory_order_acquire);
	for (; device; device = device->next)
		if (mr_handle_get(&mr_hsa->stream_map, key_of(stream, device), &entry))
			return (uint32_t)entry.value;
	return 0;
}

void mr_hsa_stream_forget(const void *stream)
{
	struct mr_handle unused;
	const struct mr_hsa_device *device =
		atomic_load_explicit(&mr_hsa->devices, memory_order_acquire);
	for (; device; device = device->next)
		mr_handle_change(&mr_hsa->stream_map, key_of(stream, device), -1, 0, &unused);
	atomic_fetch_add_explicit(&mr_hsa->changes, 1, memory_order_release);
}

/* ---- queues ------------------------------------------------------------------------------------------ */

/* A queue that is no longer used, or a new one; the lock of making queues is held. */
static struct mr_hsa_queue *spare_queue(void)
{
	struct mr_hsa_queue *first = atomic_load_explicit(&mr_hsa->queues, memory_order_relaxed);
	for (struct mr_hsa_queue *queue = first; queue; queue = queue->next)
		if (atomic_load_explicit(&queue->is_destroyed, memory_order_relaxed) &&
		    queue->pending.count + queue->pending.taken == 0)
			return queue;
	struct mr_hsa_queue *queue = mr_own_map(sizeof *queue);
	if (!queue)
		return NULL;
	queue->next = first;
	atomic_store_explicit(&mr_hsa->queues, queue, memory_order_release);
	return queue;
}

static struct mr_hsa_queue *new_queue(const void *handle, uint64_t agent)
{
	char name[32];
	struct mr_hsa_device *device = mr_hsa_device_find(agent);
	if (!device || !mr_lock(&mr_hsa->lock))
		return NULL;
	struct mr_hsa_queue *queue = spare_queue();
	if (queue) {
		snprintf(name, sizeof name, "HSA queue %u",
			 atomic_fetch_add_explicit(&mr_hsa->queue_number, 1, memory_order_relaxed) +
				 1);
		queue->device = device;
		queue->id = mr_define_queue(device->id, mr_define_string(name),
					    MR_queue_order_unknown, false);
		atomic_store_explicit(&queue->is_destroyed, false, memory_order_relaxed);
		const struct mr_handle entry = {.handle = handle, .owner = queue, .references = 1};
		mr_handle_put(&mr_hsa->queue_map, &entry);
	}
	mr_unlock(&mr_hsa->lock);
	return queue;
}

/* Has a new queue's packets go through us. */
static void intercept(const void *handle, uint64_t agent)
{
	mr_hsa_prepare_exit();
	struct mr_hsa_queue *queue = new_queue(handle, agent);
	if (!queue)
		return;
	mr_hsa_call_next(hsa_amd_profiling_set_profiler_enabled, (uintptr_t)handle, true);
	mr_hsa_call_next(hsa_amd_queue_intercept_register, (uintptr_t)handle,
			 (uintptr_t)mr_hsa_on_packets, (uintptr_t)queue);
}

/* Arguments: agent, size, type, callback, data, private and group bytes, where the queue goes. */
static uint64_t create(enum mr_hsa_number asked, enum mr_hsa_number done, MR_HSA_PARAMETERS)
{
	struct mr_hsa_call call;
	mr_hsa_begin(&call, asked, 0);
	uint64_t result = mr_hsa_next[done](MR_HSA_ARGUMENTS);
	const void *handle = mr_hsa_is_success(result) ? *(const void **)a7 : NULL;
	if (handle && done == MR_HSA_hsa_amd_queue_intercept_create)
		intercept(handle, a0);
	mr_hsa_end_about(&call, (int32_t)result,
			 &(struct mr_hsa_about){.object = (uintptr_t)handle});
	return result;
}

uint64_t mr_hsa_own_hsa_queue_create(MR_HSA_PARAMETERS)
{
	bool is_left_alone = (uint32_t)a2 == MR_HSA_QUEUE_COOPERATIVE;
	return create(MR_HSA_hsa_queue_create,
		      is_left_alone ? MR_HSA_hsa_queue_create
				    : MR_HSA_hsa_amd_queue_intercept_create,
		      MR_HSA_ARGUMENTS);
}

uint64_t mr_hsa_own_hsa_amd_queue_intercept_create(MR_HSA_PARAMETERS)
{
	return create(MR_HSA_hsa_amd_queue_intercept_create, MR_HSA_hsa_amd_queue_intercept_create,
		      MR_HSA_ARGUMENTS);
}

uint64_t mr_hsa_own_hsa_queue_destroy(MR_HSA_PARAMETERS)
{
	struct mr_hsa_call call;
	struct mr_handle entry = {0};
	mr_hsa_begin(&call, MR_HSA_hsa_queue_destroy, 0);
	/* Before it is gone: the handle may at once be another queue's. */
	mr_handle_change(&mr_hsa->queue_map, (const void *)a0, -1, 0, &entry);
	struct mr_hsa_queue *queue = entry.owner;
	if (queue)
		mr_hsa_harvest(queue);
	uint64_t result = mr_hsa_next[MR_HSA_hsa_queue_destroy](MR_HSA_ARGUMENTS);
	if (queue)
		atomic_store_explicit(&queue->is_destroyed, true, memory_order_relaxed);
	mr_hsa_end_about(&call, (int32_t)result, &(struct mr_hsa_about){.object = a0});
	return result;
}

/* Stays on for the queues that we time; the program gets the times it asks for. */
uint64_t mr_hsa_own_hsa_amd_profiling_set_profiler_enabled(MR_HSA_PARAMETERS)
{
	struct mr_hsa_call call;
	struct mr_handle entry;
	mr_hsa_begin(&call, MR_HSA_hsa_amd_profiling_set_profiler_enabled, 0);
	if (mr_handle_get(&mr_hsa->queue_map, (const void *)a0, &entry))
		a1 = true;
	uint64_t result =
		mr_hsa_next[MR_HSA_hsa_amd_profiling_set_profiler_enabled](MR_HSA_ARGUMENTS);
	mr_hsa_end_about(&call, (int32_t)result, &(struct mr_hsa_about){.object = a0});
	return result;
}
