/* SPDX-License-Identifier: Apache-2.0
 *
 * Operations between launch and completion.
 *
 * An in-order queue is harvested from its oldest operation to the first that is not complete. In any other queue
 * a limited number of operations is checked, different ones each time, so that the cost stays in proportion; if
 * the program has waited for all, all of them are checked. Operations are taken out of the ring in batches to be
 * checked, and put back if they are not complete: the driver is never queried with the lock held.
 */
#include "hook/opencl/layer.h"

enum {
	BATCH = 32,
	HARVEST_STEP = 256,             /* launches between two looks */
	HARVEST_LOOK = 1024,            /* operations looked at, if the queue is out of order */
	HARVEST_PERIOD_TICKS = 1 << 24, /* some milliseconds */
};

/* Operations taken out of a queue, and what has to be known of it even if it is used anew meanwhile. */
struct batch {
	struct mr_opencl_device *device;
	uint32_t queue;
	bool is_in_order;
	bool is_profiled;
	bool is_released; /* the program had released the queue */
	uint32_t taken;   /* how many there were ... */
	uint32_t count;   /* ... and are */
	uint32_t watched; /* of those that are no more */
	bool is_missed;   /* in the end: a callback came, or was to be asked for, meanwhile */
	struct mr_pending_operation operations[BATCH];
};

/* ---- completion ---------------------------------------------------------------------------------- */

/* Gives back the reference. In this order: when the event is gone, its handle may at once be another's. */
static void release(const struct mr_pending_operation *operation)
{
	struct mr_handle unused;
	if (atomic_load_explicit(&mr_opencl->is_leaving, memory_order_relaxed))
		return;
	if (operation->is_shared)
		mr_handle_change(&mr_opencl->event_map, operation->event, 0, MR_HANDLE_IS_HELD,
				 &unused);
	mr_opencl_next.clReleaseEvent(operation->event);
}

static void lose(const struct mr_pending_operation *operation)
{
	mr_count_loss(MR_loss_reason_no_free_packet, 1);
	release(operation);
}

/* The end first: if there is one, there are all, even if the operation ends meanwhile. */
static void read_times(cl_event event, cl_ulong *ret_times)
{
	for (cl_uint i = 4; i-- > 0;)
		if (mr_opencl_next.clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_QUEUED + i,
							   sizeof ret_times[i], &ret_times[i],
							   NULL) != CL_SUCCESS)
			ret_times[i] = 0;
}

/* True if the runtime says that it is complete or has failed, or that there is no such event. */
static bool is_over(cl_event event, bool *ret_is_valid)
{
	cl_int status = CL_COMPLETE;
	*ret_is_valid = mr_opencl_next.clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS,
						      sizeof status, &status, NULL) == CL_SUCCESS;
	return status <= CL_COMPLETE;
}

/* What became of an operation that was looked at. */
enum state {
	PENDING,
	OVER,
	GONE, /* its event is no longer valid: the program has released what was not its own */
};

/* Reads the times of an operation that has ended. `is_expected`: it should have ended, so its times are meaningful. */
static enum state finish(const struct batch *batch, const struct mr_pending_operation *operation,
			 bool is_expected, struct mr_event_device_operation *ret_done)
{
	cl_ulong times[4] = {0};
	bool is_valid = true;
	if (is_expected && batch->is_profiled)
		read_times(operation->event, times);
	if (times[3] == 0) {
		if (!is_over(operation->event, &is_valid))
			return PENDING;
		if (is_valid && batch->is_profiled)
			read_times(operation->event, times);
	}
	*ret_done = (struct mr_event_device_operation){.queue = batch->queue,
						       .name = operation->name,
						       .correlation = operation->correlation,
						       .queued = times[0],
						       .submitted = times[1],
						       .start = times[2],
						       .end = times[3],
						       .bytes = operation->bytes,
						       .kind = operation->kind};
	return is_valid ? OVER : GONE;
}

/* ---- harvest ------------------------------------------------------------------------------------- */

