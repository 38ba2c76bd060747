/* SPDX-License-Identifier: Apache-2.0
 *
 * SQL over a model, by SQLite: every table and list is a virtual table (module.h); doc/tables.md describes
 * them. Queries only read. No file is ever opened or made: the database is in memory, and so is what
 * SQLite sorts; an authorizer refuses ATTACH, PRAGMAs that change something, extensions. Memory and
 * the size of statements and values are bounded; a query without end can be interrupted.
 *
 * A query borrows the model, which must live longer. One thread at a time, but for
 * mr_query_interrupt().
 */
#ifndef MR_QUERY_QUERY_H
#define MR_QUERY_QUERY_H

#include <stdio.h>

#include "model/model.h"

enum mr_query_format {
	MR_QUERY_TABLE, /* for people: aligned columns */
	MR_QUERY_CSV,   /* RFC 4180 with a line of names; NULL is an empty field */
	MR_QUERY_JSON,  /* one object per line */
};

struct mr_query;

int mr_query_open(const struct mr_model *model, struct mr_query **ret_query);
void mr_query_close(struct mr_query *query);

static inline void mr_cleanup_query(struct mr_query **query)
{
	mr_query_close(*query);
}

/* Runs one statement and prints its rows as they come. A failure may follow rows that are printed. */
int mr_query_print(struct mr_query *query, const char *sql, enum mr_query_format format,
		   FILE *file);

/* Ends a statement that runs, which then fails. May be called from a signal handler. */
void mr_query_interrupt(struct mr_query *query);

#endif
