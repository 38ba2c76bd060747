/* SPDX-License-Identifier: Apache-2.0
 *
 * Prints the rows of a statement as they come.
 *
 * Texts may hold any bytes. In a table, what would command the terminal is shown as ?; in JSON, what is
 * no UTF-8 becomes U+FFFD; CSV has them as they are.
 */
#ifndef MR_QUERY_PRINT_H
#define MR_QUERY_PRINT_H

#include <sqlite3.h>

#include "query/query.h"

/* 0, a code of SQLite (greater than 0) where it failed, or -errno with a cause. */
int mr_rows_print(sqlite3_stmt *statement, enum mr_query_format format, FILE *file);

#endif
