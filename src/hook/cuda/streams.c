/* SPDX-License-Identifier: Apache-2.0
 *
 * Streams, devices, and the clock of their times. Calls name streams by handles, records by CUPTI's ids of context and
 * stream; both lead to the same struct. A thread remembers the last stream it looked up.
 */
#include <stdio.h>

#include "hook/cuda/cuda.h"
#include "hook/symbols.h"
#include "record/own_call.h"

enum {
	NAME_BYTES = 256,
	UUID_BYTES = 16,
};

#define LEGACY_STREAM     ((void *)1)
#define PER_THREAD_STREAM ((void *)2)

static _Thread_local struct {
	const void *context;
	const void *handle;
	uint64_t generation;
	uint32_t changes;
	bool is_per_thread;
	struct mr_cuda_stream *stream;
} memo __attribute__((tls_model("initial-exec")));

/* ---- clock ---------------------------------------------------------------------------------------------- */

static bool read_clock(void *unused, uint64_t *ret_ns)
{
	(void)unused;
	mr_cupti_clock *foreign =
		atomic_load_explicit(&mr_cuda->foreign_clock, memory_order_relaxed);
	if (foreign) {
		*ret_ns = foreign();
		return true;
	}
	return mr_cupti.cuptiGetTimestamp(ret_ns) == MR_CUPTI_SUCCESS;
}

void mr_cuda_clock_note(void)
{
	struct mr_bracket bracket = {.before = mr_ticks_now()};
	if (!mr_cuda->clock.id || !read_clock(NULL, &bracket.value))
		return;
	bracket.after = mr_ticks_now();
	mr_device_clock_note(&mr_cuda->clock, &bracket);
}

void mr_cuda_clock_open(mr_cupti_clock *foreign)
{
	if (mr_cuda->clock.id)
		mr_device_clock_close(&mr_cuda->clock);
	atomic_store_explicit(&mr_cuda->foreign_clock, foreign, memory_order_relaxed);
	memset(&mr_cuda->clock, 0, sizeof mr_cuda->clock);
	mr_device_clock_open(&mr_cuda->clock, mr_define_string("CUPTI"), read_clock, NULL);
	atomic_fetch_add_explicit(&mr_cuda->epoch, 1, memory_order_release);
	mr_cuda_clock_note();
}

/* ---- devices -------------------------------------------------------------------------------------------- */

typedef int get_name_function(char *name, int bytes, int device);
typedef int get_uuid_function(unsigned char *uuid, int device);
typedef int get_memory_function(size_t *bytes, int device);

/* "uuid 8c51...": parts of one GPU (MIG) have one each. */
static void identify(uint32_t device, uint32_t ordinal)
{
	get_uuid_function *get_uuid = (get_uuid_function *)mr_symbol_find("cuDeviceGetUuid_v2");
	if (!get_uuid)
		get_uuid = (get_uuid_function *)mr_symbol_find("cuDeviceGetUuid");
	unsigned char uuid[UUID_BYTES];
	char identity[8 + 2 * UUID_BYTES];
	if (!get_uuid || get_uuid(uuid, (int)ordinal) != 0)
		return;
	char *end = identity + sprintf(identity, "uuid ");
	for (int i = 0; i < UUID_BYTES; i++)
		end += sprintf(end, "%02x", uuid[i]);
	mr_define_device_identity(device, identity);
}

static void measure(uint32_t device, uint32_t ordinal)
{
	get_memory_function *get_memory =
		(get_memory_function *)mr_symbol_find("cuDeviceTotalMem_v2");
	size_t bytes;
	if (get_memory && get_memory(&bytes, (int)ordinal) == 0)
		mr_define_device_memory(device, bytes);
}

/* The lock of making devices is held. */
static void define_device(struct mr_cuda_device *device, uint32_t ordinal, uint32_t epoch)
{
	get_name_function *get_name = (get_name_function *)mr_symbol_find("cuDeviceGetName");
	char name[NAME_BYTES] = "";
	if (!get_name || get_name(name, sizeof name, (int)ordinal) != 0 || !name[0])
		snprintf(name, sizeof name, "GPU %u", ordinal);
	device->id =
		mr_define_device(mr_define_string(name), mr_cuda->clock.id, MR_device_kind_gpu);
	device->epoch = epoch;
	if (device->id) {
		identify(device->id, ordinal);
		measure(device->id, ordinal);
	}
}

uint32_t mr_cuda_device_of(uint32_t ordinal)
{
	uint32_t epoch = atomic_load_explicit(&mr_cuda->epoch, memory_order_acquire);
	if (ordinal >= MR_CUDA_DEVICES || !mr_lock(&mr_cuda->lock))
		return 0;
	struct mr_cuda_device *device = &mr_cuda->devices[ordinal];
	if (!device->id || device->epoch != epoch) {
		mr_cuda_is_own_call = true;
		define_device(device, ordinal, epoch);
		mr_cuda_is_own_call = false;
	}
	mr_unlock(&mr_cuda->lock);
	return device->id;
}

uint32_t mr_cuda_device_of_context(void *context)
{
	uint32_t ordinal;
	if (!mr_cuda->clock.id || !context ||
	    mr_cupti.cuptiGetDeviceId(context, &ordinal) != MR_CUPTI_SUCCESS)
		return 0;
	return mr_cuda_device_of(ordinal);
}

/* ---- streams -------------------------------------------------------------------------------------------- */

static void define_queue(struct mr_cuda_stream *stream, uint32_t epoch)
{
	char name[32];
	uint32_t device = mr_cuda_device_of(stream->device);
	snprintf(name, sizeof name, "stream %u", stream->id);
	uint32_t queue =
		mr_define_queue(device, mr_define_string(name), MR_queue_order_in_order, false);
	atomic_store_explicit(&stream->queue, queue, memory_order_relaxed);
	atomic_store_explicit(&stream->epoch, epoch, memory_order_release);
}

