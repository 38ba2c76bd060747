/* SPDX-License-Identifier: Apache-2.0
 *
 * Operations between launch and completion.
 *
 * A queue that works in order is harvested from its oldest operation to the first that is not complete. Of
 * any other queue a limited number is looked at, each time others, so that the work stays in proportion;
 * all of them where the program has waited for all. What is looked at is taken out of the ring, in
 * batches, and put back if it is not complete: the driver is never asked with the lock held.
 */
#include "hook/opencl/layer.h"

#include <sys/mman.h>

#include "hook/hook.h"

enum {
	BATCH = 32,
	HARVEST_STEP = 64,              /* launches between two looks */
	HARVEST_LOOK = 256,             /* operations looked at, if the queue is out of order */
	FIRST_CAPACITY = 128,           /* operations */
	KEPT_CAPACITY = 8192,           /* a larger ring is given back when it is empty */
	HARVEST_PERIOD_TICKS = 1 << 24, /* some milliseconds */
};

/* Operations taken out of a queue, and what has to be known of it even if it is used anew meanwhile. */
struct batch {
	struct mr_opencl_device *device;
	uint32_t queue;
	bool is_in_order;
	bool is_profiled;
	bool is_released; /* the program had released the queue */
	struct mr_opencl_operation
		narrowest;         /* launched by the shortest call of those that are over */
	uint64_t narrowest_queued; /* 0: there is none */
	uint32_t taken;            /* how many there were ... */
	uint32_t count;            /* ... and are */
	struct mr_opencl_operation operations[BATCH];
};

/* ---- the ring: with the queue's lock held -------------------------------------------------------- */

static struct mr_opencl_operation *ring_at(const struct mr_opencl_queue *queue, uint32_t index)
{
	return &queue->operations[(queue->first + index) & (queue->capacity - 1)];
}

