/* SPDX-License-Identifier: Apache-2.0
 *
 * The collector's way from a record to packets, without any BPF: packets are decoded here, byte by byte.
 */
#include "kernel/packets.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include <setjmp.h>

#include <cmocka.h>

#include "base/macros.h"
#include "kernel/encode.h"
#include "schema/schema.h"

enum {
	PACKETS = 64,
};

static const uint8_t uuid[16] = {1, 2, 3};

/* ---- a sink that keeps everything ------------------------------------------------------------------ */

struct kept {
	uint8_t *bytes;
	uint32_t content_bytes;
	uint64_t end_ns;
	uint64_t discarded;
};

struct sink {
	struct kept packets[PACKETS];
	uint32_t count;
	struct mr_kernel_streams *streams;
};

static int keep(void *context, struct mr_packet *packet, uint32_t content_bytes, uint64_t end_ns,
		uint64_t discarded_events)
{
	struct sink *sink = context;
	assert_in_range(sink->count, 0, PACKETS - 1);
	assert_in_range(content_bytes, sizeof *packet + 1, MR_KERNEL_PACKET_BYTES - 7);
	struct kept *kept = &sink->packets[sink->count++];
	*kept = (struct kept){.bytes = malloc(content_bytes),
			      .content_bytes = content_bytes,
			      .end_ns = end_ns,
			      .discarded = discarded_events};
	memcpy(kept->bytes, packet, content_bytes);
	return 0;
}

static int set_up(void **state)
{
	struct sink *sink = calloc(1, sizeof *sink);
	const struct mr_kernel_sink to = {.context = sink, .append = keep};
	assert_int_equal(mr_kernel_streams_new(&to, uuid, 4711, 2, &sink->streams), 0);
	*state = sink;
	return 0;
}

static int tear_down(void **state)
{
	struct sink *sink = *state;
	for (uint32_t i = 0; i < sink->count; i++)
		free(sink->packets[i].bytes);
	mr_kernel_streams_free(sink->streams);
	free(sink);
	return 0;
}

/* ---- reading packets --------------------------------------------------------------------------------- */

struct reader {
	const uint8_t *at, *end;
	uint64_t ns;
	uint8_t event;
	const uint8_t *fields;
	const char *text; /* NULL: the event has none */
};

static const struct mr_packet_context *context_of(const struct kept *kept)
{
	return &((const struct mr_packet *)kept->bytes)->context;
}

static struct reader read_packet(const struct kept *kept)
{
	return (struct reader){.at = kept->bytes + sizeof(struct mr_packet),
			       .end = kept->bytes + kept->content_bytes,
			       .ns = context_of(kept)->begin_ticks};
}

static bool next(struct reader *reader)
{
	if (reader->at == reader->end)
		return false;
	uint32_t low;
	if (reader->at[0] == 255) {
		reader->event = reader->at[1];
		memcpy(&reader->ns, reader->at + 2, 8);
		reader->at += 10;
	} else {
		reader->event = reader->at[0];
		memcpy(&low, reader->at + 1, 4);
		reader->ns += (uint32_t)(low - (uint32_t)reader->ns);
		reader->at += 5;
	}
	const struct mr_event_desc *desc = &mr_event_table[reader->event];
	assert_non_null(desc->name);
	reader->fields = reader->at;
	reader->at += desc->fixed_bytes;
	reader->text = desc->has_text ? (const char *)reader->at : NULL;
	if (reader->text)
		reader->at += strlen(reader->text) + 1;
	assert_true(reader->at <= reader->end);
	return true;
}

static void put_migrate(struct sink *sink, uint32_t cpu, uint64_t ns, uint32_t tid)
{
	const struct mr_event_kernel_migrate event = {.tid = tid, .from_cpu = 0, .to_cpu = 1};
	mr_kernel_put(&sink->streams->of_cpu[cpu], ns, MR_EVENT_kernel_migrate, &event,
		      sizeof event, NULL);
}

/* ---- packets ----------------------------------------------------------------------------------------- */