static bool take(struct mr_opencl_queue *queue, uint32_t most, struct batch *ret_batch)
{
	if (!mr_lock(&queue->lock))
		return false;
	ret_batch->device = queue->device;
	ret_batch->queue = queue->id;
	ret_batch->is_in_order = queue->is_in_order;
	ret_batch->is_profiled = queue->is_profiled;
	ret_batch->is_released = atomic_load_explicit(&queue->is_released, memory_order_relaxed);
	ret_batch->count = mr_pending_take(&queue->pending, mr_min(most, (uint32_t)BATCH),
					   ret_batch->operations);
	ret_batch->taken = ret_batch->count;
	ret_batch->watched = 0;
	ret_batch->is_missed = false;
	mr_unlock(&queue->lock);
	return ret_batch->count > 0;
}

/* Puts back what is left of a batch. True if the program has released the queue meanwhile, which did not
 * see these operations. */
static bool put_back(struct mr_opencl_queue *queue, struct batch *batch)
{
	if (!mr_lock(&queue->lock)) {
		for (uint32_t i = 0; i < batch->count; i++)
			lose(&batch->operations[i]);
		return false;
	}
	uint32_t kept = 0;
	if (batch->is_in_order)
		while (kept < batch->count &&
		       mr_pending_put_back(&queue->pending,
					   &batch->operations[batch->count - 1 - kept]))
			kept++;
	else
		while (kept < batch->count &&
		       mr_pending_add(&queue->pending, &batch->operations[kept]))
			kept++;
	queue->pending.taken -= batch->taken;
	queue->watched -= batch->watched;
	queue->watched_before = mr_min(queue->watched_before, queue->watched);
	queue->harvest_at = queue->pending.count + HARVEST_STEP;
	mr_pending_shrink(&queue->pending);
	bool is_released = atomic_load_explicit(&queue->is_released, memory_order_relaxed);
	batch->is_missed = queue->is_missed && queue->pending.taken == 0;
	queue->is_missed = queue->is_missed && !batch->is_missed;
	mr_unlock(&queue->lock);
	mr_count_loss(MR_loss_reason_no_free_packet, batch->count - kept);
	return kept > 0 && is_released && !batch->is_released;
}

/* Writes what is over; of a queue in order, what comes before the first that is not. If the last one of such
 * a queue is over, so are all: the runtime need not be asked about each. */
static void write_finished(const struct batch *batch, enum state *ret_states)
{
	struct mr_event_device_operation done[BATCH];
	const struct mr_pending_operation *narrowest = NULL; /* launched by the shortest call */
	uint64_t narrowest_queued = 0;
	uint32_t count = 0, left = 0;
	bool is_valid;
	bool is_expected = batch->is_in_order &&
			   is_over(batch->operations[batch->count - 1].event, &is_valid) &&
			   is_valid;
	for (uint32_t i = 0; i < batch->count; i++) {
		const struct mr_pending_operation *operation = &batch->operations[i];
		ret_states[i] = batch->is_in_order && left > 0
					? PENDING
					: finish(batch, operation, is_expected, &done[count]);
		if (ret_states[i] == PENDING) {
			left++;
			continue;
		}
		if (done[count].queued &&
		    (!narrowest ||
		     operation->launch_duration_ticks < narrowest->launch_duration_ticks)) {
			narrowest = operation;
			narrowest_queued = done[count].queued;
		}
		count++;
	}
	mr_pending_write_done(done, count);
	if (batch->device && narrowest)
		mr_opencl_clock_note(batch->device, narrowest, narrowest_queued);
}

/* Writes what is over and removes it from the batch. */
static void finish_batch(struct batch *batch)
{
	enum state states[BATCH];
	uint32_t left = 0;
	write_finished(batch, states);
	for (uint32_t i = 0; i < batch->count; i++) {
		const struct mr_pending_operation *operation = &batch->operations[i];
		if (states[i] == PENDING) {
			batch->operations[left++] = *operation;
			continue;
		}
		batch->watched += operation->is_watched;
		if (states[i] == OVER)
			release(operation);
	}
	batch->count = left;
}

