/* SPDX-License-Identifier: Apache-2.0 */
#include "import/database.h"

#include <errno.h>
#include <string.h>

enum {
	TEXT_MAX = 1 << 20, /* of a value or a statement */
};

bool mr_database_is(const struct mr_head *head)
{
	static const char magic[] = "SQLite format 3";

	return head->count >= sizeof magic && memcmp(head->bytes, magic, sizeof magic) == 0;
}

/* The file may be hostile. */
static void confine(sqlite3 *database)
{
	sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
	sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
	sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, NULL);
	sqlite3_limit(database, SQLITE_LIMIT_LENGTH, TEXT_MAX);
	sqlite3_limit(database, SQLITE_LIMIT_SQL_LENGTH, TEXT_MAX);
	sqlite3_limit(database, SQLITE_LIMIT_ATTACHED, 0);
	sqlite3_limit(database, SQLITE_LIMIT_WORKER_THREADS, 0);
	sqlite3_exec(database, "PRAGMA cell_size_check = on; PRAGMA query_only = on", NULL, NULL,
		     NULL);
}

/* As a URI, which alone can say that nobody writes to the file: then no lock and no other file is looked for. */
static char *make_uri(const char *path)
{
	sqlite3_str *uri = sqlite3_str_new(NULL);

	sqlite3_str_appendall(uri, "file:");
	for (; *path; path++)
		sqlite3_str_appendf(uri, strchr("%?#", *path) ? "%%%02x" : "%c",
				    (unsigned char)*path);
	sqlite3_str_appendall(uri, "?mode=ro&immutable=1");
	return sqlite3_str_finish(uri);
}

sqlite3 *mr_database_open(const char *path)
{
	char *uri = make_uri(path);
	sqlite3 *database = NULL;
	int result =
		uri ? sqlite3_open_v2(uri, &database,
				      SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX,
				      NULL)
		    : SQLITE_NOMEM;

	sqlite3_free(uri);
	if (result == SQLITE_OK) {
		confine(database);
		return database;
	}
	sqlite3_close(database);
	return NULL;
}

bool mr_database_has_table(sqlite3 *database, const char *table)
{
	return sqlite3_table_column_metadata(database, "main", table, NULL, NULL, NULL, NULL, NULL,
					     NULL) == SQLITE_OK;
}

static bool has_column(sqlite3 *database, const char *table, const char *column)
{
	return sqlite3_table_column_metadata(database, "main", table, column, NULL, NULL, NULL,
					     NULL, NULL) == SQLITE_OK;
}

int mr_database_select(sqlite3 *database, const struct mr_database_table *table,
		       sqlite3_stmt **ret_rows)
{
	sqlite3_str *text = sqlite3_str_new(database);

	*ret_rows = NULL;
	sqlite3_str_appendall(text, "SELECT ");
	for (const char *const *column = table->columns; *column; column++)
		sqlite3_str_appendf(
			text, has_column(database, table->name, *column) ? "%s\"%w\"" : "%sNULL",
			column == table->columns ? "" : ", ", *column);
	sqlite3_str_appendf(text, " FROM main.\"%w\"", table->name);
	char *statement = sqlite3_str_finish(text);
	if (!statement)
		return -ENOMEM;
	int result = mr_database_has_table(database, table->name)
			     ? sqlite3_prepare_v2(database, statement, -1, ret_rows, NULL)
			     : SQLITE_OK;
	sqlite3_free(statement);
	return result == SQLITE_NOMEM ? -ENOMEM : 0;
}

int mr_database_prepare(sqlite3 *database, const char *statement, sqlite3_stmt **ret_rows)
{
	*ret_rows = NULL;
	return sqlite3_prepare_v2(database, statement, -1, ret_rows, NULL) == SQLITE_NOMEM ? -ENOMEM
											   : 0;
}

int mr_database_each(struct mr_import *import, sqlite3_stmt *rows, mr_database_add *add,
		     void *reader)
{
	int result = 0, more = 0;

	while (result == 0 && rows && (more = mr_database_next(rows)) > 0)
		result = add(reader, rows);
	sqlite3_finalize(rows);
	if (result == 0 && more == -EIO)
		return mr_import_faults_add(&import->faults, "a table of the database is damaged",
					    0, 0);
	return result == 0 ? more : result;
}

bool mr_database_interval(struct mr_import *import, sqlite3_stmt *row, int64_t *ret_start_ns,
			  int64_t *ret_end_ns)
{
	*ret_start_ns = sqlite3_column_int64(row, 0);
	*ret_end_ns = sqlite3_column_int64(row, 1);
	if (*ret_start_ns >= 0 && *ret_end_ns >= *ret_start_ns &&
	    *ret_end_ns <= MR_BUILD_TIME_MAX_NS && sqlite3_column_type(row, 0) == SQLITE_INTEGER &&
	    sqlite3_column_type(row, 1) == SQLITE_INTEGER)
		return true;
	mr_import_faults_add(&import->faults, "an interval without valid times", 0, 0);
	return false;
}

uint32_t mr_database_u32(sqlite3_stmt *row, int column)
{
	int64_t value = sqlite3_column_int64(row, column);

	return value < 0 ? 0 : (uint32_t)mr_min(value, (int64_t)UINT32_MAX);
}

int mr_database_next(sqlite3_stmt *rows)
{
	switch (sqlite3_step(rows)) {
	case SQLITE_ROW:
		return 1;
	case SQLITE_DONE:
		return 0;
	case SQLITE_NOMEM:
		return -ENOMEM;
	}
	return -EIO;
}
