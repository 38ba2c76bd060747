/* SPDX-License-Identifier: Apache-2.0 */
#include "query/module.h"

#include <string.h>

#include "query/lookup.h"
#include "query/plan.h"

enum {
	ROWS_AHEAD = 16
};

struct table {
	sqlite3_vtab base;
	const struct mr_relation *relation;
	uint32_t
		*lookups[]; /* by column: rows by value (lookup.h), or NULL until they are needed */
};

struct cursor {
	sqlite3_vtab_cursor base;
	const uint32_t *order; /* NULL: rows as they are */
	uint32_t *own_order;   /* the same, where it was made for this cursor */
	uint32_t at, end;
};

static const struct mr_relation *relation_of(sqlite3_vtab *table)
{
	return ((struct table *)table)->relation;
}

/* ---- the table ------------------------------------------------------------------------------------ */

/* CREATE TABLE ..., from which SQLite learns the columns; NULL without memory. */
static char *declaration_of(const struct mr_relation *relation)
{
	sqlite3_str *text = sqlite3_str_new(NULL);

	sqlite3_str_appendall(text, "CREATE TABLE it (");
	for (uint32_t i = 0; i < relation->column_count; i++)
		sqlite3_str_appendf(text, "%s\"%w\" %s", i ? ", " : "", relation->columns[i].name,
				    relation->columns[i].dictionary ? "TEXT" : "INTEGER");
	sqlite3_str_appendall(text, ")");
	return sqlite3_str_finish(text);
}

static const struct mr_relation *find(const struct mr_relations *relations, const char *name)
{
	for (uint32_t i = 0; i < relations->count; i++)
		if (strcmp(relations->items[i].name, name) == 0)
			return &relations->items[i];
	return NULL;
}

static int connect(sqlite3 *database, void *relations, int count, const char *const *words,
		   sqlite3_vtab **ret_table, char **ret_error)
{
	const struct mr_relation *relation = find(relations, words[2]);
	struct table *table;

	(void)count;
	if (!relation) {
		*ret_error = sqlite3_mprintf("no such table: %s", words[2]);
		return SQLITE_ERROR;
	}
	char *declaration = declaration_of(relation);
	int result = declaration ? sqlite3_declare_vtab(database, declaration) : SQLITE_NOMEM;
	sqlite3_free(declaration);
	if (result != SQLITE_OK)
		return result;
	table = calloc(1, sizeof *table + relation->column_count * sizeof table->lookups[0]);
	if (!table)
		return SQLITE_NOMEM;
	table->relation = relation;
	*ret_table = &table->base;
	return SQLITE_OK;
}

static int disconnect(sqlite3_vtab *base)
{
	struct table *table = (struct table *)base;

	for (uint32_t i = 0; i < table->relation->column_count; i++)
		free(table->lookups[i]);
	free(table);
	return SQLITE_OK;
}

static int choose(sqlite3_vtab *table, sqlite3_index_info *info)
{
	return mr_plan_choose(relation_of(table), info);
}

/* ---- the cursor ----------------------------------------------------------------------------------- */

static int open_cursor(sqlite3_vtab *table, sqlite3_vtab_cursor **ret_cursor)
{
	struct cursor *cursor = calloc(1, sizeof *cursor);

	(void)table;
	if (!cursor)
		return SQLITE_NOMEM;
	*ret_cursor = &cursor->base;
	return SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor *base)
{
	struct cursor *cursor = (struct cursor *)base;

	free(cursor->own_order);
	free(cursor);
	return SQLITE_OK;
}

static int look_up(struct table *table, struct cursor *cursor, int column, uint64_t value)
{
	const struct mr_relation *relation = table->relation;
	const struct mr_field *field = &relation->columns[column].field;
	uint32_t **rows = &table->lookups[column];

	if (!*rows && mr_lookup_make(relation, field, rows) < 0)
		return SQLITE_NOMEM;
	cursor->order = *rows;
	mr_lookup_find(relation, field, *rows, value, &cursor->at, &cursor->end);
	return SQLITE_OK;
}

