/* SPDX-License-Identifier: Apache-2.0
 *
 * The collector's way from a ring to packets, without any BPF: rings are plain memory that the test fills as
 * the kernel would, and packets are decoded here, byte by byte.
 */
#include "kernel/packets.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <setjmp.h>

#include <cmocka.h>

#include "base/macros.h"
#include "kernel/encode.h"
#include "kernel/file_text.h"
#include "kernel/ring.h"
#include "kernel/syscalls.h"
#include "schema/schema.h"

enum {
	PACKETS = 64,
	RING_BYTES = 4096,
	BUSY = 1u << 31, /* as the kernel's documentation has it */
	DISCARDED = 1u << 30,
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

/* ---- rings ------------------------------------------------------------------------------------------- */

/* A ring as the kernel shows it: the data twice in a row. */
struct test_ring {
	_Atomic uint64_t consumer, producer;
	_Alignas(8) uint8_t data[2 * RING_BYTES];
	struct mr_ring ring;
	struct mr_ring_batch batch;
};

static struct test_ring *new_ring(void)
{
	struct test_ring *ring = calloc(1, sizeof *ring);
	ring->ring = (struct mr_ring){.consumer = &ring->consumer,
				      .producer = &ring->producer,
				      .data = ring->data,
				      .mask = RING_BYTES - 1};
	return ring;
}

static void write_byte(struct test_ring *ring, uint64_t at, uint8_t byte)
{
	ring->data[at % RING_BYTES] = ring->data[at % RING_BYTES + RING_BYTES] = byte;
}

static void write_bytes(struct test_ring *ring, uint64_t at, const void *bytes, size_t count)
{
	for (size_t i = 0; i < count; i++)
		write_byte(ring, at + i, ((const uint8_t *)bytes)[i]);
}

/* Reserves room, as the kernel does; the flags say what has become of it. Returns where it stands. */
static uint64_t write_record(struct test_ring *ring, uint64_t time_ns, uint32_t bytes,
			     uint32_t flags)
{
	uint64_t at = ring->producer;
	uint32_t header[2] = {bytes | flags, 0};
	struct mr_record record = {.time_ns = time_ns, .type = MR_RECORD_MIGRATE};
	write_bytes(ring, at, header, sizeof header);
	write_bytes(ring, at + sizeof header, &record, sizeof record);
	ring->producer = at + sizeof header + mr_align_up(bytes, 8u);
	return at;
}

static void expect_times(struct test_ring *ring, const uint64_t *times, uint32_t count)
{
	mr_ring_read(&ring->ring, &ring->batch);
	assert_int_equal(ring->batch.count, count);
	for (uint32_t i = 0; i < count; i++)
		assert_int_equal(ring->batch.records[i]->time_ns, times[i]);
	mr_ring_release(&ring->ring, &ring->batch);
}

static void batches_are_sorted(void **state)
{
	(void)state;
	static const uint64_t written[] = {100, 250, 210, 220, 300, 290, 240, 301};
	static const uint64_t sorted[] = {100, 210, 220, 240, 250, 290, 300, 301};
	struct test_ring *ring = new_ring();
	for (size_t i = 0; i < mr_countof(written); i++)
		write_record(ring, written[i], 32, 0);
	expect_times(ring, sorted, mr_countof(sorted));
	expect_times(ring, NULL, 0);
	assert_int_equal(ring->consumer, ring->producer);
	free(ring);
}

static void equal_times_keep_their_order(void **state)
{
	(void)state;
	struct test_ring *ring = new_ring();
	uint64_t first = write_record(ring, 500, 32, 0);
	uint64_t second = write_record(ring, 500, 40, 0);
	mr_ring_read(&ring->ring, &ring->batch);
	assert_ptr_equal(ring->batch.records[0], ring->data + first + 8);
	assert_ptr_equal(ring->batch.records[1], ring->data + second + 8);
	free(ring);
}

static void unfinished_records_hold_back_the_rest(void **state)
{
	(void)state;
	struct test_ring *ring = new_ring();
	write_record(ring, 100, 24, 0);
	uint64_t busy = write_record(ring, 0, 24, BUSY);
	write_record(ring, 110, 24, 0); /* an interrupt */
	expect_times(ring, (const uint64_t[]){100}, 1);
	expect_times(ring, NULL, 0);
	struct mr_record record = {.time_ns = 120, .type = MR_RECORD_MIGRATE};
	uint32_t header = 24;
	write_bytes(ring, busy + 8, &record, sizeof record);
	write_bytes(ring, busy, &header, sizeof header);
	expect_times(ring, (const uint64_t[]){110, 120}, 2);
	free(ring);
}

static void discarded_records_are_skipped(void **state)
{
	(void)state;
	struct test_ring *ring = new_ring();
	write_record(ring, 100, 24, 0);
	write_record(ring, 101, 104, DISCARDED);
	write_record(ring, 102, 24, 0);
	expect_times(ring, (const uint64_t[]){100, 102}, 2);
	free(ring);
}

static void rings_go_round(void **state)
{
	(void)state;
	struct test_ring *ring = new_ring();
	for (uint64_t i = 0; i < 1000; i++) {
		write_record(ring, i, 40 + (uint32_t)(i % 5) * 8, 0);
		expect_times(ring, &i, 1);
	}
	assert_true(ring->consumer > 5 * RING_BYTES);
	free(ring);
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

/* ---- texts ------------------------------------------------------------------------------------------- */

static void expect_file_text(struct mr_record_file head, const void *text, size_t bytes,
			     const char *expected)
{
	static char found[MR_KERNEL_FILE_TEXT_BYTES];
	struct mr_record_file *record = calloc(1, sizeof *record + bytes);
	*record = head;
	record->text_bytes = (uint32_t)bytes;
	if (bytes)
		memcpy(record->text, text, bytes);
	mr_kernel_file_text(record, found);
	assert_string_equal(found, expected);
	free(record);
}

#define FILE_OF(kind, ...) ((struct mr_record_file){.head.detail = (kind), __VA_ARGS__})

static void paths_are_turned_round(void **state)
{
	(void)state;
	static const char parts[] = "train.bin\0data\0mnt";
	expect_file_text(FILE_OF(MR_FILE_PATH), parts, sizeof parts, "/mnt/data/train.bin");
	expect_file_text(FILE_OF(MR_FILE_PATH, .head.number = 1), "x", 2, "/x (deleted)");
	expect_file_text(FILE_OF(MR_FILE_PATH), NULL, 0, "/");
	expect_file_text(FILE_OF(MR_FILE_PIPE, .inode = 4711), NULL, 0, "pipe:[4711]");
	expect_file_text(FILE_OF(MR_FILE_ANONYMOUS), "[eventpoll]", 12, "anon_inode:[eventpoll]");
}

static void sockets_show_their_addresses(void **state)
{
	(void)state;
	expect_file_text(FILE_OF(MR_FILE_SOCKET_INET, .protocol = 6,
				 .local_address = {127, 0, 0, 1}, .local_port = 40000,
				 .remote_address = {10, 0, 0, 2}, .remote_port = 80 << 8),
			 NULL, 0, "TCP:[127.0.0.1:40000->10.0.0.2:80]");
	expect_file_text(FILE_OF(MR_FILE_SOCKET_INET6, .protocol = 17, .local_address[15] = 1,
				 .local_port = 53),
			 NULL, 0, "UDPv6:[[::1]:53]");
	expect_file_text(FILE_OF(MR_FILE_SOCKET_INET, .protocol = 6, .inode = 99), NULL, 0,
			 "TCP:[99]");
	expect_file_text(FILE_OF(MR_FILE_SOCKET_UNIX, .protocol = SOCK_STREAM, .inode = 5,
				 .remote_address[0] = 6),
			 "/run/x", 6, "UNIX-STREAM:[5->6,\"/run/x\"]");
	expect_file_text(FILE_OF(MR_FILE_SOCKET_UNIX, .protocol = SOCK_DGRAM, .inode = 5), "\0ab",
			 3, "UNIX-DGRAM:[5,\"@ab\"]");
	expect_file_text(FILE_OF(MR_FILE_SOCKET, .inode = 23), NULL, 0, "socket:[23]");
}

static void calls_are_known(void **state)
{
	(void)state;
	assert_string_equal(mr_syscall_name(SYS_read), "read");
	assert_string_equal(mr_syscall_name(SYS_clone3), "clone3");
	assert_null(mr_syscall_name(100000));
	assert_int_equal(mr_syscall_number("openat"), SYS_openat);
	assert_int_equal(mr_syscall_number("no such call"), -1);
	assert_int_equal(mr_syscall_kind(SYS_read), MR_SYSCALL_DESCRIPTOR);
	assert_int_equal(mr_syscall_kind(SYS_openat),
			 MR_SYSCALL_DESCRIPTOR | MR_SYSCALL_RETURNS_DESCRIPTOR);
	assert_int_equal(mr_syscall_kind(SYS_mmap), MR_SYSCALL_FIFTH_DESCRIPTOR);
	assert_int_equal(mr_syscall_kind(SYS_getppid), 0);
}

#define with_sink(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		with_sink(packets_are_of_their_cpu),
		with_sink(lives_go_to_definitions),
		with_sink(long_pauses_are_kept),
		with_sink(times_never_decrease),
		with_sink(full_packets_are_handed_over),
		with_sink(old_packets_are_handed_over),
		with_sink(losses_are_counted_and_told),
		with_sink(long_texts_are_cut),
		cmocka_unit_test(batches_are_sorted),
		cmocka_unit_test(equal_times_keep_their_order),
		cmocka_unit_test(unfinished_records_hold_back_the_rest),
		cmocka_unit_test(discarded_records_are_skipped),
		cmocka_unit_test(rings_go_round),
		with_sink(calls_have_the_narrowest_event),
		with_sink(calls_on_files_name_them),
		with_sink(wide_results_are_kept),
		with_sink(commands_are_quoted),
		with_sink(only_new_losses_are_told),
		cmocka_unit_test(paths_are_turned_round),
		cmocka_unit_test(sockets_show_their_addresses),
		cmocka_unit_test(calls_are_known),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