uint32_t mr_opencl_count_pending(struct mr_opencl_queue *queue)
{
	uint32_t count = 1; /* who knows */
	if (mr_lock(&queue->lock)) {
		count = queue->pending.count + queue->pending.taken;
		mr_unlock(&queue->lock);
	}
	return count;
}

/* True if meanwhile a callback came in vain: there may be more to harvest. */
static bool harvest_once(struct mr_opencl_queue *queue, bool is_thorough)
{
	struct batch batch;
	bool is_missed = false;
	uint32_t pending = mr_opencl_count_pending(queue), looked_at = 0;
	while (looked_at < pending && take(queue, pending - looked_at, &batch)) {
		looked_at += batch.count;
		finish_batch(&batch);
		if (put_back(queue, &batch))
			mr_opencl_harvest_later(queue);
		is_missed = is_missed || batch.is_missed;
		if (batch.is_in_order ? batch.count > 0 : !is_thorough && looked_at >= HARVEST_LOOK)
			break;
	}
	return is_missed;
}

void mr_opencl_harvest(struct mr_opencl_queue *queue, bool is_thorough)
{
	if (!harvest_once(queue, is_thorough))
		return;
	while (harvest_once(queue, is_thorough))
		;
	mr_opencl_watch(queue);
}

void mr_opencl_harvest_all(bool is_thorough)
{
	uint64_t now = mr_ticks_now();
	/* Whoever comes meanwhile need not do the same. */
	atomic_store_explicit(&mr_opencl->harvest_due_ticks, now + HARVEST_PERIOD_TICKS,
			      memory_order_relaxed);
	bool is_empty = true;
	struct mr_opencl_queue *queue =
		atomic_load_explicit(&mr_opencl->queues, memory_order_acquire);
	for (; queue; queue = queue->next) {
		mr_opencl_harvest(queue, is_thorough);
		is_empty = is_empty && mr_opencl_count_pending(queue) == 0;
	}
	if (is_empty)
		atomic_store_explicit(&mr_opencl->harvest_due_ticks, 0, memory_order_relaxed);
}

void mr_opencl_keep(struct mr_opencl_queue *queue, const struct mr_pending_operation *operation,
		    uint64_t now)
{
	atomic_store_explicit(&queue->last_correlation, operation->correlation,
			      memory_order_relaxed);
	bool is_kept = false, is_worth_looking = false;
	cl_event watched = NULL;
	if (mr_lock(&queue->lock)) {
		is_kept = mr_pending_add(&queue->pending, operation);
		is_worth_looking =
			queue->pending.count >= mr_max(queue->harvest_at, (uint32_t)HARVEST_STEP);
		queue->is_quiet = false;
		watched = mr_opencl_choose_watched(queue, now);
		mr_unlock(&queue->lock);
	}
	if (!is_kept)
		lose(operation);
	if (watched)
		mr_opencl_call_back(queue, watched);
	if (is_worth_looking)
		mr_opencl_harvest(queue, false);
	if (atomic_load_explicit(&mr_opencl->harvest_due_ticks, memory_order_relaxed) == 0)
		atomic_store_explicit(&mr_opencl->harvest_due_ticks, now + HARVEST_PERIOD_TICKS,
				      memory_order_relaxed);
}

void mr_opencl_let_go(struct mr_opencl_queue *queue, cl_event event)
{
	mr_opencl_harvest(queue, true);
	struct mr_pending_operation found;
	if (!mr_lock(&queue->lock))
		return;
	bool is_found = mr_pending_remove(&queue->pending, event, &found);
	if (is_found) {
		queue->watched -= found.is_watched;
		queue->watched_before = mr_min(queue->watched_before, queue->watched);
	}
	mr_unlock(&queue->lock);
	if (is_found)
		lose(&found);
}

void mr_opencl_write_unfinished(void)
{
	struct mr_opencl_queue *queue =
		mr_opencl ? atomic_load_explicit(&mr_opencl->queues, memory_order_acquire) : NULL;
	for (; queue; queue = queue->next) {
		if (!mr_lock(&queue->lock))
			continue;
		mr_pending_write_unfinished(&queue->pending, queue->id);
		queue->watched = queue->watched_before = 0;
		mr_unlock(&queue->lock);
	}
}
