/* SPDX-License-Identifier: Apache-2.0 */
#include "timeline/tables.h"

#include <string.h>

#include "model/model.h"

const struct mr_sliced_desc mr_sliced[MR_SLICED_COUNT] = {
#define TABLE(table, ...)                                   \
	[MR_SLICED_##table] = {                             \
		.name = #table,                             \
		.offset = offsetof(struct mr_model, table), \
		__VA_ARGS__,                                \
	},
#define DERIVED(table, ...) [MR_SLICED_##table] = {.name = #table, .is_derived = true, __VA_ARGS__},
#include "timeline/tables.def"
#undef TABLE
#undef DERIVED
};

bool mr_sliced_find(const char *name, enum mr_sliced *ret_table)
{
	for (uint32_t table = 0; table < MR_SLICED_COUNT; table++)
		if (strcmp(name, mr_sliced[table].name) == 0) {
			*ret_table = table;
			return true;
		}
	return false;
}

const void *mr_sliced_column(const struct mr_table *table, const char *name,
			     const struct mr_column_desc **ret_desc)
{
	for (uint32_t i = 0; i < table->desc->column_count; i++)
		if (strcmp(table->desc->columns[i].name, name) == 0) {
			*ret_desc = &table->desc->columns[i];
			return mr_table_columns((struct mr_table *)table)[i];
		}
	return NULL;
}
