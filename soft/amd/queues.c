/* SPDX-License-Identifier: Apache-2.0
 *
 * Hardware queues: a thread each, which looks at the doorbell.
 */
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <time.h>

#include "device.h"

enum {
	SPINS = 200,
	SHORT_SLEEPS = 2000,
	LONGER_SLEEPS = 4000,
};

void soft_idle(uint32_t *times)
{
	uint32_t number = (*times)++;
	if (number < SPINS) {
		__asm__ volatile("" ::: "memory");
		return;
	}
	long sleep_ns = number < SHORT_SLEEPS ? 20000 : number < LONGER_SLEEPS ? 100000 : 500000;
	nanosleep(&(struct timespec){.tv_nsec = sleep_ns}, NULL);
}

static void *run_queue(void *data)
{
	struct soft_queue *queue = data;
	uint32_t idle_times = 0;
	pthread_setname_np(pthread_self(), queue->aql ? "soft-amd-aql" : "soft-amd-sdma");
	while (!queue->is_stopped) {
		if (queue->aql ? soft_aql_step(queue) : soft_sdma_step(queue))
			idle_times = 0;
		else
			soft_idle(&idle_times);
	}
	return NULL;
}

SOFT_EXPORT HSAKMT_STATUS hsaKmtCreateQueue(HSAuint32 node, HSA_QUEUE_TYPE type, HSAuint32 share,
					    HSA_QUEUE_PRIORITY priority, void *ring,
					    HSAuint64 bytes, HsaEvent *event,
					    HsaQueueResource *resource)
{
	static uint32_t last_id;
	(void)share;
	(void)priority;
	(void)event;
	struct soft_queue *queue = calloc(1, sizeof *queue);
	if (!queue)
		return HSAKMT_STATUS_NO_MEMORY;
	queue->id = __atomic_add_fetch(&last_id, 1, __ATOMIC_RELAXED);
	queue->node = node;
	queue->ring = ring;
	queue->bytes = bytes;
	if (type == HSA_QUEUE_COMPUTE_AQL) {
		queue->read_index = resource->Queue_read_ptr_aql;
		queue->aql = (amd_queue_t *)((char *)resource->Queue_read_ptr_aql -
					     offsetof(amd_queue_t, read_dispatch_id));
		queue->doorbell = UINT64_MAX; /* number of the last packet: none */
	} else {
		queue->read_index = &queue->own_indices[0];
		resource->Queue_read_ptr_aql = (HSAuint64 *)&queue->own_indices[0];
		resource->Queue_write_ptr_aql = (HSAuint64 *)&queue->own_indices[1];
	}
	resource->Queue_DoorBell_aql = (HSAuint64 *)&queue->doorbell;
	resource->QueueId = (HSA_QUEUEID)queue;
	return pthread_create(&queue->thread, NULL, run_queue, queue) == 0 ? HSAKMT_STATUS_SUCCESS
									   : HSAKMT_STATUS_ERROR;
}

SOFT_EXPORT HSAKMT_STATUS hsaKmtDestroyQueue(HSA_QUEUEID id)
{
	struct soft_queue *queue = (struct soft_queue *)id;
	queue->is_stopped = true;
	pthread_join(queue->thread, NULL);
	free(queue);
	return HSAKMT_STATUS_SUCCESS;
}
