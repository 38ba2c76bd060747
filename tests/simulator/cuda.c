/* SPDX-License-Identifier: Apache-2.0
 *
 * Streams and events by CUDA's rules. As each stream does its operations in order, what something comes after is one
 * operation of each stream:
 *
 *     default stream   ───── 2 ──────────── 5        4 comes after 2, and 5 after 4: blocking streams and the default stream
 *     blocking         ── 1 ───── 4 ────                come after each other
 *     non-blocking     ─────── 3 ─────── 6              6 comes after 4 if its stream waits for an event of that stream
 *
 * Nothing here writes calls that record events or have streams wait: they take no time.
 */
#include <stdio.h>
#include <string.h>

#include "world.h"

void cuda_start(struct simulation *simulation)
{
	memset(simulation->recorded, 0xff, sizeof simulation->recorded);
	for (uint32_t i = 0; i < MAX_QUEUES; i++)
		memset(&simulation->queues[i].before, 0xff, sizeof simulation->queues[i].before);
	for (uint32_t i = 0; i < simulation->queue_count; i++) {
		struct queue *queue = &simulation->queues[i];

		queue->is_in_order = true;
		queue->has_unknown_order = false;
		queue->is_default = i == 0 || simulation->queues[i - 1].device != queue->device;
		queue->is_non_blocking = !queue->is_default && world_chance(simulation, 30);
	}
}

static void add(const struct simulation *simulation, struct stream_order *order, int operation)
{
	const struct operation *items = simulation->operations.items;

	if (operation == NOBODY)
		return;
	int *last = &order->last[items[operation].queue];
	if (*last == NOBODY || items[*last].place < items[operation].place)
		*last = operation;
}

static void add_all(const struct simulation *simulation, struct stream_order *order,
		    const struct stream_order *more)
{
	for (uint32_t i = 0; i < simulation->queue_count; i++)
		add(simulation, order, more->last[i]);
}

/* What anything comes after that is done on a stream now. */
static struct stream_order now_on(const struct simulation *simulation, uint32_t number)
{
	const struct queue *queue = &simulation->queues[number];
	struct stream_order order = queue->before;

	for (uint32_t i = 0; i < simulation->queue_count; i++) {
		const struct queue *other = &simulation->queues[i];

		if (other->device == queue->device && !queue->is_non_blocking &&
		    !other->is_non_blocking && queue->is_default != other->is_default)
			add_all(simulation, &order, &other->before);
	}
	return order;
}

static uint32_t pick_queue(struct simulation *simulation, uint32_t process)
{
	uint32_t queue;

	do
		queue = world_pick(simulation, simulation->queue_count);
	while (simulation->devices[simulation->queues[queue].device].process != process);
	return queue;
}

static void list(const struct stream_order *order, uint32_t without, struct operation *operation)
{
	for (uint32_t i = 0; i < MAX_QUEUES; i++)
		if (order->last[i] != NOBODY && i != without)
			operation->waits[operation->wait_count++] = (uint32_t)order->last[i];
}

void cuda_launch(struct simulation *simulation, uint32_t process, struct operation *operation)
{
	struct queue *queue = &simulation->queues[operation->queue];

	while (world_chance(simulation, 40)) {
		uint32_t recorded = pick_queue(simulation, process);
		struct stream_order order = now_on(simulation, recorded);

		simulation->recorded[process][world_pick(simulation, MAX_EVENTS)] = order;
		simulation->queues[recorded].before = order;
	}
	while (world_chance(simulation, 30)) {
		const struct stream_order *event =
			&simulation->recorded[process][world_pick(simulation, MAX_EVENTS)];
		struct stream_order order = now_on(simulation, operation->queue);

		add_all(simulation, &order, event);
		queue->before = order;
	}
	struct stream_order order = now_on(simulation, operation->queue);
	list(&order, operation->queue, operation);
}

void cuda_enqueued(struct simulation *simulation, uint32_t number)
{
	struct operation *operation = &simulation->operations.items[number];
	struct queue *queue = &simulation->queues[operation->queue];

	operation->place = ++queue->given;
	add(simulation, &queue->before, (int)number);
	for (uint32_t i = 0; i < operation->wait_count; i++)
		add(simulation, &queue->before, (int)operation->waits[i]);
}

/* The whole stream, an event, or all streams of the stream's device. */
void cuda_sync(struct simulation *simulation, uint32_t process, enum sync_scope scope,
	       uint32_t queue, struct operation *ret_list)
{
	struct stream_order order = now_on(simulation, queue);

	if (scope == SYNC_LIST)
		order = simulation->recorded[process][world_pick(simulation, MAX_EVENTS)];
	for (uint32_t i = 0; scope == SYNC_PROCESS && i < simulation->queue_count; i++)
		if (simulation->queues[i].device == simulation->queues[queue].device)
			add_all(simulation, &order, &simulation->queues[i].before);
	list(&order, MAX_QUEUES, ret_list);
}

/* Only its name tells that a copy blocks. */
void cuda_name(struct simulation *simulation, bool is_blocking, struct operation *operation)
{
	const char *memory = is_blocking ? "Pageable" : "Pinned";

	if (is_blocking)
		operation->kind = world_chance(simulation, 50) ? MR_operation_kind_copy_to_device
							       : MR_operation_kind_copy_from_device;
	if (operation->kind == MR_operation_kind_copy_to_device)
		snprintf(operation->name, sizeof operation->name, "Memcpy HtoD (%s -> Device)",
			 memory);
	else if (operation->kind == MR_operation_kind_copy_from_device)
		snprintf(operation->name, sizeof operation->name, "Memcpy DtoH (Device -> %s)",
			 memory);
}
