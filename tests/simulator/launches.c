/* SPDX-License-Identifier: Apache-2.0
 *
 * What threads do in the runtime of the devices: calls, launches, and waiting for operations.
 */
#include "machine.h"
#include "writer.h"

/* ---- calls -------------------------------------------------------------------------------------- */

static const char *const functions[] = {"clSetKernelArg", "clCreateBuffer", "clBuildProgram"};

static struct call *open_call(struct simulation *simulation, int who, const char *function)
{
	struct thread *thread = &simulation->threads[who];

	PUSH(&thread->open_calls, (uint32_t)thread->calls.count);
	PUSH(&thread->calls, (struct call){.begin_ns = simulation->now_ns,
					   .end_ns = NEVER,
					   .function = function,
					   .queue = NOBODY,
					   .operation = NOBODY,
					   .awaited = NOBODY});
	return &thread->calls.items[thread->calls.count - 1];
}

static bool close_call(struct simulation *simulation, int who)
{
	struct thread *thread = &simulation->threads[who];
	struct call *call =
		&thread->calls.items[thread->open_calls.items[--thread->open_calls.count]];

	call->end_ns = simulation->now_ns;
	writer_call(simulation, who, call);
	return true;
}

enum {
	PICKED_WAITS = 4,
};

/* Some of the latest operations of the process that the device has got. */
static void pick_waits(struct simulation *simulation, uint32_t process, struct operation *operation)
{
	for (size_t i = simulation->operations.count;
	     i-- > 0 && operation->wait_count < PICKED_WAITS;) {
		const struct operation *other = &simulation->operations.items[i];

		if (!other->is_enqueued ||
		    simulation->devices[simulation->queues[other->queue].device].process != process)
			continue;
		if (world_chance(simulation, 40))
			return;
		if (world_chance(simulation, 60))
			operation->waits[operation->wait_count++] = (uint32_t)i;
	}
}

static bool do_launch(struct simulation *simulation, int who, const struct action *action)
{
	static const enum mr_operation_kind kinds[] = {
		MR_operation_kind_kernel, MR_operation_kind_kernel,
		MR_operation_kind_copy_to_device, MR_operation_kind_copy_from_device};
	struct thread *thread = &simulation->threads[who];
	uint32_t number = (uint32_t)simulation->operations.count;
	struct operation made = {.queue = action->what,
				 .kind = kinds[world_pick(simulation, 4)],
				 .thread = who,
				 .length_ns = action->ns,
				 .start_ns = NEVER,
				 .end_ns = NEVER,
				 .before = NOBODY};

	if (action->is_special)
		made.kind = MR_operation_kind_copy_from_device;
	else if (!simulation->options.is_cuda && world_chance(simulation, 6))
		made.kind = world_chance(simulation, 50) ? MR_operation_kind_marker
							 : MR_operation_kind_barrier;
	if (!operation_is_work(&made) && world_chance(simulation, 50) &&
	    !simulation->options.is_calm)
		made.length_ns = 0;
	if (simulation->options.is_cuda)
		cuda_launch(simulation, thread->process, &made);
	else if (world_chance(simulation, 40))
		pick_waits(simulation, thread->process, &made);
	snprintf(made.name, sizeof made.name, "work%u",
		 simulation->has_own_names ? number : number % 3);
	if (simulation->options.is_cuda)
		cuda_name(simulation, action->is_special, &made);
	static const char *const launches[2][2] = {
		{"clEnqueueCopyBuffer", "clEnqueueNDRangeKernel"},
		{"cudaMemcpyAsync", "cudaLaunchKernel"}};
	struct call *call = open_call(
		simulation, who,
		launches[simulation->options.is_cuda][made.kind == MR_operation_kind_kernel]);
	made.call = (int)thread->calls.count - 1;
	made.correlation = call->correlation = ++simulation->correlations[thread->process];
	call->operation = thread->launching = (int)number;
	call->queue = (int)action->what;
	call->waits = call->is_blocking = action->is_special;
	call->is_lost = !action->is_special && !simulation->options.is_calm &&
			!simulation->options.shape && world_chance(simulation, 2);
	PUSH(&simulation->operations, made);
	writer_waits(simulation, who, call, made.waits, made.wait_count);
	return true;
}

