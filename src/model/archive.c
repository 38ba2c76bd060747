/* SPDX-License-Identifier: Apache-2.0 */
#include "model/archive.h"

#include <errno.h>
#include <isa-l/crc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/macros.h"

enum {
	PAGE = 4096,
	PIECE = 1 << 18,     /* of a column: has a checksum, and is written at once */
	THREADS_MAX = 8,     /* that verify */
	WORTH_A_THREAD = 64, /* pieces: what one verifies in about a millisecond */
};

struct heading {
	char magic[16];
	uint64_t file_bytes;
	uint64_t head_offset;
	uint64_t head_crc;
};

static const char magic[16] = "millrace index\n";

/* Of a column, in the head; the checksums of its pieces follow. */
struct column_heading {
	uint64_t offset;
	uint64_t is_zero; /* throughout: it has no checksums */
};

static uint64_t count_pieces(uint64_t size)
{
	return size / PIECE + (size % PIECE != 0);
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
	    crc32_gzip_refl(0, file->bytes + heading.head_offset,
			    file->size - heading.head_offset) != heading.head_crc)
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
	mr_vec_free(&archive->pieces);
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
		.head_crc = crc32_gzip_refl(0, archive->head.items, archive->head.count),
	};

	memcpy(heading.magic, magic, sizeof magic);
	if (!write_at(file, 0, &heading, sizeof heading))
		return -EIO;
	for (size_t i = 0; i < archive->columns.count; i++)
		if (!archive->columns.items[i].is_zero &&
		    !write_column(file, &archive->columns.items[i]))
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
	mr_archive_plain(archive, &strings->secret, sizeof strings->secret);
	mr_archive_plain(archive, &strings->slot_count, sizeof strings->slot_count);
	mr_archive_array(archive, (void **)&strings->slots, strings->slot_count,
			 sizeof *strings->slots);
}

/* ---- columns -------------------------------------------------------------------------------------- */

static void write_checksums(struct mr_archive *archive, const struct mr_archive_column *column)
{
	const uint8_t *bytes = column->bytes;

	for (uint64_t at = 0; at < column->size; at += PIECE) {
		uint32_t crc =
			crc32_gzip_refl(0, bytes + at, mr_min(column->size - at, (uint64_t)PIECE));

		append(archive, &crc, sizeof crc);
	}
}

static void write_column_heading(struct mr_archive *archive, struct mr_archive_column *column)
{
	column->offset = archive->file_bytes;
	column->is_zero = column->size > 0 && is_zero(column->bytes, column->size);
	append(archive, &(struct column_heading){column->offset, column->is_zero},
	       sizeof(struct column_heading));
	if (column->size == 0)
		return;
	if (!column->is_zero)
		write_checksums(archive, column);
	archive->file_bytes = mr_align_up(archive->file_bytes + column->size, (uint64_t)PAGE);
	if (mr_vec_push(&archive->columns, *column) < 0)
		archive->error = -ENOMEM;
}

static void replace_by_zeros(struct mr_archive *archive, void *column, uint64_t size)
{
	if (mmap(column, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) ==
	    MAP_FAILED)
		archive->error = -ENOMEM;
}

static void list_pieces(struct mr_archive *archive, const uint8_t *column, uint64_t size)
{
	uint64_t count = count_pieces(size);
	const uint8_t *crcs = count <= SIZE_MAX / sizeof(uint32_t)
				      ? take(archive, count * sizeof(uint32_t))
				      : NULL;

	if (crcs && mr_vec_reserve(&archive->pieces, archive->pieces.count + count) < 0)
		archive->error = -ENOMEM;
	for (uint64_t i = 0; !archive->error && i < count; i++) {
		struct mr_archive_piece piece = {
			.bytes = column + i * PIECE,
			.size = (uint32_t)mr_min(size - i * PIECE, (uint64_t)PIECE)};

		memcpy(&piece.crc, crcs + i * sizeof piece.crc, sizeof piece.crc);
		archive->pieces.items[archive->pieces.count++] = piece;
	}
}

void mr_archive_column(struct mr_archive *archive, void **column, uint64_t count,
		       uint32_t item_bytes)
{
	struct column_heading heading = {0};
	uint64_t size = 0;

	if (__builtin_mul_overflow(count, item_bytes, &size) && !archive->error)
		archive->error = -EBADMSG;

	if (archive->error)
		return;
	if (!archive->is_reading) {
		write_column_heading(archive,
				     &(struct mr_archive_column){.bytes = *column, .size = size});
		return;
	}
	mr_archive_plain(archive, &heading, sizeof heading);
	if (archive->error || size == 0)
		return;
	if (heading.offset % PAGE || heading.offset > archive->file.size ||
	    size > archive->file.size - heading.offset) {
		archive->error = -EBADMSG;
		return;
	}
	void *bytes = (void *)(archive->file.bytes + heading.offset);
	if (heading.is_zero)
		replace_by_zeros(archive, bytes, size);
	else
		list_pieces(archive, bytes, size);
	if (!archive->error)
		*column = bytes;
}

/* ---- verification --------------------------------------------------------------------------------- */

struct verification {
	const struct mr_archive *archive;
	_Atomic size_t next;    /* piece that nobody has looked at yet */
	_Atomic size_t damaged; /* the first that is; SIZE_MAX: none */
};

static void note_damage(struct verification *verification, size_t piece)
{
	size_t first = atomic_load(&verification->damaged);

	while (piece < first &&
	       !atomic_compare_exchange_weak(&verification->damaged, &first, piece))
		;
}

static void *verify_pieces(void *argument)
{
	struct verification *verification = argument;
	const struct mr_archive *archive = verification->archive;
	size_t i;

	while ((i = atomic_fetch_add(&verification->next, 1)) < archive->pieces.count) {
		const struct mr_archive_piece *piece = &archive->pieces.items[i];

		madvise((void *)piece->bytes, piece->size, MADV_POPULATE_READ); /* saves faults */
		if (crc32_gzip_refl(0, piece->bytes, piece->size) != piece->crc)
			note_damage(verification, i);
	}
	return NULL;
}

int mr_archive_verify(struct mr_archive *archive)
{
	struct verification verification = {.archive = archive, .damaged = SIZE_MAX};
	size_t wanted = mr_min(archive->pieces.count / WORTH_A_THREAD,
			       (size_t)mr_max(sysconf(_SC_NPROCESSORS_ONLN), 1L) - 1);
	pthread_t threads[THREADS_MAX];
	size_t started = 0;

	while (started < mr_min(wanted, (size_t)THREADS_MAX) &&
	       pthread_create(&threads[started], NULL, verify_pieces, &verification) == 0)
		started++;
	verify_pieces(&verification);
	while (started > 0)
		pthread_join(threads[--started], NULL);
	size_t damaged = atomic_load(&verification.damaged);
	if (damaged == SIZE_MAX)
		return 0;
	archive->damaged_at =
		(uint64_t)(archive->pieces.items[damaged].bytes - archive->file.bytes);
	return -EBADMSG;
}
