/* SPDX-License-Identifier: Apache-2.0
 *
 * What can be queried, in words: made from the descriptions of tables and lists, so it needs no trace.
 */
#ifndef MR_QUERY_DESCRIBE_H
#define MR_QUERY_DESCRIBE_H

#include "query/relation.h"

enum {
	MR_ABOUT_BYTES = 512
};

/* A column as SQL sees it. */
struct mr_described {
	char name[MR_RELATION_NAME_BYTES];
	char about[MR_ABOUT_BYTES];
	bool is_text;
};

/* All tables, ended by NULL. */
extern const struct mr_table_desc *const mr_described_tables[];

/* What a column of the description becomes: returns 1 or 2. */
uint32_t mr_describe_column(const struct mr_column_desc *desc, struct mr_described *ret_columns);

/* Prints what is asked for by ".tables", ".schema" or ".schema TABLE"; -EINVAL with a cause. */
int mr_describe(const char *request, FILE *file);

#endif
