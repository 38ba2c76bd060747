/* SPDX-License-Identifier: Apache-2.0
 *
 * Files of other tools that are SQLite databases: opened so that whatever they contain is data. They are read as they
 * lie on the disk, never written, never locked; views, triggers, extensions and functions in their schemas do not run.
 *
 *     mr_database_open()  ──► mr_database_select()  ──► mr_database_next() ...   one pass over a table, row by row
 *
 * Versions of a tool add and remove columns: one that the file lacks reads as NULL.
 */
#ifndef MR_IMPORT_DATABASE_H
#define MR_IMPORT_DATABASE_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "import/formats.h"

/* NULL if the file is no database, or cannot be opened. */
sqlite3 *mr_database_open(const char *path);

/* Is the head that of a database? */
bool mr_database_is(const struct mr_head *head);

bool mr_database_has_table(sqlite3 *database, const char *table);

/* A table and its columns, ended by NULL. */
struct mr_database_table {
	const char *name;
	const char *columns[20];
};

/* *ret_rows is NULL if the file has no such table. 0 or -ENOMEM. */
int mr_database_select(sqlite3 *database, const struct mr_database_table *table,
		       sqlite3_stmt **ret_rows);

/* Rows of any statement; NULL if the file lacks what it names. 0 or -ENOMEM. */
int mr_database_prepare(sqlite3 *database, const char *statement, sqlite3_stmt **ret_rows);

/* Calls `add` for each row, then frees them; NULL has none. What is behind damage is said to be lost. */
typedef int mr_database_add(void *reader, sqlite3_stmt *row);
int mr_database_each(struct mr_import *import, sqlite3_stmt *rows, mr_database_add *add,
		     void *reader);

/* Begin and end, the first two columns of a row: false, and said to be lost, if they cannot be. */
bool mr_database_interval(struct mr_import *import, sqlite3_stmt *row, int64_t *ret_start_ns,
			  int64_t *ret_end_ns);

/* A number that is too large, or negative, is the nearest that has room. */
uint32_t mr_database_u32(sqlite3_stmt *row, int column);

/* 1: there is a row; 0: no more; -ENOMEM; -EIO: the file is damaged from here on. */
int mr_database_next(sqlite3_stmt *rows);

#endif