static bool is_pending(const struct simulation *simulation, uint32_t operation)
{
	return simulation->operations.items[operation].end_ns == NEVER;
}

/* Operations count whose launch has begun before. */
static bool is_in_scope(const struct simulation *simulation, uint32_t number, enum sync_scope scope,
			int who, uint32_t queue)
{
	const struct operation *operation = &simulation->operations.items[number];
	const struct thread *launcher = &simulation->threads[operation->thread];

	if (launcher->calls.items[operation->call].begin_ns == simulation->now_ns)
		return false;
	if (scope == SYNC_QUEUE)
		return operation->queue == queue;
	return scope == SYNC_PROCESS && launcher->process == simulation->threads[who].process;
}

static bool do_sync(struct simulation *simulation, int who, const struct action *action)
{
	static const char *const names[] = {"clWaitForEvents", "cudaStreamSynchronize",
					    "cudaDeviceSynchronize", "clFinish"};
	static const char *const cuda_names[] = {"cudaEventSynchronize", "cudaStreamSynchronize",
						 "cudaDeviceSynchronize"};
	struct thread *thread = &simulation->threads[who];
	enum sync_scope scope = action->what;
	const struct queue *queue = &simulation->queues[action->queue];
	struct operation list = {0};

	if (simulation->options.is_cuda)
		cuda_sync(simulation, thread->process, scope, action->queue, &list);
	else if (scope == SYNC_LIST)
		pick_waits(simulation, thread->process, &list);
	if (scope == SYNC_LIST && list.wait_count == 0)
		scope = SYNC_QUEUE; /* there is nothing that a list could name */
	const char *function = simulation->options.is_cuda ? cuda_names[scope] : names[scope];
	if (simulation->options.is_cuda && list.wait_count > 0)
		scope = SYNC_LAST;
	else if (scope == SYNC_QUEUE && queue->is_in_order && queue->last != NOBODY &&
		 world_chance(simulation, 30)) {
		scope = SYNC_LAST;
		list.waits[list.wait_count++] = (uint32_t)queue->last;
	}
	if (!simulation->options.is_cuda)
		function = names[scope];
	struct call *call = open_call(simulation, who, function);
	call->waits = true;
	call->queue = scope == SYNC_QUEUE || scope == SYNC_LAST ? (int)action->queue : NOBODY;
	thread->sync_call = (int)thread->calls.count - 1;
	thread->awaited.count = 0;
	for (uint32_t i = 0; i < list.wait_count; i++)
		PUSH(&thread->awaited, list.waits[i]);
	if (list.wait_count)
		call->correlation = ++simulation->correlations[thread->process];
	writer_waits(simulation, who, call, list.waits, list.wait_count);
	for (uint32_t i = 0; i < simulation->operations.count; i++)
		if (is_in_scope(simulation, i, scope, who, action->queue))
			PUSH(&thread->awaited, i);
	return true;
}

static bool is_any_pending(const struct simulation *simulation, const struct thread *thread)
{
	for (size_t i = 0; i < thread->awaited.count; i++)
		if (is_pending(simulation, thread->awaited.items[i]))
			return true;
	return false;
}

static bool do_await(struct simulation *simulation, int who, const struct action *action)
{
	struct thread *thread = &simulation->threads[who];

	if (thread->phase > 0)
		return action_return_from_wait(simulation, who);
	if (action->kind == ACT_AWAIT) {
		thread->awaited.count = 0;
		PUSH(&thread->awaited, (uint32_t)thread->launching);
	}
	if (!is_any_pending(simulation, thread)) {
		machine_start_short_chunk(simulation, who);
		return false;
	}
	thread->is_waiting = true;
	if (action->is_special) {
		machine_start_chunk(simulation, who, NEVER);
		thread->is_spinning = true;
	} else {
		action_enter(simulation, who, CALL_IOCTL, FILE_DEVICE);
		machine_block(simulation, who, "other", FILE_DEVICE,
			      MR_switch_reason_interruptible);
	}
	return false;
}