static bool ring_grow(struct mr_opencl_queue *queue)
{
	uint32_t capacity = queue->capacity ? queue->capacity * 2 : FIRST_CAPACITY;
	struct mr_opencl_operation *larger =
		mmap(NULL, capacity * sizeof *larger, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (larger == MAP_FAILED)
		return false;
	for (uint32_t i = 0; i < queue->count; i++)
		larger[i] = *ring_at(queue, i);
	if (queue->operations)
		munmap(queue->operations, queue->capacity * sizeof *larger);
	queue->operations = larger;
	queue->capacity = capacity;
	queue->first = 0;
	return true;
}

static void ring_drop(struct mr_opencl_queue *queue)
{
	munmap(queue->operations, queue->capacity * sizeof queue->operations[0]);
	queue->operations = NULL;
	queue->capacity = 0;
}

/* Adds at the end, or (`at_front`) before the first. */
static bool ring_add(struct mr_opencl_queue *queue, const struct mr_opencl_operation *operation,
		     bool at_front)
{
	if (queue->count == queue->capacity && !ring_grow(queue))
		return false;
	queue->first -= at_front;
	*ring_at(queue, at_front ? 0 : queue->count) = *operation;
	queue->count++;
	return true;
}

/* ---- completion ---------------------------------------------------------------------------------- */

/* Gives back the reference. In this order: when the event is gone, its handle may at once be another's. */
static void release(const struct mr_opencl_operation *operation)
{
	struct mr_handle unused;
	if (operation->is_shared)
		mr_handle_change(&mr_opencl->event_map, operation->event, 0, MR_HANDLE_IS_HELD,
				 &unused);
	mr_opencl_next.clReleaseEvent(operation->event);
}

static void lose(const struct mr_opencl_operation *operation)
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

/* Writes the operation and lets its event go, if it is over. `is_expected`: it should be, so that its times
 * tell. */
static bool finish(struct batch *batch, const struct mr_opencl_operation *operation,
		   bool is_expected)
{
	cl_ulong times[4] = {0};
	bool is_valid = true;
	if (is_expected && batch->is_profiled)
		read_times(operation->event, times);
	if (times[3] == 0) {
		if (!is_over(operation->event, &is_valid))
			return false;
		if (is_valid && batch->is_profiled)
			read_times(operation->event, times);
	}
	mr_emit(device_operation, .queue = batch->queue, .name = operation->name,
		.correlation = operation->correlation, .queued = times[0], .submitted = times[1],
		.start = times[2], .end = times[3], .bytes = operation->bytes,
		.kind = operation->kind);
	if (times[0] && operation->launch_duration_ticks < batch->narrowest.launch_duration_ticks) {
		batch->narrowest = *operation;
		batch->narrowest_queued = times[0];
	}
	if (is_valid) /* else the program has released what was not its own */
		release(operation);
	return true;
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
	ret_batch->narrowest.launch_duration_ticks = UINT32_MAX;
	ret_batch->narrowest_queued = 0;
	most = mr_min(most, (uint32_t)BATCH);
	ret_batch->count = mr_min(most, queue->count);
	for (uint32_t i = 0; i < ret_batch->count; i++)
		ret_batch->operations[i] = *ring_at(queue, i);
	queue->first += ret_batch->count;
	queue->count -= ret_batch->count;
	queue->taken += ret_batch->count;
	ret_batch->taken = ret_batch->count;
	mr_unlock(&queue->lock);
	return ret_batch->count > 0;
}

/* Puts back what is left of a batch. True if the program has released the queue meanwhile, which did not
 * see these operations. */
static bool put_back(struct mr_opencl_queue *queue, const struct batch *batch)
{
	if (!mr_lock(&queue->lock)) {
		for (uint32_t i = 0; i < batch->count; i++)
			lose(&batch->operations[i]);
		return false;
	}
	uint32_t kept = 0;
	if (batch->is_in_order)
		while (kept < batch->count &&
		       ring_add(queue, &batch->operations[batch->count - 1 - kept], true))
			kept++;
	else
		while (kept < batch->count && ring_add(queue, &batch->operations[kept], false))
			kept++;
	queue->taken -= batch->taken;
	queue->harvest_at = queue->count + HARVEST_STEP;
	if (queue->count == 0 && queue->capacity > KEPT_CAPACITY)
		ring_drop(queue);
	bool is_released = atomic_load_explicit(&queue->is_released, memory_order_relaxed);
	mr_unlock(&queue->lock);
	mr_count_loss(MR_loss_reason_no_free_packet, batch->count - kept);
	return kept > 0 && is_released && !batch->is_released;
}

/* Removes from the batch what is over; of a queue in order, what comes before the first that is not. If the
 * last one of such a queue is over, so are all: the runtime need not be asked about each. */
static void finish_batch(struct batch *batch)
{
	uint32_t left = 0;
	bool is_valid;
	bool is_expected = batch->is_in_order &&
			   is_over(batch->operations[batch->count - 1].event, &is_valid) &&
			   is_valid;
	for (uint32_t i = 0; i < batch->count; i++)
		if ((batch->is_in_order && left > 0) ||
		    !finish(batch, &batch->operations[i], is_expected))
			batch->operations[left++] = batch->operations[i];
	batch->count = left;
	if (batch->device && batch->narrowest_queued)
		mr_opencl_clock_note(batch->device, &batch->narrowest, batch->narrowest_queued);
}

uint32_t mr_opencl_count_pending(struct mr_opencl_queue *queue)
{
	uint32_t count = 1; /* who knows */
	if (mr_lock(&queue->lock)) {
		count = queue->count + queue->taken;
		mr_unlock(&queue->lock);
	}
	return count;
}

void mr_opencl_harvest(struct mr_opencl_queue *queue, bool is_thorough)
{
	struct batch batch;
	uint32_t pending = mr_opencl_count_pending(queue), looked_at = 0;
	while (looked_at < pending && take(queue, pending - looked_at, &batch)) {
		looked_at += batch.count;
		finish_batch(&batch);
		if (put_back(queue, &batch))
			mr_opencl_harvest_later(queue);
		if (batch.is_in_order ? batch.count > 0 : !is_thorough && looked_at >= HARVEST_LOOK)
			break;
	}
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

void mr_opencl_keep(struct mr_opencl_queue *queue, const struct mr_opencl_operation *operation)
{
	atomic_store_explicit(&queue->last_correlation, operation->correlation,
			      memory_order_relaxed);
	bool is_kept = false, is_worth_looking = false;
	if (mr_lock(&queue->lock)) {
		is_kept = ring_add(queue, operation, false);
		is_worth_looking =
			queue->count >= mr_max(queue->harvest_at, (uint32_t)HARVEST_STEP);
		mr_unlock(&queue->lock);
	}
	if (!is_kept)
		lose(operation);
	if (is_worth_looking)
		mr_opencl_harvest(queue, false);
	if (atomic_load_explicit(&mr_opencl->harvest_due_ticks, memory_order_relaxed) == 0)
		atomic_store_explicit(&mr_opencl->harvest_due_ticks,
				      mr_ticks_now() + HARVEST_PERIOD_TICKS, memory_order_relaxed);
}

static void on_complete(cl_event event, cl_int status, void *queue)
{
	(void)event, (void)status;
	mr_opencl_harvest(queue, true);
}

/* Copies the events of pending operations from the given place on, each with a reference more: while the
 * lock is held, another thread cannot let them go. */
static uint32_t copy_events(struct mr_opencl_queue *queue, uint32_t from, cl_event *ret_events)
{
	if (!mr_lock(&queue->lock))
		return 0;
	/* When the last of a queue in order is complete, all are. */
	if (queue->is_in_order && queue->count > 0)
		from = mr_max(from, queue->count - 1);
	uint32_t count = 0;
	for (; count < BATCH && from + count < queue->count; count++) {
		ret_events[count] = ring_at(queue, from + count)->event;
		mr_opencl_next.clRetainEvent(ret_events[count]);
	}
	mr_unlock(&queue->lock);
	return count;
}

void mr_opencl_harvest_later(struct mr_opencl_queue *queue)
{
	cl_event events[BATCH];
	for (uint32_t done = 0, count; (count = copy_events(queue, done, events)) > 0;) {
		bool is_in_order = queue->is_in_order;
		for (uint32_t i = 0; i < count; i++) {
			mr_opencl_next.clSetEventCallback(events[i], CL_COMPLETE, on_complete,
							  queue);
			mr_opencl_next.clReleaseEvent(events[i]);
		}
		done += count;
		if (is_in_order)
			break;
	}
}

void mr_opencl_let_go(struct mr_opencl_queue *queue, cl_event event)
{
	mr_opencl_harvest(queue, true);
	struct mr_opencl_operation found = {0};
	if (!mr_lock(&queue->lock))
		return;
	for (uint32_t i = 0; i < queue->count; i++) {
		if (ring_at(queue, i)->event != event)
			continue;
		found = *ring_at(queue, i);
		for (uint32_t j = i; j > 0; j--)
			*ring_at(queue, j) = *ring_at(queue, j - 1);
		queue->first++;
		queue->count--;
		break;
	}
	mr_unlock(&queue->lock);
	if (found.event)
		lose(&found);
}

void mr_opencl_write_unfinished(void)
{
	struct mr_opencl_queue *queue =
		mr_opencl ? atomic_load_explicit(&mr_opencl->queues, memory_order_acquire) : NULL;
	for (; queue; queue = queue->next) {
		if (!mr_lock(&queue->lock))
			continue;
		for (uint32_t i = 0; i < queue->count; i++) {
			const struct mr_opencl_operation *operation = ring_at(queue, i);
			mr_emit(device_operation_unfinished, .queue = queue->id,
				.name = operation->name, .correlation = operation->correlation,
				.kind = operation->kind);
		}
		queue->count = 0;
		mr_unlock(&queue->lock);
	}
}
