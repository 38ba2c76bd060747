/* SPDX-License-Identifier: Apache-2.0
 *
 * Keeps data structures in a file. One function lists the members to keep and works both ways: it writes them
 * out, or fills them in.
 *
 *     ┌──────────┬──────────────┬──────────────┬─────┬──────────────────────────┐
 *     │ heading  │ column       │ column       │ ... │ head: everything else    │
 *     └──────────┴──────────────┴──────────────┴─────┴──────────────────────────┘
 *     0          a page         pages                 heading.head_offset    heading.file_bytes
 *
 * Columns are large: they are not copied, only located in the mapped file. The rest is copied into separate
 * memory, to be freed as usual. Numbers have the machine's byte order.
 *
 * Every byte that is read has a CRC-32: the head has one, in the heading; a column one for each piece of it, in the
 * head. mr_archive_verify() computes those of the columns, in several threads: it must look at the whole file, which
 * is what opening it costs. A column of zeros alone is a hole in the file, and is not looked at: memory of zeros takes
 * its place in the mapping. Checksums are against accidents; against malice the key is (index.h).
 *
 * After a failure the functions do nothing: check `error` once, at the end. What was read can then only be
 * freed.
 */
#ifndef MR_MODEL_ARCHIVE_H
#define MR_MODEL_ARCHIVE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/mapping.h"
#include "base/strings.h"
#include "base/vector.h"

struct mr_archive_column {
	const void *bytes;
	uint64_t size;
	uint64_t offset;
	bool is_zero;
};

/* A part of a column, to be verified. */
struct mr_archive_piece {
	const uint8_t *bytes;
	uint32_t size;
	uint32_t crc;
};

struct mr_archive {
	bool is_reading;
	int error; /* 0 or a negative errno */

	/* Writing. */
	mr_vec(uint8_t) head;
	mr_vec(struct mr_archive_column) columns;
	uint64_t file_bytes; /* columns so far */

	/* Reading. */
	struct mr_mapping file;
	size_t position; /* in the file */
	size_t end;
	mr_vec(struct mr_archive_piece) pieces; /* of all columns so far */
	uint64_t damaged_at; /* of a column: offset in the file of the first piece that is */
};

/* A zeroed archive is not ready: one of these makes it so. */
void mr_archive_start_writing(struct mr_archive *archive);

/* Borrows the mapping, whose columns of zeros it replaces. -EBADMSG if it is none of these files, or damaged. */
int mr_archive_start_reading(struct mr_archive *archive, const struct mr_mapping *file);

/* Compares all columns that were read with their checksums: 0, or -EBADMSG with `damaged_at`. Call it before anybody
 * looks at them. */
int mr_archive_verify(struct mr_archive *archive);

void mr_archive_end(struct mr_archive *archive);

/* Of what was gone through: how large the file will be; writes it. -EIO. */
uint64_t mr_archive_file_bytes(const struct mr_archive *archive);
int mr_archive_write(const struct mr_archive *archive, FILE *file);

/* Plain values that stand where they are. */
void mr_archive_plain(struct mr_archive *archive, void *bytes, size_t size);

/* An array of plain values; made by malloc() when read, NULL where there are none. */
void mr_archive_array(struct mr_archive *archive, void **items, size_t count, size_t item_bytes);

void mr_archive_strings(struct mr_archive *archive, struct mr_strings *strings);

/* Read, it is in the mapping; NULL where it is empty. */
void mr_archive_column(struct mr_archive *archive, void **column, uint64_t count,
		       uint32_t item_bytes);

/* A vector (base/vector.h) of plain values. */
#define mr_archive_vec(archive, vector)                                                 \
	do {                                                                            \
		mr_archive_plain((archive), &(vector)->count, sizeof(vector)->count);   \
		mr_archive_array((archive), (void **)&(vector)->items, (vector)->count, \
				 sizeof *(vector)->items);                              \
		if ((archive)->is_reading)                                              \
			(vector)->capacity = (vector)->count =                          \
				(vector)->items ? (vector)->count : 0;                  \
	} while (0)

#endif
