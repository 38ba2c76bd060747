/* SPDX-License-Identifier: Apache-2.0
 *
 * Packets of a compute queue, one after the other: dispatches, barriers, and AMD's wait for a value. As on a real
 * device, times are written only if the queue profiles.
 */
#include "device.h"

enum {
	PACKET_BYTES = 64,
	DEPENDENCIES = 5,
	BARRIER_VALUE = 2, /* AMD's format of a vendor packet */
};

/* AMD's wait for a value. */
struct barrier_value {
	uint16_t header;
	uint16_t format;
	uint32_t reserved;
	uint64_t signal;
	int64_t value;
	int64_t mask;
	uint32_t condition; /* hsa_signal_condition_t */
};

/* The signal may be gone once its value has changed. */
static void complete(uint64_t handle)
{
	amd_signal_t *signal = soft_signal(handle);
	if (!signal)
		return;
	uint64_t mailbox = signal->event_mailbox_ptr;
	uint32_t event = signal->event_id;
	__atomic_sub_fetch(&signal->value, 1, __ATOMIC_ACQ_REL);
	if (mailbox) {
		__atomic_store_n((uint64_t *)mailbox, event, __ATOMIC_RELEASE);
		soft_event_raise(event);
	}
}

static void stamp(const struct soft_queue *queue, uint64_t handle, uint64_t start, uint64_t end)
{
	amd_signal_t *signal = soft_signal(handle);
	if (!signal || !(queue->aql->queue_properties & AMD_QUEUE_PROPERTIES_ENABLE_PROFILING))
		return;
	signal->start_ts = start;
	signal->end_ts = end > start ? end : start + 1;
}

static uint64_t count_items(const hsa_kernel_dispatch_packet_t *packet)
{
	return (uint64_t)packet->grid_size_x * (packet->grid_size_y ? packet->grid_size_y : 1) *
	       (packet->grid_size_z ? packet->grid_size_z : 1);
}

static void dispatch(struct soft_queue *queue, const hsa_kernel_dispatch_packet_t *packet)
{
	const struct soft_kernel *kernel = soft_kernel_find(packet->kernel_object);
	uint64_t start_ns = soft_now_ns(), start = soft_ticks();
	if (kernel->run_all)
		kernel->run_all(packet);
	else if (kernel->run)
		soft_run_items(kernel, packet);
	if (soft_settings.kernel_ns)
		soft_pace(start_ns, soft_settings.kernel_ns);
	uint64_t end = soft_ticks();
	stamp(queue, packet->completion_signal.handle, start, end);
	soft_log(kernel->run || kernel->run_all ? "dispatch" : "nothing", queue, start, end,
		 count_items(packet), kernel->name);
}

static bool is_met(const hsa_barrier_and_packet_t *packet, bool is_and)
{
	bool is_any = false, are_all = true;
	for (int i = 0; i < DEPENDENCIES; i++) {
		if (!packet->dep_signal[i].handle)
			continue;
		bool is_zero = soft_signal_value(packet->dep_signal[i].handle) == 0;
		is_any = is_any || is_zero;
		are_all = are_all && is_zero;
	}
	return is_and ? are_all : is_any || are_all;
}

static bool is_value_met(const struct barrier_value *packet)
{
	if (!packet->signal)
		return true;
	int64_t value = soft_signal_value(packet->signal) & packet->mask;
	switch (packet->condition) {
	case HSA_SIGNAL_CONDITION_EQ:
		return value == packet->value;
	case HSA_SIGNAL_CONDITION_NE:
		return value != packet->value;
	case HSA_SIGNAL_CONDITION_LT:
		return value < packet->value;
	default:
		return value >= packet->value;
	}
}

/* False if the queue is stopped meanwhile. */
static bool wait(const struct soft_queue *queue, const void *packet, uint8_t type)
{
	for (uint32_t times = 0; !queue->is_stopped; soft_idle(&times)) {
		if (type == HSA_PACKET_TYPE_VENDOR_SPECIFIC
			    ? is_value_met(packet)
			    : is_met(packet, type == HSA_PACKET_TYPE_BARRIER_AND))
			return true;
	}
	return false;
}

static bool execute(struct soft_queue *queue, const uint16_t *packet)
{
	uint8_t type = (uint8_t)*packet;
	uint64_t start = soft_ticks();
	/* In the same place in all types. */
	uint64_t signal = ((const hsa_kernel_dispatch_packet_t *)packet)->completion_signal.handle;
	if (type == HSA_PACKET_TYPE_KERNEL_DISPATCH) {
		dispatch(queue, (const hsa_kernel_dispatch_packet_t *)packet);
		return true;
	}
	bool is_wait = type == HSA_PACKET_TYPE_BARRIER_AND || type == HSA_PACKET_TYPE_BARRIER_OR ||
		       (type == HSA_PACKET_TYPE_VENDOR_SPECIFIC && packet[1] == BARRIER_VALUE);
	if (is_wait && !wait(queue, packet, type))
		return false;
	if (is_wait)
		stamp(queue, signal, start, soft_ticks());
	return true;
}

bool soft_aql_step(struct soft_queue *queue)
{
	uint64_t index = *queue->read_index;
	uint16_t *packet = (uint16_t *)(queue->ring + index * PACKET_BYTES % queue->bytes);
	if ((int64_t)(queue->doorbell - index) < 0 ||
	    (uint8_t)__atomic_load_n(packet, __ATOMIC_ACQUIRE) == HSA_PACKET_TYPE_INVALID)
		return false;
	uint64_t signal = ((const hsa_kernel_dispatch_packet_t *)packet)->completion_signal.handle;
	if (!execute(queue, packet))
		return false;
	__atomic_store_n(packet, HSA_PACKET_TYPE_INVALID, __ATOMIC_RELEASE);
	__atomic_store_n(queue->read_index, index + 1, __ATOMIC_RELEASE);
	complete(signal);
	return true;
}
