/* SPDX-License-Identifier: Apache-2.0
 *
 * Buffers of records. CUPTI asks for them, fills them, and gives them back when they are full or somebody flushes. What
 * is in them is written to the trace at once, so that there are only as many as CUPTI fills at the same time: one for each
 * thread that launches, at most. Each gets its memory when it is first needed. There are many, because older versions of
 * CUPTI crash if they get none.
 */
#include "hook/cuda/cuda.h"
#include "hook/shared/pending.h"
#include "record/own_call.h"

enum {
	BATCH = 32,
	COPY_KINDS = 11,
	MEMORY_KINDS = 8,
	NAMES = 64, /* a power of two */
};

/* A name by where CUPTI keeps it: while a buffer is read, the same place is the same name. */
struct known_name {
	const char *place;
	uint32_t name;
};

/* What records of one buffer have in common, so that little is looked up. */
struct reader {
	struct mr_cuda_stream *stream;
	uint32_t queue;
	uint32_t kernel_count, transfer_count;
	struct known_name names[NAMES];
	struct mr_event_device_kernel kernels[BATCH];
	struct mr_event_device_transfer transfers[BATCH];
};

/* ---- copies ---------------------------------------------------------------------------------------------- */

static const struct {
	const char *name;
	uint8_t kind;
} copies[COPY_KINDS] = {
	{"?", MR_operation_kind_other},
	{"HtoD", MR_operation_kind_copy_to_device},
	{"DtoH", MR_operation_kind_copy_from_device},
	{"HtoA", MR_operation_kind_copy_to_device},
	{"AtoH", MR_operation_kind_copy_from_device},
	{"AtoA", MR_operation_kind_copy_on_device},
	{"AtoD", MR_operation_kind_copy_on_device},
	{"DtoA", MR_operation_kind_copy_on_device},
	{"DtoD", MR_operation_kind_copy_on_device},
	{"HtoH", MR_operation_kind_other},
	{"PtoP", MR_operation_kind_copy_between_devices},
};

static const char *const memories[MEMORY_KINDS] = {"Unknown",       "Pageable",      "Pinned",
						   "Device",        "Array",         "Managed",
						   "Device Static", "Managed Static"};

static uint8_t memory_kind(uint8_t kind)
{
	return kind < MEMORY_KINDS ? kind : (uint8_t)MR_memory_kind_unknown;
}

/* As other tools call it: "Memcpy DtoH (Device -> Pageable)". */
static uint32_t name_of_copy(uint8_t copy, uint8_t source, uint8_t target)
{
	static _Atomic uint32_t names[COPY_KINDS][MEMORY_KINDS][MEMORY_KINDS];
	source = memory_kind(source);
	target = memory_kind(target);
	_Atomic uint32_t *known = &names[copy][source][target];
	uint32_t name = atomic_load_explicit(known, memory_order_relaxed);
	if (mr_unlikely(!name)) {
		char text[64];
		stpcpy(stpcpy(stpcpy(stpcpy(stpcpy(stpcpy(stpcpy(text, "Memcpy "),
							  copies[copy].name),
						   " ("),
					    memories[source]),
				     " -> "),
			      memories[target]),
		       ")");
		name = mr_define_string(text);
		atomic_store_explicit(known, name, memory_order_relaxed);
	}
	return name;
}

/* ---- records ---------------------------------------------------------------------------------------------- */

static void write_kernels(struct reader *reader)
{
	mr_pending_write_events(MR_EVENT_device_kernel, reader->kernels, sizeof *reader->kernels,
				reader->kernel_count);
	reader->kernel_count = 0;
}

static void write_transfers(struct reader *reader)
{
	mr_pending_write_events(MR_EVENT_device_transfer, reader->transfers,
				sizeof *reader->transfers, reader->transfer_count);
	reader->transfer_count = 0;
}

static uint32_t queue_of(struct reader *reader, const uint8_t *record,
			 const struct mr_cupti_layout *layout)
{
	uint32_t context = mr_cupti_word(record, layout->context),
		 id = mr_cupti_word(record, layout->stream);
	if (mr_likely(reader->stream && reader->stream->id == id &&
		      reader->stream->context_id == context))
		return reader->queue;
	reader->stream = mr_cuda_stream_by_id(mr_cupti_word(record, layout->device), context, id);
	reader->queue = reader->stream ? mr_cuda_queue_of(reader->stream) : 0;
	return reader->queue;
}