static void packets_are_of_their_cpu(void **state)
{
	struct sink *sink = *state;
	put_migrate(sink, 1, 1000, 7);
	put_migrate(sink, 1, 1500, 8);
	assert_int_equal(sink->count, 0);
	mr_kernel_streams_flush(sink->streams, UINT64_MAX);
	assert_int_equal(sink->count, 1);
	const struct mr_packet *packet = (const struct mr_packet *)sink->packets[0].bytes;
	assert_int_equal(packet->header.magic, MR_CTF_MAGIC);
	assert_int_equal(packet->header.stream_class, 1);
	assert_memory_equal(packet->header.trace_uuid, uuid, sizeof uuid);
	assert_int_equal(packet->context.process, 1);
	assert_int_equal(packet->context.pid, 4711);
	assert_int_equal(packet->context.tid, 1);
	assert_int_equal(packet->context.kind, MR_PACKET_EVENTS);
	assert_int_equal(packet->context.begin_ticks, 1000);
	assert_int_equal(sink->packets[0].end_ns, 1500);
}

static void lives_go_to_definitions(void **state)
{
	struct sink *sink = *state;
	struct mr_kernel_stream *stream = &sink->streams->of_cpu[0];
	const struct mr_event_kernel_exit end = {.tid = 7};
	const struct mr_event_kernel_fork begin = {.tid = 7};
	mr_kernel_put(stream, 20, MR_EVENT_kernel_fork, &begin, sizeof begin, "worker");
	mr_kernel_put(stream, 30, MR_EVENT_kernel_exit, &end, sizeof end, NULL);
	put_migrate(sink, 0, 5, 7); /* earlier, but in another stream */
	mr_kernel_streams_flush(sink->streams, UINT64_MAX);
	assert_int_equal(sink->count, 2);
	assert_int_equal(context_of(&sink->packets[0])->kind, MR_PACKET_EVENTS);
	assert_int_equal(context_of(&sink->packets[0])->begin_ticks, 5);
	assert_int_equal(context_of(&sink->packets[1])->kind, MR_PACKET_DEFINITIONS);
	struct reader reader = read_packet(&sink->packets[1]);
	assert_true(next(&reader));
	assert_string_equal(reader.text, "worker");
	assert_true(next(&reader));
	assert_int_equal(reader.event, MR_EVENT_kernel_exit);
	assert_int_equal(reader.ns, 30);
	assert_false(next(&reader));
}

static void long_pauses_are_kept(void **state)
{
	struct sink *sink = *state;
	static const uint64_t times[] = {5000, 5000 + (uint64_t)UINT32_MAX,
					 5000 + 2 * (uint64_t)UINT32_MAX + 1, UINT64_C(1) << 50};
	for (size_t i = 0; i < mr_countof(times); i++)
		put_migrate(sink, 0, times[i], (uint32_t)i);
	mr_kernel_streams_flush(sink->streams, UINT64_MAX);
	struct reader reader = read_packet(&sink->packets[0]);
	for (size_t i = 0; i < mr_countof(times); i++) {
		assert_true(next(&reader));
		assert_int_equal(reader.ns, times[i]);
	}
	assert_false(next(&reader));
}

static void times_never_decrease(void **state)
{
	struct sink *sink = *state;
	put_migrate(sink, 0, 1000, 1);
	put_migrate(sink, 0, 990, 2);
	mr_kernel_streams_flush(sink->streams, UINT64_MAX);
	put_migrate(sink, 0, 980, 3); /* the next packet of the same stream */
	mr_kernel_streams_flush(sink->streams, UINT64_MAX);
	struct reader reader = read_packet(&sink->packets[0]);
	assert_true(next(&reader) && next(&reader));
	assert_int_equal(reader.ns, 1000);
	assert_int_equal(context_of(&sink->packets[1])->begin_ticks, 1000);
}

