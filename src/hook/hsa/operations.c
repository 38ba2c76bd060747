/* SPDX-License-Identifier: Apache-2.0
 *
 * Operations between launch and completion. Those with plain signals wait in the ring of their queue; it is harvested from
 * the oldest to the first that is not complete. Those with watched signals wait until ROCr calls us.
 */
#include "hook/hsa/hsa.h"

enum {
	BATCH = 64,
	HARVEST_STEP = 256,             /* launches between two looks */
	HARVEST_PERIOD_TICKS = 1 << 24, /* some milliseconds */
};

/* When an operation ran: by the device's own counter, which is not known of copies, and by HSA's clock. */
struct ran {
	struct mr_hsa_times counter;
	struct mr_hsa_times times;
};

/* By HSA's clock, as HSA itself would say. The end first, as it does: it may look at the device's clock again then. */
static struct ran dispatch_ran(const struct mr_hsa_device *device, uint64_t signal)
{
	const struct mr_hsa_signal_memory *memory = (const struct mr_hsa_signal_memory *)signal;
	struct ran ran = {.counter = {memory->start_ticks, memory->end_ticks}};
	if (!ran.counter.end)
		return (struct ran){0}; /* the device has noted none */
	bool is_known =
		mr_hsa_is_success(mr_hsa_call_next(hsa_amd_profiling_convert_tick_to_system_domain,
						   device->agent, ran.counter.end,
						   (uintptr_t)&ran.times.end)) &&
		mr_hsa_is_success(mr_hsa_call_next(hsa_amd_profiling_convert_tick_to_system_domain,
						   device->agent, ran.counter.start,
						   (uintptr_t)&ran.times.start));
	if (!is_known)
		ran.times = (struct mr_hsa_times){0};
	return ran;
}

static struct ran copy_ran(uint64_t signal)
{
	struct ran ran = {0};
	uint64_t result = mr_hsa_call_next(hsa_amd_profiling_get_async_copy_time, signal,
					   (uintptr_t)&ran.times);
	return mr_hsa_is_success(result) ? ran : (struct ran){0};
}

static struct mr_event_device_operation_counted
event_of(const struct mr_pending_operation *operation, const struct ran *ran)
{
	return (struct mr_event_device_operation_counted){.queue = operation->queue,
							  .name = operation->name,
							  .correlation = operation->correlation,
							  .counter_start = ran->counter.start,
							  .counter_end = ran->counter.end,
							  .start = mr_hsa_to_ns(ran->times.start),
							  .end = mr_hsa_to_ns(ran->times.end),
							  .bytes = operation->bytes,
							  .kind = operation->kind};
}

static void write_done(const struct mr_event_device_operation_counted *done, uint32_t count)
{
	mr_pending_write_events(MR_EVENT_device_operation_counted, done, sizeof *done, count);
}

void mr_hsa_write_untimed(const struct mr_pending_operation *operation)
{
	const struct mr_event_device_operation_counted done = event_of(operation, &(struct ran){0});
	write_done(&done, 1);
}

/* ---- plain signals ----------------------------------------------------------------------------------- */

static uint32_t take(struct mr_hsa_queue *queue, struct mr_pending_operation *ret_operations)
{
	if (!mr_lock(&queue->lock))
		return 0;
	uint32_t count = mr_pending_take(&queue->pending, BATCH, ret_operations);
	mr_unlock(&queue->lock);
	return count;
}

static bool is_complete(const struct mr_pending_operation *operation)
{
	const struct mr_hsa_signal_memory *memory = operation->event;
	return atomic_load_explicit(&memory->value, memory_order_acquire) < 1;
}

/* Writes what is complete; returns how many are. */
static uint32_t finish(const struct mr_hsa_queue *queue,
		       const struct mr_pending_operation *operations, uint32_t count)
{
	struct mr_event_device_operation_counted done[BATCH];
	uint64_t handles[BATCH];
	uint32_t number = 0;
	for (; number < count && is_complete(&operations[number]); number++) {
		handles[number] = (uintptr_t)operations[number].event;
		struct ran ran = dispatch_ran(queue->device, handles[number]);
		done[number] = event_of(&operations[number], &ran);
	}
	if (number == 0)
		return 0;
	write_done(done, number);
	mr_hsa_plain_give_back(handles, number);
	mr_device_clock_poll(&queue->device->clock, done[number - 1].end);
	return number;
}

