/* SPDX-License-Identifier: Apache-2.0
 *
 * Completion while the program calls nothing: it computes, sleeps, or waits in one long call, and perhaps it is
 * killed there. The layer watches one operation of each queue: when it is complete, the driver calls the layer,
 * which harvests the queue and watches the next one.
 *
 *     pending         1   2   3   4   5   6   7   8   9   10
 *     watched         ^ ─►    ^ ─────────►    ^ ─►    ^ ─► ^
 *
 * Callbacks cost the driver time. So there are few per period, and within a period the distance between them
 * doubles: slow operations are seen one by one, fast ones together. The distance is never more than half of the
 * pending operations, so that one that does not end cannot hide all those before it. If the allowance is not
 * enough, because the device keeps up with a program that launches without a pause, the rest waits for the next
 * call of the program. If the program flushes or waits, there may be no call for a while: then more callbacks are
 * allowed, and when these are used up, each next one is half of the pending operations ahead: the fewest that see
 * all.
 *
 * While a thread checks operations, which are out of the ring meanwhile, none behind them is watched, because the
 * watch would skip them; that thread then watches the next one.
 *
 * Not all drivers call back when an operation fails: so a watched operation counts until it is harvested,
 * not until the callback.
 */
#include "hook/opencl/layer.h"

enum {
	PERIOD_TICKS = 1 << 21, /* about a millisecond */
	LINKS = 2,              /* callbacks in it */
	QUIET_LINKS = 24,       /* likewise, when the program may be quiet */
	AT_ONCE = 64,       /* callbacks in a row that come while the driver is asked for them */
	FURTHEST = 1 << 16, /* distance */
	BATCH = 32,
};

/* What the driver is being asked for; NULL again if it is complete already. */
static _Thread_local cl_event asked __attribute__((tls_model("initial-exec")));

/* How far ahead the next one to watch is; 0: too many are. */
static uint32_t choose_distance(struct mr_opencl_queue *queue, uint64_t now)
{
	uint32_t most = queue->is_quiet ? QUIET_LINKS : LINKS;
	uint32_t half = (queue->pending.count + 1) / 2;
	if (now - queue->watch_start_ticks > PERIOD_TICKS) {
		queue->watch_start_ticks = now;
		queue->watch_links = 0;
		queue->watch_distance = 1;
	}
	if (queue->watch_links >= most)
		return queue->is_quiet && queue->is_in_order ? half : 0;
	if (!queue->is_in_order || (!queue->is_quiet && queue->watch_links + 1 == most))
		return queue->pending.count;
	return mr_min(queue->watch_distance, half);
}

cl_event mr_opencl_choose_watched(struct mr_opencl_queue *queue, uint64_t now)
{
	/* Of a queue in order, one is enough; of any other, that one may never be complete. */
	if (queue->pending.count == 0 ||
	    (queue->is_in_order &&
	     (queue->pending.taken > 0 || queue->watched > queue->watched_before)))
		return NULL;
	uint32_t distance = choose_distance(queue, now);
	while (distance > 0 && mr_pending_at(&queue->pending, distance - 1)->is_watched)
		distance /= 2;
	if (distance == 0)
		return NULL;
	struct mr_pending_operation *operation = mr_pending_at(&queue->pending, distance - 1);
	operation->is_watched = true;
	queue->watched++;
	queue->watch_links++;
	queue->watch_distance = mr_min(queue->watch_distance * 2, (uint32_t)FURTHEST);
	mr_opencl_next.clRetainEvent(operation->event); /* or another thread may let it go */
	return operation->event;
}

/* Likewise, or has those who are looking at operations watch on. */
static cl_event choose_or_leave(struct mr_opencl_queue *queue, uint64_t now)
{
	queue->is_missed = queue->pending.taken > 0;
	return mr_opencl_choose_watched(queue, now);
}

/* After something is complete: harvests, and gives the next event to watch, with a reference more, or NULL.
 * `was_asked`: it was so when the driver was asked, whom it has cost nothing. */
static cl_event see(struct mr_opencl_queue *queue, bool was_asked)
{
	cl_event next = NULL;
	mr_opencl_depth++;
	if (mr_lock(&queue->lock)) {
		queue->is_missed = queue->pending.taken > 0;
		queue->watch_links -= was_asked && queue->watch_links > 0;
		mr_unlock(&queue->lock);
	}
	mr_opencl_harvest(queue, true);
	uint64_t now = mr_ticks_now();
	if (mr_lock(&queue->lock)) {
		next = choose_or_leave(queue, now);
		mr_unlock(&queue->lock);
	}
	mr_opencl_depth--;
	return next;
}

/* In a thread of the driver, or while it is asked. */
static void on_complete(cl_event event, cl_int status, void *data)
{
	(void)status;
	struct mr_opencl_queue *queue = data;
	if (event == asked) {
		asked = NULL;
		return;
	}
	cl_event next = see(queue, false);
	if (next)
		mr_opencl_call_back(queue, next);
}

/* Asks the driver, and gives back a reference. True if the event is complete already. */
static bool ask(struct mr_opencl_queue *queue, cl_event event)
{
	asked = event;
	mr_opencl_next.clSetEventCallback(event, CL_COMPLETE, on_complete, queue);
	bool is_complete = !asked;
	asked = NULL;
	mr_opencl_next.clReleaseEvent(event);
	return is_complete;
}

void mr_opencl_call_back(struct mr_opencl_queue *queue, cl_event event)
{
	for (int i = 0; event && ask(queue, event); i++)
		event = i < AT_ONCE ? see(queue, true) : NULL;
}

void mr_opencl_watch(struct mr_opencl_queue *queue)
{
	uint64_t now = mr_ticks_now();
	if (!mr_lock(&queue->lock))
		return;
	cl_event event = choose_or_leave(queue, now);
	mr_unlock(&queue->lock);
	if (event)
		mr_opencl_call_back(queue, event);
}

void mr_opencl_watch_quiet(struct mr_opencl_queue *queue, uint32_t least)
{
	uint64_t now = mr_ticks_now();
	cl_event event = NULL;
	if (!mr_lock(&queue->lock))
		return;
	if (queue->pending.count + queue->pending.taken >= least) {
		queue->is_quiet = true;
		queue->watch_distance = 1;
		queue->watched_before = queue->watched;
		event = choose_or_leave(queue, now);
	}
	mr_unlock(&queue->lock);
	if (event)
		mr_opencl_call_back(queue, event);
}

/* Copies the events of pending operations from the given place on, each with a reference more. */
static uint32_t copy_events(struct mr_opencl_queue *queue, uint32_t from, cl_event *ret_events)
{
	if (!mr_lock(&queue->lock))
		return 0;
	if (queue->is_in_order && queue->pending.count > 0)
		from = mr_max(from, queue->pending.count - 1);
	uint32_t count = 0;
	for (; count < BATCH && from + count < queue->pending.count; count++) {
		ret_events[count] = mr_pending_at(&queue->pending, from + count)->event;
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
		for (uint32_t i = 0; i < count; i++)
			mr_opencl_call_back(queue, events[i]);
		done += count;
		if (is_in_order)
			break;
	}
}
