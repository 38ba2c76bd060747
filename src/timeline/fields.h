/* SPDX-License-Identifier: Apache-2.0
 *
 * The fields of a row in the details panel: its columns, from their descriptions alone, and other values.
 *
 *     {"name": "awaited", "about": "that it waits for, and that ends last", "text": "matmul",
 *      "value": null, "unit": null, "link": {"table": "device_operations", "row": 7}}
 *
 * An unknown value has the text "". Numbers that identify something (ids, handles, ticks) are strings, because they may
 * be too large for a JavaScript number.
 */
#ifndef MR_TIMELINE_FIELDS_H
#define MR_TIMELINE_FIELDS_H

#include "base/json_writer.h"
#include "timeline/view.h"

enum mr_reference_kind {
	MR_REFERENCE_NONE,
	MR_REFERENCE_ROW,   /* of `table` */
	MR_REFERENCE_LABEL, /* of `table` */
	MR_REFERENCE_NODE,
	MR_REFERENCE_TRACK,
	MR_REFERENCE_FILE,
};

/* What a link can lead to. */
struct mr_reference {
	enum mr_reference_kind kind;
	const char *table;
	uint32_t number;
};

/* Where fields are written. */
struct mr_fields {
	struct mr_json *json;
	struct mr_view *view;
};

/* A name for people and what it means. */
struct mr_field_name {
	const char *name;
	const char *about;
};

/* A duration; how exact a time is, which may be not known (mr_bound_value()); a time, or MR_NO_TIME; a size; how
 * many. */
void mr_fields_add_ns(const struct mr_fields *fields, struct mr_field_name name, int64_t ns);
void mr_fields_add_bound(const struct mr_fields *fields, struct mr_field_name name, uint64_t ns);
void mr_fields_add_time(const struct mr_fields *fields, struct mr_field_name name, int64_t ns);
void mr_fields_add_bytes(const struct mr_fields *fields, struct mr_field_name name, uint64_t bytes);
void mr_fields_add_count(const struct mr_fields *fields, struct mr_field_name name, uint64_t count);

/* "": not known. */
void mr_fields_add_text(const struct mr_fields *fields, struct mr_field_name name, const char *text,
			struct mr_reference reference);

/* A slice, or MR_NO_ROW. There are no links to rows of tables that are not drawn. */
void mr_fields_add_row(const struct mr_fields *fields, struct mr_field_name name, const char *table,
		       uint32_t row);

void mr_reference_write(struct mr_json *json, const char *key, struct mr_reference reference);

/* All columns of a row, and behind its duration its end. */
void mr_fields_add_columns(const struct mr_fields *fields, const struct mr_table *table,
			   uint32_t row);

#endif