/* Puts back what is left. */
static void put_back(struct mr_hsa_queue *queue, const struct mr_pending_operation *operations,
		     uint32_t count, uint32_t finished)
{
	uint32_t kept = 0;
	if (mr_lock(&queue->lock)) {
		while (finished + kept < count &&
		       mr_pending_put_back(&queue->pending, &operations[count - 1 - kept]))
			kept++;
		queue->pending.taken -= count;
		queue->harvest_at = queue->pending.count + HARVEST_STEP;
		mr_pending_shrink(&queue->pending);
		mr_unlock(&queue->lock);
	}
	mr_count_loss(MR_loss_reason_no_free_packet, count - finished - kept);
}

void mr_hsa_harvest(struct mr_hsa_queue *queue)
{
	struct mr_pending_operation operations[BATCH];
	for (uint32_t count; (count = take(queue, operations)) > 0;) {
		uint32_t finished = finish(queue, operations, count);
		put_back(queue, operations, count, finished);
		if (finished < count)
			break;
	}
}

static bool is_empty(struct mr_hsa_queue *queue)
{
	bool is_known = mr_lock(&queue->lock);
	bool is_empty = is_known && queue->pending.count + queue->pending.taken == 0;
	if (is_known)
		mr_unlock(&queue->lock);
	return is_empty;
}

void mr_hsa_harvest_all(void)
{
	/* Whoever comes meanwhile need not do the same. */
	atomic_store_explicit(&mr_hsa->harvest_due_ticks, mr_ticks_now() + HARVEST_PERIOD_TICKS,
			      memory_order_relaxed);
	bool are_all_empty = true;
	struct mr_hsa_queue *queue = atomic_load_explicit(&mr_hsa->queues, memory_order_acquire);
	for (; queue; queue = queue->next) {
		mr_hsa_harvest(queue);
		are_all_empty = is_empty(queue) && are_all_empty;
	}
	if (are_all_empty)
		atomic_store_explicit(&mr_hsa->harvest_due_ticks, 0, memory_order_relaxed);
}

bool mr_hsa_keep(struct mr_hsa_queue *queue, const struct mr_pending_operation *operation)
{
	if (!mr_lock(&queue->lock))
		return false;
	bool is_kept = mr_pending_add(&queue->pending, operation);
	bool is_worth_looking =
		queue->pending.count >= mr_max(queue->harvest_at, (uint32_t)HARVEST_STEP);
	mr_unlock(&queue->lock);
	if (is_kept && is_worth_looking)
		mr_hsa_harvest(queue);
	if (atomic_load_explicit(&mr_hsa->harvest_due_ticks, memory_order_relaxed) == 0)
		atomic_store_explicit(&mr_hsa->harvest_due_ticks,
				      operation->launch_ticks + HARVEST_PERIOD_TICKS,
				      memory_order_relaxed);
	return is_kept;
}

/* ---- watched signals --------------------------------------------------------------------------------- */

/* The program's signal gets the device's times, as it would have, and then its value. */
static void complete_theirs(const struct mr_hsa_signal *signal, const struct mr_hsa_times *times)
{
	const struct mr_hsa_signal_memory *ours =
		(const struct mr_hsa_signal_memory *)signal->handle;
	struct mr_hsa_signal_memory *theirs = (struct mr_hsa_signal_memory *)signal->theirs;
	if (signal->is_copy) {
		const struct mr_handle entry = {.handle = theirs,
						.value = times->start,
						.owner = (void *)times->end,
						.references = 1};
		mr_handle_put(&mr_hsa->time_map, &entry);
	}
	theirs->start_ticks = ours->start_ticks;
	theirs->end_ticks = ours->end_ticks;
	mr_hsa_call_next(hsa_signal_subtract_screlease, signal->theirs, 1);
}

