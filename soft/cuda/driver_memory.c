/* SPDX-License-Identifier: Apache-2.0
 *
 * The stand-in for libcuda: memory, copies and fills. Memory of a device is memory of the host.
 */
#define _GNU_SOURCE
#include "cuda/driver.h"

enum {
	PAGEABLE = 1, /* kinds of memory, as CUPTI has them */
	PINNED = 2,
	DEVICE = 3,
	MANAGED = 5,
	ALLOCATIONS = 4096,
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct {
	char *address;
	size_t bytes;
	int kind;
	bool is_async;
} allocations[ALLOCATIONS];

/* ---- memory ----------------------------------------------------------------------------------------- */

static uint64_t default_pool; /* its address stands for that of each device */

static void tell_memory(const void *address, size_t bytes, int kind, bool is_async, bool is_free)
{
	const struct soft_memory memory = {.address = (uintptr_t)address,
					   .bytes = bytes,
					   .pool = is_async ? (uintptr_t)&default_pool : 0,
					   .kind = kind,
					   .device = soft_current() ? soft_current()->device : 0,
					   .is_async = is_async,
					   .is_free = is_free};
	soft_log("memory %s %llu bytes=%llu kind=%d pool=%llu\n", is_free ? "free" : "allocate",
		 (unsigned long long)memory.address, (unsigned long long)bytes, kind,
		 (unsigned long long)memory.pool);
	if (soft_tool)
		soft_tool->memory(&memory);
}

static CUresult allocate_from(void *ret_address, size_t bytes, int kind, bool is_async)
{
	char *memory = aligned_alloc(256, (bytes + 255) & ~(size_t)255);
	pthread_mutex_lock(&lock);
	int free_place = 0;
	while (free_place < ALLOCATIONS - 1 && allocations[free_place].address)
		free_place++;
	allocations[free_place].address = memory;
	allocations[free_place].bytes = bytes;
	allocations[free_place].kind = kind;
	allocations[free_place].is_async = is_async;
	pthread_mutex_unlock(&lock);
	memcpy(ret_address, &memory, sizeof memory);
	if (memory)
		tell_memory(memory, bytes, kind, is_async, false);
	return memory ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

static CUresult allocate(void *ret_address, size_t bytes, int kind)
{
	return allocate_from(ret_address, bytes, kind, false);
}

static void tell_release(const void *address)
{
	for (int i = 0; address && i < ALLOCATIONS; i++)
		if (allocations[i].address == address)
			tell_memory(address, allocations[i].bytes, allocations[i].kind,
				    allocations[i].is_async, true);
}

static CUresult release(void *address)
{
	bool is_known = !address;
	pthread_mutex_lock(&lock);
	for (int i = 0; address && i < ALLOCATIONS; i++)
		if (allocations[i].address == address) {
			allocations[i].address = NULL;
			is_known = true;
		}
	pthread_mutex_unlock(&lock);
	if (is_known)
		free(address);
	return is_known ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static CUresult release_now(void *address)
{
	tell_release(address);
	return release(address);
}

static int kind_of(const void *address)
{
	int kind = PAGEABLE;
	pthread_mutex_lock(&lock);
	for (int i = 0; i < ALLOCATIONS; i++)
		if (allocations[i].address && (const char *)address >= allocations[i].address &&
		    (const char *)address < allocations[i].address + allocations[i].bytes)
			kind = allocations[i].kind;
	pthread_mutex_unlock(&lock);
	return kind;
}

#define AT(pointer) ((void *)(uintptr_t)(pointer))

DRIVER(cuMemAlloc_v2, (CUdeviceptr * dptr, size_t bytes), dptr, bytes)
{
	return allocate(dptr, bytes, DEVICE);
}

DRIVER(cuMemFree_v2, (CUdeviceptr dptr), dptr)
{
	return release_now(AT(dptr));
}

DRIVER(cuMemAllocManaged, (CUdeviceptr * dptr, size_t bytes, unsigned int flags), dptr, bytes,
       flags)
{
	(void)flags;
	return allocate(dptr, bytes, MANAGED);
}

DRIVER(cuMemAllocHost_v2, (void **pointer, size_t bytes), pointer, bytes)
{
	return allocate(pointer, bytes, PINNED);
}

DRIVER(cuMemHostAlloc, (void **pointer, size_t bytes, unsigned int flags), pointer, bytes, flags)
{
	(void)flags;
	return allocate(pointer, bytes, PINNED);
}

DRIVER(cuMemFreeHost, (void *pointer), pointer)
{
	return release_now(pointer);
}

DRIVER(cuMemAllocAsync, (CUdeviceptr * dptr, size_t bytes, CUstream stream), dptr, bytes, stream)
{
	(void)stream;
	return allocate_from(dptr, bytes, DEVICE, true);
}

static void free_later(void *address)
{
	release(address);
}

DRIVER(cuMemFreeAsync, (CUdeviceptr dptr, CUstream stream), dptr, stream)
{
	tell_release(AT(dptr));
	soft_give(soft_stream_of(stream), &(struct soft_operation){.work = SOFT_HOST,
								   .function = free_later,
								   .data = AT(dptr)});
	return CUDA_SUCCESS;
}

DRIVER(cuMemAllocPitch_v2,
       (CUdeviceptr * dptr, size_t *pitch, size_t width, size_t height, unsigned int element), dptr,
       pitch, width, height, element)
{
	(void)element;
	*pitch = (width + 511) & ~(size_t)511;
	return allocate(dptr, *pitch * height, DEVICE);
}

DRIVER(cuMemGetInfo_v2, (size_t * left, size_t *total), left, total)
{
	*left = *total = (size_t)1 << 30;
	return CUDA_SUCCESS;
}

/* ---- copies and fills ------------------------------------------------------------------------------- */

static int direction_of(int from, int to)
{
	bool is_from_host = from <= PINNED, is_to_host = to <= PINNED;
	if (is_from_host)
		return is_to_host ? 9 : 1;
	return is_to_host ? 2 : 8;
}

/* As in CUDA, a copy from or to memory that can be paged out is not asynchronous. */
static CUresult copy(void *to, const void *from, size_t bytes, CUstream stream, bool is_async)
{
	int from_kind = kind_of(from), to_kind = kind_of(to);
	if (!soft_current())
		return CUDA_ERROR_INVALID_CONTEXT;
	if (bytes == 0)
		return CUDA_SUCCESS;
	struct soft_operation operation = {.work = SOFT_COPY,
					   .to = to,
					   .from = from,
					   .bytes = bytes,
					   .from_kind = from_kind,
					   .to_kind = to_kind,
					   .direction = direction_of(from_kind, to_kind),
					   .target_device = -1,
					   .is_async = is_async};
	struct soft_stream *on = soft_stream_of(stream);
	struct soft_place place = soft_give(on, &operation);
	if (!on->is_capturing && (!is_async || from_kind == PAGEABLE || to_kind == PAGEABLE))
		soft_wait(place);
	return CUDA_SUCCESS;
}

DRIVER(cuMemcpy, (CUdeviceptr dst, CUdeviceptr src, size_t bytes), dst, src, bytes)
{
	return copy(AT(dst), AT(src), bytes, NULL, false);
}

DRIVER(cuMemcpyAsync, (CUdeviceptr dst, CUdeviceptr src, size_t bytes, CUstream stream), dst, src,
       bytes, stream)
{
	return copy(AT(dst), AT(src), bytes, stream, true);
}

DRIVER(cuMemcpyHtoD_v2, (CUdeviceptr dst, const void *src, size_t bytes), dst, src, bytes)
{
	return copy(AT(dst), src, bytes, NULL, false);
}

DRIVER(cuMemcpyDtoH_v2, (void *dst, CUdeviceptr src, size_t bytes), dst, src, bytes)
{
	return copy(dst, AT(src), bytes, NULL, false);
}

DRIVER(cuMemcpyDtoD_v2, (CUdeviceptr dst, CUdeviceptr src, size_t bytes), dst, src, bytes)
{
	return copy(AT(dst), AT(src), bytes, NULL, true);
}

DRIVER(cuMemcpyHtoDAsync_v2, (CUdeviceptr dst, const void *src, size_t bytes, CUstream stream), dst,
       src, bytes, stream)
{
	return copy(AT(dst), src, bytes, stream, true);
}

DRIVER(cuMemcpyDtoHAsync_v2, (void *dst, CUdeviceptr src, size_t bytes, CUstream stream), dst, src,
       bytes, stream)
{
	return copy(dst, AT(src), bytes, stream, true);
}

DRIVER(cuMemcpyDtoDAsync_v2, (CUdeviceptr dst, CUdeviceptr src, size_t bytes, CUstream stream), dst,
       src, bytes, stream)
{
	return copy(AT(dst), AT(src), bytes, stream, true);
}

static CUresult copy_between(CUdeviceptr dst, CUcontext to, CUdeviceptr src, CUcontext from,
			     size_t bytes, CUstream stream, bool is_async)
{
	struct soft_operation operation = {.work = SOFT_COPY,
					   .to = AT(dst),
					   .from = AT(src),
					   .bytes = bytes,
					   .from_kind = DEVICE,
					   .to_kind = DEVICE,
					   .direction = 10,
					   .target_device = ((struct soft_context *)to)->device,
					   .is_async = is_async};
	(void)from;
	struct soft_place place = soft_give(soft_stream_of(stream), &operation);
	if (!is_async)
		soft_wait(place);
	return CUDA_SUCCESS;
}

DRIVER(cuMemcpyPeer, (CUdeviceptr dst, CUcontext to, CUdeviceptr src, CUcontext from, size_t bytes),
       dst, to, src, from, bytes)
{
	return copy_between(dst, to, src, from, bytes, NULL, false);
}

DRIVER(cuMemcpyPeerAsync,
       (CUdeviceptr dst, CUcontext to, CUdeviceptr src, CUcontext from, size_t bytes,
	CUstream stream),
       dst, to, src, from, bytes, stream)
{
	return copy_between(dst, to, src, from, bytes, stream, true);
}

static CUresult fill(CUdeviceptr dst, unsigned char value, size_t bytes, CUstream stream)
{
	if (!soft_current())
		return CUDA_ERROR_INVALID_CONTEXT;
	soft_give(soft_stream_of(stream), &(struct soft_operation){.work = SOFT_FILL,
								   .to = AT(dst),
								   .value = value,
								   .bytes = bytes,
								   .target_device = -1,
								   .to_kind = kind_of(AT(dst))});
	return CUDA_SUCCESS;
}

DRIVER(cuMemsetD8_v2, (CUdeviceptr dst, unsigned char value, size_t count), dst, value, count)
{
	return fill(dst, value, count, NULL);
}

DRIVER(cuMemsetD8Async, (CUdeviceptr dst, unsigned char value, size_t count, CUstream stream), dst,
       value, count, stream)
{
	return fill(dst, value, count, stream);
}
