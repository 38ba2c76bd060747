/* SPDX-License-Identifier: Apache-2.0
 *
 * The stand-in for libcupti, told by the stand-in for libcuda what happens. It is built against NVIDIA's own headers of the
 * version under test: build.py finds there which struct each kind of record is (KERNEL_RECORD ...), and the names of
 * callbacks (names.inc).
 *
 * Where NVIDIA's documents state a rule, it is strict:
 *   - There is one subscriber; another one gets CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED.
 *   - Records of operations have a correlation only if calls are recorded, too.
 *   - A flush returns what is complete; a forced one returns the rest, with times of 0.
 *   - Times come from the callback that was registered for them, if there is one.
 * Assumed, as only a GPU can show it: the last who registers buffers gets them; a call of the driver inside one of the
 * runtime has its correlation, and no record of its own.
 */
#define _GNU_SOURCE
#include <cuda.h>
/* In this order. */
#include <cupti_version.h>

#include <cupti_activity.h>
#include <cupti_callbacks.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cuda/device.h"

#include "names.inc"

#define EXPORT __attribute__((visibility("default")))

enum {
	DOMAINS = 8,
	CALLBACKS = 2048,
	KINDS = 256,
	EXTERNAL_KINDS = 16,
	EXTERNAL_DEPTH = 64,
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool is_kind_on[KINDS];
static bool is_api_on[DOMAINS][CALLBACKS];
static bool is_callback_on[DOMAINS][CALLBACKS];
static CUpti_CallbackFunc subscriber;
static void *subscriber_data;
static CUpti_BuffersCallbackRequestFunc request;
static CUpti_BuffersCallbackCompleteFunc complete;
static struct {
	uint8_t *bytes;
	size_t size, used;
} buffer;
static size_t dropped;
static _Thread_local struct {
	uint64_t ids[EXTERNAL_DEPTH];
	int count;
} external[EXTERNAL_KINDS];

/* ---- buffers ------------------------------------------------------------------------------------------ */

/* Takes the buffer away; the lock is held. */
static void hand_over(void)
{
	uint8_t *bytes = buffer.bytes;
	size_t size = buffer.size, used = buffer.used;
	buffer.bytes = NULL;
	buffer.used = 0;
	if (!bytes || !complete)
		return;
	pthread_mutex_unlock(&lock);
	complete(NULL, 0, bytes, size, used);
	pthread_mutex_lock(&lock);
}

static void write_record(const void *record, size_t bytes)
{
	size_t most = 0;
	bytes = (bytes + 7) & ~(size_t)7;
	pthread_mutex_lock(&lock);
	if (buffer.bytes && buffer.used + bytes > buffer.size)
		hand_over();
	if (!buffer.bytes && request) {
		request(&buffer.bytes, &buffer.size, &most);
		buffer.used = 0;
	}
	if (buffer.bytes && buffer.used + bytes <= buffer.size) {
		memcpy(buffer.bytes + buffer.used, record, bytes);
		buffer.used += bytes;
	} else {
		dropped++;
	}
	pthread_mutex_unlock(&lock);
}

#define WRITE(type, what, ...)                                                        \
	do {                                                                          \
		union {                                                               \
			type record;                                                  \
			uint64_t room[(sizeof(type) + 7) / 8];                        \
		} all;                                                                \
		memset(&all, 0, sizeof all);                                          \
		all.record = (type){.kind = CUPTI_ACTIVITY_KIND_##what, __VA_ARGS__}; \
		if (is_kind_on[CUPTI_ACTIVITY_KIND_##what])                           \
			write_record(&all, sizeof(type));                             \
	} while (0)

/* ---- what the driver tells ------------------------------------------------------------------------------ */

static bool is_recorded(int domain, uint32_t cbid)
{
	CUpti_ActivityKind kind = domain == CUPTI_CB_DOMAIN_RUNTIME_API
					  ? CUPTI_ACTIVITY_KIND_RUNTIME
					  : CUPTI_ACTIVITY_KIND_DRIVER;
	return is_kind_on[kind] || (cbid < CALLBACKS && is_api_on[domain][cbid]);
}

static _Thread_local bool has_correlation; /* the call that goes on is recorded */

static void call_back(struct soft_frame *frame, CUpti_ApiCallbackSite site, int result)
{
	CUpti_CallbackData data = {.callbackSite = site,
				   .functionName = frame->name,
				   .functionParams = frame->parameters,
				   .functionReturnValue = &result,
				   .symbolName = frame->symbol,
				   .correlationData = &frame->data,
				   .correlationId = frame->correlation};
	struct soft_context *context = soft_current();
	data.context = (CUcontext)context;
	data.contextUid = context ? context->id : 0;
	if (subscriber && frame->cbid < CALLBACKS && is_callback_on[frame->domain][frame->cbid])
		subscriber(subscriber_data, (CUpti_CallbackDomain)frame->domain, frame->cbid,
			   &data);
}

static void on_enter(struct soft_frame *frame)
{
	if (!frame->outer)
		has_correlation = false;
	has_correlation |= is_recorded(frame->domain, frame->cbid);
	call_back(frame, CUPTI_API_ENTER, 0);
	for (int kind = 0; !frame->outer && kind < EXTERNAL_KINDS; kind++)
		if (external[kind].count > 0)
			WRITE(CUpti_ActivityExternalCorrelation, EXTERNAL_CORRELATION,
			      .correlationId = frame->correlation,
			      .externalKind = (CUpti_ExternalCorrelationKind)kind,
			      .externalId = external[kind].ids[external[kind].count - 1]);
}

static void on_leave(struct soft_frame *frame, int result)
{
	bool is_runtime = frame->domain == CUPTI_CB_DOMAIN_RUNTIME_API;
	call_back(frame, CUPTI_API_EXIT, result);
	if (!is_recorded(frame->domain, frame->cbid) || (!is_runtime && frame->outer))
		return;
	CUpti_ActivityAPI record = {.cbid = frame->cbid,
				    .start = frame->start_ns,
				    .end = soft_now_ns(),
				    .processId = (uint32_t)getpid(),
				    .threadId = (uint32_t)(uintptr_t)pthread_self(),
				    .correlationId = frame->correlation,
				    .returnValue = (uint32_t)result};
	record.kind = is_runtime ? CUPTI_ACTIVITY_KIND_RUNTIME : CUPTI_ACTIVITY_KIND_DRIVER;
	write_record(&record, sizeof record);
}

static void on_resource(enum soft_resource what, struct soft_context *context,
			struct soft_stream *stream)
{
	CUpti_ResourceData data = {.context = (CUcontext)context};
	data.resourceHandle.stream = (CUstream)stream;
	if (subscriber && is_callback_on[CUPTI_CB_DOMAIN_RESOURCE][what])
		subscriber(subscriber_data, CUPTI_CB_DOMAIN_RESOURCE, what, &data);
}

static void write_kernel(const struct soft_operation *of, uint32_t correlation)
{
	WRITE(KERNEL_RECORD, CONCURRENT_KERNEL, .start = of->start_ns, .end = of->end_ns,
	      .completed = of->end_ns, .deviceId = of->device, .contextId = of->context,
	      .streamId = of->stream, .gridX = (int32_t)of->grid[0], .gridY = (int32_t)of->grid[1],
	      .gridZ = (int32_t)of->grid[2], .blockX = (int32_t)of->block[0],
	      .blockY = (int32_t)of->block[1], .blockZ = (int32_t)of->block[2],
	      .staticSharedMemory = (int32_t)of->static_bytes,
	      .dynamicSharedMemory = (int32_t)of->shared_bytes,
	      .registersPerThread = (uint16_t)of->registers, .correlationId = correlation,
	      .name = of->name, .graphId = of->graph, .graphNodeId = of->node);
}

static void on_done(const struct soft_operation *of)
{
	uint32_t correlation = of->is_correlated ? of->correlation : 0;
	if (of->work == SOFT_KERNEL)
		write_kernel(of, correlation);
	else if (of->work == SOFT_COPY && of->target_device >= 0)
		WRITE(CUpti_ActivityMemcpyPtoP4, MEMCPY2, .copyKind = (uint8_t)of->direction,
		      .srcKind = (uint8_t)of->from_kind, .dstKind = (uint8_t)of->to_kind,
		      .flags = of->is_async, .bytes = of->bytes, .start = of->start_ns,
		      .end = of->end_ns, .deviceId = of->device, .contextId = of->context,
		      .streamId = of->stream, .srcDeviceId = of->device,
		      .dstDeviceId = (uint32_t)of->target_device, .correlationId = correlation,
		      .graphId = of->graph, .graphNodeId = of->node);
	else if (of->work == SOFT_COPY)
		WRITE(COPY_RECORD, MEMCPY, .copyKind = (uint8_t)of->direction,
		      .srcKind = (uint8_t)of->from_kind, .dstKind = (uint8_t)of->to_kind,
		      .flags = of->is_async, .bytes = of->bytes, .start = of->start_ns,
		      .end = of->end_ns, .deviceId = of->device, .contextId = of->context,
		      .streamId = of->stream, .correlationId = correlation, .graphId = of->graph,
		      .graphNodeId = of->node);
	else
		WRITE(FILL_RECORD, MEMSET, .value = (uint32_t)of->value, .bytes = of->bytes,
		      .start = of->start_ns, .end = of->end_ns, .deviceId = of->device,
		      .contextId = of->context, .streamId = of->stream,
		      .correlationId = correlation, .memoryKind = (uint16_t)of->to_kind,
		      .graphId = of->graph, .graphNodeId = of->node);
}

static uint32_t correlation_now(void)
{
	return soft_innermost ? soft_innermost->correlation : 0;
}

static void on_waited(int type, uint32_t context, uint32_t stream, uint32_t event,
		      uint64_t start_ns)
{
	WRITE(SYNCHRONISATION_RECORD, SYNCHRONIZATION,
	      .type = (CUpti_ActivitySynchronizationType)type, .start = start_ns,
	      .end = soft_now_ns(), .correlationId = correlation_now(), .contextId = context,
	      .streamId = stream, .cudaEventId = event);
}

static void on_overhead(int kind, uint64_t start_ns)
{
	WRITE(OVERHEAD_RECORD, OVERHEAD, .overheadKind = (CUpti_ActivityOverheadKind)kind,
	      .objectKind = CUPTI_ACTIVITY_OBJECT_THREAD,
	      .objectId.pt = {.processId = (uint32_t)getpid(),
			      .threadId = (uint32_t)(uintptr_t)pthread_self()},
	      .start = start_ns, .end = soft_now_ns());
}

static void on_memory(const struct soft_memory *memory)
{
	WRITE(MEMORY_RECORD, MEMORY2,
	      .memoryOperationType = memory->is_free
					     ? CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE
					     : CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION,
	      .memoryKind = (CUpti_ActivityMemoryKind)memory->kind,
	      .correlationId = correlation_now(), .address = memory->address,
	      .bytes = memory->bytes, .timestamp = soft_now_ns(), .processId = (uint32_t)getpid(),
	      .deviceId = (uint32_t)memory->device, .isAsync = memory->is_async,
	      .memoryPoolConfig.address = memory->pool);
}

static bool on_launch(void)
{
	return has_correlation;
}
static struct soft_tool tool = {on_enter,  on_leave,    on_done,   on_resource,
				on_waited, on_overhead, on_memory, on_launch};

static CUptiResult attach(void)
{
	soft_tool = &tool;
	return CUPTI_SUCCESS;
}

/* ---- subscribing ---------------------------------------------------------------------------------------- */

EXPORT CUptiResult CUPTIAPI cuptiGetVersion(uint32_t *version)
{
	*version = CUPTI_API_VERSION;
	return CUPTI_SUCCESS;
}

EXPORT CUptiResult CUPTIAPI cuptiGetTimestamp(uint64_t *timestamp)
{
	*timestamp = soft_now_ns();
	return CUPTI_SUCCESS;
}

EXPORT CUptiResult CUPTIAPI cuptiGetResultString(CUptiResult result, const char **text)
{
	*text = result ? "CUPTI_ERROR" : "CUPTI_SUCCESS";
	return CUPTI_SUCCESS;
}

EXPORT CUptiResult CUPTIAPI cuptiSubscribe(CUpti_SubscriberHandle *handle,
					   CUpti_CallbackFunc callback, void *data)
{
	if (subscriber)
		return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
	subscriber_data = data;
	subscriber = callback;
	*handle = (CUpti_SubscriberHandle)&subscriber;
	return attach();
}

EXPORT CUptiResult CUPTIAPI cuptiUnsubscribe(CUpti_SubscriberHandle handle)
{
	if (!subscriber || handle != (CUpti_SubscriberHandle)&subscriber)
		return CUPTI_ERROR_INVALID_PARAMETER;
	subscriber = NULL;
	memset(is_callback_on, 0, sizeof is_callback_on);
	return CUPTI_SUCCESS;
}

static bool is_right(CUpti_SubscriberHandle handle, CUpti_CallbackDomain domain)
{
	return subscriber && handle == (CUpti_SubscriberHandle)&subscriber && domain > 0 &&
	       (int)domain < DOMAINS;
}

EXPORT CUptiResult CUPTIAPI cuptiEnableCallback(uint32_t enable, CUpti_SubscriberHandle handle,
						CUpti_CallbackDomain domain, CUpti_CallbackId cbid)
{
	if (!is_right(handle, domain) || cbid >= CALLBACKS)
		return CUPTI_ERROR_INVALID_PARAMETER;
	is_callback_on[domain][cbid] = enable;
	return CUPTI_SUCCESS;
}

EXPORT CUptiResult CUPTIAPI cuptiEnableDomain(uint32_t enable, CUpti_SubscriberHandle handle,
					      CUpti_CallbackDomain domain)
{
	if (!is_right(handle, domain))
		return CUPTI_ERROR_INVALID_PARAMETER;
	memset(is_callback_on[domain], enable != 0, sizeof is_callback_on[domain]);
	return CUPTI_SUCCESS;
}

EXPORT CUptiResult CUPTIAPI cuptiGetCallbackName(CUpti_CallbackDomain domain, uint32_t cbid,
						 const char **name)
{
	*name = NULL;
	if (domain == CUPTI_CB_DOMAIN_RUNTIME_API &&
	    cbid < sizeof runtime_names / sizeof *runtime_names)
		*name = runtime_names[cbid];
	if (domain == CUPTI_CB_DOMAIN_DRIVER_API &&
	    cbid < sizeof driver_names / sizeof *driver_names)
		*name = driver_names[cbid];
	return *name ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

/* ---- activity ------------------------------------------------------------------------------------------- */

EXPORT CUptiResult CUPTIAPI cuptiActivityEnable(CUpti_ActivityKind kind)
{
	is_kind_on[kind % KINDS] = true;
	return attach();
}

EXPORT CUptiResult CUPTIAPI cuptiActivityDisable(CUpti_ActivityKind kind)
{
	is_kind_on[kind % KINDS] = false;
	return CUPTI_SUCCESS;
}

EXPORT CUptiResult CUPTIAPI cuptiActivityEnableRuntimeApi(CUpti_CallbackId cbid, uint8_t enable)
{
	is_api_on[CUPTI_CB_DOMAIN_RUNTIME_API][cbid % CALLBACKS] = enable;
	return attach();
}

EXPORT CUptiResult CUPTIAPI cuptiActivityEnableDriverApi(CUpti_CallbackId cbid, uint8_t enable)
{
	is_api_on[CUPTI_CB_DOMAIN_DRIVER_API][cbid % CALLBACKS] = enable;
	return attach();
}

EXPORT CUptiResult CUPTIAPI cuptiActivityRegisterCallbacks(
	CUpti_BuffersCallbackRequestFunc on_request, CUpti_BuffersCallbackCompleteFunc on_complete)
{
	pthread_mutex_lock(&lock);
	request = on_request;
	complete = on_complete;
	pthread_mutex_unlock(&lock);
	return CUPTI_SUCCESS;
}

EXPORT CUptiResult CUPTIAPI
cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc clock)
{
	soft_set_clock(clock);
	return CUPTI_SUCCESS;
}

EXPORT CUptiResult CUPTIAPI cuptiActivityFlushAll(uint32_t flag)
{
	if (flag & CUPTI_ACTIVITY_FLAG_FLUSH_FORCED)
		soft_tell_unfinished(on_done);
	pthread_mutex_lock(&lock);
	hand_over();
	pthread_mutex_unlock(&lock);
	return CUPTI_SUCCESS;
}

EXPORT CUptiResult CUPTIAPI cuptiActivityGetNumDroppedRecords(CUcontext context, uint32_t stream,
							      size_t *ret_dropped)
{
	(void)context, (void)stream;
	*ret_dropped = dropped;
	dropped = 0;
	return CUPTI_SUCCESS;
}

static size_t bytes_of(CUpti_ActivityKind kind)
{
	switch (kind) {
	case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
		return sizeof(KERNEL_RECORD);
	case CUPTI_ACTIVITY_KIND_MEMCPY:
		return sizeof(COPY_RECORD);
	case CUPTI_ACTIVITY_KIND_MEMSET:
		return sizeof(FILL_RECORD);
	case CUPTI_ACTIVITY_KIND_MEMCPY2:
		return sizeof(CUpti_ActivityMemcpyPtoP4);
	case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
		return sizeof(SYNCHRONISATION_RECORD);
	case CUPTI_ACTIVITY_KIND_OVERHEAD:
		return sizeof(OVERHEAD_RECORD);
	case CUPTI_ACTIVITY_KIND_MEMORY2:
		return sizeof(MEMORY_RECORD);
	case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION:
		return sizeof(CUpti_ActivityExternalCorrelation);
	case CUPTI_ACTIVITY_KIND_RUNTIME:
	case CUPTI_ACTIVITY_KIND_DRIVER:
		return sizeof(CUpti_ActivityAPI);
	default:
		return 0;
	}
}

EXPORT CUptiResult CUPTIAPI cuptiActivityGetNextRecord(uint8_t *bytes, size_t used,
						       CUpti_Activity **record)
{
	uint8_t *next = bytes;
	if (*record)
		next = (uint8_t *)*record + ((bytes_of((*record)->kind) + 7) & ~(size_t)7);
	if (!bytes || next >= bytes + used)
		return CUPTI_ERROR_MAX_LIMIT_REACHED;
	*record = (CUpti_Activity *)next;
	return CUPTI_SUCCESS;
}

EXPORT CUptiResult CUPTIAPI
cuptiActivityPushExternalCorrelationId(CUpti_ExternalCorrelationKind kind, uint64_t id)
{
	if ((int)kind >= EXTERNAL_KINDS || external[kind].count == EXTERNAL_DEPTH)
		return CUPTI_ERROR_INVALID_PARAMETER;
	external[kind].ids[external[kind].count++] = id;
	return CUPTI_SUCCESS;
}

EXPORT CUptiResult CUPTIAPI
cuptiActivityPopExternalCorrelationId(CUpti_ExternalCorrelationKind kind, uint64_t *last)
{
	if ((int)kind >= EXTERNAL_KINDS || external[kind].count == 0)
		return CUPTI_ERROR_QUEUE_EMPTY;
	external[kind].count--;
	if (last)
		*last = external[kind].ids[external[kind].count];
	return CUPTI_SUCCESS;
}

/* ---- ids ------------------------------------------------------------------------------------------------ */

EXPORT CUptiResult CUPTIAPI cuptiGetContextId(CUcontext context, uint32_t *id)
{
	*id = context ? ((struct soft_context *)context)->id : 0;
	return context ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_CONTEXT;
}

EXPORT CUptiResult CUPTIAPI cuptiGetDeviceId(CUcontext context, uint32_t *id)
{
	*id = context ? (uint32_t)((struct soft_context *)context)->device : 0;
	return context ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_CONTEXT;
}

EXPORT CUptiResult CUPTIAPI cuptiGetStreamIdEx(CUcontext context, CUstream stream,
					       uint8_t is_per_thread, uint32_t *id)
{
	struct soft_context *of = (struct soft_context *)context;
	if (!context)
		return CUPTI_ERROR_INVALID_CONTEXT;
	if (stream == CU_STREAM_PER_THREAD || (!stream && is_per_thread))
		*id = soft_stream_of_thread(of)->id;
	else if (!stream || stream == CU_STREAM_LEGACY)
		*id = of->default_stream->id;
	else
		*id = ((struct soft_stream *)stream)->id;
	return CUPTI_SUCCESS;
}

EXPORT CUptiResult CUPTIAPI cuptiFinalize(void)
{
	memset(is_kind_on, 0, sizeof is_kind_on);
	memset(is_api_on, 0, sizeof is_api_on);
	subscriber = NULL;
	return CUPTI_SUCCESS;
}
