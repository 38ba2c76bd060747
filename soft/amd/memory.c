/* SPDX-License-Identifier: Apache-2.0
 *
 * All memory is the process's own; a table, in order of addresses, answers what the runtime asks about pointers.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "device.h"

struct block {
	char *start;
	uint64_t bytes;
	uint32_t node;
	HsaMemFlags flags;
	HSA_POINTER_TYPE type;
	void *user_data;
	uint32_t mapped_count;
	uint32_t mapped[SOFT_GPUS];
};

static struct block *blocks;
static size_t block_count, block_capacity;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* The number of the first block above the address. */
static size_t place_of(const char *address)
{
	size_t low = 0, high = block_count;
	while (low < high) {
		size_t middle = (low + high) / 2;
		if (blocks[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static struct block *find(const void *address)
{
	size_t place = place_of(address);
	if (place == 0 ||
	    (const char *)address >= blocks[place - 1].start + blocks[place - 1].bytes)
		return NULL;
	return &blocks[place - 1];
}

static bool add(const struct block *block)
{
	if (block_count == block_capacity) {
		size_t capacity = block_capacity ? 2 * block_capacity : 256;
		struct block *more = realloc(blocks, capacity * sizeof *more);
		if (!more)
			return false;
		blocks = more;
		block_capacity = capacity;
	}
	size_t place = place_of(block->start);
	memmove(&blocks[place + 1], &blocks[place], (block_count - place) * sizeof *blocks);
	block_count++;
	blocks[place] = *block;
	return true;
}

static uint64_t drop(void *start)
{
	struct block *block = find(start);
	if (!block || block->start != start)
		return 0;
	uint64_t bytes = block->bytes;
	block_count--;
	memmove(block, block + 1, (size_t)((char *)&blocks[block_count] - (char *)block));
	return bytes;
}

SOFT_EXPORT HSAKMT_STATUS hsaKmtAllocMemory(HSAuint32 node, HSAuint64 bytes, HsaMemFlags flags,
					    void **ret_address)
{
	void *start = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (start == MAP_FAILED)
		return HSAKMT_STATUS_NO_MEMORY;
	if (!flags.ui32.Scratch) {
		pthread_mutex_lock(&lock);
		add(&(struct block){.start = start,
				    .bytes = bytes,
				    .node = node,
				    .flags = flags,
				    .type = HSA_POINTER_ALLOCATED});
		pthread_mutex_unlock(&lock);
	}
	*ret_address = start;
	return HSAKMT_STATUS_SUCCESS;
}

SOFT_EXPORT HSAKMT_STATUS hsaKmtFreeMemory(void *start, HSAuint64 bytes)
{
	pthread_mutex_lock(&lock);
	uint64_t known_bytes = drop(start);
	pthread_mutex_unlock(&lock);
	bytes = known_bytes ? known_bytes : bytes;
	soft_kernels_forget(start, bytes);
	munmap(start, bytes);
	return HSAKMT_STATUS_SUCCESS;
}

SOFT_EXPORT HSAKMT_STATUS hsaKmtRegisterMemoryWithFlags(void *start, HSAuint64 bytes,
							HsaMemFlags flags)
{
	pthread_mutex_lock(&lock);
	if (!find(start))
		add(&(struct block){.start = start,
				    .bytes = bytes,
				    .flags = flags,
				    .type = HSA_POINTER_REGISTERED_USER});
	pthread_mutex_unlock(&lock);
	return HSAKMT_STATUS_SUCCESS;
}

SOFT_EXPORT HSAKMT_STATUS hsaKmtDeregisterMemory(void *start)
{
	pthread_mutex_lock(&lock);
	const struct block *block = find(start);
	if (block && block->type == HSA_POINTER_REGISTERED_USER)
		drop(start);
	pthread_mutex_unlock(&lock);
	return HSAKMT_STATUS_SUCCESS;
}

SOFT_EXPORT HSAKMT_STATUS hsaKmtMapMemoryToGPUNodes(void *start, HSAuint64 bytes,
						    HSAuint64 *ret_address, HsaMemMapFlags flags,
						    HSAuint64 count, HSAuint32 *nodes)
{
	(void)bytes;
	(void)flags;
	pthread_mutex_lock(&lock);
	struct block *block = find(start);
	if (block) {
		block->mapped_count = count < SOFT_GPUS ? (uint32_t)count : SOFT_GPUS;
		memcpy(block->mapped, nodes, block->mapped_count * sizeof *nodes);
	}
	pthread_mutex_unlock(&lock);
	*ret_address = (HSAuint64)start;
	return HSAKMT_STATUS_SUCCESS;
}

SOFT_EXPORT HSAKMT_STATUS hsaKmtMapMemoryToGPU(void *start, HSAuint64 bytes, HSAuint64 *ret_address)
{
	(void)bytes;
	*ret_address = (HSAuint64)start;
	return HSAKMT_STATUS_SUCCESS;
}

SOFT_EXPORT HSAKMT_STATUS hsaKmtUnmapMemoryToGPU(void *start)
{
	pthread_mutex_lock(&lock);
	struct block *block = find(start);
	if (block)
		block->mapped_count = 0;
	pthread_mutex_unlock(&lock);
	return HSAKMT_STATUS_SUCCESS;
}

SOFT_EXPORT HSAKMT_STATUS hsaKmtQueryPointerInfo(const void *address, HsaPointerInfo *ret_info)
{
	*ret_info = (HsaPointerInfo){0};
	pthread_mutex_lock(&lock);
	struct block *block = find(address);
	if (block)
		*ret_info = (HsaPointerInfo){.Type = block->type,
					     .Node = block->node,
					     .MemFlags = block->flags,
					     .CPUAddress = block->start,
					     .GPUAddress = (HSAuint64)block->start,
					     .SizeInBytes = block->bytes,
					     .NMappedNodes = block->mapped_count,
					     .MappedNodes = block->mapped,
					     .UserData = block->user_data};
	pthread_mutex_unlock(&lock);
	return block ? HSAKMT_STATUS_SUCCESS : HSAKMT_STATUS_ERROR;
}

SOFT_EXPORT HSAKMT_STATUS hsaKmtSetMemoryUserData(const void *address, void *user_data)
{
	pthread_mutex_lock(&lock);
	struct block *block = find(address);
	if (block)
		block->user_data = user_data;
	pthread_mutex_unlock(&lock);
	return block ? HSAKMT_STATUS_SUCCESS : HSAKMT_STATUS_ERROR;
}
