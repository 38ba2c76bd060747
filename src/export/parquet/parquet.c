/* SPDX-License-Identifier: Apache-2.0
 *
 * Tables as Parquet files: the columns of `millrace query`, after a column `rowid`, with the same values.
 *
 *     PAR1 │ group of rows: column │ column │ ... │ group of rows │ ... │ description │ its length │ PAR1
 *            column:  [page of texts] │ page of values
 *
 * A number is an INT64, stored as differences. A text is a place in the texts of its group, which stand there once each.
 * Nothing is compressed: what the encodings leave is small, and every reader takes it. A group of rows, one column at a
 * time, is all that is held in memory.
 */
#include <fcntl.h>
#include <stdlib.h>

#include "base/error.h"
#include "export/export.h"
#include "export/parquet/encode.h"
#include "export/parquet/thrift.h"
#include "query/relation.h"

enum {
	GROUP_ROWS = 1 << 17,
	PATH_BYTES = 4096,

	TYPE_INT64 = 2,
	TYPE_BYTE_ARRAY = 6,
	CONVERTED_UTF8 = 0,
	REQUIRED = 0,
	OPTIONAL = 1,
	PAGE_DATA = 0,
	PAGE_DICTIONARY = 2,
	ENCODING_PLAIN = 0,
	ENCODING_RLE = 3,
	ENCODING_DELTA = 5,
	ENCODING_DICTIONARY = 8,
};

static const char magic[4] = {'P', 'A', 'R', '1'};

/* A column of a group as it was written. */
struct chunk {
	int64_t dictionary_at; /* where its texts begin in the file; of numbers 0 */
	int64_t data_at;
	int64_t bytes;
	int64_t null_count;
	int64_t least, most; /* of numbers, if any is there */
	uint32_t there;
};

struct writer {
	const struct mr_relation *relation;
	FILE *file;
	int64_t written;
	struct mr_bytes page, texts, head;
	mr_vec(struct chunk) chunks; /* by group, then column; the first column is rowid */
	bool *is_there;              /* of the rows of a group */
	int64_t *numbers;            /* of those that are there */
	uint32_t *places;
	uint32_t *place_of_code; /* + 1; 0: the text is not yet in the group */
	uint32_t *codes;         /* in the order of their places */
};

static uint32_t column_count(const struct writer *writer)
{
	return writer->relation->column_count + 1;
}

/* NULL: the rowid. */
static const struct mr_relation_column *column_at(const struct writer *writer, uint32_t number)
{
	return number ? &writer->relation->columns[number - 1] : NULL;
}

static bool is_text(const struct mr_relation_column *column)
{
	return column && column->dictionary;
}

/* ---- pages ---------------------------------------------------------------------------------------- */

static int write_out(struct writer *writer, struct mr_bytes *bytes)
{
	size_t count = bytes->count;
	int result = mr_bytes_write(bytes, writer->file);

	writer->written += (int64_t)count;
	return result;
}

/* A page with its head; `bytes` are empty again. */
static int write_page(struct writer *writer, struct mr_bytes *bytes, int32_t type, uint32_t values,
		      int32_t encoding)
{
	struct mr_thrift thrift = {.bytes = &writer->head};

	if (bytes->count > INT32_MAX)
		return mr_fail(EFBIG, "%s: the texts of %d rows take more than 2 GiB",
			       writer->relation->name, GROUP_ROWS);
	mr_thrift_i32(&thrift, 1, type);
	mr_thrift_i32(&thrift, 2, (int32_t)bytes->count);
	mr_thrift_i32(&thrift, 3, (int32_t)bytes->count);
	mr_thrift_begin(&thrift, type == PAGE_DATA ? 5 : 7);
	mr_thrift_i32(&thrift, 1, (int32_t)values);
	mr_thrift_i32(&thrift, 2, encoding);
	if (type == PAGE_DATA) {
		mr_thrift_i32(&thrift, 3, ENCODING_RLE);
		mr_thrift_i32(&thrift, 4, ENCODING_RLE);
	}
	mr_thrift_end(&thrift);
	mr_thrift_end(&thrift);
	int result = write_out(writer, &writer->head);
	return result < 0 ? result : write_out(writer, bytes);
}

