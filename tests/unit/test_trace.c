/* SPDX-License-Identifier: Apache-2.0
 *
 * Reading sound traces: every event and field against values known from writing them, and the same
 * directory read by babeltrace2; streams spread over files; merging.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <inttypes.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/vector.h"
#include "trace/trace.h"
#include "trace_writer.h"

static struct packet packet; /* too large for the stack */

static void check_event(const struct mr_event *event, const struct sample *sample)
{
	assert_ptr_equal(event->desc, sample->desc);
	assert_int_equal(event->ticks, sample->ticks);
	const uint8_t *field = event->payload;
	for (uint32_t i = 0; i < sample->desc->field_count; i++) {
		size_t bytes = mr_type_bytes(sample->desc->fields[i].type);
		assert_int_equal(get_number(field, bytes), sample->numbers[i]);
		field += bytes;
	}
	if (sample->desc->has_text)
		assert_string_equal(event->text, sample->text);
	else
		assert_null(event->text);
}

/* ---- every event ----------------------------------------------------------------------------- */

enum {
	ROUNDS = 8,
	SAMPLES_MAX = 256 * ROUNDS
};

static struct sample samples[SAMPLES_MAX];

/* Steps of every size: none, small, just below and just above a wrap of the low 32 bits, far. */
static uint64_t random_step(uint64_t *random)
{
	static const uint64_t steps[] = {0,
					 1,
					 1000,
					 UINT32_MAX,
					 UINT64_C(1) << 32,
					 (UINT64_C(1) << 32) + 1,
					 UINT64_C(5) << 36};
	uint64_t step = steps[next_random(random) % 16 % mr_countof(steps)];
	return next_random(random) % 8 ? next_random(random) % 100000 : step;
}

static size_t make_samples(uint64_t *random)
{
	size_t count = 0;
	uint64_t ticks = UINT64_C(3) << 32;
	for (int round = 0; round < ROUNDS; round++)
		for (int id = 1; id < MR_EVENT_EXTENDED; id++)
			if (mr_event_table[id].name) {
				ticks += random_step(random);
				sample_fill(&samples[count++], (uint8_t)id, ticks, random);
			}
	return count;
}

/* Writes the samples as one stream, in packets of a few events each. */
static void write_samples(const char *directory, const char *name, uint32_t stream_class,
			  size_t count, uint64_t *random)
{
	mr_vec(uint8_t) file = {0};
	packet = (struct packet){.stream_class = stream_class, .stream = 7, .pid = 40, .tid = 41};
	for (size_t first = 0, next; first < count; first = next, packet.sequence++) {
		next = mr_min(count, first + 1 + next_random(random) % 40);
		packet.begin = samples[first].ticks - next_random(random) % 1000;
		packet.begin = mr_max(packet.begin, packet.end);
		packet.end = samples[next - 1].ticks;
		packet_start(&packet);
		uint64_t last = packet.begin;
		for (size_t i = first; i < next; i++) {
			struct sample *sample = &samples[i];
			bool far = sample->ticks - last > UINT32_MAX;
			(far ? packet_extended_event : packet_event)(&packet, sample->desc->id,
								     sample->ticks, sample->payload,
								     sample->size);
			last = sample->ticks;
		}
		packet_finish(&packet);
		assert_int_equal(mr_vec_reserve(&file, file.count + packet.size), 0);
		memcpy(file.items + file.count, packet.bytes, packet.size);
		file.count += packet.size;
	}
	directory_write(directory, name, file.items, file.count);
	mr_vec_free(&file);
}

static void test_every_event_is_read(void **state)
{
	(void)state;
	uint64_t random = 1;
	size_t count = make_samples(&random);
	for (uint32_t class = 0; class < 2; class ++) {
		char *directory = directory_make();
		directory_write_metadata(directory);
		write_samples(directory, "ctf/stream", class, count, &random);
		mr_auto(trace) struct mr_trace *trace = directory_open(directory);
		assert_int_equal(trace->damage_count, 0);
		assert_int_equal(trace->stream_count, 1);
		assert_int_equal(trace->streams[0].stream_class, class);
		assert_int_equal(trace->streams[0].number, 7);
		assert_int_equal(trace->streams[0].missing_packets, 0);

		struct mr_cursor cursor;
		struct mr_event event;
		mr_cursor_start(&cursor, trace, &trace->streams[0]);
		for (size_t i = 0; i < count; i++) {
			assert_true(mr_cursor_next(&cursor, &event));
			check_event(&event, &samples[i]);
			assert_int_equal(event.context->tid, 41);
		}
		assert_false(mr_cursor_next(&cursor, &event));
		assert_false(mr_cursor_next(&cursor, &event));
		assert_int_equal(cursor.unknown_events, 0);
		assert_int_equal(cursor.malformed_packets, 0);
		directory_remove(directory);
	}
}

/* ---- babeltrace2 ----------------------------------------------------------------------------- */

