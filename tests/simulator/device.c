/* SPDX-License-Identifier: Apache-2.0
 *
 * Devices: an operation that was given to its queue is ready when what it waits for has ended and the
 * device has room, and starts a little later.
 */
#include "world.h"

bool operation_is_work(const struct operation *operation)
{
	return operation->kind != MR_operation_kind_marker &&
	       operation->kind != MR_operation_kind_barrier;
}

static bool has_ended(const struct simulation *simulation, uint32_t operation)
{
	return simulation->operations.items[operation].end_ns != NEVER;
}

static bool is_ready(const struct simulation *simulation, const struct operation *operation)
{
	if (!operation->is_enqueued || operation->is_scheduled)
		return false;
	for (uint32_t i = 0; i < operation->wait_count; i++)
		if (!has_ended(simulation, operation->waits[i]))
			return false;
	return operation->before == NOBODY || has_ended(simulation, (uint32_t)operation->before);
}

/* Mostly short; sometimes longer than anybody would expect. In the queue of one that took no time never at
 * once: operations are told apart by their starts. */
static int64_t pick_latency_ns(struct simulation *simulation, const struct operation *operation)
{
	bool follows_nothing = operation->before != NOBODY &&
			       simulation->operations.items[operation->before].length_ns == 0;

	if (world_chance(simulation, 30) && !follows_nothing)
		return 0;
	return world_chance(simulation, 8) ? world_pick_ns(simulation, 5000, 90000)
					   : world_pick_ns(simulation, 1, 8000);
}

static void schedule(struct simulation *simulation, uint32_t number)
{
	struct operation *operation = &simulation->operations.items[number];
	struct device *device = &simulation->devices[simulation->queues[operation->queue].device];

	device->used++;
	operation->is_scheduled = true;
	operation->latency_ns = pick_latency_ns(simulation, operation);
	operation->room_point = device->free_point;
	world_schedule(simulation, simulation->now_ns + operation->latency_ns,
		       (struct event){.kind = EVENT_START, .who = (int)number});
}

static void look_for_work(struct simulation *simulation, uint32_t device)
{
	for (uint32_t i = 0; i < simulation->operations.count; i++) {
		const struct operation *operation = &simulation->operations.items[i];

		if (simulation->queues[operation->queue].device == device &&
		    simulation->devices[device].used < simulation->devices[device].slots &&
		    is_ready(simulation, operation))
			schedule(simulation, i);
	}
}

void device_enqueue(struct simulation *simulation, uint32_t number)
{
	struct operation *operation = &simulation->operations.items[number];
	struct queue *queue = &simulation->queues[operation->queue];

	operation->is_enqueued = true;
	operation->enqueue_point = simulation->threads[operation->thread].point;
	if (queue->is_in_order)
		operation->before = queue->last;
	queue->last = (int)number;
	if (simulation->options.is_cuda)
		cuda_enqueued(simulation, number);
	look_for_work(simulation, queue->device);
}

void device_start(struct simulation *simulation, uint32_t number)
{
	struct operation *operation = &simulation->operations.items[number];
	const struct operation *items = simulation->operations.items;
	int64_t ns = operation->latency_ns;
	int who = (int)number;

	operation->start_ns = simulation->now_ns;
	operation->start_point = world_point(simulation);
	world_edge(simulation, operation->enqueue_point, ns, OWNER_OPERATION, who);
	world_edge(simulation, operation->room_point, ns, OWNER_OPERATION, who);
	for (uint32_t i = 0; i < operation->wait_count; i++)
		world_edge(simulation, items[operation->waits[i]].end_point, ns, OWNER_OPERATION,
			   who);
	if (operation->before != NOBODY)
		world_edge(simulation, items[operation->before].end_point, ns, OWNER_OPERATION,
			   who);
	world_schedule(simulation, simulation->now_ns + operation->length_ns,
		       (struct event){.kind = EVENT_END, .who = who});
}

void device_end(struct simulation *simulation, uint32_t number)
{
	struct operation *operation = &simulation->operations.items[number];
	uint32_t device = simulation->queues[operation->queue].device;

	operation->end_ns = simulation->now_ns;
	operation->end_point = world_point(simulation);
	world_edge(simulation, operation->start_point, operation->length_ns, OWNER_OPERATION,
		   (int)number);
	simulation->devices[device].used--;
	simulation->devices[device].free_point = operation->end_point;
	launch_operation_ended(simulation, number);
	for (uint32_t i = 0; i < simulation->device_count; i++)
		look_for_work(simulation, i);
}
