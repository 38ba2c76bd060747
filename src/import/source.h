/* SPDX-License-Identifier: Apache-2.0
 *
 * The bytes of a file, plain or gzip, through a window that slides over them:
 *
 *     file ... read and done with ...│ at ─────── window ─────── end │ ... not read yet ...
 *                                    └ `offset` bytes into the text
 *
 * Bytes that were processed are released at once, so that a large file needs little memory. The window grows only if
 * a value does not fit, and not beyond MR_SOURCE_WINDOW_MAX. A compressed file that becomes more than 100 times as large
 * (and 256 MiB) is given up. MR_SOURCE_PADDING zeros follow its end, so that a reader
 * may look at many bytes at once.
 */
#ifndef MR_IMPORT_SOURCE_H
#define MR_IMPORT_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	MR_SOURCE_WINDOW_MAX = 64 << 20,
	MR_SOURCE_PADDING = 64,
	MR_SOURCE_HEAD_BYTES = 64 << 10, /* as much as one may look at before reading */
};

struct mr_source {
	const char *at;
	const char *end;
	uint64_t offset;     /* of `at` in the text, for messages: kept by mr_source_advance() */
	const char *problem; /* why the text ends before its time; NULL if it does not */
	char *window;
	size_t capacity; /* of the window, without the padding */
	struct mr_source_file *file;
};

/* Opens a regular file. */
int mr_source_open(const char *path, struct mr_source *ret_source);
void mr_source_close(struct mr_source *source);

/* Is done with everything before `at`. */
static inline void mr_source_advance(struct mr_source *source, const char *at)
{
	source->offset += (uint64_t)(at - source->at);
	source->at = at;
}

/* Reads more behind what is in the window: false if there is no more, or no room, see `problem`. Moves
 * the window: pointers into it are void. */
bool mr_source_more(struct mr_source *source);

/* Reads until the window holds MR_SOURCE_HEAD_BYTES; true if the text ends before. */
bool mr_source_fill_head(struct mr_source *source);

/* Bytes from `at` to the end of the file. */
uint64_t mr_source_drain(struct mr_source *source);

#endif
