/* SPDX-License-Identifier: Apache-2.0 */
#include "query/print.h"

#include <string.h>

#include "base/error.h"
#include "base/format.h"
#include "base/json_writer.h"
#include "base/region.h"
#include "base/utf8.h"
#include "base/vector.h"

enum {
	CELL_WIDTH = 64, /* longer texts lose their middle */
	MEASURED_ROWS =
		1000, /* are read before the first is printed: they say how wide columns are */
	GAP = 2,
};

/* x'00ff' of a blob, as SQL writes it; other values as SQLite shows them. In memory of SQLite's. */
static char *text_of(sqlite3_stmt *statement, int column)
{
	const unsigned char *bytes = sqlite3_column_blob(statement, column);
	int count = sqlite3_column_bytes(statement, column);

	if (sqlite3_column_type(statement, column) != SQLITE_BLOB)
		return sqlite3_mprintf("%s", sqlite3_column_text(statement, column));
	sqlite3_str *text = sqlite3_str_new(NULL);
	sqlite3_str_appendall(text, "x'");
	for (int i = 0; i < count; i++)
		sqlite3_str_appendf(text, "%02x", bytes[i]);
	sqlite3_str_appendall(text, "'");
	return sqlite3_str_finish(text);
}

static bool is_null(sqlite3_stmt *statement, int column)
{
	return sqlite3_column_type(statement, column) == SQLITE_NULL;
}

/* ---- table ---------------------------------------------------------------------------------------- */

typedef char cell[4 * CELL_WIDTH + 4];

struct column {
	size_t width;
	bool is_text;
};

struct table {
	FILE *file;
	sqlite3_stmt *statement;
	int column_count;
	struct column *columns;
	struct mr_region region;
	mr_vec(const char *)
		waiting; /* cells that are not yet printed: the names, then row by row */
};

static int read_cell(sqlite3_stmt *statement, int column, cell to)
{
	if (is_null(statement, column)) {
		strcpy(to, "-");
		return SQLITE_OK;
	}
	char *text = text_of(statement, column);
	if (!text)
		return SQLITE_NOMEM;
	mr_text_fit(to, text, CELL_WIDTH);
	sqlite3_free(text);
	return SQLITE_OK;
}

static void print_cell(const struct table *table, int column, const char *text)
{
	bool is_text = table->columns[column].is_text, is_last = column + 1 == table->column_count;
	int blanks = (int)table->columns[column].width - (int)mr_text_width(text);

	blanks = mr_max(blanks, 0);
	fprintf(table->file, "%*s%s", is_text ? 0 : blanks, "", text);
	if (is_last)
		fputc('\n', table->file);
	else
		fprintf(table->file, "%*s", GAP + (is_text ? blanks : 0), "");
}

/* Lets a cell wait, and makes its column as wide. */
static int keep_cell(struct table *table, int column, const cell text)
{
	const char *kept = mr_region_copy(&table->region, text, strlen(text));

	if (!kept || mr_vec_push(&table->waiting, kept) < 0)
		return SQLITE_NOMEM;
	table->columns[column].width = mr_max(table->columns[column].width, mr_text_width(kept));
	return SQLITE_OK;
}

static int keep_names(struct table *table)
{
	int result = SQLITE_OK;

	for (int i = 0; result == SQLITE_OK && i < table->column_count; i++) {
		cell text;

		mr_text_fit(text, sqlite3_column_name(table->statement, i), CELL_WIDTH);
		result = keep_cell(table, i, text);
	}
	return result;
}

static int keep_row(struct table *table)
{
	int result = SQLITE_OK;

	for (int i = 0; result == SQLITE_OK && i < table->column_count; i++) {
		int type = sqlite3_column_type(table->statement, i);
		cell text;

		table->columns[i].is_text |= type == SQLITE_TEXT || type == SQLITE_BLOB;
		result = read_cell(table->statement, i, text);
		if (result == SQLITE_OK)
			result = keep_cell(table, i, text);
	}
	return result;
}

static int print_row(struct table *table)
{
	int result = SQLITE_OK;

	for (int i = 0; result == SQLITE_OK && i < table->column_count; i++) {
		cell text;

		result = read_cell(table->statement, i, text);
		if (result == SQLITE_OK)
			print_cell(table, i, text);
	}
	return result;
}

static int print_rows_of_table(struct table *table)
{
	int result = keep_names(table);

	for (uint32_t i = 0; result == SQLITE_OK && i < MEASURED_ROWS; i++) {
		result = sqlite3_step(table->statement);
		if (result == SQLITE_ROW)
			result = keep_row(table);
	}
	for (size_t i = 0; i < table->waiting.count; i++)
		print_cell(table, (int)i % table->column_count, table->waiting.items[i]);
	while (result == SQLITE_OK && !ferror(table->file)) {
		result = sqlite3_step(table->statement);
		if (result == SQLITE_ROW)
			result = print_row(table);
	}
	return result;
}

