/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows in the order of columns that have few different values: texts, rows of lists, bytes. Sorted by
 * counting, one pass per column, so that GROUP BY and ORDER BY over them cost SQLite no sorting:
 *
 *     column   c a b a c      rows of a, of b, of c      1 3 | 2 | 0 4
 *     row      0 1 2 3 4
 */
#ifndef MR_QUERY_ORDER_H
#define MR_QUERY_ORDER_H

#include "query/relation.h"

struct mr_order_term {
	const struct mr_relation_column *column;
	bool descending;
};

/* Whether rows can be ordered by it this way. */
bool mr_order_is_possible(const struct mr_relation_column *column);

/* The rows [first, end) in the order of SQL: none first, numbers by value, texts by bytes; the terms
 * from the most important to the least, rows that are equal in all by their numbers. The caller frees.
 * -ENOMEM. */
int mr_order_rows(const struct mr_order_term *terms, uint32_t term_count, uint32_t first,
		  uint32_t end, uint32_t **ret_rows);

#endif
