/* SPDX-License-Identifier: Apache-2.0 */
#include "import/source.h"

#include <errno.h>
#include <fcntl.h>
#include <isa-l/igzip_lib.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/progress.h"

enum {
	WINDOW_BYTES = 256 << 10,
	INPUT_BYTES = 64 << 10,
	TEXT_MAX_TIMES =
		100, /* the size of a compressed file: traces shrink to a tenth or twentieth */
	TEXT_MAX_MORE = 256 << 20,
};

_Static_assert((int)MR_SOURCE_HEAD_BYTES <= (int)WINDOW_BYTES, "the head has room in the window");

struct mr_source_file {
	int fd;
	bool is_gzip;
	uint64_t text_left; /* bytes that may still come out of a compressed file */
	struct inflate_state inflate;
	uint8_t input[INPUT_BYTES]; /* compressed */
};

/* ---- opening -------------------------------------------------------------------------------------- */

static int check_regular(int fd, uint64_t *ret_bytes)
{
	struct stat status;

	if (fstat(fd, &status) < 0)
		return mr_fail_errno(errno, "cannot examine");
	*ret_bytes = (uint64_t)status.st_size;
	return S_ISREG(status.st_mode) ? 0 : mr_fail(EINVAL, "not a regular file");
}

static bool has_gzip_magic(int fd)
{
	uint8_t magic[2] = {0};

	return pread(fd, magic, sizeof magic, 0) == 2 && magic[0] == 0x1F && magic[1] == 0x8B;
}

int mr_source_open(const char *path, struct mr_source *ret_source)
{
	/* O_NONBLOCK: a named pipe must not make us wait for a writer. */
	mr_auto(close_fd) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return mr_fail_errno(errno, "cannot open");
	uint64_t bytes = 0;
	int result = check_regular(fd, &bytes);
	if (result < 0)
		return result;
	mr_auto(free) char *window = calloc(1, WINDOW_BYTES + MR_SOURCE_PADDING);
	struct mr_source_file *file = window ? malloc(sizeof *file) : NULL;
	if (!file)
		return mr_fail_errno(ENOMEM, "cannot read");
	file->is_gzip = has_gzip_magic(fd);
	file->text_left = TEXT_MAX_MORE + TEXT_MAX_TIMES * bytes;
	file->fd = fd;
	fd = -1; /* now the file's */
	isal_inflate_init(&file->inflate);
	file->inflate.crc_flag = ISAL_GZIP;
	*ret_source = (struct mr_source){
		.at = window,
		.end = window,
		.capacity = WINDOW_BYTES,
		.file = file,
	};
	ret_source->window = mr_take(window);
	return 0;
}

void mr_source_close(struct mr_source *source)
{
	if (source->file)
		close(source->file->fd);
	free(source->file);
	free(source->window);
	*source = (struct mr_source){0};
}

/* ---- reading -------------------------------------------------------------------------------------- */

static size_t read_file(struct mr_source *source, void *to, size_t room)
{
	ssize_t got;

	do
		got = read(source->file->fd, to, room);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		source->problem = "the file cannot be read";
	if (got <= 0)
		return 0;
	mr_progress_advance((uint64_t)got);
	return (size_t)got;
}

/* A file may consist of several that were compressed one by one. */
static size_t read_gzip(struct mr_source *source, char *to, size_t room)
{
	struct mr_source_file *file = source->file;
	struct inflate_state *inflate = &file->inflate;

	inflate->next_out = (uint8_t *)to;
	inflate->avail_out = (uint32_t)room;
	while (!source->problem && inflate->avail_out > 0) {
		if (inflate->avail_in == 0) {
			inflate->next_in = file->input;
			inflate->avail_in = (uint32_t)read_file(source, file->input, INPUT_BYTES);
			if (inflate->avail_in == 0)
				break;
		}
		if (inflate->block_state == ISAL_BLOCK_FINISH)
			isal_inflate_reset(inflate);
		if (isal_inflate(inflate) < 0)
			source->problem = "the compressed file is damaged";
	}
	size_t got = room - inflate->avail_out;
	if (got > file->text_left) {
		source->problem = "the compressed file becomes more than 100 times as large: "
				  "decompress it first";
		return 0;
	}
	file->text_left -= got;
	if (got == 0 && !source->problem && inflate->block_state != ISAL_BLOCK_FINISH)
		source->problem = "the compressed file ends too early";
	return got;
}

/* Moves what is left to the front, and makes the window larger if that does not give room. */
static bool make_room(struct mr_source *source)
{
	size_t left = (size_t)(source->end - source->at);

	if (source->at == source->window && left == source->capacity) {
		size_t larger = 2 * source->capacity;
		char *window = larger <= MR_SOURCE_WINDOW_MAX
				       ? realloc(source->window, larger + MR_SOURCE_PADDING)
				       : NULL;

		if (!window) {
			source->problem = "a value is too large";
			return false;
		}
		source->window = window;
		source->capacity = larger;
	} else {
		memmove(source->window, source->at, left);
	}
	source->at = source->window;
	source->end = source->at + left;
	return true;
}

bool mr_source_more(struct mr_source *source)
{
	if (source->problem || !make_room(source))
		return false;
	char *to = source->window + (source->end - source->window);
	size_t room = (size_t)(source->window + source->capacity - to);
	size_t got =
		source->file->is_gzip ? read_gzip(source, to, room) : read_file(source, to, room);

	source->end = to + got;
	memset(to + got, 0, MR_SOURCE_PADDING);
	return got > 0;
}

bool mr_source_fill_head(struct mr_source *source)
{
	while (source->end - source->at < MR_SOURCE_HEAD_BYTES)
		if (!mr_source_more(source))
			return true;
	return false;
}

uint64_t mr_source_drain(struct mr_source *source)
{
	uint64_t begin = source->offset;

	do
		mr_source_advance(source, source->end);
	while (mr_source_more(source));
	return source->offset - begin;
}