/* ---- columns -------------------------------------------------------------------------------------- */

static void read_numbers(struct writer *writer, const struct mr_relation_column *column,
			 uint32_t first, uint32_t count, struct chunk *chunk)
{
	for (uint32_t i = 0; i < count; i++) {
		uint64_t value = column ? mr_field_read(&column->field, first + i) : first + i;
		bool is_there = !column || mr_relation_has_number(column, value);

		writer->is_there[i] = is_there;
		writer->numbers[chunk->there] = (int64_t)value;
		chunk->there += is_there;
	}
	chunk->null_count = count - chunk->there;
	chunk->least = INT64_MAX;
	chunk->most = INT64_MIN;
	for (uint32_t i = 0; i < chunk->there; i++) {
		chunk->least = mr_min(chunk->least, writer->numbers[i]);
		chunk->most = mr_max(chunk->most, writer->numbers[i]);
	}
}

static int write_numbers(struct writer *writer, const struct mr_relation_column *column,
			 uint32_t first, uint32_t count, struct chunk *chunk)
{
	read_numbers(writer, column, first, count, chunk);
	if (column) /* a rowid is always there */
		mr_encode_presence(&writer->page, writer->is_there, count, chunk->there);
	mr_encode_numbers(&writer->page, writer->numbers, chunk->there);
	chunk->data_at = writer->written;
	return write_page(writer, &writer->page, PAGE_DATA, count, ENCODING_DELTA);
}

/* Where a text stands among those of the group. */
static uint32_t place_text(struct writer *writer, const struct mr_relation_column *column,
			   uint32_t code, uint32_t *count)
{
	if (writer->place_of_code[code] == 0) {
		size_t begin = writer->texts.count;
		uint32_t length = 0;

		writer->codes[(*count)++] = code;
		writer->place_of_code[code] = *count;
		mr_bytes_add(&writer->texts, &length, sizeof length);
		mr_bytes_text(&writer->texts, column->dictionary->texts[code]);
		length = (uint32_t)(writer->texts.count - begin - sizeof length);
		if (!writer->texts.is_incomplete)
			memcpy(writer->texts.items + begin, &length, sizeof length);
	}
	return writer->place_of_code[code] - 1;
}

static int write_texts(struct writer *writer, const struct mr_relation_column *column,
		       uint32_t first, uint32_t count, struct chunk *chunk)
{
	uint32_t texts = 0;

	for (uint32_t i = 0; i < count; i++) {
		uint32_t code = mr_relation_code(column, mr_field_read(&column->field, first + i));

		writer->is_there[i] = column->dictionary->lengths[code] > 0;
		if (writer->is_there[i])
			writer->places[chunk->there++] = place_text(writer, column, code, &texts);
	}
	for (uint32_t i = 0; i < texts; i++)
		writer->place_of_code[writer->codes[i]] = 0;
	chunk->null_count = count - chunk->there;
	chunk->dictionary_at = writer->written;
	int result = write_page(writer, &writer->texts, PAGE_DICTIONARY, texts, ENCODING_PLAIN);
	mr_encode_presence(&writer->page, writer->is_there, count, chunk->there);
	mr_encode_places(&writer->page, writer->places, chunk->there,
			 texts ? mr_bit_width(texts - 1) : 0);
	chunk->data_at = writer->written;
	return result < 0
		       ? result
		       : write_page(writer, &writer->page, PAGE_DATA, count, ENCODING_DICTIONARY);
}

static int write_column(struct writer *writer, uint32_t number, uint32_t first, uint32_t count)
{
	const struct mr_relation_column *column = column_at(writer, number);
	int64_t before = writer->written;
	struct chunk chunk = {0};
	int result = is_text(column) ? write_texts(writer, column, first, count, &chunk)
				     : write_numbers(writer, column, first, count, &chunk);

	chunk.bytes = writer->written - before;
	return result < 0 ? result : mr_vec_push(&writer->chunks, chunk);
}

/* ---- the description ------------------------------------------------------------------------------ */

static const char *column_name(const struct mr_relation_column *column)
{
	return column ? column->name : "rowid";
}

