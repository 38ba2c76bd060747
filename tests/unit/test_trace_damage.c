/* SPDX-License-Identifier: Apache-2.0
 *
 * Reading damaged and hostile traces. What must hold: no crash, and every packet that was not
 * touched reads exactly as before; what is lost is counted.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "trace/trace.h"
#include "trace_writer.h"

enum {
	PACKETS = 4,
	FILE_MAX = 4096
};

/* Where the fields of a packet's header are. */
enum {
	MAGIC = 0,
	UUID = 4,
	CLASS = 20,
	STREAM = 24,
	BEGIN = 32,
	END = 40,
	CONTENT = 48,
	SIZE = 56,
	SEQUENCE = 64,
	KIND = 92
};

static struct {
	uint8_t bytes[FILE_MAX];
	size_t size;
	size_t offsets[PACKETS + 1];
} stream;

/* Four packets of one stream, with plain, text and extended events, touching one another in time. */
static void make_stream(void)
{
	static struct packet packet;
	uint64_t random = 5, ticks = (UINT64_C(1) << 32) - 5000;
	packet = (struct packet){.stream = 2, .tid = 9};
	stream.size = 0;
	for (int i = 0; i < PACKETS; i++) {
		struct sample samples[3];
		packet.begin = ticks;
		sample_fill(&samples[0], MR_EVENT_node_instant, ticks += 700, &random);
		sample_fill(&samples[1], MR_EVENT_thread_name, ticks += 600, &random);
		sample_fill(&samples[2], MR_EVENT_node_interval, ticks += 500, &random);
		packet.end = ticks;
		packet_start(&packet);
		for (int j = 0; j < 3; j++)
			(i == 3 && j == 2 ? packet_extended_event : packet_event)(
				&packet, samples[j].desc->id, samples[j].ticks, samples[j].payload,
				samples[j].size);
		packet_finish(&packet);
		packet.sequence++;
		stream.offsets[i] = stream.size;
		memcpy(stream.bytes + stream.size, packet.bytes, packet.size);
		stream.size += packet.size;
	}
	stream.offsets[PACKETS] = stream.size;
}

/* What a reader gets: of each packet a digest of its events, and how much was lost. */
struct reading {
	uint64_t digests[PACKETS];
	uint32_t counts[PACKETS];
	uint64_t lost; /* damages, missing packets, packets given up, events skipped */
	uint64_t lost_bytes;
};

static uint64_t mix(uint64_t digest, const void *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		digest = (digest ^ ((const uint8_t *)bytes)[i]) * 0x100000001b3;
	return digest;
}

static void read_stream(const struct mr_trace *trace, const struct mr_trace_stream *read,
			struct reading *reading)
{
	struct mr_cursor cursor;
	struct mr_event event;
	uint64_t last_ticks = 0;
	mr_cursor_start(&cursor, trace, read);
	while (mr_cursor_next(&cursor, &event)) {
		assert_true(event.ticks >= last_ticks);
		last_ticks = event.ticks;
		uint64_t offset = read->packets[cursor.packet_index - 1].file_offset;
		int index = 0;
		while (index < PACKETS && stream.offsets[index] != offset)
			index++;
		assert_true(index < PACKETS);
		uint64_t digest = reading->digests[index];
		digest = mix(digest, &event.ticks, sizeof event.ticks);
		digest = mix(digest, event.desc->name, strlen(event.desc->name));
		digest = mix(digest, event.payload, event.desc->fixed_bytes);
		if (event.text)
			digest = mix(digest, event.text, strlen(event.text));
		reading->digests[index] = digest;
		reading->counts[index]++;
	}
	reading->lost += read->missing_packets + cursor.malformed_packets + cursor.unknown_events;
}

static struct reading read_bytes(const char *directory, const void *bytes, size_t size)
{
	directory_write(directory, "ctf/stream", bytes, size);
	struct mr_trace *trace = directory_open(directory);
	struct reading reading = {.lost = trace->damage_count};
	for (uint32_t i = 0; i < trace->stream_count; i++)
		read_stream(trace, &trace->streams[i], &reading);
	for (uint32_t i = 0; i < trace->damage_count; i++) {
		assert_string_equal(trace->damages[i].file, "stream");
		assert_true(trace->damages[i].offset + trace->damages[i].lost_bytes <= size);
		reading.lost_bytes += trace->damages[i].lost_bytes;
	}
	mr_trace_close(trace);
	return reading;
}

static char *directory;

static int set_up(void **state)
{
	(void)state;
	make_stream();
	directory = directory_make();
	directory_write_metadata(directory);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	directory_remove(directory);
	return 0;
}

