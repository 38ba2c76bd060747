/* SPDX-License-Identifier: Apache-2.0 */
#include "hook/hsa/dispatches.h"

#include "hook/hsa/hsa.h"
#include "record/own_call.h"

enum {
	ROOM = 16,                    /* packets that need no memory of their own */
	WATCH_STEP = 64,              /* of so many dispatches one is watched, at least, ... */
	WATCH_PERIOD_TICKS = 1 << 21, /* ... and the first after about a millisecond */
};

/* The launch, where no call of HIP is it: a packet that the program has written itself. */
static void write_launch(const struct mr_interval *interval,
			 const struct mr_pending_operation *operation, uint64_t object)
{
	static _Atomic uint32_t function;
	uint32_t name = atomic_load_explicit(&function, memory_order_relaxed);
	if (!name) {
		name = mr_define_string("AQL dispatch");
		atomic_store_explicit(&function, name, memory_order_relaxed);
	}
	struct mr_event_runtime_launch event = {.function = name,
						.correlation = operation->correlation,
						.queue = operation->queue,
						.object = object,
						.kind = operation->kind};
	mr_call_interval_end(interval, MR_EVENT_runtime_launch, &event, sizeof event);
}

static void write_dispatch(uint32_t queue, const struct mr_hsa_dispatch_packet *packet,
			   const struct mr_hsa_kernel *kernel, uint64_t correlation)
{
	mr_emit(runtime_dispatch, .correlation = correlation, .queue = queue, .name = kernel->name,
		.global_x = packet->grid_size[0], .global_y = packet->grid_size[1],
		.global_z = packet->grid_size[2], .local_x = packet->group_size[0],
		.local_y = packet->group_size[1], .local_z = packet->group_size[2],
		.private_bytes = packet->private_bytes, .group_bytes = packet->group_bytes,
		.argument_bytes = kernel->argument_bytes,
		.is_ordered = (packet->header & MR_HSA_PACKET_BARRIER_BIT) != 0);
}

/* Whether ROCr is to tell us when a dispatch is complete, though nobody else wants to know. */
static bool is_watch_due(struct mr_hsa_queue *queue, uint64_t now)
{
	if (++queue->since_watched < WATCH_STEP && now - queue->watched_ticks < WATCH_PERIOD_TICKS)
		return false;
	queue->since_watched = 0;
	queue->watched_ticks = now;
	return true;
}

/* Both give the handle of the signal that the packet gets; 0: none is left. */
static uint64_t watch(struct mr_hsa_queue *queue, uint64_t theirs,
		      const struct mr_pending_operation *operation)
{
	struct mr_hsa_signal *signal = mr_hsa_watched_take();
	if (!signal)
		return 0;
	signal->is_copy = false;
	signal->theirs = theirs;
	signal->device = queue->device;
	signal->queue = queue;
	signal->operation = *operation;
	if (mr_hsa_watch(signal))
		return signal->handle;
	mr_hsa_watched_give_back(signal);
	return 0;
}

static uint64_t keep(struct mr_hsa_queue *queue, struct mr_pending_operation *operation)
{
	uint64_t handle = mr_hsa_plain_take();
	if (mr_unlikely(!handle)) {
		mr_hsa_harvest_all();
		handle = mr_hsa_plain_take();
	}
	operation->event = (void *)handle;
	if (!handle || mr_hsa_keep(queue, operation))
		return handle;
	mr_hsa_plain_give_back(&handle, 1);
	return 0;
}

/* Gives the packet a signal of ours, if there is one. */
static void attach(struct mr_hsa_queue *queue, struct mr_hsa_dispatch_packet *packet,
		   struct mr_pending_operation *operation)
{
	uint64_t signal = 0;
	if (packet->signal || is_watch_due(queue, operation->launch_ticks))
		signal = watch(queue, packet->signal, operation);
	if (!signal && !packet->signal)
		signal = keep(queue, operation);
	if (signal)
		packet->signal = signal;
	else
		mr_hsa_write_untimed(operation);
}

/* Of HIP's own copies the call knows the direction. */
static uint8_t kind_of(const struct mr_hsa_kernel *kernel, const struct mr_hsa_caller *caller)
{
	bool is_copy = kernel->kind == MR_operation_kind_copy_on_device;
	return is_copy && caller && caller->copy_kind ? caller->copy_kind : kernel->kind;
}

static void handle_dispatch(struct mr_hsa_queue *queue, struct mr_hsa_dispatch_packet *packet)
{
	struct mr_hsa_caller *caller = mr_hsa_caller;
	const struct mr_hsa_kernel kernel = mr_hsa_kernel_find(packet->kernel_object);
	uint64_t theirs = packet->signal;
	uint32_t queue_id = mr_hsa_queue_of_launch(queue->device, queue->id);
	struct mr_pending_operation operation = {
		.name = kernel.name, .queue = queue_id, .kind = kind_of(&kernel, caller)};
	struct mr_interval interval;
	if (caller) {
		if (!caller->correlation)
			caller->correlation = mr_correlation_new();
		operation.correlation = caller->correlation;
		caller->launch_count++;
		caller->queue = queue_id;
		caller->kind = operation.kind;
		operation.launch_ticks = mr_ticks_now();
	} else {
		operation.correlation = mr_correlation_new();
		mr_python_note();
		mr_interval_begin(&interval, MR_EVENT_runtime_call, 0, operation.correlation);
		operation.launch_ticks = interval.start_ticks;
	}
	write_dispatch(queue_id, packet, &kernel, operation.correlation);
	attach(queue, packet, &operation);
	if (caller)
		return;
	mr_hsa_write_submission(operation.correlation);
	write_launch(&interval, &operation, packet->kernel_object);
	if (theirs) {
		const struct mr_handle entry = {.handle = (const void *)theirs,
						.value = operation.correlation,
						.references = 1};
		mr_handle_put(&mr_hsa->signal_map, &entry);
	}
}

void mr_hsa_on_packets(const void *packets, uint64_t count, uint64_t index, void *data,
		       mr_hsa_packet_writer *writer)
{
	(void)index;
	struct mr_hsa_dispatch_packet own[ROOM], *copies = own;
	size_t bytes = count * sizeof *copies;
	if (!mr_level_is_on(MR_LEVEL_runtime) || (count > ROOM && !(copies = mr_own_map(bytes)))) {
		writer(packets, count);
		return;
	}
	memcpy(copies, packets, bytes);
	for (uint64_t i = 0; i < count; i++)
		if ((uint8_t)copies[i].header == MR_HSA_PACKET_DISPATCH)
			handle_dispatch(data, &copies[i]);
	writer(copies, count);
	if (copies != own)
		mr_own_call(SYS_munmap, copies, bytes);
}