static void describe_schema(struct writer *writer, struct mr_thrift *thrift)
{
	mr_thrift_list(thrift, 2, MR_THRIFT_STRUCT, column_count(writer) + 1);
	mr_thrift_begin(thrift, 0);
	mr_thrift_binary(thrift, 4, writer->relation->name, strlen(writer->relation->name));
	mr_thrift_i32(thrift, 5, (int32_t)column_count(writer));
	mr_thrift_end(thrift);
	for (uint32_t i = 0; i < column_count(writer); i++) {
		const struct mr_relation_column *column = column_at(writer, i);

		mr_thrift_begin(thrift, 0);
		mr_thrift_i32(thrift, 1, is_text(column) ? TYPE_BYTE_ARRAY : TYPE_INT64);
		mr_thrift_i32(thrift, 3, column ? OPTIONAL : REQUIRED);
		mr_thrift_binary(thrift, 4, column_name(column), strlen(column_name(column)));
		if (is_text(column))
			mr_thrift_i32(thrift, 6, CONVERTED_UTF8);
		mr_thrift_end(thrift);
	}
}

static void describe_chunk(struct writer *writer, struct mr_thrift *thrift, uint32_t number,
			   const struct chunk *chunk, uint32_t rows)
{
	const struct mr_relation_column *column = column_at(writer, number);
	const int32_t encodings[] = {ENCODING_RLE,
				     is_text(column) ? ENCODING_DICTIONARY : ENCODING_DELTA,
				     ENCODING_PLAIN};

	mr_thrift_begin(thrift, 0);
	mr_thrift_i64(thrift, 2, is_text(column) ? chunk->dictionary_at : chunk->data_at);
	mr_thrift_begin(thrift, 3);
	mr_thrift_i32(thrift, 1, is_text(column) ? TYPE_BYTE_ARRAY : TYPE_INT64);
	mr_thrift_list(thrift, 2, MR_THRIFT_I32, is_text(column) ? 3 : 2);
	for (uint32_t i = 0; i < (is_text(column) ? 3 : 2); i++)
		mr_bytes_varint(thrift->bytes, mr_zigzag(encodings[i]));
	mr_thrift_list(thrift, 3, MR_THRIFT_BINARY, 1);
	mr_thrift_binary(thrift, 0, column_name(column), strlen(column_name(column)));
	mr_thrift_i32(thrift, 4, 0); /* not compressed */
	mr_thrift_i64(thrift, 5, rows);
	mr_thrift_i64(thrift, 6, chunk->bytes);
	mr_thrift_i64(thrift, 7, chunk->bytes);
	mr_thrift_i64(thrift, 9, chunk->data_at);
	if (is_text(column))
		mr_thrift_i64(thrift, 11, chunk->dictionary_at);
	mr_thrift_begin(thrift, 12);
	mr_thrift_i64(thrift, 3, chunk->null_count);
	if (!is_text(column) && chunk->there) {
		mr_thrift_binary(thrift, 5, &chunk->most, sizeof chunk->most);
		mr_thrift_binary(thrift, 6, &chunk->least, sizeof chunk->least);
	}
	mr_thrift_end(thrift);
	mr_thrift_end(thrift);
	mr_thrift_end(thrift);
}

static void describe_groups(struct writer *writer, struct mr_thrift *thrift, uint32_t rows)
{
	uint32_t groups = (uint32_t)(writer->chunks.count / column_count(writer));

	mr_thrift_list(thrift, 4, MR_THRIFT_STRUCT, groups);
	for (uint32_t i = 0; i < groups; i++) {
		const struct chunk *chunks =
			&writer->chunks.items[(size_t)i * column_count(writer)];
		uint32_t here = mr_min(rows - i * GROUP_ROWS, (uint32_t)GROUP_ROWS);
		int64_t bytes = 0;

		mr_thrift_begin(thrift, 0);
		mr_thrift_list(thrift, 1, MR_THRIFT_STRUCT, column_count(writer));
		for (uint32_t k = 0; k < column_count(writer); k++) {
			describe_chunk(writer, thrift, k, &chunks[k], here);
			bytes += chunks[k].bytes;
		}
		mr_thrift_i64(thrift, 2, bytes);
		mr_thrift_i64(thrift, 3, here);
		mr_thrift_end(thrift);
	}
}

