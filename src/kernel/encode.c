/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/encode.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "base/quote.h"
#include "kernel/file_text.h"
#include "kernel/syscalls.h"
#include "record/recorder.h"

/* put(stream, record, kernel_switch, .next_tid = ...): an event with the record's time. */
#define put_text(stream, record, event, text, ...)                                      \
	do {                                                                            \
		const struct mr_event_##event payload_ = {__VA_ARGS__};                 \
		mr_kernel_put((stream), (record)->time_ns, MR_EVENT_##event, &payload_, \
			      sizeof payload_, (text));                                 \
	} while (0)
#define put(stream, record, event, ...) put_text(stream, record, event, NULL, __VA_ARGS__)

/* Limited to the three days that fit. */
static struct mr_u48 duration(uint64_t ns)
{
	return mr_u48_from(mr_min(ns, MR_U48_MAX));
}

/* ---- definitions ---------------------------------------------------------------------------------- */

static uint32_t *file_entry(struct mr_encoder *encoder, uint32_t number)
{
	while (encoder->file_ids.count <= number)
		if (mr_vec_push(&encoder->file_ids, 0) < 0)
			return NULL;
	uint32_t *id = &encoder->file_ids.items[number];
	if (*id == 0)
		*id = mr_definition_take();
	return id;
}

static uint32_t file_id(struct mr_encoder *encoder, uint32_t number)
{
	if (number == 0)
		return 0;
	if (mr_likely(number < encoder->file_ids.count && encoder->file_ids.items[number]))
		return encoder->file_ids.items[number];
	uint32_t *id = file_entry(encoder, number);
	return id ? *id : 0;
}

static void define_file(struct mr_encoder *encoder, const struct mr_record_file *record)
{
	char text[MR_KERNEL_FILE_TEXT_BYTES];
	uint32_t id = file_id(encoder, record->file);
	mr_kernel_file_text(record, text);
	const struct mr_event_def_file file = {
		.id = id, .device = record->device, .inode = record->inode};
	if (id && mr_define_event(MR_EVENT_def_file, &file, sizeof file, text))
		encoder->files++;
}

/* Defined in the recorder's stream, like files and texts. In a CPU's definition stream, whose times never decrease, the
 * time of a call would overtake the lives of tasks. */
static void define_syscall(struct mr_encoder *encoder, uint16_t number)
{
	uint64_t *word = &encoder->defined_syscalls[number / 64];
	uint64_t bit = UINT64_C(1) << number % 64;
	if (mr_likely(*word & bit))
		return;
	*word |= bit;
	char made_up[32];
	const char *name = number & MR_BPF_OTHER_ABI ? NULL : mr_syscall_name(number);
	if (!name) {
		snprintf(made_up, sizeof made_up, "%s_%u",
			 number & MR_BPF_OTHER_ABI ? "compat" : "syscall",
			 number & ~MR_BPF_OTHER_ABI);
		name = made_up;
	}
	const struct mr_event_def_syscall call = {.number = number};
	mr_define_event(MR_EVENT_def_syscall, &call, sizeof call, name);
}

/* ---- sources of wakings ----------------------------------------------------------------------------- */

static struct mr_encoder_source *find_source(struct mr_encoder *encoder, uint32_t context,
					     uint64_t source)
{
	for (size_t i = 0; i < encoder->sources.count; i++) {
		struct mr_encoder_source *found = &encoder->sources.items[i];
		if (found->source == source && found->context == context)
			return found;
	}
	return NULL;
}

static uint32_t add_source(struct mr_encoder *encoder, uint32_t context, uint64_t source,
			   const char *name)
{
	struct mr_encoder_source *known = find_source(encoder, context, source);
	struct mr_encoder_source fresh = {
		.source = source, .context = context, .string = mr_define_string(name)};
	if (known)
		known->string = fresh.string;
	else
		(void)mr_vec_push(&encoder->sources, fresh);
	return fresh.string;
}

/* Names that the kernel does not provide; otherwise the number or address. */
static uint32_t name_source(struct mr_encoder *encoder, uint32_t context, uint64_t source)
{
	static const char *const softirqs[] = {"HI",       "TIMER",   "NET_TX", "NET_RX",  "BLOCK",
					       "IRQ_POLL", "TASKLET", "SCHED",  "HRTIMER", "RCU"};
	static const char *const vectors[] = {
		[MR_VECTOR_LOCAL_TIMER] = "local_timer",
		[MR_VECTOR_RESCHEDULE] = "reschedule",
		[MR_VECTOR_CALL_FUNCTION] = "call_function",
		[MR_VECTOR_CALL_FUNCTION_SINGLE] = "call_function_single",
		[MR_VECTOR_IRQ_WORK] = "irq_work",
	};
	if (context == MR_wake_context_softirq && source < mr_countof(softirqs))
		return add_source(encoder, context, source, softirqs[source]);
	if (context == MR_wake_context_interrupt_vector && source < mr_countof(vectors) &&
	    vectors[source])
		return add_source(encoder, context, source, vectors[source]);
	char number[32];
	snprintf(number, sizeof number, "%#" PRIx64, source);
	return add_source(encoder, context, source, number);
}

