/* SPDX-License-Identifier: Apache-2.0 */
#include "model/archive.h"

#include <errno.h>
#include <string.h>

#include "base/macros.h"

enum {
	PAGE = 4096,
	PIECE = 1 << 18, /* of a column, written at once */
};

struct heading {
	char magic[16];
	uint64_t file_bytes;
	uint64_t head_offset;
	uint64_t head_hash;
};

static const char magic[16] = "millrace index\n";

/* Eight bytes at a time, each mixed in by a multiplication: against accidents, not against malice. */
static uint64_t hash(const uint8_t *bytes, size_t size)
{
	uint64_t value = size;

	for (size_t i = 0; i < size; i += sizeof value) {
		uint64_t word = 0;

		memcpy(&word, bytes + i, mr_min(size - i, sizeof word));
		value = (value ^ word) * UINT64_C(0x9e3779b97f4a7c15);
		value ^= value >> 29;
	}
	return value;
}

/* ---- the file ----------------------------------------------------------------------------------- */

void mr_archive_start_writing(struct mr_archive *archive)
{
	*archive = (struct mr_archive){.file_bytes = PAGE};
}

int mr_archive_start_reading(struct mr_archive *archive, const struct mr_mapping *file)
{
	struct heading heading;

	if (file->size < sizeof heading)
		return -EBADMSG;
	memcpy(&heading, file->bytes, sizeof heading);
	if (memcmp(heading.magic, magic, sizeof magic) != 0 || heading.file_bytes != file->size ||
	    heading.head_offset < PAGE || heading.head_offset > file->size ||
	    hash(file->bytes + heading.head_offset, file->size - heading.head_offset) !=
		    heading.head_hash)
		return -EBADMSG;
	*archive = (struct mr_archive){
		.is_reading = true,
		.file = *file,
		.position = heading.head_offset,
		.end = file->size,
	};
	return 0;
}

void mr_archive_end(struct mr_archive *archive)
{
	mr_vec_free(&archive->head);
	mr_vec_free(&archive->columns);
}

uint64_t mr_archive_file_bytes(const struct mr_archive *archive)
{
	return archive->file_bytes + archive->head.count;
}

static bool write_at(FILE *file, uint64_t offset, const void *bytes, size_t size)
{
	return fseeko(file, (off_t)offset, SEEK_SET) == 0 && fwrite(bytes, 1, size, file) == size;
}

static bool is_zero(const uint8_t *bytes, size_t size)
{
	return bytes[0] == 0 && memcmp(bytes, bytes + 1, size - 1) == 0;
}

/* Many columns say nothing in most traces: where they are zero the file has holes. */
static bool write_column(FILE *file, const struct mr_archive_column *column)
{
	const uint8_t *bytes = column->bytes;

	for (uint64_t at = 0; at < column->size; at += PIECE) {
		size_t size = mr_min(column->size - at, (uint64_t)PIECE);

		if (!is_zero(bytes + at, size) &&
		    !write_at(file, column->offset + at, bytes + at, size))
			return false;
	}
	return true;
}

int mr_archive_write(const struct mr_archive *archive, FILE *file)
{
	struct heading heading = {
		.file_bytes = mr_archive_file_bytes(archive),
		.head_offset = archive->file_bytes,
		.head_hash = hash(archive->head.items, archive->head.count),
	};

	memcpy(heading.magic, magic, sizeof magic);
	if (!write_at(file, 0, &heading, sizeof heading))
		return -EIO;
	for (size_t i = 0; i < archive->columns.count; i++)
		if (!write_column(file, &archive->columns.items[i]))
			return -EIO;
	if (!write_at(file, archive->file_bytes, archive->head.items, archive->head.count))
		return -EIO;
	return 0;
}

/* ---- what is in it ------------------------------------------------------------------------------ */

static void append(struct mr_archive *archive, const void *bytes, size_t size)
{
	if (mr_vec_reserve(&archive->head, archive->head.count + size) < 0) {
		archive->error = -ENOMEM;
		return;
	}
	memcpy(archive->head.items + archive->head.count, bytes, size);
	archive->head.count += size;
}

/* The next bytes of the head; NULL if there are no more. */
static const uint8_t *take(struct mr_archive *archive, size_t size)
{
	const uint8_t *bytes = archive->file.bytes + archive->position;

	if (size > archive->end - archive->position) {
		archive->error = -EBADMSG;
		return NULL;
	}
	archive->position += size;
	return bytes;
}

void mr_archive_plain(struct mr_archive *archive, void *bytes, size_t size)
{
	if (archive->error || size == 0)
		return;
	if (!archive->is_reading) {
		append(archive, bytes, size);
		return;
	}
	const uint8_t *from = take(archive, size);
	if (from)
		memcpy(bytes, from, size);
}

void mr_archive_array(struct mr_archive *archive, void **items, size_t count, size_t item_bytes)
{
	if (archive->error || count == 0)
		return;
	if (!archive->is_reading) {
		append(archive, *items, count * item_bytes);
		return;
	}
	if (count > (archive->end - archive->position) / item_bytes) {
		archive->error = -EBADMSG;
		return;
	}
	const uint8_t *from = take(archive, count * item_bytes);
	void *copy = malloc(count * item_bytes);
	if (!copy)
		archive->error = -ENOMEM;
	else
		*items = memcpy(copy, from, count * item_bytes);
}

/* Texts follow one another, each with its zero byte. */
static void archive_texts(struct mr_archive *archive, struct mr_strings *strings)
{
	size_t count = strings->lengths.count;

	if (archive->is_reading && !archive->error &&
	    mr_vec_reserve(&strings->texts, count + 1) < 0)
		archive->error = -ENOMEM;
	for (size_t i = 0; i < count && !archive->error; i++) {
		size_t size = strings->lengths.items[i] + (size_t)1;

		if (!archive->is_reading) {
			append(archive, strings->texts.items[i], size);
			continue;
		}
		const uint8_t *from = take(archive, size);
		char *text = from ? mr_region_copy(&strings->region, from, size - 1) : NULL;
		if (from && !text)
			archive->error = -ENOMEM;
		strings->texts.items[strings->texts.count++] = text;
	}
}

void mr_archive_strings(struct mr_archive *archive, struct mr_strings *strings)
{
	mr_archive_vec(archive, &strings->lengths);
	archive_texts(archive, strings);
	mr_archive_plain(archive, &strings->slot_count, sizeof strings->slot_count);
	mr_archive_array(archive, (void **)&strings->slots, strings->slot_count,
			 sizeof *strings->slots);
}

void mr_archive_column(struct mr_archive *archive, void **column, uint64_t size)
{
	struct mr_archive_column entry = {*column, size, archive->file_bytes};

	mr_archive_plain(archive, &entry.offset, sizeof entry.offset);
	if (archive->error || size == 0)
		return;
	if (!archive->is_reading) {
		archive->file_bytes = mr_align_up(archive->file_bytes + size, (uint64_t)PAGE);
		if (mr_vec_push(&archive->columns, entry) < 0)
			archive->error = -ENOMEM;
		return;
	}
	if (entry.offset % PAGE || entry.offset > archive->file.size ||
	    size > archive->file.size - entry.offset)
		archive->error = -EBADMSG;
	else
		*column = (void *)(archive->file.bytes + entry.offset);
}
