/* SPDX-License-Identifier: Apache-2.0
 *
 * The relations of a model as virtual tables of SQLite: read where they are, never copied. SQLite is
 * told what needs no scan and no sorting:
 *
 *     rowid = 7, rowid < 9 ...             those rows: the numbers that other tables refer to
 *     track = 3, track > 3 ...             that part of a table, which is sorted by track
 *     track = 3 and start_ns >= 100 ...    that part of the track, by bisection
 *     call = c.rowid ...                   in a join by any number: those rows (lookup.h)
 *     GROUP BY, DISTINCT, ORDER BY         in the table's own order, or by columns of few values
 *                                          (order.h)
 */
#ifndef MR_QUERY_MODULE_H
#define MR_QUERY_MODULE_H

#include <sqlite3.h>

#include "query/relation.h"

/* Makes a table in the database for each relation, which must live until the database is closed. A code
 * of SQLite. */
int mr_module_add(sqlite3 *database, const struct mr_relations *relations);

#endif