static void finish_watched(const struct mr_hsa_signal *signal)
{
	struct ran ran = signal->is_copy ? copy_ran(signal->handle)
					 : dispatch_ran(signal->device, signal->handle);
	if (signal->theirs)
		complete_theirs(signal, &ran.times);
	const struct mr_event_device_operation_counted done = event_of(&signal->operation, &ran);
	write_done(&done, 1);
	mr_device_clock_poll(&signal->device->clock, done.end);
}

/* In a thread of ROCr. Returns whether ROCr is to call again. */
static bool on_complete(int64_t value, void *data)
{
	(void)value;
	struct mr_hsa_signal *signal = data;
	if (!signal->handle || atomic_exchange(&signal->is_over, true))
		return false;
	struct mr_hsa_queue *queue = signal->is_cancelled ? NULL : signal->queue;
	if (!signal->is_cancelled)
		finish_watched(signal);
	mr_hsa_watched_give_back(signal);
	if (queue)
		mr_hsa_harvest(queue);
	return false;
}

static bool is_watched_complete(const struct mr_hsa_signal *signal)
{
	const struct mr_hsa_signal_memory *memory =
		(const struct mr_hsa_signal_memory *)signal->handle;
	return memory && atomic_load_explicit(&memory->value, memory_order_acquire) < 1;
}

/* For the end, which may come before ROCr has called us. What is over and complete stays as it is, so the second look
 * decides; if the signal is another operation's by then, it is let go. ROCr still knows those that are finished here, so
 * they are not used again. */
void mr_hsa_harvest_watched(void)
{
	for (uint32_t i = 0; i < mr_hsa->used_watched; i++) {
		struct mr_hsa_signal *signal = &mr_hsa->watched[i];
		while (is_watched_complete(signal) && !signal->is_cancelled &&
		       !atomic_exchange(&signal->is_over, true)) {
			if (is_watched_complete(signal) && !signal->is_cancelled) {
				finish_watched(signal);
				break;
			}
			atomic_store(&signal->is_over, false);
		}
	}
}

bool mr_hsa_watch(struct mr_hsa_signal *signal)
{
	signal->is_cancelled = false;
	atomic_store(&signal->is_over, false);
	bool is_watched = mr_hsa_is_success(mr_hsa_call_next(
		hsa_amd_signal_async_handler, signal->handle, MR_HSA_CONDITION_LESS, 1,
		(uintptr_t)on_complete, (uintptr_t)signal));
	if (!is_watched)
		atomic_store(&signal->is_over, true);
	return is_watched;
}

/* ROCr still watches the signal: it is called back in vain, and the signal is not used again before that. */
void mr_hsa_cancel(struct mr_hsa_signal *signal)
{
	signal->is_cancelled = true;
	mr_hsa_call_next(hsa_signal_store_screlease, signal->handle, 0);
}

/* ---- the end ----------------------------------------------------------------------------------------- */

static void write_one_unfinished(const struct mr_pending_operation *operation)
{
	mr_emit(device_operation_unfinished, .queue = operation->queue, .name = operation->name,
		.correlation = operation->correlation, .kind = operation->kind);
}

void mr_hsa_write_unfinished(void)
{
	struct mr_pending_operation operations[BATCH];
	struct mr_hsa_queue *queue =
		mr_hsa ? atomic_load_explicit(&mr_hsa->queues, memory_order_acquire) : NULL;
	for (; queue; queue = queue->next)
		for (uint32_t count; (count = take(queue, operations)) > 0;) {
			for (uint32_t i = 0; i < count; i++)
				write_one_unfinished(&operations[i]);
			put_back(queue, operations, count, count);
		}
	for (uint32_t i = 0; mr_hsa && i < mr_hsa->used_watched; i++) {
		struct mr_hsa_signal *signal = &mr_hsa->watched[i];
		if (signal->operation.correlation && !signal->is_cancelled &&
		    !atomic_exchange(&signal->is_over, true))
			write_one_unfinished(&signal->operation);
	}
}
