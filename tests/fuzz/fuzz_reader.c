/* SPDX-License-Identifier: Apache-2.0
 *
 * Fuzzes the reader. An input is the text of the metadata, a zero byte, and the bytes of one stream
 * file; if the text is empty, the metadata is ours (with a UUID of zeros), so that mutations reach
 * the packets. Seeds: tests/corpus/fuzz_reader. The bytes are read through a real trace directory, made
 * once under $TMPDIR.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/macros.h"
#include "trace/trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char directory[256], metadata_path[300], stream_path[300];

static void require(bool condition)
{
	if (!condition)
		abort();
}

static void remove_directory(void)
{
	unlink(metadata_path);
	unlink(stream_path);
	rmdir(directory);
}

static void make_directory(void)
{
	const char *temporary = getenv("TMPDIR");
	snprintf(directory, sizeof directory, "%s/mr-fuzz-XXXXXX", temporary ? temporary : "/tmp");
	require(mkdtemp(directory) != NULL);
	snprintf(metadata_path, sizeof metadata_path, "%s/metadata", directory);
	snprintf(stream_path, sizeof stream_path, "%s/stream", directory);
	atexit(remove_directory);
}

static void write_file(const char *path, const uint8_t *bytes, size_t size)
{
	FILE *file = fopen(path, "w");
	require(file && fwrite(bytes, 1, size, file) == size && fclose(file) == 0);
}

static void write_own_metadata(void)
{
	static const struct mr_metadata own = {
		.host = "h",
		.user = {"u", 1000000000, 0, 0, 0},
		.user_clock = MR_trace_clock_tsc,
		.monotonic = {"m", 1000000000, 0, 0, 0},
	};
	FILE *file = fopen(metadata_path, "w");
	require(file && mr_metadata_print(&own, file) == 0 && fclose(file) == 0);
}

/* Touches all that the event points to. */
static uint64_t touch(const struct mr_event *event)
{
	uint64_t sum = event->context->tid;
	for (uint32_t i = 0; i < event->desc->fixed_bytes; i++)
		sum += ((const uint8_t *)event->payload)[i];
	require(event->desc->has_text == (event->text != NULL));
	return sum + (event->text ? strlen(event->text) : 0);
}

static uint64_t read_streams(const struct mr_trace *trace)
{
	uint64_t count = 0;
	for (uint32_t i = 0; i < trace->stream_count; i++) {
		struct mr_cursor cursor;
		struct mr_event event;
		uint64_t last_ticks = 0;
		mr_cursor_start(&cursor, trace, &trace->streams[i]);
		for (; mr_cursor_next(&cursor, &event); count++) {
			require(event.ticks >= last_ticks);
			last_ticks = event.ticks;
			require(touch(&event) != UINT64_MAX); /* so that it is not optimised away */
		}
	}
	return count;
}

static int64_t to_ns(const void *clocks, enum mr_stream_class stream_class, uint64_t ticks)
{
	(void)clocks, (void)stream_class;
	return (int64_t)(ticks >> 1);
}

static uint64_t merge_streams(const struct mr_trace *trace)
{
	mr_auto(merge) struct mr_merge *merge = NULL;
	require(mr_merge_start(trace, NULL, to_ns, NULL, &merge) == 0);
	struct mr_event event;
	int64_t ns, last_ns = INT64_MIN;
	uint64_t count = 0;
	for (; mr_merge_next(merge, &event, &ns); count++) {
		require(ns >= last_ns);
		last_ns = ns;
	}
	return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!*directory)
		make_directory();
	const uint8_t *end = size ? memchr(data, 0, size) : NULL;
	if (!end)
		return 0;
	size_t stream_size = (size_t)(data + size - end) - 1;
	if (end == data)
		write_own_metadata();
	else
		write_file(metadata_path, data, (size_t)(end - data));
	write_file(stream_path, end + 1, stream_size);

	mr_auto(trace) struct mr_trace *trace = NULL;
	if (mr_trace_open(directory, &trace) < 0)
		return 0;
	uint64_t bytes = trace->event_bytes;
	for (uint32_t i = 0; i < trace->damage_count; i++)
		bytes += trace->damages[i].lost_bytes;
	require(bytes == stream_size);
	require(read_streams(trace) == merge_streams(trace));
	return 0;
}