static uint32_t name_of(struct reader *reader, const char *place)
{
	struct known_name *known = &reader->names[((uintptr_t)place >> 3) % NAMES];
	if (!place)
		return 0;
	if (mr_unlikely(known->place != place))
		*known = (struct known_name){place, mr_define_string(place)};
	return known->name;
}

/* A forced flush gives records of what has not ended: their times are 0. */
static bool has_ended(uint64_t end, uint32_t queue, uint32_t name, uint64_t correlation,
		      uint8_t kind)
{
	if (mr_unlikely(!end))
		mr_emit(device_operation_unfinished, .queue = queue, .name = name,
			.correlation = correlation, .kind = kind);
	return mr_likely(end != 0);
}

static void add_kernel(struct reader *reader, const uint8_t *record)
{
	const struct mr_cupti_layout *layout = &mr_cupti_kernel;
	const char *place;
	uint16_t registers;
	memcpy(&place, record + layout->name, sizeof place);
	memcpy(&registers, record + layout->registers, sizeof registers);
	const struct mr_event_device_kernel done = {
		.queue = queue_of(reader, record, layout),
		.name = name_of(reader, place),
		.correlation = mr_cuda_correlation(mr_cupti_word(record, layout->correlation)),
		.start = mr_cupti_number(record, layout->start),
		.end = mr_cupti_number(record, layout->end),
		.graph_node = mr_cupti_number(record, layout->graph_node),
		.graph = mr_cupti_word(record, layout->graph),
		.static_bytes = mr_cupti_word(record, layout->static_bytes),
		.dynamic_bytes = mr_cupti_word(record, layout->dynamic_bytes),
		.registers = registers};
	if (!has_ended(done.end, done.queue, done.name, done.correlation, MR_operation_kind_kernel))
		return;
	reader->kernels[reader->kernel_count++] = done;
	if (reader->kernel_count == BATCH)
		write_kernels(reader);
}

static void add_transfer(struct reader *reader, const uint8_t *record,
			 const struct mr_cupti_layout *layout, uint8_t kind, uint32_t name)
{
	struct mr_event_device_transfer done = {
		.queue = queue_of(reader, record, layout),
		.name = name,
		.correlation = mr_cuda_correlation(mr_cupti_word(record, layout->correlation)),
		.start = mr_cupti_number(record, layout->start),
		.end = mr_cupti_number(record, layout->end),
		.bytes = mr_cupti_number(record, layout->bytes),
		.graph_node = mr_cupti_number(record, layout->graph_node),
		.graph = mr_cupti_word(record, layout->graph),
		.target = layout->target_device
				  ? mr_cuda_device_of(mr_cupti_word(record, layout->target_device))
				  : 0,
		.kind = kind,
		.from = layout->source_kind ? memory_kind(record[layout->source_kind]) : 0,
		.to = memory_kind(
			record[layout->target_kind ? layout->target_kind : layout->memory_kind])};
	if (!has_ended(done.end, done.queue, done.name, done.correlation, kind))
		return;
	reader->transfers[reader->transfer_count++] = done;
	if (reader->transfer_count == BATCH)
		write_transfers(reader);
}

static void add_copy(struct reader *reader, const uint8_t *record,
		     const struct mr_cupti_layout *layout)
{
	uint8_t copy = record[layout->copy_kind];
	copy = copy < COPY_KINDS ? copy : 0;
	/* Whatever it is called otherwise, a copy between devices is one. */
	uint8_t kind = layout->target_device ? (uint8_t)MR_operation_kind_copy_between_devices
					     : copies[copy].kind;
	add_transfer(reader, record, layout, kind,
		     name_of_copy(copy, record[layout->source_kind], record[layout->target_kind]));
}

/* The layout of an operation's record; NULL if it is none. */
static const struct mr_cupti_layout *layout_of(uint32_t kind)
{
	switch (kind) {
	case MR_CUPTI_KIND_CONCURRENT_KERNEL:
		return &mr_cupti_kernel;
	case MR_CUPTI_KIND_MEMCPY:
		return &mr_cupti_copy;
	case MR_CUPTI_KIND_MEMCPY2:
		return &mr_cupti_peer_copy;
	case MR_CUPTI_KIND_MEMSET:
		return &mr_cupti_fill;
	default:
		return NULL;
	}
}

