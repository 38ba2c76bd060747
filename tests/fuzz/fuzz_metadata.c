/* SPDX-License-Identifier: Apache-2.0
 *
 * Fuzzes the reader of metadata, and of events that another version laid out: an input is the text of the metadata, a
 * zero byte, and the bytes of one stream file. They are read through a real trace directory, made once under $TMPDIR.
 * Seeds: tests/corpus/fuzz_metadata.
 */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "read_all.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char directory[256], metadata_path[300], stream_path[300];

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
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	require(fd >= 0 && write(fd, bytes, size) == (ssize_t)size && close(fd) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!*directory)
		make_directory();
	const uint8_t *end = size ? memchr(data, 0, size) : NULL;
	if (!end)
		return 0;
	size_t stream_size = (size_t)(data + size - end) - 1;
	write_file(metadata_path, data, (size_t)(end - data));
	write_file(stream_path, end + 1, stream_size);

	mr_auto(trace) struct mr_trace *trace = NULL;
	if (mr_trace_open(directory, &trace) == 0)
		read_all(trace, stream_size);
	return 0;
}
