/* SPDX-License-Identifier: Apache-2.0
 *
 * How a table is read for a query: chosen when the statement is compiled, carried out when it runs. In
 * between SQLite keeps it as a text, which EXPLAIN QUERY PLAN shows:
 *
 *     t=sg                 conditions that narrow the rows, two letters each: rowid, track or start_ns,
 *                          and = < > or, with equality, l g; l= is what rows are looked up by
 *           by 4a 7d       columns that rows are ordered by, ascending or descending
 *
 * SQLite checks the conditions once more, so that narrowing may leave too many rows, but never too few.
 */
#ifndef MR_QUERY_PLAN_H
#define MR_QUERY_PLAN_H

#include <sqlite3.h>

#include "query/order.h"

enum {
	MR_PLAN_TERMS = 8, /* columns that rows are ordered by, at most */
	MR_PLAN_NO_LOOKUP =
		-1, /* as the number of a plan, which else is the column that rows are looked up by */
};

/* A code of SQLite. */
int mr_plan_choose(const struct mr_relation *relation, sqlite3_index_info *info);

/* The value that rows are looked up by; false if it is no integer, to which a number may be equal all
 * the same. Only for plans with a lookup. */
bool mr_plan_lookup(const char *plan, sqlite3_value **values, uint64_t *ret_value);

/* The rows that the other conditions leave, given their values. */
void mr_plan_rows(const struct mr_relation *relation, const char *plan, sqlite3_value **values,
		  uint32_t *ret_first, uint32_t *ret_end);

/* What they are to be ordered by; returns how many terms, 0: they stand as they should. */
uint32_t mr_plan_terms(const struct mr_relation *relation, const char *plan,
		       struct mr_order_term *terms);

#endif