/* The last one to end is what the call waits for; of those that end together the smallest correlation. */
static void note_end(struct simulation *simulation, struct call *call, uint32_t operation)
{
	const struct operation *items = simulation->operations.items;

	if (items[operation].end_ns <= call->begin_ns)
		return;
	if (call->awaited == NOBODY || items[call->awaited].end_ns < items[operation].end_ns ||
	    items[operation].correlation < items[call->awaited].correlation)
		call->awaited = (int)operation;
}

/* A trace that does not know the launch of an operation takes it for one from before: a call that waits for a queue, or for
 * all, seems to wait for it. */
static bool seems_awaited(const struct simulation *simulation, int who, uint32_t operation)
{
	const struct thread *thread = &simulation->threads[who];
	const struct call *call = &thread->calls.items[thread->sync_call];
	const struct operation *ended = &simulation->operations.items[operation];
	const struct thread *launcher = &simulation->threads[ended->thread];
	bool has_list = call->correlation != 0;
	bool is_in_scope = call->queue == NOBODY ? launcher->process == thread->process
						 : ended->queue == (uint32_t)call->queue;

	return !has_list && is_in_scope && launcher->calls.items[ended->call].is_lost;
}

static void release(struct simulation *simulation, int who, uint32_t operation)
{
	struct thread *thread = &simulation->threads[who];
	const struct operation *ended = &simulation->operations.items[operation];
	int64_t late_ns = world_pick_ns(simulation, 1, 3000);

	thread->is_waiting = false;
	if (!thread->is_spinning) {
		machine_wake_later(simulation, who, late_ns,
				   (struct event){.waker = WAKER_INTERRUPT,
						  .source = "gpu",
						  .point = ended->end_point,
						  .edge_ns = late_ns});
		return;
	}
	thread->left_ns = late_ns;
	if (thread->now.state != RUNS) {
		thread->is_spinning = false;
		return;
	}
	thread->released_ns = thread->chunk_ns = simulation->now_ns;
	thread->release_point = ended->end_point;
	world_schedule(
		simulation, simulation->now_ns + late_ns,
		(struct event){.kind = EVENT_CHUNK, .who = who, .generation = ++thread->chunk});
}

void launch_operation_ended(struct simulation *simulation, uint32_t operation)
{
	for (int who = 0; who < simulation->thread_count; who++) {
		struct thread *thread = &simulation->threads[who];
		bool is_about = false;

		for (size_t i = 0; i < thread->awaited.count; i++)
			is_about |= thread->awaited.items[i] == operation;
		if (thread->sync_call != NOBODY &&
		    (is_about || seems_awaited(simulation, who, operation)))
			note_end(simulation, &thread->calls.items[thread->sync_call], operation);
		if (is_about && thread->is_waiting && !is_any_pending(simulation, thread))
			release(simulation, who, operation);
	}
}

/* ---- together ----------------------------------------------------------------------------------- */

bool launch_act(struct simulation *simulation, int who, const struct action *action)
{
	struct thread *thread = &simulation->threads[who];

	switch (action->kind) {
	case ACT_CALL_BEGIN:
		open_call(simulation, who, functions[action->what]);
		return true;
	case ACT_LAUNCH:
		return do_launch(simulation, who, action);
	case ACT_ENQUEUE:
		device_enqueue(simulation, (uint32_t)thread->launching);
		return true;
	case ACT_SYNC:
		return do_sync(simulation, who, action);
	case ACT_AWAIT:
	case ACT_SYNC_AWAIT:
		return do_await(simulation, who, action);
	case ACT_SYNC_END:
		thread->sync_call = NOBODY;
		return close_call(simulation, who);
	default:
		return close_call(simulation, who);
	}
}
