/* SPDX-License-Identifier: Apache-2.0
 *
 * Fuzzes the import, from the choice of a format on: an input is the file, plain or gzip. What opens must be a
 * sound trace, from which the model can be made; what does not is refused with a reason. Seeds:
 * tests/corpus/fuzz_import. The bytes are read through a real file, made once under $TMPDIR.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/macros.h"
#include "load/load.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char path[256];

static void require(bool condition)
{
	if (!condition)
		abort();
}

static void remove_file(void)
{
	unlink(path);
}

static void write_file(const uint8_t *bytes, size_t size)
{
	const char *temporary = getenv("TMPDIR");

	if (!*path) {
		snprintf(path, sizeof path, "%s/mr-fuzz-XXXXXX", temporary ? temporary : "/tmp");
		int fd = mkstemp(path);
		require(fd >= 0 && close(fd) == 0);
		atexit(remove_file);
	}
	FILE *file = fopen(path, "w");
	require(file && fwrite(bytes, 1, size, file) == size && fclose(file) == 0);
}

/* Every packet and event that the import makes can be read. */
static uint64_t count_events(const struct mr_trace *trace)
{
	uint64_t count = 0;

	for (uint32_t i = 0; i < trace->stream_count; i++) {
		struct mr_cursor cursor;
		struct mr_event event;

		mr_cursor_start(&cursor, trace, &trace->streams[i]);
		while (mr_cursor_next(&cursor, &event))
			count++;
		require(cursor.malformed_packets == 0 && cursor.unknown_events == 0);
		require(trace->streams[i].missing_packets == 0);
	}
	return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct mr_model *model;

	write_file(data, size);
	if (mr_model_load(path, &model) < 0) {
		const char *reason = mr_error_text();

		require(strncmp(reason, path, strlen(path)) == 0 &&
			strlen(reason) > strlen(path) + 2);
		return 0;
	}
	require(model->survey->event_count == count_events(model->trace));
	require(model->survey->definitions.impossible == 0 && model->anomalies.undefined == 0);
	require(model->anomalies.backwards == 0 && model->anomalies.unplaced == 0);
	mr_model_free(model);
	return 0;
}
