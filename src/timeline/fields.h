/* SPDX-License-Identifier: Apache-2.0
 *
 * What the details panel lists of a row: its columns, from their descriptions alone, and what else is known.
 *
 *     {"name": "awaited", "about": "that it waits for, and that ends last", "text": "matmul",
 *      "value": null, "unit": null, "link": {"table": "device_operations", "row": 7}}
 *
 * A value that is not known has the text "". Numbers that name something (ids, handles, ticks) are texts: they
 * may be larger than what a script can count with.
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

/* What can be gone to. */
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

/* A slice, or MR_NO_ROW. Rows of tables that are not drawn cannot be gone to. */
void mr_fields_add_row(const struct mr_fields *fields, struct mr_field_name name, const char *table,
		       uint32_t row);

void mr_reference_write(struct mr_json *json, const char *key, struct mr_reference reference);

/* All columns of a row, and behind its duration its end. */
void mr_fields_add_columns(const struct mr_fields *fields, const struct mr_table *table,
			   uint32_t row);

#endif
