/* SPDX-License-Identifier: Apache-2.0
 *
 * A table as SQL sees it: the model's tables (model/table.h) and the survey's lists (lists.h) in one
 * form, made from their descriptions alone.
 *
 *     column of the model         columns of SQL
 *     string, one_of, row_flags   its text
 *     node, track, file ...       the row of the list, and the name there: node, node_name
 *     others                      a number
 *
 * A text is a code (a small number) that a dictionary turns into characters. There are few codes, so
 * rows are grouped by counting (order.h).
 *
 * Everything borrows from the model, which must live longer. Read-only once made.
 */
#ifndef MR_QUERY_RELATION_H
#define MR_QUERY_RELATION_H

#include "base/region.h"
#include "query/lists.h"

/* A value for every row: values[row * stride], of so many bytes; of 0 bytes: the row's number. */
struct mr_field {
	const uint8_t *values;
	uint32_t stride;
	uint32_t bytes;
};

/* Text by code; the empty text is none. */
struct mr_dictionary {
	const char *const *texts;
	const uint32_t *lengths;
	uint32_t count;
};

struct mr_relation_column {
	const char *name;
	const struct mr_column_desc *desc;
	struct mr_field field;
	struct mr_field names; /* of what a value refers to: codes; bytes 0: it is a code itself */
	const struct mr_dictionary *dictionary; /* NULL: a number */
	uint32_t first, end;                    /* values outside are none; end 0: any is good */
};

struct mr_relation {
	const char *name;
	const struct mr_relation_column *columns;
	uint32_t column_count;
	uint32_t first_row;
	uint32_t end_row;
	const uint32_t
		*first_of_track; /* NULL: rows stand in no order; else by track, then start_ns */
	uint32_t track_count;
	uint32_t track, start_ns; /* these columns, of rows in order */
};

struct mr_relations {
	struct mr_relation *items;
	uint32_t count;
	struct mr_region region;
};

/* All tables of a model: 0 or -ENOMEM. */
int mr_relations_make(const struct mr_model *model, struct mr_relations *ret_relations);
void mr_relations_free(struct mr_relations *relations);

enum {
	MR_RELATION_NAME_BYTES = 64
};

/* Whether a column is followed by one with the name of what it refers to, and what that is called. */
bool mr_relation_second_name(const struct mr_column_desc *desc, char *ret_name);

/* Whether its own values are texts. */
bool mr_relation_is_text(const struct mr_column_desc *desc);

static inline const void *mr_field_at(const struct mr_field *field, uint32_t row)
{
	return field->values + (size_t)row * field->stride;
}

static inline uint64_t mr_field_read(const struct mr_field *field, uint32_t row)
{
	const void *at = mr_field_at(field, row);

	switch (field->bytes) {
	case 0:
		return row;
	case 1:
		return *(const uint8_t *)at;
	case 2:
		return *(const uint16_t *)at;
	case 4:
		return *(const uint32_t *)at;
	default:
		return *(const uint64_t *)at;
	}
}

/* Whether the value of a number column is one. */
static inline bool mr_relation_has_number(const struct mr_relation_column *column, uint64_t value)
{
	switch (column->desc->meaning) {
	case MR_MEANS_number:
		return true;
	case MR_MEANS_time_ns: /* of nothing seen, the first time is the largest there is */
		return (int64_t)value != MR_NO_TIME && (int64_t)value != INT64_MAX;
	case MR_MEANS_row:
	case MR_MEANS_known_number:
		return value != UINT64_MAX >> (64 - 8 * column->field.bytes);
	default:
		return column->end == 0 || (value >= column->first && value < column->end);
	}
}

/* The code of a text column's value; 0 or an empty text where there is none. */
static inline uint32_t mr_relation_code(const struct mr_relation_column *column, uint64_t value)
{
	if (column->names.bytes)
		value = value < column->end ? mr_field_read(&column->names, (uint32_t)value) : 0;
	return value < column->dictionary->count ? (uint32_t)value : 0;
}

#endif