static void print_field(FILE *file, const struct sample *sample, uint32_t index)
{
	const struct mr_field_desc *field = &sample->desc->fields[index];
	uint64_t number = sample->numbers[index];
	fprintf(file, "%s %s = ", index ? "," : "", field->name);
	for (uint32_t i = 0; field->enumeration && i < field->enumeration->value_count; i++)
		if (field->enumeration->values[i].number == number)
			fprintf(file,
				"( \"%s\" : container = ", field->enumeration->values[i].name);
	if (field->type == MR_str)
		fprintf(file, "\"%s\"", sample->text);
	else if (field->type == MR_i32)
		fprintf(file, "%" PRId32, (int32_t)number);
	else if (field->type == MR_i64)
		fprintf(file, "%" PRId64, (int64_t)number);
	else
		fprintf(file, "%" PRIu64, number);
	if (field->enumeration)
		fputs(" )", file);
}

/* The line babeltrace2 should print. */
static char *expected_line(const struct sample *sample)
{
	char *line = NULL;
	size_t size = 0;
	FILE *file = open_memstream(&line, &size);
	fprintf(file,
		"[%020" PRIu64 "] %s %s: { process = 0, pid = 40, tid = 41, kind = 0, depth = 0, "
		"reserved = 0 }, {",
		sample->ticks, writer_metadata.host, sample->desc->name);
	for (uint32_t i = 0; i < sample->desc->field_count; i++)
		print_field(file, sample, i);
	fputs(" }\n", file);
	fclose(file);
	return line;
}

static void test_babeltrace_reads_the_same(void **state)
{
	(void)state;
	if (system("babeltrace2 --version >/dev/null 2>&1") != 0) {
		print_message("babeltrace2 is not installed\n");
		skip();
	}
	uint64_t random = 2;
	size_t count = make_samples(&random);
	char *directory = directory_make(), *command = NULL, *line = NULL;
	directory_write_metadata(directory);
	write_samples(directory, "ctf/stream", 0, count, &random);
	assert_true(asprintf(&command, "babeltrace2 --clock-cycles --no-delta %s/ctf 2>&1",
			     directory) > 0);
	FILE *output = popen(command, "r");
	assert_non_null(output);
	size_t size = 0;
	for (size_t i = 0; i < count; i++) {
		assert_true(getline(&line, &size, output) > 0);
		char *expected = expected_line(&samples[i]);
		assert_string_equal(line, expected);
		free(expected);
	}
	assert_true(getline(&line, &size, output) < 0);
	assert_int_equal(pclose(output), 0);
	free(line);
	free(command);
	directory_remove(directory);
}

/* ---- streams, files, merging ----------------------------------------------------------------- */

/* A packet of node_instant events at begin, begin + step ... of which `node` numbers the first. */
static void make_instants(uint32_t count, uint32_t step, uint32_t node)
{
	packet.end = packet.begin + (count - 1) * step;
	packet_start(&packet);
	for (uint32_t i = 0; i < count; i++) {
		uint8_t payload[8] = {0};
		put_number(payload, node + i, 4);
		packet_event(&packet, MR_EVENT_node_instant, packet.begin + i * step, payload,
			     sizeof payload);
	}
	packet_finish(&packet);
}

static void write_instants(const char *directory, const char *name, uint64_t stream,
			   uint64_t sequence, uint64_t begin)
{
	packet = (struct packet){
		.stream = stream, .sequence = sequence, .begin = begin, .discarded = sequence * 10};
	make_instants(5, 10, (uint32_t)begin);
	directory_write(directory, name, packet.bytes, packet.size);
}

static void test_streams_continue_over_files(void **state)
{
	(void)state;
	char *directory = directory_make();
	directory_write_metadata(directory);
	write_instants(directory, "ctf/c", 3, 1, 1000);
	write_instants(directory, "ctf/a", 3, 5, 2000);
	write_instants(directory, "ctf/b", 3, 4, 1500);
	write_instants(directory, "ctf/d", 1, 0, 1);
	directory_write(directory, "ctf/empty", "", 0);
	directory_write(directory, "ctf/.hidden", "rubbish", 7);
	directory_write(directory, "manifest.json", "{}", 2);
	mr_auto(trace) struct mr_trace *trace = directory_open(directory);
	assert_int_equal(trace->damage_count, 0);
	assert_int_equal(trace->stream_count, 2);
	assert_int_equal(trace->file_count, 5);
	assert_int_equal(trace->streams[0].number, 1);
	const struct mr_trace_stream *stream = &trace->streams[1];
	assert_int_equal(stream->number, 3);
	assert_int_equal(stream->packet_count, 3);
	assert_int_equal(stream->missing_packets, 3); /* 0, 2 and 3 */
	assert_int_equal(stream->discarded_events, 50);
	assert_string_equal(trace->files[stream->packets[0].file], "c");
	struct mr_cursor cursor;
	struct mr_event event;
	mr_cursor_start(&cursor, trace, stream);
	for (uint64_t begin = 1000; begin <= 2000; begin += 500)
		for (uint64_t i = 0; i < 5; i++) {
			assert_true(mr_cursor_next(&cursor, &event));
			assert_int_equal(event.ticks, begin + 10 * i);
		}
	assert_false(mr_cursor_next(&cursor, &event));
	directory_remove(directory);
}