static void full_packets_are_handed_over(void **state)
{
	struct sink *sink = *state;
	enum {
		EVENTS = 10000
	};
	for (uint32_t i = 0; i < EVENTS; i++)
		put_migrate(sink, 0, 100 + i, i);
	assert_in_range(sink->count, 2, 3); /* 17 bytes each */
	mr_kernel_streams_flush(sink->streams, UINT64_MAX);
	uint32_t found = 0;
	uint64_t end_ns = 0;
	for (uint32_t i = 0; i < sink->count; i++) {
		struct reader reader = read_packet(&sink->packets[i]);
		assert_true(context_of(&sink->packets[i])->begin_ticks >= end_ns);
		while (next(&reader)) {
			struct mr_event_kernel_migrate event;
			memcpy(&event, reader.fields, sizeof event);
			assert_int_equal(event.tid, found);
			assert_int_equal(reader.ns, 100 + found);
			found++;
		}
		end_ns = sink->packets[i].end_ns;
	}
	assert_int_equal(found, EVENTS);
	assert_int_equal(sink->streams->of_cpu[0].events, EVENTS);
}

static void old_packets_are_handed_over(void **state)
{
	struct sink *sink = *state;
	put_migrate(sink, 0, 1000, 1);
	put_migrate(sink, 1, 3000, 1);
	mr_kernel_streams_flush(sink->streams, 1000);
	assert_int_equal(sink->count, 0);
	mr_kernel_streams_flush(sink->streams, 2000);
	assert_int_equal(sink->count, 1);
	assert_int_equal(context_of(&sink->packets[0])->tid, 0);
}

static void losses_are_counted_and_told(void **state)
{
	struct sink *sink = *state;
	put_migrate(sink, 0, 1000, 1);
	mr_kernel_put_loss(&sink->streams->of_cpu[0], 2000, 55, MR_loss_reason_kernel_buffer_full);
	mr_kernel_streams_flush(sink->streams, UINT64_MAX);
	put_migrate(sink, 0, 3000, 1);
	mr_kernel_streams_flush(sink->streams, UINT64_MAX);
	assert_int_equal(sink->packets[0].discarded, 55);
	assert_int_equal(sink->packets[1].discarded, 0); /* of this packet, not of all so far */
	struct reader reader = read_packet(&sink->packets[0]);
	assert_true(next(&reader) && next(&reader));
	struct mr_event_loss loss;
	memcpy(&loss, reader.fields, sizeof loss);
	assert_int_equal(reader.event, MR_EVENT_loss);
	assert_int_equal(loss.count, 55);
	assert_int_equal(loss.reason, MR_loss_reason_kernel_buffer_full);
}

static void long_texts_are_cut(void **state)
{
	struct sink *sink = *state;
	char *text = malloc(100000);
	memset(text, 'a', 99999);
	text[99999] = 0;
	const struct mr_event_kernel_exec event = {.tid = 1};
	for (uint64_t i = 0; i < 5; i++)
		mr_kernel_put(&sink->streams->of_cpu[0], i, MR_EVENT_kernel_exec, &event,
			      sizeof event, text);
	mr_kernel_streams_flush(sink->streams, UINT64_MAX);
	uint32_t found = 0;
	for (uint32_t i = 0; i < sink->count; i++) {
		struct reader reader = read_packet(&sink->packets[i]);
		for (; next(&reader); found++)
			assert_int_equal(strlen(reader.text), MR_KERNEL_TEXT_MAX - 1);
	}
	assert_int_equal(found, 5);
	free(text);
}

/* ---- events ------------------------------------------------------------------------------------------ */

/* The only event that a record becomes; its definitions aside. */
static struct reader encode(struct sink *sink, const void *record)
{
	struct mr_encoder *encoder = calloc(1, sizeof *encoder);
	mr_encoder_put(encoder, &sink->streams->of_cpu[0], record);
	mr_encoder_free(encoder);
	free(encoder);
	mr_kernel_streams_flush(sink->streams, UINT64_MAX);
	struct reader reader = read_packet(&sink->packets[0]);
	assert_true(next(&reader));
	return reader;
}