static int print_table(sqlite3_stmt *statement, FILE *file)
{
	int count = sqlite3_column_count(statement);
	mr_auto(free) struct column *columns = calloc((size_t)count, sizeof *columns);
	struct table table = {
		.file = file, .statement = statement, .column_count = count, .columns = columns};
	int result = columns ? print_rows_of_table(&table) : SQLITE_NOMEM;

	mr_vec_free(&table.waiting);
	mr_region_free(&table.region);
	return result;
}

/* ---- CSV ------------------------------------------------------------------------------------------ */

/* Lines and tabs stay, in quotes; whatever else cannot be shown becomes U+FFFD: people look at CSV on a terminal. */
static void print_csv_text(FILE *file, const char *text)
{
	bool is_plain = *text && !strpbrk(text, ",\"\r\n");

	if (!is_plain)
		fputc('"', file);
	while (*text) {
		bool shown;
		size_t length = mr_utf8_character(text, &shown);

		if (*text == '"')
			fputc('"', file);
		if (shown || *text == '\n' || *text == '\t')
			fwrite(text, 1, length, file);
		else
			fputs("\xEF\xBF\xBD", file);
		text += length;
	}
	if (!is_plain)
		fputc('"', file);
}

static int print_csv_row(sqlite3_stmt *statement, int count, FILE *file)
{
	for (int i = 0; i < count; i++) {
		char *text = is_null(statement, i) ? NULL : text_of(statement, i);

		if (!text && !is_null(statement, i))
			return SQLITE_NOMEM;
		if (text)
			print_csv_text(file, text);
		sqlite3_free(text);
		fputc(i + 1 < count ? ',' : '\n', file);
	}
	return SQLITE_OK;
}

static int print_csv(sqlite3_stmt *statement, FILE *file)
{
	int count = sqlite3_column_count(statement), result = SQLITE_OK;

	for (int i = 0; i < count; i++) {
		print_csv_text(file, sqlite3_column_name(statement, i));
		fputc(i + 1 < count ? ',' : '\n', file);
	}
	while (result == SQLITE_OK && !ferror(file)) {
		result = sqlite3_step(statement);
		if (result == SQLITE_ROW)
			result = print_csv_row(statement, count, file);
	}
	return result;
}

/* ---- JSON ----------------------------------------------------------------------------------------- */

static int check_names(sqlite3_stmt *statement, int count)
{
	for (int i = 0; i < count; i++)
		for (int j = 0; j < i; j++)
			if (strcmp(sqlite3_column_name(statement, i),
				   sqlite3_column_name(statement, j)) == 0)
				return mr_fail(EINVAL,
					       "cannot print JSON: two columns are called %s: give "
					       "one another name with AS",
					       sqlite3_column_name(statement, i));
	return 0;
}

static int print_json_row(sqlite3_stmt *statement, int count, struct mr_json *json)
{
	mr_json_begin_object(json, NULL);
	for (int i = 0; i < count; i++) {
		const char *name = sqlite3_column_name(statement, i);
		char *text = NULL;

		switch (sqlite3_column_type(statement, i)) {
		case SQLITE_INTEGER:
			mr_json_int(json, name, sqlite3_column_int64(statement, i));
			break;
		case SQLITE_FLOAT:
			mr_json_real(json, name, sqlite3_column_double(statement, i));
			break;
		case SQLITE_NULL:
			mr_json_null(json, name);
			break;
		default:
			text = text_of(statement, i);
			if (!text)
				return SQLITE_NOMEM;
			mr_json_string(json, name, text);
			sqlite3_free(text);
		}
	}
	mr_json_end_object(json);
	return SQLITE_OK;
}

static int print_json(sqlite3_stmt *statement, FILE *file)
{
	int count = sqlite3_column_count(statement);
	int result = check_names(statement, count);
	struct mr_json json;

	mr_json_start(&json, file, MR_JSON_ONE_LINE);
	while (result == SQLITE_OK && !ferror(file)) {
		result = sqlite3_step(statement);
		if (result == SQLITE_ROW)
			result = print_json_row(statement, count, &json);
	}
	return result;
}

int mr_rows_print(sqlite3_stmt *statement, enum mr_query_format format, FILE *file)
{
	int result = format == MR_QUERY_TABLE ? print_table(statement, file)
		     : format == MR_QUERY_CSV ? print_csv(statement, file)
					      : print_json(statement, file);

	return result == SQLITE_DONE ? 0 : result;
}