static void put_waking(struct mr_encoder *encoder, struct mr_kernel_stream *stream,
		       const struct mr_record_waking *record)
{
	uint32_t string = 0;
	if (record->head.detail != MR_wake_context_task) {
		const struct mr_encoder_source *known =
			find_source(encoder, record->head.detail, record->source);
		string = known ? known->string
			       : name_source(encoder, record->head.detail, record->source);
	}
	put(stream, &record->head, kernel_waking, .tid = record->head.tid,
	    .waker_tid = record->waker_tid, .source = string, .context = record->head.detail);
}

/* ---- system calls ------------------------------------------------------------------------------------ */

static void put_syscall(struct mr_encoder *encoder, struct mr_kernel_stream *stream,
			const struct mr_record_syscall *record)
{
	const struct mr_record *head = &record->head;
	encoder->calls++;
	define_syscall(encoder, head->number);
	if (record->file)
		put(stream, head, kernel_syscall, .tid = head->tid, .number = head->number,
		    .duration_ns = duration(record->duration_ns), .result = record->result,
		    .file = file_id(encoder, record->file));
	else
		put(stream, head, kernel_syscall_argument, .tid = head->tid, .number = head->number,
		    .duration_ns = duration(record->duration_ns), .result = record->result,
		    .argument = record->argument, .operation = head->detail);
}

static void put_syscall_wide(struct mr_encoder *encoder, struct mr_kernel_stream *stream,
			     const struct mr_record_syscall_wide *record)
{
	const struct mr_record *head = &record->head;
	define_syscall(encoder, head->number);
	put(stream, head, kernel_syscall_wide, .tid = head->tid, .number = head->number,
	    .duration_ns = record->duration_ns, .result = record->result,
	    .file = file_id(encoder, record->file), .argument = record->file ? 0 : record->argument,
	    .operation = head->detail);
}

static void put_unfinished(struct mr_encoder *encoder, struct mr_kernel_stream *stream,
			   const struct mr_record_syscall_wide *record)
{
	const struct mr_record *head = &record->head;
	define_syscall(encoder, head->number);
	put(stream, head, kernel_syscall_unfinished, .tid = head->tid, .number = head->number,
	    .duration_ns = record->duration_ns, .file = file_id(encoder, record->file),
	    .argument = record->file ? 0 : record->argument, .operation = head->detail,
	    .reason = (uint8_t)record->reason);
}

static void put_blocked_call(struct mr_encoder *encoder, struct mr_kernel_stream *stream,
			     const struct mr_record_syscall *record)
{
	const struct mr_record *head = &record->head;
	define_syscall(encoder, head->number);
	put(stream, head, kernel_blocked_call, .tid = head->tid, .number = head->number,
	    .file = file_id(encoder, record->file), .argument = record->file ? 0 : record->argument,
	    .operation = head->detail);
}

/* ---- everything else --------------------------------------------------------------------------------- */

static void put_exec(struct mr_kernel_stream *stream, const struct mr_record_exec *record)
{
	char *command = NULL;
	size_t bytes = 0;
	FILE *file = open_memstream(&command, &bytes);
	if (!file)
		return;
	size_t end = mr_min(record->text_bytes, (__u32)MR_BPF_ARGUMENT_BYTES);
	for (size_t at = 0; at < end;) {
		/* The last word may be truncated. */
		mr_auto(free) char *word = strndup(record->text + at, end - at);
		if (!word)
			break;
		if (at > 0)
			fputc(' ', file);
		mr_quote_print(file, word);
		at += strlen(word) + 1;
	}
	if (fclose(file) == 0)
		put_text(stream, &record->head, kernel_exec, command, .tid = record->head.tid,
			 .old_tid = record->old_tid);
	free(command);
}

static void put_block_io(struct mr_kernel_stream *stream, const struct mr_record_block_io *record)
{
	put(stream, &record->head, kernel_block_io, .tid = record->head.tid,
	    .device = record->device, .sector = record->sector, .bytes = record->bytes,
	    .queue_ns = duration(record->queue_ns), .service_ns = duration(record->service_ns),
	    .error = record->error, .operation = record->head.detail);
}

static void put_fork(struct mr_kernel_stream *stream, const struct mr_record_fork *record)
{
	put_text(stream, &record->head, kernel_fork, record->name, .parent_tid = record->parent_tid,
		 .tid = record->head.tid, .pid = record->pid, .inner_tid = record->inner_tid,
		 .inner_pid = record->inner_pid);
}

