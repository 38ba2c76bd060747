/* SPDX-License-Identifier: Apache-2.0 */
#include "query/query.h"

#include <string.h>

#include "base/error.h"
#include "query/module.h"
#include "query/print.h"

enum {
	REFUSAL_BYTES = 128
};

struct mr_query {
	sqlite3 *database;
	struct mr_relations relations;
	char refusal[REFUSAL_BYTES]; /* what the authorizer last refused */
};

/* ---- what a query may do -------------------------------------------------------------------------- */

static const struct {
	int number;
	int value;
} limits[] = {
	{SQLITE_LIMIT_LENGTH, 64 << 20},          {SQLITE_LIMIT_SQL_LENGTH, 1 << 20},
	{SQLITE_LIMIT_EXPR_DEPTH, 200},           {SQLITE_LIMIT_COMPOUND_SELECT, 100},
	{SQLITE_LIMIT_VDBE_OP, 1 << 20},          {SQLITE_LIMIT_ATTACHED, 0},
	{SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1000}, {SQLITE_LIMIT_WORKER_THREADS, 0},
};

static const int64_t heap_bytes = INT64_C(4) << 30;

static bool is_one_of(const char *word, const char *const *words)
{
	while (*words && sqlite3_stricmp(word, *words) != 0)
		words++;
	return *words;
}

static int refuse(struct mr_query *query, const char *what, const char *name)
{
	snprintf(query->refusal, sizeof query->refusal,
		 "%s%s%s is refused: a query only reads the trace", what, *name ? " " : "", name);
	return SQLITE_DENY;
}

/* What is not known to be harmless is refused. */
static int authorize(void *data, int action, const char *first, const char *second,
		     const char *database, const char *trigger)
{
	static const char *const harmless[] = {"table_info", "table_xinfo", "table_list",
					       "function_list", NULL};
	static const char *const harmful[] = {"load_extension", "fts3_tokenizer", NULL};
	struct mr_query *query = data;

	(void)database;
	(void)trigger;
	switch (action) {
	case SQLITE_SELECT:
	case SQLITE_READ:
	case SQLITE_RECURSIVE:
		return SQLITE_OK;
	case SQLITE_FUNCTION:
		return is_one_of(second, harmful) ? refuse(query, "the function", second)
						  : SQLITE_OK;
	case SQLITE_PRAGMA:
		return is_one_of(first, harmless) ? SQLITE_OK : refuse(query, "PRAGMA", first);
	case SQLITE_ATTACH:
	case SQLITE_DETACH:
		return refuse(query, "ATTACH", "");
	default:
		return refuse(query, "all but SELECT", "");
	}
}

/* After the tables are made: making one is what a query may not do. */
static int guard(struct mr_query *query)
{
	sqlite3 *database = query->database;
	int result = sqlite3_exec(database, "PRAGMA temp_store = MEMORY", NULL, NULL, NULL);

	for (size_t i = 0; i < mr_countof(limits); i++)
		sqlite3_limit(database, limits[i].number, limits[i].value);
	sqlite3_hard_heap_limit64(heap_bytes);
	sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	return result == SQLITE_OK ? sqlite3_set_authorizer(database, authorize, query) : result;
}

/* ---- life ----------------------------------------------------------------------------------------- */

static int open_database(struct mr_query *query)
{
	int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY | SQLITE_OPEN_NOMUTEX;
	int result = sqlite3_open_v2(":memory:", &query->database, flags, NULL);

	if (result == SQLITE_OK)
		result = mr_module_add(query->database, &query->relations);
	if (result == SQLITE_OK)
		result = guard(query);
	return result == SQLITE_OK
		       ? 0
		       : mr_fail(EIO, "set up SQLite: %s", sqlite3_errmsg(query->database));
}

int mr_query_open(const struct mr_model *model, struct mr_query **ret_query)
{
	mr_auto(query) struct mr_query *query = calloc(1, sizeof *query);
	int result = query ? mr_relations_make(model, &query->relations) : -ENOMEM;

	if (result < 0)
		return mr_fail_errno(ENOMEM, "set up the tables");
	result = open_database(query);
	if (result == 0)
		*ret_query = mr_take(query);
	return result;
}

void mr_query_close(struct mr_query *query)
{
	if (!query)
		return;
	sqlite3_close(query->database);
	mr_relations_free(&query->relations);
	free(query);
}

void mr_query_interrupt(struct mr_query *query)
{
	sqlite3_interrupt(query->database);
}

/* ---- statements ----------------------------------------------------------------------------------- */

static int fail(struct mr_query *query, int result)
{
	const char *why = result == SQLITE_AUTH && *query->refusal
				  ? query->refusal
				  : sqlite3_errmsg(query->database);

	return mr_fail(result == SQLITE_INTERRUPT ? EINTR : EINVAL, "cannot run the query: %s",
		       why);
}

/* Whether nothing but blanks and comments is left: only then does SQLite make no statement of it. */
static bool is_blank(struct mr_query *query, const char *sql)
{
	sqlite3_stmt *statement = NULL;
	int result = sqlite3_prepare_v2(query->database, sql, -1, &statement, NULL);
	bool is_statement = result != SQLITE_OK || statement;

	sqlite3_finalize(statement);
	return !is_statement;
}

static int prepare(struct mr_query *query, const char *sql, sqlite3_stmt **ret_statement)
{
	sqlite3_stmt *statement;
	const char *rest;

	query->refusal[0] = '\0';
	int result = sqlite3_prepare_v2(query->database, sql, -1, &statement, &rest);
	if (result != SQLITE_OK)
		return fail(query, result);
	if (!statement)
		return mr_fail(EINVAL, "cannot run the query: it is empty");
	if (!sqlite3_stmt_readonly(statement))
		result = mr_fail(EPERM, "cannot run the query: only SELECT is allowed");
	else if (!is_blank(query, rest))
		result = mr_fail(EINVAL, "cannot run the query: it is more than one statement");
	if (result == 0)
		*ret_statement = statement;
	else
		sqlite3_finalize(statement);
	return result;
}

int mr_query_print(struct mr_query *query, const char *sql, enum mr_query_format format, FILE *file)
{
	sqlite3_stmt *statement = NULL;
	int result = prepare(query, sql, &statement);

	if (result < 0)
		return result;
	result = mr_rows_print(statement, format, file);
	if (result > 0)
		result = fail(query, result);
	sqlite3_finalize(statement);
	return result;
}