static int filter(sqlite3_vtab_cursor *base, int number, const char *plan, int count,
		  sqlite3_value **values)
{
	struct cursor *cursor = (struct cursor *)base;
	const struct mr_relation *relation = relation_of(base->pVtab);
	struct mr_order_term terms[MR_PLAN_TERMS];
	uint32_t first, end, term_count = mr_plan_terms(relation, plan, terms);
	uint64_t value;

	(void)count;
	free(mr_take(cursor->own_order));
	cursor->order = NULL;
	if (number != MR_PLAN_NO_LOOKUP && mr_plan_lookup(plan, values, &value))
		return look_up((struct table *)base->pVtab, cursor, number, value);
	mr_plan_rows(relation, plan, values, &first, &end);
	if (term_count && mr_order_rows(terms, term_count, first, end, &cursor->own_order) < 0)
		return SQLITE_NOMEM;
	cursor->order = cursor->own_order;
	cursor->at = cursor->order ? 0 : first;
	cursor->end = cursor->order ? end - first : end;
	return SQLITE_OK;
}

static int advance(sqlite3_vtab_cursor *base)
{
	((struct cursor *)base)->at++;
	return SQLITE_OK;
}

static int is_at_end(sqlite3_vtab_cursor *base)
{
	const struct cursor *cursor = (const struct cursor *)base;

	return cursor->at >= cursor->end;
}

static uint32_t row_of(const struct cursor *cursor)
{
	return cursor->order ? cursor->order[cursor->at] : cursor->at;
}

static int row_number(sqlite3_vtab_cursor *base, sqlite3_int64 *ret_number)
{
	*ret_number = row_of((const struct cursor *)base);
	return SQLITE_OK;
}

/* The row that comes a little later: rows that are ordered lie far apart, where no cache has them. */
static uint32_t row_ahead(const struct cursor *cursor)
{
	return cursor->order[mr_min(cursor->at + ROWS_AHEAD, cursor->end - 1)];
}

/* Texts live as long as the model, so SQLite need not copy them. What is not given is NULL. */
static int give_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int number)
{
	const struct cursor *cursor = (const struct cursor *)base;
	const struct mr_relation_column *column = &relation_of(base->pVtab)->columns[number];
	uint64_t value = mr_field_read(&column->field, row_of(cursor));

	if (cursor->order)
		__builtin_prefetch(mr_field_at(&column->field, row_ahead(cursor)));
	if (!column->dictionary) {
		if (mr_relation_has_number(column, value))
			sqlite3_result_int64(context, (int64_t)value);
		return SQLITE_OK;
	}
	uint32_t code = mr_relation_code(column, value);
	uint32_t length = column->dictionary->lengths[code];
	if (length)
		sqlite3_result_text(context, column->dictionary->texts[code], (int)length,
				    SQLITE_STATIC);
	return SQLITE_OK;
}

static const sqlite3_module module = {
	.xCreate = connect,
	.xConnect = connect,
	.xBestIndex = choose,
	.xDisconnect = disconnect,
	.xDestroy = disconnect,
	.xOpen = open_cursor,
	.xClose = close_cursor,
	.xFilter = filter,
	.xNext = advance,
	.xEof = is_at_end,
	.xColumn = give_column,
	.xRowid = row_number,
};

int mr_module_add(sqlite3 *database, const struct mr_relations *relations)
{
	int result = sqlite3_create_module(database, "millrace", &module, (void *)relations);

	for (uint32_t i = 0; result == SQLITE_OK && i < relations->count; i++) {
		char *command = sqlite3_mprintf("CREATE VIRTUAL TABLE \"%w\" USING millrace",
						relations->items[i].name);

		result = command ? sqlite3_exec(database, command, NULL, NULL, NULL) : SQLITE_NOMEM;
		sqlite3_free(command);
	}
	return result;
}
