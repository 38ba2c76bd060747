/* SPDX-License-Identifier: Apache-2.0
 *
 * What is used of CUPTI, NVIDIA's library for tracers: functions found at run time, and where the members of its records
 * and parameters lie. No header of NVIDIA is needed to build. Members have had the same places in all versions from 11.7
 * to 13.4; new ones were added at the end. tests/live/test_cuda_layout.py compares this with NVIDIA's own headers.
 */
#ifndef MR_HOOK_CUDA_CUPTI_H
#define MR_HOOK_CUDA_CUPTI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum {
	MR_CUPTI_SUCCESS = 0,
	MR_CUPTI_ERROR_MAX_LIMIT_REACHED = 12, /* there are no more records */
	MR_CUPTI_ERROR_MULTIPLE_SUBSCRIBERS = 39,
	MR_CUPTI_FLUSH_FORCED = 1,
	MR_CUPTI_CALLBACKS = 2048, /* of a domain; numbers beyond are not traced */
};

enum mr_cupti_domain {
	MR_CUPTI_DRIVER = 1,
	MR_CUPTI_RUNTIME = 2,
	MR_CUPTI_RESOURCE = 3,
	MR_CUPTI_DOMAINS = 8, /* more than there are */
};

enum mr_cupti_resource {
	MR_CUPTI_STREAM_DESTROY_STARTING = 4,
};

enum mr_cupti_kind {
	MR_CUPTI_KIND_MEMCPY = 1,
	MR_CUPTI_KIND_MEMSET = 2,
	MR_CUPTI_KIND_DRIVER = 4,
	MR_CUPTI_KIND_RUNTIME = 5,
	MR_CUPTI_KIND_CONCURRENT_KERNEL = 10,
	MR_CUPTI_KIND_OVERHEAD = 17,
	MR_CUPTI_KIND_MEMCPY2 = 22,
	MR_CUPTI_KIND_SYNCHRONIZATION = 38,
	MR_CUPTI_KIND_EXTERNAL_CORRELATION = 39,
	MR_CUPTI_KIND_MEMORY2 = 49,
	MR_CUPTI_KINDS = 256, /* more than there are */
};

/* CUpti_CallbackData */
struct mr_cupti_call {
	int32_t site; /* 0: the function is entered; 1: left */
	const char *function;
	const void *parameters;
	const void *result;
	const char *symbol;
	void *context;
	uint32_t context_id;
	uint64_t *data;
	uint32_t correlation;
};

/* CUpti_ResourceData */
struct mr_cupti_resource_data {
	void *context;
	void *stream;
	void *descriptor;
};

/* Places of members in a record. 0: it has none. A record has `length` bytes at least. */
struct mr_cupti_layout {
	uint16_t length;
	uint16_t what; /* of several things that a record of this kind may be about */
	uint16_t start, end, device, context, stream, correlation;
	uint16_t bytes, name, copy_kind, source_kind, target_kind, memory_kind, target_device;
	uint16_t graph, graph_node, registers, static_bytes, dynamic_bytes;
	uint16_t event, object, thread, number, address, pool, time;
};

extern const struct mr_cupti_layout mr_cupti_kernel;
extern const struct mr_cupti_layout mr_cupti_copy;
extern const struct mr_cupti_layout mr_cupti_peer_copy;
extern const struct mr_cupti_layout mr_cupti_fill;
extern const struct mr_cupti_layout mr_cupti_synchronisation;
extern const struct mr_cupti_layout mr_cupti_overhead;
extern const struct mr_cupti_layout mr_cupti_newer_overhead; /* from 12.4 on */
extern const struct mr_cupti_layout mr_cupti_external;
extern const struct mr_cupti_layout mr_cupti_memory;

/* A record has no queue or no event. */
#define MR_CUPTI_NONE UINT32_MAX

enum {
	MR_CUPTI_SMALLEST_RECORD = 8,
	MR_CUPTI_OBJECT_THREAD = 2,
	MR_CUPTI_MEMORY_ALLOCATION = 1,
	MR_CUPTI_MEMORY_RELEASE = 2,
};

static inline uint32_t mr_cupti_word(const uint8_t *record, uint16_t place)
{
	uint32_t value;
	memcpy(&value, record + place, sizeof value);
	return value;
}

static inline uint64_t mr_cupti_number(const uint8_t *record, uint16_t place)
{
	uint64_t value;
	memcpy(&value, record + place, sizeof value);
	return value;
}

typedef void mr_cupti_callback(void *data, int domain, uint32_t number, const void *call);
typedef void mr_cupti_request(uint8_t **ret_buffer, size_t *ret_bytes, size_t *ret_most);
typedef void mr_cupti_complete(void *context, uint32_t stream, uint8_t *buffer, size_t bytes,
			       size_t used);
typedef uint64_t mr_cupti_clock(void);

/* MR_CUPTI(name, parameters): all return a CUptiResult. */
#define MR_CUPTI_FUNCTIONS(MR_CUPTI)                                                               \
	MR_CUPTI(cuptiGetVersion, (uint32_t * ret_version))                                        \
	MR_CUPTI(cuptiGetTimestamp, (uint64_t * ret_ns))                                           \
	MR_CUPTI(cuptiSubscribe, (void **ret_subscriber, mr_cupti_callback *callback, void *data)) \
	MR_CUPTI(cuptiEnableDomain, (uint32_t enable, void *subscriber, int domain))               \
	MR_CUPTI(cuptiEnableCallback,                                                              \
		 (uint32_t enable, void *subscriber, int domain, uint32_t number))                 \
	MR_CUPTI(cuptiGetCallbackName, (int domain, uint32_t number, const char **ret_name))       \
	MR_CUPTI(cuptiActivityEnable, (int kind))                                                  \
	MR_CUPTI(cuptiActivityDisable, (int kind))                                                 \
	MR_CUPTI(cuptiActivityRegisterCallbacks,                                                   \
		 (mr_cupti_request * request, mr_cupti_complete * complete))                       \
	MR_CUPTI(cuptiActivityFlushAll, (uint32_t flags))                                          \
	MR_CUPTI(cuptiActivityGetNextRecord, (uint8_t * buffer, size_t used, uint8_t * *record))   \
	MR_CUPTI(cuptiActivityGetNumDroppedRecords,                                                \
		 (void *context, uint32_t stream, size_t *ret_count))                              \
	MR_CUPTI(cuptiGetContextId, (void *context, uint32_t *ret_id))                             \
	MR_CUPTI(cuptiGetDeviceId, (void *context, uint32_t *ret_id))                              \
	MR_CUPTI(cuptiGetStreamIdEx,                                                               \
		 (void *context, void *stream, uint8_t is_per_thread, uint32_t *ret_id))

/* Those that only newer versions have; NULL if this one does not. */
#define MR_CUPTI_NEWER(MR_CUPTI)                                                   \
	MR_CUPTI(cuptiActivityEnableRuntimeApi, (uint32_t number, uint8_t enable)) \
	MR_CUPTI(cuptiActivityEnableDriverApi, (uint32_t number, uint8_t enable))

struct mr_cupti {
#define MEMBER(name, parameters) int(*name) parameters;
	MR_CUPTI_FUNCTIONS(MEMBER)
	MR_CUPTI_NEWER(MEMBER)
#undef MEMBER
};

extern struct mr_cupti mr_cupti;

/* Finds libcupti, loads it if need be, and fills mr_cupti. False if there is none, or functions are missing. (library.c) */
bool mr_cupti_load(void);

#endif