static struct reading read_sound(void)
{
	struct reading sound = read_bytes(directory, stream.bytes, stream.size);
	assert_int_equal(sound.lost, 0);
	for (int i = 0; i < PACKETS; i++)
		assert_int_equal(sound.counts[i], 3);
	return sound;
}

static void test_truncation_at_every_byte(void **state)
{
	(void)state;
	struct reading sound = read_sound();
	for (size_t size = 0; size < stream.size; size++) {
		struct reading cut = read_bytes(directory, stream.bytes, size);
		size_t whole = 0; /* bytes of complete packets */
		for (int i = 0; i < PACKETS; i++) {
			bool complete = stream.offsets[i + 1] <= size;
			assert_int_equal(cut.counts[i], complete ? 3 : 0);
			assert_int_equal(cut.digests[i], complete ? sound.digests[i] : 0);
			if (complete)
				whole = stream.offsets[i + 1];
		}
		assert_int_equal(cut.lost_bytes, size - whole);
		assert_int_equal(cut.lost, size > whole);
	}
}

static int packet_at(size_t offset)
{
	int index = 0;
	while (stream.offsets[index + 1] <= offset)
		index++;
	return index;
}

/* A flip of any bit changes its own packet, if any. What says which stream a packet belongs to is
 * the exception: the packet then turns up elsewhere, which is seen as a hole. */
static void test_every_bit_flipped(void **state)
{
	(void)state;
	struct reading sound = read_sound();
	for (size_t bit = 0; bit < 8 * stream.size; bit++) {
		int index = packet_at(bit / 8);
		size_t offset = bit / 8 - stream.offsets[index];
		stream.bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
		struct reading flipped = read_bytes(directory, stream.bytes, stream.size);
		stream.bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
		for (int i = 0; i < PACKETS; i++)
			if (i != index && flipped.digests[i] != sound.digests[i])
				fail_msg("bit %zu of packet %d, byte %zu changes packet %d",
					 bit % 8, index, offset, i);
		if (flipped.counts[index] < 3 && offset < PACKET_HEADER_BYTES)
			assert_true(flipped.lost > 0);
	}
}

struct change {
	size_t offset;
	size_t bytes;
	uint64_t value;
	bool gone; /* is the packet left out? */
};

/* Changes a header field of the third packet: it alone may suffer. A wrong number does no harm. */
static void test_hostile_headers(void **state)
{
	(void)state;
	static const struct change changes[] = {
		{MAGIC, 4, 0, true},
		{UUID, 8, 0, true},
		{CLASS, 4, 2, true},
		{CLASS, 4, UINT32_MAX, true},
		{SIZE, 8, 0, true},
		{SIZE, 8, 64, true},
		{SIZE, 8, 8 * 96 - 64, true},
		{SIZE, 8, UINT64_C(1) << 60, true},
		{SIZE, 8, UINT64_MAX, true},
		{SIZE, 8, UINT64_MAX - 7, true},
		{CONTENT, 8, 0, true},
		{CONTENT, 8, 8, true},
		{CONTENT, 8, 8 * 96 + 1, true},
		{CONTENT, 8, UINT64_MAX, true},
		{CONTENT, 8, UINT64_C(1) << 60, true},
		{BEGIN, 8, UINT64_MAX, true},
		{BEGIN, 8, 0, true}, /* encloses the two before it */
		{END, 8, 0, true},
		{END, 8, UINT64_MAX, true}, /* encloses the one after it */
		{SEQUENCE, 8, UINT64_MAX, false},
		{SEQUENCE, 8, 0, false},
		{STREAM, 8, UINT64_MAX, false},
		{KIND, 1, 2, true},
		{KIND, 1, 1, false},
	};
	struct reading sound = read_sound();
	for (size_t i = 0; i < mr_countof(changes); i++) {
		const struct change *change = &changes[i];
		make_stream();
		put_number(stream.bytes + stream.offsets[2] + change->offset, change->value,
			   change->bytes);
		struct reading read = read_bytes(directory, stream.bytes, stream.size);
		for (int j = 0; j < PACKETS; j++)
			assert_int_equal(read.digests[j],
					 j == 2 && change->gone ? 0 : sound.digests[j]);
		assert_int_equal(read.lost > 0, change->offset != SEQUENCE);
		if (change->gone)
			assert_int_equal(read.lost_bytes, stream.offsets[3] - stream.offsets[2]);
	}
}

