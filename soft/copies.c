/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies and fills. With a stream they return at once and run in the order of the stream; without one
 * they block.
 */
#include "device.h"

static void read_device(cl_command_queue queue, cl_bool blocking, void *host,
			const SP_DeviceMemoryBase *memory, uint64_t size_bytes, TF_Status *status)
{
	struct mr_place place;

	if (size_bytes == 0 || !mr_memory_find(memory->opaque, &place, status))
		return;
	mr_opencl_failed(status,
			 clEnqueueReadBuffer(queue, place.buffer, blocking, place.offset_bytes,
					     size_bytes, host, 0, NULL, NULL),
			 "clEnqueueReadBuffer");
	clFlush(queue);
}

static void write_device(cl_command_queue queue, cl_bool blocking,
			 const SP_DeviceMemoryBase *memory, const void *host, uint64_t size_bytes,
			 TF_Status *status)
{
	struct mr_place place;

	if (size_bytes == 0 || !mr_memory_find(memory->opaque, &place, status))
		return;
	mr_opencl_failed(status,
			 clEnqueueWriteBuffer(queue, place.buffer, blocking, place.offset_bytes,
					      size_bytes, host, 0, NULL, NULL),
			 "clEnqueueWriteBuffer");
	clFlush(queue);
}

static void copy_device(cl_command_queue queue, const void *destination, const void *source,
			uint64_t size_bytes, TF_Status *status)
{
	struct mr_place to, from;

	if (size_bytes == 0 || !mr_memory_find(destination, &to, status) ||
	    !mr_memory_find(source, &from, status))
		return;
	mr_opencl_failed(status,
			 clEnqueueCopyBuffer(queue, from.buffer, to.buffer, from.offset_bytes,
					     to.offset_bytes, size_bytes, 0, NULL, NULL),
			 "clEnqueueCopyBuffer");
	clFlush(queue);
}

static void fill_device(cl_command_queue queue, const SP_DeviceMemoryBase *memory,
			const void *pattern, size_t pattern_bytes, uint64_t size_bytes,
			TF_Status *status)
{
	struct mr_place place;

	if (size_bytes == 0 || !mr_memory_find(memory->opaque, &place, status))
		return;
	mr_opencl_failed(status,
			 clEnqueueFillBuffer(queue, place.buffer, pattern, pattern_bytes,
					     place.offset_bytes, size_bytes, 0, NULL, NULL),
			 "clEnqueueFillBuffer");
	clFlush(queue);
}

static cl_command_queue own_queue(const SP_Device *device)
{
	return ((struct mr_device *)device->device_handle)->queue;
}

void mr_copy_on_device(SP_Stream stream, void *destination, const void *source, uint64_t size_bytes,
		       TF_Status *status)
{
	copy_device(stream->queue, destination, source, size_bytes, status);
}

static void copy_to_host(const SP_Device *device, SP_Stream stream, void *host,
			 const SP_DeviceMemoryBase *memory, uint64_t size_bytes, TF_Status *status)
{
	(void)device;
	read_device(stream->queue, CL_FALSE, host, memory, size_bytes, status);
}

static void copy_from_host(const SP_Device *device, SP_Stream stream, SP_DeviceMemoryBase *memory,
			   const void *host, uint64_t size_bytes, TF_Status *status)
{
	(void)device;
	write_device(stream->queue, CL_FALSE, memory, host, size_bytes, status);
}

static void copy_between(const SP_Device *device, SP_Stream stream,
			 SP_DeviceMemoryBase *destination, const SP_DeviceMemoryBase *source,
			 uint64_t size_bytes, TF_Status *status)
{
	(void)device;
	copy_device(stream->queue, destination->opaque, source->opaque, size_bytes, status);
}

static void copy_to_host_now(const SP_Device *device, void *host, const SP_DeviceMemoryBase *memory,
			     uint64_t size_bytes, TF_Status *status)
{
	read_device(own_queue(device), CL_TRUE, host, memory, size_bytes, status);
}

static void copy_from_host_now(const SP_Device *device, SP_DeviceMemoryBase *memory,
			       const void *host, uint64_t size_bytes, TF_Status *status)
{
	write_device(own_queue(device), CL_TRUE, memory, host, size_bytes, status);
}

static void copy_between_now(const SP_Device *device, SP_DeviceMemoryBase *destination,
			     const SP_DeviceMemoryBase *source, uint64_t size_bytes,
			     TF_Status *status)
{
	copy_device(own_queue(device), destination->opaque, source->opaque, size_bytes, status);
	clFinish(own_queue(device));
}

static void fill_zero(const SP_Device *device, SP_Stream stream, SP_DeviceMemoryBase *memory,
		      uint64_t size_bytes, TF_Status *status)
{
	(void)device;
	fill_device(stream->queue, memory, &(uint8_t){0}, 1, size_bytes, status);
}

static void fill_bytes(const SP_Device *device, SP_Stream stream, SP_DeviceMemoryBase *memory,
		       uint8_t pattern, uint64_t size_bytes, TF_Status *status)
{
	(void)device;
	fill_device(stream->queue, memory, &pattern, sizeof(pattern), size_bytes, status);
}

static void fill_words(const SP_Device *device, SP_Stream stream, SP_DeviceMemoryBase *memory,
		       uint32_t pattern, uint64_t size_bytes, TF_Status *status)
{
	(void)device;
	fill_device(stream->queue, memory, &pattern, sizeof(pattern), size_bytes, status);
}

void mr_copies_describe(SP_StreamExecutor *executor)
{
	executor->memcpy_dtoh = copy_to_host;
	executor->memcpy_htod = copy_from_host;
	executor->memcpy_dtod = copy_between;
	executor->sync_memcpy_dtoh = copy_to_host_now;
	executor->sync_memcpy_htod = copy_from_host_now;
	executor->sync_memcpy_dtod = copy_between_now;
	executor->mem_zero = fill_zero;
	executor->memset = fill_bytes;
	executor->memset32 = fill_words;
}