static void read_record(struct reader *reader, const uint8_t *record, size_t bytes)
{
	uint32_t kind = mr_cupti_word(record, 0);
	const struct mr_cupti_layout *layout = layout_of(kind);
	if (!layout) {
		if (!mr_cuda_read_report(kind, record, bytes))
			mr_count_loss(MR_loss_reason_device_records, 1);
		return;
	}
	if (mr_unlikely(bytes < layout->length))
		mr_count_loss(MR_loss_reason_device_records, 1);
	else if (kind == MR_CUPTI_KIND_CONCURRENT_KERNEL)
		add_kernel(reader, record);
	else if (kind == MR_CUPTI_KIND_MEMSET)
		add_transfer(reader, record, layout, MR_operation_kind_fill,
			     mr_define_string("Memset"));
	else
		add_copy(reader, record, layout);
}

/* Keeps a record that a guest wants: moves it to the end of those that are kept. */
static size_t keep(uint8_t *buffer, size_t kept, const uint8_t *record, size_t bytes)
{
	if (bytes < MR_CUPTI_SMALLEST_RECORD ||
	    !mr_cuda_guest_wants_record(mr_cupti_word(record, 0), mr_cupti_word(record, 4)))
		return kept;
	memmove(buffer + kept, record, bytes);
	return kept + bytes;
}

/* CUPTI alone knows how long records are: a record ends where the next begins, which is asked for before anything is
 * moved. What follows one that it cannot step over is lost. */
size_t mr_cuda_read_buffer(uint8_t *buffer, size_t used, bool is_guests)
{
	struct reader reader;
	const uint8_t *end = buffer + used;
	uint8_t *record = NULL, *next = NULL;
	size_t kept = 0;
	reader.stream = NULL;
	reader.queue = reader.kernel_count = reader.transfer_count = 0;
	memset(reader.names, 0, sizeof reader.names);
	int result = mr_cupti.cuptiActivityGetNextRecord(buffer, used, &next);
	while (result == MR_CUPTI_SUCCESS && next && next + sizeof(uint32_t) <= end) {
		record = next;
		result = mr_cupti.cuptiActivityGetNextRecord(buffer, used, &next);
		bool is_last = result != MR_CUPTI_SUCCESS || !next || next > end || next <= record;
		size_t bytes = (size_t)((is_last ? end : next) - record);
		read_record(&reader, record, bytes);
		if (is_guests)
			kept = keep(buffer, kept, record, bytes);
		if (is_last)
			break;
	}
	if (result != MR_CUPTI_ERROR_MAX_LIMIT_REACHED)
		mr_count_loss(MR_loss_reason_device_records, 1);
	write_kernels(&reader);
	write_transfers(&reader);
	return kept;
}

/* ---- buffers ---------------------------------------------------------------------------------------------- */

static uint8_t *take_buffer(void)
{
	for (int i = 0; i < MR_CUDA_BUFFERS; i++) {
		struct mr_cuda_buffer *buffer = &mr_cuda->buffers[i];
		if (atomic_exchange_explicit(&buffer->is_used, true, memory_order_acquire))
			continue;
		if (!buffer->memory)
			buffer->memory = mr_own_map(MR_CUDA_BUFFER_BYTES);
		if (buffer->memory)
			return buffer->memory;
		atomic_store_explicit(&buffer->is_used, false, memory_order_release);
		return NULL;
	}
	return NULL;
}

static void return_buffer(uint8_t *memory)
{
	for (int i = 0; i < MR_CUDA_BUFFERS; i++)
		if (mr_cuda->buffers[i].memory == memory) {
			atomic_store_explicit(&mr_cuda->buffers[i].is_used, false,
					      memory_order_release);
			return;
		}
}

void mr_cuda_request_buffer(uint8_t **ret_buffer, size_t *ret_bytes, size_t *ret_most)
{
	*ret_most = 0;
	if (mr_cuda_guest_request(ret_buffer, ret_bytes, ret_most))
		return;
	*ret_buffer = take_buffer();
	*ret_bytes = *ret_buffer ? MR_CUDA_BUFFER_BYTES : 0;
}

void mr_cuda_complete_buffer(void *context, uint32_t stream, uint8_t *buffer, size_t bytes,
			     size_t used)
{
	size_t dropped = 0;
	if (mr_cuda->clock.id && buffer) {
		bool is_guests = mr_cuda_guest_has(buffer);
		mr_cuda_clock_note();
		size_t kept = mr_cuda_read_buffer(buffer, used, is_guests);
		used = is_guests ? kept : used;
		if (mr_cupti.cuptiActivityGetNumDroppedRecords(context, stream, &dropped) ==
			    MR_CUPTI_SUCCESS &&
		    dropped)
			mr_count_loss(MR_loss_reason_device_records, dropped);
	}
	if (!mr_cuda_guest_complete(context, stream, buffer, bytes, used) && buffer)
		return_buffer(buffer);
}
