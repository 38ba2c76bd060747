/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows by the value of a column: what makes a join by any number (call, correlation, node ...) a
 * lookup for each row instead of a scan. A list of all rows, sorted by value; made once, when a join
 * first needs it.
 */
#ifndef MR_QUERY_LOOKUP_H
#define MR_QUERY_LOOKUP_H

#include "query/relation.h"

/* The rows of a relation by value of the field, equal ones by number. The caller frees. -ENOMEM. */
int mr_lookup_make(const struct mr_relation *relation, const struct mr_field *field,
		   uint32_t **ret_rows);

/* Where rows of that value stand: [*ret_first, *ret_end) of the list. */
void mr_lookup_find(const struct mr_relation *relation, const struct mr_field *field,
		    const uint32_t *rows, uint64_t value, uint32_t *ret_first, uint32_t *ret_end);

#endif