uint32_t mr_cuda_queue_of(struct mr_cuda_stream *stream)
{
	uint32_t epoch = atomic_load_explicit(&mr_cuda->epoch, memory_order_acquire);
	if (mr_unlikely(atomic_load_explicit(&stream->epoch, memory_order_acquire) != epoch) &&
	    mr_lock(&stream->lock)) {
		if (atomic_load_explicit(&stream->epoch, memory_order_relaxed) != epoch)
			define_queue(stream, epoch);
		mr_unlock(&stream->lock);
	}
	return atomic_load_explicit(&stream->queue, memory_order_relaxed);
}

static const void *key_of_ids(uint32_t context_id, uint32_t id)
{
	return (const void *)(UINT64_C(1) << 63 | (uint64_t)context_id << 32 | id);
}

static struct mr_cuda_stream *add_stream(uint32_t device, uint32_t context_id, uint32_t id)
{
	struct mr_cuda_stream *stream = mr_own_map(sizeof *stream);
	if (!stream)
		return NULL;
	stream->device = device;
	stream->context_id = context_id;
	stream->id = id;
	stream->next = atomic_load_explicit(&mr_cuda->streams, memory_order_relaxed);
	const struct mr_handle entry = {
		.handle = key_of_ids(context_id, id), .owner = stream, .references = 1};
	mr_handle_put(&mr_cuda->streams_by_id, &entry);
	atomic_store_explicit(&mr_cuda->streams, stream, memory_order_release);
	return stream;
}

struct mr_cuda_stream *mr_cuda_stream_known(uint32_t context_id, uint32_t id)
{
	struct mr_handle entry = {0};
	bool is_known = mr_handle_get(&mr_cuda->streams_by_id, key_of_ids(context_id, id), &entry);
	return is_known ? entry.owner : NULL;
}

struct mr_cuda_stream *mr_cuda_stream_by_id(uint32_t device, uint32_t context_id, uint32_t id)
{
	struct mr_cuda_stream *stream = mr_cuda_stream_known(context_id, id);
	if (mr_likely(stream != NULL) || !mr_lock(&mr_cuda->lock))
		return stream;
	stream = mr_cuda_stream_known(context_id, id);
	if (!stream)
		stream = add_stream(device, context_id, id);
	mr_unlock(&mr_cuda->lock);
	return stream;
}

/* Handles of default streams are small numbers, the same in all contexts. */
static const void *key_of_handle(const void *context, const void *handle)
{
	return (uintptr_t)handle <= (uintptr_t)LEGACY_STREAM ? (const char *)context + 1 : handle;
}

static struct mr_cuda_stream *ask_cupti(void *context, void *handle, bool is_per_thread)
{
	uint32_t device = 0, context_id = 0, id = 0;
	if (mr_cupti.cuptiGetContextId(context, &context_id) != MR_CUPTI_SUCCESS ||
	    mr_cupti.cuptiGetDeviceId(context, &device) != MR_CUPTI_SUCCESS ||
	    mr_cupti.cuptiGetStreamIdEx(context, handle == PER_THREAD_STREAM ? NULL : handle,
					is_per_thread, &id) != MR_CUPTI_SUCCESS)
		return NULL;
	return mr_cuda_stream_by_id(device, context_id, id);
}

static struct mr_cuda_stream *look_up(void *context, void *handle, bool is_own)
{
	const void *key = key_of_handle(context, handle);
	struct mr_handle entry = {0};
	if (!is_own && mr_handle_get(&mr_cuda->streams_by_handle, key, &entry))
		return entry.owner;
	struct mr_cuda_stream *stream = ask_cupti(context, handle, is_own);
	if (stream && !is_own) {
		entry = (struct mr_handle){.handle = key, .owner = stream, .references = 1};
		mr_handle_put(&mr_cuda->streams_by_handle, &entry);
		if (key != handle)
			stream->is_default = true;
	}
	return stream;
}

struct mr_cuda_stream *mr_cuda_stream_find(void *context, void *handle, bool is_per_thread)
{
	uint32_t changes = atomic_load_explicit(&mr_cuda->changes, memory_order_acquire);
	if (mr_likely(memo.handle == handle && memo.context == context && memo.stream &&
		      memo.changes == changes && memo.is_per_thread == is_per_thread &&
		      memo.generation == mr_this_process.generation))
		return memo.stream;
	if (!context)
		return NULL;
	bool is_own = handle == PER_THREAD_STREAM || (is_per_thread && !handle);
	struct mr_cuda_stream *stream = look_up(context, handle, is_own);
	memo.handle = handle;
	memo.context = context;
	memo.is_per_thread = is_per_thread;
	memo.changes = changes;
	memo.generation = mr_this_process.generation;
	memo.stream = stream;
	return stream;
}

void mr_cuda_stream_forget(void *handle)
{
	struct mr_handle unused;
	mr_handle_change(&mr_cuda->streams_by_handle, handle, -1, 0, &unused);
	atomic_fetch_add_explicit(&mr_cuda->changes, 1, memory_order_release);
}

/* Default streams cannot be told apart here, as there is no context. */
void mr_cuda_stream_name(void *handle, const char *name)
{
	struct mr_handle entry = {0};
	if (!mr_cuda || !mr_cuda->clock.id || (uintptr_t)handle <= (uintptr_t)PER_THREAD_STREAM ||
	    !mr_handle_get(&mr_cuda->streams_by_handle, handle, &entry))
		return;
	const struct mr_event_def_queue_name named = {.queue = mr_cuda_queue_of(entry.owner)};
	mr_define_event(MR_EVENT_def_queue_name, &named, sizeof named, name);
}
