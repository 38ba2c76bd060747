/* SPDX-License-Identifier: Apache-2.0
 *
 * Device memory. TensorFlow needs addresses and does arithmetic on them; OpenCL has buffers. So each
 * allocation is a buffer and a range of addresses of the same size, reserved without access:
 *
 *     address that TensorFlow has        0x7f..000 ┌───────────┐     buffer ┌───────────┐
 *                                                  │ PROT_NONE │ ─────────► │ cl_mem    │
 *     address − begin = offset in the buffer       │           │            │           │
 *                                                  └───────────┘            └───────────┘
 *
 * A host access to device memory by mistake causes SIGSEGV at once, as on a real device.
 */
#include "device.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#define HOST_ALIGNMENT_BYTES 64

struct allocation {
	char *begin;
	size_t size_bytes;
	cl_mem buffer;
};

/* TensorFlow's own allocator requests memory rarely and in large blocks: only a handful exist at a time. */
static struct {
	pthread_rwlock_t lock;
	struct allocation *items;
	size_t count;
	size_t capacity;
} allocations = {.lock = PTHREAD_RWLOCK_INITIALIZER};

static bool remember(struct allocation allocation)
{
	bool kept = true;

	pthread_rwlock_wrlock(&allocations.lock);
	if (allocations.count == allocations.capacity) {
		size_t capacity = allocations.capacity ? 2 * allocations.capacity : 64;
		void *items = reallocarray(allocations.items, capacity, sizeof(allocation));

		kept = items;
		if (kept) {
			allocations.items = items;
			allocations.capacity = capacity;
		}
	}
	if (kept)
		allocations.items[allocations.count++] = allocation;
	pthread_rwlock_unlock(&allocations.lock);
	return kept;
}

/* Empty if no allocation begins there. */
static struct allocation forget(const void *begin)
{
	struct allocation found = {0};

	pthread_rwlock_wrlock(&allocations.lock);
	for (size_t i = 0; i < allocations.count; i++) {
		if (allocations.items[i].begin == begin) {
			found = allocations.items[i];
			allocations.items[i] = allocations.items[--allocations.count];
			break;
		}
	}
	pthread_rwlock_unlock(&allocations.lock);
	return found;
}

static void release(struct allocation allocation)
{
	munmap(allocation.begin, allocation.size_bytes);
	clReleaseMemObject(allocation.buffer);
}

bool mr_memory_find(const void *address, struct mr_place *ret_place, TF_Status *status)
{
	const char *wanted = address;
	bool found = !address;
	struct mr_place place = {0};

	pthread_rwlock_rdlock(&allocations.lock);
	for (size_t i = 0; i < allocations.count && !found; i++) {
		const struct allocation *item = &allocations.items[i];

		if (wanted >= item->begin && wanted < item->begin + item->size_bytes) {
			place = (struct mr_place){item->buffer, (size_t)(wanted - item->begin)};
			found = true;
		}
	}
	pthread_rwlock_unlock(&allocations.lock);
	if (!found) {
		char text[64];

		snprintf(text, sizeof(text), "%p is not device memory", address);
		TF_SetStatus(status, TF_INTERNAL, text);
		return false;
	}
	*ret_place = place;
	return true;
}

/* TensorFlow takes a missing address for lack of memory, and reports it to its user. */
static void allocate(const SP_Device *device, uint64_t size_bytes, int64_t memory_space,
		     SP_DeviceMemoryBase *memory)
{
	struct mr_device *owner = device->device_handle;
	struct allocation made = {.size_bytes = size_bytes};
	cl_int result;

	(void)memory_space;
	memory->struct_size = SP_DEVICE_MEMORY_BASE_STRUCT_SIZE;
	memory->opaque = NULL;
	memory->size = 0;
	if (size_bytes == 0)
		return;
	made.buffer =
		clCreateBuffer(mr_opencl_context(), CL_MEM_READ_WRITE, size_bytes, NULL, &result);
	if (result != CL_SUCCESS)
		return;
	made.begin = mmap(NULL, size_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
			  -1, 0);
	if (made.begin == MAP_FAILED) {
		clReleaseMemObject(made.buffer);
		return;
	}
	if (!remember(made)) {
		release(made);
		return;
	}
	owner->used_bytes += (int64_t)size_bytes;
	memory->opaque = made.begin;
	memory->size = size_bytes;
}

static void deallocate(const SP_Device *device, SP_DeviceMemoryBase *memory)
{
	struct mr_device *owner = device->device_handle;

	if (!memory->opaque)
		return;
	struct allocation gone = forget(memory->opaque);
	if (!gone.begin)
		return;
	owner->used_bytes -= (int64_t)gone.size_bytes;
	release(gone);
	memory->opaque = NULL;
	memory->size = 0;
}

static void *allocate_host(const SP_Device *device, uint64_t size_bytes)
{
	uint64_t rounded = (size_bytes + HOST_ALIGNMENT_BYTES - 1) / HOST_ALIGNMENT_BYTES *
			   HOST_ALIGNMENT_BYTES;

	(void)device;
	return aligned_alloc(HOST_ALIGNMENT_BYTES, rounded);
}

static void deallocate_host(const SP_Device *device, void *memory)
{
	(void)device;
	free(memory);
}

static TF_Bool get_statistics(const SP_Device *device, SP_AllocatorStats *ret_statistics)
{
	const struct mr_device *owner = device->device_handle;

	ret_statistics->struct_size = SP_ALLOCATORSTATS_STRUCT_SIZE;
	ret_statistics->bytes_in_use = owner->used_bytes;
	return 1;
}

static TF_Bool get_usage(const SP_Device *device, int64_t *ret_free_bytes, int64_t *ret_total_bytes)
{
	const struct mr_device *owner = device->device_handle;

	*ret_total_bytes = owner->memory_bytes;
	*ret_free_bytes = owner->memory_bytes - owner->used_bytes;
	return 1;
}

void mr_memory_describe(SP_StreamExecutor *executor)
{
	executor->allocate = allocate;
	executor->deallocate = deallocate;
	executor->host_memory_allocate = allocate_host;
	executor->host_memory_deallocate = deallocate_host;
	executor->get_allocator_stats = get_statistics;
	executor->device_memory_usage = get_usage;
}