/* Content that is not events: the packet is given up where that shows, and counted. */
static void test_hostile_events(void **state)
{
	(void)state;
	static struct packet packet;
	static const struct {
		uint8_t bytes[16];
		size_t size;
	} contents[] = {
		{{0}, 1},                                          /* no such event */
		{{MR_EVENT_node_instant, 100, 0}, 3},              /* header cut off */
		{{MR_EVENT_node_instant, 100, 0, 0, 0, 1}, 6},     /* payload cut off */
		{{MR_EVENT_thread_name, 100, 0, 0, 0, 'a'}, 6},    /* text without end */
		{{MR_EVENT_thread_name, 100, 0, 0, 0}, 5},         /* no text at all */
		{{MR_EVENT_process_end, 99, 0, 0, 0}, 5},          /* before the packet's begin */
		{{MR_EVENT_process_end, 201, 0, 0, 0}, 5},         /* after its end */
		{{255, MR_EVENT_process_end, 100, 0, 0}, 5},       /* long header cut off */
		{{255, MR_EVENT_process_end, 99}, 10},             /* before the begin */
		{{255, MR_EVENT_process_end, 201}, 10},            /* after the end */
		{{255, MR_EVENT_process_end, 100, [9] = 128}, 10}, /* far after the end */
		{{255, 255, 100}, 10},                             /* long header twice */
		{{255, 0, 100}, 10},                               /* no such event */
	};
	for (size_t i = 0; i < mr_countof(contents); i++) {
		packet = (struct packet){.begin = 100, .end = 200};
		packet_start(&packet);
		packet_event(&packet, MR_EVENT_process_end, 100, NULL, 0);
		memcpy(packet.bytes + packet.size, contents[i].bytes, contents[i].size);
		packet.size += contents[i].size;
		packet_finish(&packet);
		directory_write(directory, "ctf/stream", packet.bytes, packet.size);
		mr_auto(trace) struct mr_trace *trace = directory_open(directory);
		assert_int_equal(trace->damage_count, 0);
		struct mr_cursor cursor;
		struct mr_event event;
		mr_cursor_start(&cursor, trace, &trace->streams[0]);
		assert_true(mr_cursor_next(&cursor, &event));
		assert_int_equal(event.ticks, 100);
		assert_false(mr_cursor_next(&cursor, &event));
		assert_int_equal(cursor.malformed_packets, 1);
	}
}

/* Times at the very end of the range do not wrap around. */
static void test_end_of_time(void **state)
{
	(void)state;
	static struct packet packet;
	packet = (struct packet){.begin = UINT64_MAX - 10, .end = UINT64_MAX};
	packet_start(&packet);
	packet_event(&packet, MR_EVENT_process_end, UINT64_MAX, NULL, 0);
	packet_event(&packet, MR_EVENT_process_end, 5, NULL, 0);
	packet_finish(&packet);
	directory_write(directory, "ctf/stream", packet.bytes, packet.size);
	mr_auto(trace) struct mr_trace *trace = directory_open(directory);
	struct mr_cursor cursor;
	struct mr_event event;
	mr_cursor_start(&cursor, trace, &trace->streams[0]);
	assert_true(mr_cursor_next(&cursor, &event));
	assert_int_equal(event.ticks, UINT64_MAX);
	assert_false(mr_cursor_next(&cursor, &event));
	assert_int_equal(cursor.malformed_packets, 1);
}

/* More damage than is listed one by one. */
static void test_endless_damage(void **state)
{
	(void)state;
	enum {
		COUNT = 1500
	};
	static struct packet packet;
	packet_start(&packet);
	packet_finish(&packet);
	size_t step = packet.size + 8;
	uint8_t *bytes = calloc(COUNT, step);
	for (size_t i = 0; i < COUNT; i++)
		memcpy(bytes + i * step, packet.bytes, packet.size);
	directory_write(directory, "ctf/stream", bytes, COUNT * step);
	free(bytes);
	mr_auto(trace) struct mr_trace *trace = directory_open(directory);
	assert_int_equal(trace->damage_count, 1000);
	uint64_t lost_bytes = 0;
	for (uint32_t i = 0; i < trace->damage_count; i++)
		lost_bytes += trace->damages[i].lost_bytes;
	assert_int_equal(lost_bytes, COUNT * 8);
	assert_int_equal(trace->event_bytes, COUNT * packet.size);
}

static void test_file_of_something_else(void **state)
{
	(void)state;
	static uint8_t zeros[100001];
	directory_write(directory, "ctf/stream", stream.bytes, stream.size);
	directory_write(directory, "ctf/zeros", zeros, sizeof zeros);
	mr_auto(trace) struct mr_trace *trace = directory_open(directory);
	assert_int_equal(trace->damage_count, 1);
	assert_string_equal(trace->damages[0].file, "zeros");
	assert_int_equal(trace->damages[0].offset, 0);
	assert_int_equal(trace->damages[0].lost_bytes, sizeof zeros);
	assert_int_equal(trace->streams[0].packet_count, PACKETS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_truncation_at_every_byte, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_every_bit_flipped, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_hostile_headers, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_hostile_events, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_end_of_time, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_endless_damage, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_file_of_something_else, set_up, tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