static void calls_have_the_narrowest_event(void **state)
{
	struct sink *sink = *state;
	struct mr_record_syscall record = {.head = {.time_ns = 9000,
						    .type = MR_RECORD_SYSCALL,
						    .number = SYS_futex,
						    .tid = 12,
						    .detail = 1},
					   .duration_ns = UINT64_C(1) << 40,
					   .result = -110,
					   .argument = 0x7fff12345678};
	struct reader reader = encode(sink, &record);
	struct mr_event_kernel_syscall_argument event;
	memcpy(&event, reader.fields, sizeof event);
	assert_int_equal(reader.event, MR_EVENT_kernel_syscall_argument);
	assert_int_equal(reader.ns, 9000);
	assert_int_equal(event.tid, 12);
	assert_int_equal(event.number, SYS_futex);
	assert_int_equal(mr_u48_value(event.duration_ns), UINT64_C(1) << 40);
	assert_int_equal(event.result, -110);
	assert_int_equal(event.argument, 0x7fff12345678);
	assert_int_equal(event.operation, 1);
}

static void calls_on_files_name_them(void **state)
{
	struct sink *sink = *state;
	struct mr_record_syscall record = {
		.head = {.time_ns = 1, .type = MR_RECORD_SYSCALL, .number = SYS_read, .tid = 12},
		.duration_ns = 5,
		.result = 512,
		.file = 3,
		.argument = 4};
	struct reader reader = encode(sink, &record);
	struct mr_event_kernel_syscall event;
	memcpy(&event, reader.fields, sizeof event);
	assert_int_equal(reader.event, MR_EVENT_kernel_syscall);
	assert_int_equal(event.result, 512);
	assert_int_not_equal(event.file, 0);
}

static void wide_results_are_kept(void **state)
{
	struct sink *sink = *state;
	struct mr_record_syscall_wide record = {.head = {.time_ns = 1,
							 .type = MR_RECORD_SYSCALL_WIDE,
							 .number = SYS_mmap,
							 .tid = 1},
						.duration_ns = 5,
						.result = 0x7f0123456000};
	struct reader reader = encode(sink, &record);
	struct mr_event_kernel_syscall_wide event;
	memcpy(&event, reader.fields, sizeof event);
	assert_int_equal(reader.event, MR_EVENT_kernel_syscall_wide);
	assert_int_equal(event.result, 0x7f0123456000);
}

static void commands_are_quoted(void **state)
{
	struct sink *sink = *state;
	static const char words[] = "python\0my file.py\0";
	struct mr_record_exec *record = calloc(1, sizeof *record + sizeof words);
	record->head = (struct mr_record){.time_ns = 1, .type = MR_RECORD_EXEC, .tid = 5};
	record->old_tid = 6;
	record->text_bytes = sizeof words - 1;
	memcpy(record->text, words, sizeof words);
	struct reader reader = encode(sink, record);
	assert_int_equal(reader.event, MR_EVENT_kernel_exec);
	assert_string_equal(reader.text, "python 'my file.py'");
	free(record);
}

static void only_new_losses_are_told(void **state)
{
	struct sink *sink = *state;
	struct mr_encoder *encoder = calloc(1, sizeof *encoder);
	struct mr_kernel_stream *stream = &sink->streams->of_cpu[1];
	mr_encoder_put_loss(encoder, stream, 100, 10);
	mr_encoder_put_loss(encoder, stream, 200, 10); /* an interrupt told it again */
	mr_encoder_put_loss(encoder, stream, 300, 25);
	mr_kernel_streams_flush(sink->streams, UINT64_MAX);
	assert_int_equal(sink->packets[0].discarded, 25);
	assert_int_equal(stream->events, 2);
	mr_encoder_free(encoder);
	free(encoder);
}

#define with_sink(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		with_sink(packets_are_of_their_cpu),       with_sink(lives_go_to_definitions),
		with_sink(long_pauses_are_kept),           with_sink(times_never_decrease),
		with_sink(full_packets_are_handed_over),   with_sink(old_packets_are_handed_over),
		with_sink(losses_are_counted_and_told),    with_sink(long_texts_are_cut),
		with_sink(calls_have_the_narrowest_event), with_sink(calls_on_files_name_them),
		with_sink(wide_results_are_kept),          with_sink(commands_are_quoted),
		with_sink(only_new_losses_are_told),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
