/* SPDX-License-Identifier: Apache-2.0
 *
 * Records of CUPTI that are not about operations: calls that wait, what CUDA and CUPTI do besides the program's work, numbers
 * that other tools give to calls, and memory. All name calls by correlations, as operations do; the model joins them.
 */
#include <pthread.h>
#include <unistd.h>

#include "hook/cuda/cuda.h"
#include "record/own_call.h"

enum {
	OVERHEAD_KINDS = 9,
	SYNCHRONISATION_KINDS = 5,
	LAST_MEMORY_KIND = 7,
};

/* CUPTI's kinds above the first two are multiples of 65536. */
static const char *const overheads[OVERHEAD_KINDS] = {
	"CUPTI: unknown",
	"CUPTI: buffer flush",
	"CUPTI: instrumentation",
	"CUPTI: resources",
	"CUDA: module loading",
	"CUDA: lazy function loading",
	"CUDA: command buffer full",
	"CUPTI: buffer request",
	"CUDA: managed memory tracing",
};

static uint32_t name_of_overhead(uint32_t kind)
{
	if (kind == 1)
		return mr_define_string("CUDA: compilation");
	bool is_known = (kind & 0xffff) == 0 && kind >> 16 < OVERHEAD_KINDS;
	return mr_define_string(overheads[is_known ? kind >> 16 : 0]);
}

/* ---- threads ------------------------------------------------------------------------------------------- */

/* CUPTI calls a thread by the lower half of pthread_self(). */
static const void *key_of_thread(uint32_t thread)
{
	return (const void *)(UINT64_C(1) << 63 | thread);
}

void mr_cuda_note_thread(void)
{
	const struct mr_handle entry = {.handle =
						key_of_thread((uint32_t)(uintptr_t)pthread_self()),
					.value = (uint64_t)mr_own_call(SYS_gettid),
					.references = 1};
	mr_handle_put(&mr_cuda->threads, &entry);
}

static uint32_t tid_of(const uint8_t *record, const struct mr_cupti_layout *layout)
{
	struct mr_handle entry = {0};
	uint32_t thread = mr_cupti_word(record, layout->thread);
	if (mr_cupti_word(record, layout->object) != MR_CUPTI_OBJECT_THREAD ||
	    !mr_handle_get(&mr_cuda->threads, key_of_thread(thread), &entry))
		return 0;
	return (uint32_t)entry.value;
}

/* ---- records ------------------------------------------------------------------------------------------- */

static void add_synchronisation(const uint8_t *record)
{
	const struct mr_cupti_layout *layout = &mr_cupti_synchronisation;
	uint32_t id = mr_cupti_word(record, layout->stream),
		 event = mr_cupti_word(record, layout->event),
		 kind = mr_cupti_word(record, layout->what);
	struct mr_cuda_stream *stream =
		id == MR_CUPTI_NONE
			? NULL
			: mr_cuda_stream_known(mr_cupti_word(record, layout->context), id);
	mr_emit(runtime_synchronisation,
		.correlation = mr_cuda_correlation(mr_cupti_word(record, layout->correlation)),
		.queue = stream ? mr_cuda_queue_of(stream) : 0, .clock = mr_cuda->clock.id,
		.start = mr_cupti_number(record, layout->start),
		.end = mr_cupti_number(record, layout->end),
		.event = event == MR_CUPTI_NONE ? 0 : event,
		.kind = kind < SYNCHRONISATION_KINDS ? (uint8_t)kind : 0);
}

static void add_overhead(const uint8_t *record, const struct mr_cupti_layout *layout)
{
	uint32_t correlation = layout->correlation ? mr_cupti_word(record, layout->correlation) : 0;
	mr_emit(runtime_overhead, .name = name_of_overhead(mr_cupti_word(record, layout->what)),
		.clock = mr_cuda->clock.id, .start = mr_cupti_number(record, layout->start),
		.end = mr_cupti_number(record, layout->end), .tid = tid_of(record, layout),
		.correlation = mr_cuda_correlation(correlation));
}

static void add_external(const uint8_t *record)
{
	const struct mr_cupti_layout *layout = &mr_cupti_external;
	mr_emit(runtime_external,
		.correlation = mr_cuda_correlation(mr_cupti_word(record, layout->correlation)),
		.number = mr_cupti_number(record, layout->number),
		.kind = (uint8_t)mr_min(mr_cupti_word(record, layout->what), 255u));
}

static void add_memory(const uint8_t *record)
{
	const struct mr_cupti_layout *layout = &mr_cupti_memory;
	uint32_t operation = mr_cupti_word(record, layout->what),
		 kind = mr_cupti_word(record, layout->memory_kind);
	bool is_on_host = kind == MR_memory_kind_pageable || kind == MR_memory_kind_pinned;
	if (operation != MR_CUPTI_MEMORY_ALLOCATION && operation != MR_CUPTI_MEMORY_RELEASE)
		return;
	mr_emit(runtime_memory,
		.correlation = mr_cuda_correlation(mr_cupti_word(record, layout->correlation)),
		.object = mr_cupti_number(record, layout->address),
		.bytes = mr_cupti_number(record, layout->bytes),
		.pool = mr_cupti_number(record, layout->pool), .clock = mr_cuda->clock.id,
		.time = mr_cupti_number(record, layout->time),
		.device = is_on_host ? 0 : mr_cuda_device_of(mr_cupti_word(record, layout->device)),
		.kind = kind <= LAST_MEMORY_KIND ? (uint8_t)kind : 0,
		.is_free = operation == MR_CUPTI_MEMORY_RELEASE);
}

bool mr_cuda_read_report(uint32_t kind, const uint8_t *record, size_t bytes)
{
	switch (kind) {
	case MR_CUPTI_KIND_SYNCHRONIZATION:
		if (bytes < mr_cupti_synchronisation.length)
			return false;
		add_synchronisation(record);
		return true;
	case MR_CUPTI_KIND_OVERHEAD:
		if (bytes < mr_cupti_overhead.length)
			return false;
		add_overhead(record, bytes < mr_cupti_newer_overhead.length
					     ? &mr_cupti_overhead
					     : &mr_cupti_newer_overhead);
		return true;
	case MR_CUPTI_KIND_EXTERNAL_CORRELATION:
		if (bytes < mr_cupti_external.length)
			return false;
		add_external(record);
		return true;
	case MR_CUPTI_KIND_MEMORY2:
		if (bytes < mr_cupti_memory.length)
			return false;
		add_memory(record);
		return true;
	default: /* calls, and what others have asked for */
		return true;
	}
}