static void test_only_the_folder_of_streams(void **state)
{
	(void)state;
	char *directory = directory_make(), *path = NULL;
	directory_write_metadata(directory);
	write_instants(directory, "ctf/a", 3, 0, 1000);
	assert_true(asprintf(&path, "%s/ctf/pipe", directory) > 0);
	assert_int_equal(mkfifo(path, 0600), 0);
	free(path);
	assert_true(asprintf(&path, "%s/ctf", directory) > 0);
	mr_auto(trace) struct mr_trace *trace = directory_open(path);
	assert_int_equal(trace->stream_count, 1);
	assert_int_equal(trace->damage_count, 0);
	assert_memory_equal(trace->metadata.trace_uuid, writer_metadata.trace_uuid, 16);
	free(path);
	directory_remove(directory);
}

static int64_t to_ns(const void *clocks, enum mr_stream_class class, uint64_t ticks)
{
	return (int64_t)ticks * (class == MR_STREAM_USER ? *(const int64_t *)clocks : 1);
}

static bool is_not_nine(const struct mr_trace_stream *stream)
{
	return stream->number != 9;
}

static void test_many_files_are_merged(void **state)
{
	(void)state;
	enum {
		FILES = 3000
	};
	char *directory = directory_make();
	directory_write_metadata(directory);
	uint64_t random = 3;
	for (uint32_t i = 0; i < FILES; i++) {
		char name[32];
		snprintf(name, sizeof name, "ctf/%u", i);
		packet = (struct packet){.stream = i, .stream_class = i % 2, .kind = i % 3 == 0};
		packet.begin = next_random(&random) % 1000;
		make_instants(3, 1 + i % 7, 0);
		directory_write(directory, name, packet.bytes, packet.size);
	}
	mr_auto(trace) struct mr_trace *trace = directory_open(directory);
	assert_int_equal(trace->stream_count, FILES);
	mr_auto(merge) struct mr_merge *merge = NULL;
	int64_t factor = 2, ns, last_ns = -1;
	assert_int_equal(mr_merge_start(trace, is_not_nine, to_ns, &factor, &merge), 0);
	struct mr_event event, last = {0};
	uint32_t count = 0;
	for (; mr_merge_next(merge, &event, &ns); count++, last = event, last_ns = ns) {
		const struct mr_packet *owner = (const void *)((const char *)event.context - 32);
		assert_int_equal(ns, to_ns(&factor, owner->header.stream_class, event.ticks));
		assert_true(ns >= last_ns);
		if (ns > last_ns || event.context == last.context)
			continue;
		/* equal times: definitions first, then by class and number */
		assert_true(event.context->kind <= last.context->kind);
	}
	assert_int_equal(count, 3 * (FILES - 1));
	assert_false(mr_merge_next(merge, &event, &ns));
	assert_int_equal(mr_merge_unknown_events(merge), 0);
	assert_int_equal(mr_merge_malformed_packets(merge), 0);
	directory_remove(directory);
}

static void test_nothing_to_merge(void **state)
{
	(void)state;
	char *directory = directory_make();
	directory_write_metadata(directory);
	mr_auto(trace) struct mr_trace *trace = directory_open(directory);
	assert_int_equal(trace->stream_count, 0);
	mr_auto(merge) struct mr_merge *merge = NULL;
	struct mr_event event;
	int64_t ns;
	assert_int_equal(mr_merge_start(trace, NULL, to_ns, NULL, &merge), 0);
	assert_false(mr_merge_next(merge, &event, &ns));
	assert_false(mr_merge_next(merge, &event, &ns));
	directory_remove(directory);
}

static void test_what_is_not_a_trace(void **state)
{
	(void)state;
	char *directory = directory_make(), *path = NULL;
	struct mr_trace *trace = NULL;
	assert_int_equal(mr_trace_open("/nonexistent", &trace), -ENOENT);
	assert_non_null(strstr(mr_error_text(), "/nonexistent"));
	assert_int_equal(mr_trace_open(directory, &trace), -ENOENT);
	assert_non_null(strstr(mr_error_text(), "metadata"));
	directory_write(directory, "ctf/metadata", "", 0);
	assert_int_equal(mr_trace_open(directory, &trace), -EINVAL);
	assert_true(asprintf(&path, "%s/ctf/metadata", directory) > 0);
	assert_int_equal(mr_trace_open(path, &trace), -ENOTDIR);
	assert_null(trace);
	free(path);
	directory_remove(directory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_event_is_read),
		cmocka_unit_test(test_babeltrace_reads_the_same),
		cmocka_unit_test(test_streams_continue_over_files),
		cmocka_unit_test(test_only_the_folder_of_streams),
		cmocka_unit_test(test_many_files_are_merged),
		cmocka_unit_test(test_nothing_to_merge),
		cmocka_unit_test(test_what_is_not_a_trace),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