static int describe(struct writer *writer, uint32_t rows)
{
	static const char maker[] = "millrace version " MR_VERSION;
	struct mr_bytes *bytes = &writer->page;
	struct mr_thrift thrift = {.bytes = bytes};
	uint32_t length;

	mr_thrift_i32(&thrift, 1, 1);
	describe_schema(writer, &thrift);
	mr_thrift_i64(&thrift, 3, rows);
	describe_groups(writer, &thrift, rows);
	mr_thrift_binary(&thrift, 6, maker, sizeof maker - 1);
	mr_thrift_list(&thrift, 7, MR_THRIFT_STRUCT, column_count(writer));
	for (uint32_t i = 0; i < column_count(writer); i++) {
		mr_thrift_begin(&thrift, 0); /* the usual order of values */
		mr_thrift_begin(&thrift, 1);
		mr_thrift_end(&thrift);
		mr_thrift_end(&thrift);
	}
	mr_thrift_end(&thrift);
	length = (uint32_t)bytes->count;
	mr_bytes_add(bytes, &length, sizeof length);
	mr_bytes_add(bytes, magic, sizeof magic);
	return write_out(writer, bytes);
}

/* ---- tables --------------------------------------------------------------------------------------- */

static int write_rows(struct writer *writer)
{
	const struct mr_relation *relation = writer->relation;
	int result;

	mr_bytes_add(&writer->page, magic, sizeof magic);
	result = write_out(writer, &writer->page);
	for (uint32_t first = relation->first_row; result == 0 && first < relation->end_row;) {
		uint32_t count = mr_min(relation->end_row - first, (uint32_t)GROUP_ROWS);

		for (uint32_t i = 0; result == 0 && i < column_count(writer); i++)
			result = write_column(writer, i, first, count);
		first += count;
	}
	return result < 0 ? result : describe(writer, relation->end_row - relation->first_row);
}

static int write_table(struct writer *writer, const struct mr_relation *relation,
		       const char *folder)
{
	char path[PATH_BYTES];

	snprintf(path, sizeof path, "%s/%s.parquet", folder, relation->name);
	writer->relation = relation;
	writer->written = 0;
	writer->chunks.count = 0;
	writer->file = fopen(path, "wxe");
	if (!writer->file)
		return mr_fail_errno(errno, "write %s", path);
	int result = write_rows(writer);
	if (fclose(writer->file) != 0 && result == 0)
		result = mr_fail_errno(errno, "write %s", path);
	return result;
}

static int allocate(struct writer *writer, const struct mr_model *model)
{
	size_t codes = mr_max(mr_strings_count(&model->survey->definitions.strings), 256u);

	writer->is_there = malloc(GROUP_ROWS * sizeof *writer->is_there);
	writer->numbers = malloc((GROUP_ROWS + 1) * sizeof *writer->numbers);
	writer->places = malloc(GROUP_ROWS * sizeof *writer->places);
	writer->codes = malloc(GROUP_ROWS * sizeof *writer->codes);
	writer->place_of_code = calloc(codes, sizeof *writer->place_of_code);
	return writer->is_there && writer->numbers && writer->places && writer->codes &&
			       writer->place_of_code
		       ? 0
		       : -ENOMEM;
}

static void free_all(struct writer *writer)
{
	mr_bytes_free(&writer->page);
	mr_bytes_free(&writer->texts);
	mr_bytes_free(&writer->head);
	mr_vec_free(&writer->chunks);
	free(writer->is_there);
	free(writer->numbers);
	free(writer->places);
	free(writer->codes);
	free(writer->place_of_code);
}

int mr_export_parquet(const struct mr_model *model, const char *folder)
{
	struct mr_relations relations = {0};
	struct writer writer = {0};
	int result = mr_relations_make(model, &relations);

	if (result == 0)
		result = allocate(&writer, model);
	for (uint32_t i = 0; result == 0 && i < relations.count; i++)
		result = write_table(&writer, &relations.items[i], folder);
	free_all(&writer);
	mr_relations_free(&relations);
	return result == -ENOMEM ? mr_fail_errno(ENOMEM, "export the trace") : result;
}