void mr_encoder_put_loss(struct mr_encoder *encoder, struct mr_kernel_stream *stream, uint64_t ns,
			 uint64_t lost)
{
	uint64_t *reported = &encoder->lost[stream->cpu % MR_BPF_CPUS];
	if (lost <= *reported)
		return;
	mr_kernel_put_loss(stream, ns, lost - *reported, MR_loss_reason_kernel_buffer_full);
	*reported = lost;
}

/* Records that name something, or are rare. */
static void put_rare(struct mr_encoder *encoder, struct mr_kernel_stream *stream,
		     const struct mr_record *head)
{
	const void *record = head;
	switch ((enum mr_record_type)head->type) {
	case MR_RECORD_FORK:
		put_fork(stream, record);
		break;
	case MR_RECORD_EXEC:
		put_exec(stream, record);
		break;
	case MR_RECORD_EXIT:
		put(stream, head, kernel_exit, .tid = head->tid,
		    .status = ((const struct mr_record_exit *)record)->status);
		break;
	case MR_RECORD_TASK_NAME: {
		const struct mr_record_task_name *name = record;
		put_text(stream, head, kernel_task_name, name->name, .tid = head->tid,
			 .pid = name->pid);
		break;
	}
	case MR_RECORD_BLOCK_IO:
		put_block_io(stream, record);
		break;
	case MR_RECORD_MAJOR_FAULT: {
		const struct mr_record_major_fault *fault = record;
		put(stream, head, kernel_major_fault, .tid = head->tid, .address = fault->address,
		    .duration_ns = duration(fault->duration_ns));
		break;
	}
	case MR_RECORD_SIGNAL: {
		const struct mr_record_signal *signal = record;
		put(stream, head, kernel_signal, .tid = head->tid, .sender_tid = signal->sender_tid,
		    .code = signal->code, .signal = (uint8_t)head->number, .stage = head->detail);
		break;
	}
	case MR_RECORD_LOSS:
		mr_encoder_put_loss(encoder, stream, head->time_ns,
				    ((const struct mr_record_loss *)record)->lost);
		break;
	case MR_RECORD_FILE:
		define_file(encoder, record);
		break;
	case MR_RECORD_SOURCE: {
		const struct mr_record_source *source = record;
		add_source(encoder, head->detail, source->source, source->name);
		break;
	}
	default:
		break;
	}
}

void mr_encoder_put(struct mr_encoder *encoder, struct mr_kernel_stream *stream,
		    const struct mr_record *head)
{
	const void *record = head;
	switch ((enum mr_record_type)head->type) {
	case MR_RECORD_SWITCH: {
		const struct mr_record_switch *change = record;
		put(stream, head, kernel_switch, .previous_tid = head->tid,
		    .next_tid = change->next_tid, .minor_faults = change->minor_faults,
		    .reason = head->detail);
		break;
	}
	case MR_RECORD_WAKING:
		put_waking(encoder, stream, record);
		break;
	case MR_RECORD_SYSCALL:
		put_syscall(encoder, stream, record);
		break;
	case MR_RECORD_SYSCALL_WIDE:
		put_syscall_wide(encoder, stream, record);
		break;
	case MR_RECORD_UNFINISHED:
		put_unfinished(encoder, stream, record);
		break;
	case MR_RECORD_BLOCKED_CALL:
		put_blocked_call(encoder, stream, record);
		break;
	case MR_RECORD_MIGRATE: {
		const struct mr_record_migrate *migrate = record;
		put(stream, head, kernel_migrate, .tid = head->tid, .from_cpu = migrate->from_cpu,
		    .to_cpu = migrate->to_cpu);
		break;
	}
	case MR_RECORD_INTERRUPT: {
		const struct mr_record_interrupt *interrupt = record;
		put(stream, head, kernel_interrupt, .tid = head->tid,
		    .number = interrupt->interrupt, .duration_ns = duration(interrupt->duration_ns),
		    .kind = head->detail);
		break;
	}
	case MR_RECORD_SOCKET: {
		const struct mr_record_socket *bytes = record;
		put(stream, head, kernel_socket, .tid = head->tid,
		    .file = file_id(encoder, bytes->file), .bytes = bytes->bytes,
		    .direction = head->detail);
		break;
	}
	case MR_RECORD_URING_SUBMIT: {
		const struct mr_record_uring_submit *submit = record;
		put(stream, head, kernel_uring_submit, .tid = head->tid,
		    .file = file_id(encoder, submit->file), .user_data = submit->user_data,
		    .request = submit->request, .opcode = head->detail);
		break;
	}
	case MR_RECORD_URING_COMPLETE: {
		const struct mr_record_uring_complete *complete = record;
		put(stream, head, kernel_uring_complete, .tid = head->tid,
		    .user_data = complete->user_data, .request = complete->request,
		    .result = complete->result);
		break;
	}
	default:
		put_rare(encoder, stream, head);
	}
}

void mr_encoder_free(struct mr_encoder *encoder)
{
	mr_vec_free(&encoder->file_ids);
	mr_vec_free(&encoder->sources);
}
