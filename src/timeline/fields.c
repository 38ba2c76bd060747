/* SPDX-License-Identifier: Apache-2.0 */
#include "timeline/fields.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "analysis/device_time.h"
#include "base/format.h"
#include "query/relation.h"
#include "timeline/labels.h"

enum {
	NAME_BYTES = 64,
	VALUE_BYTES = 32,
	FLAGS_BYTES = 128,
};

/* ---- one field ------------------------------------------------------------------------------------ */

static const struct mr_reference nowhere = {0};

struct field {
	struct mr_field_name name;
	const char *text;
	const char *unit; /* NULL: it has no value, or one without unit */
	bool has_value;
	int64_t value;
	struct mr_reference reference;
};

void mr_reference_write(struct mr_json *json, const char *key, struct mr_reference reference)
{
	static const char *const members[] = {
		[MR_REFERENCE_ROW] = "row",   [MR_REFERENCE_LABEL] = "label",
		[MR_REFERENCE_NODE] = "node", [MR_REFERENCE_TRACK] = "track",
		[MR_REFERENCE_FILE] = "file",
	};

	if (reference.kind == MR_REFERENCE_NONE) {
		mr_json_null(json, key);
		return;
	}
	mr_json_begin_object(json, key);
	if (reference.table)
		mr_json_string(json, "table", reference.table);
	mr_json_uint(json, members[reference.kind], reference.number);
	mr_json_end_object(json);
}

static void write_field(const struct mr_fields *fields, const struct field *field)
{
	struct mr_json *json = fields->json;

	mr_json_begin_object(json, NULL);
	mr_json_string(json, "name", field->name.name);
	mr_json_string(json, "about", field->name.about);
	mr_json_string(json, "text", field->text);
	if (field->has_value)
		mr_json_int(json, "value", field->value);
	else
		mr_json_null(json, "value");
	mr_json_string(json, "unit", field->unit);
	mr_reference_write(json, "link", field->reference);
	mr_json_end_object(json);
}

static void add_value(const struct mr_fields *fields, struct mr_field_name name, const char *text,
		      const char *unit, int64_t value)
{
	write_field(fields, &(struct field){name, text, unit, true, value, nowhere});
}

void mr_fields_add_text(const struct mr_fields *fields, struct mr_field_name name, const char *text,
			struct mr_reference reference)
{
	write_field(fields, &(struct field){.name = name, .text = text, .reference = reference});
}

void mr_fields_add_ns(const struct mr_fields *fields, struct mr_field_name name, int64_t ns)
{
	char text[MR_FORMAT_BYTES];

	mr_format_ns(text, ns, true);
	add_value(fields, name, text, "ns", ns);
}

void mr_fields_add_bound(const struct mr_fields *fields, struct mr_field_name name, uint64_t ns)
{
	int64_t bound_ns = mr_bound_value(fields->view->model, ns);

	if (bound_ns == MR_NO_VALUE)
		mr_fields_add_text(fields, name, "", nowhere);
	else
		mr_fields_add_ns(fields, name, bound_ns);
}

void mr_fields_add_time(const struct mr_fields *fields, struct mr_field_name name, int64_t ns)
{
	char text[MR_FORMAT_BYTES];

	if (ns == MR_NO_TIME) {
		mr_fields_add_text(fields, name, "", nowhere);
		return;
	}
	ns -= fields->view->origin_ns;
	mr_format_ns(text, ns, true);
	add_value(fields, name, text, "time", ns);
}

void mr_fields_add_bytes(const struct mr_fields *fields, struct mr_field_name name, uint64_t bytes)
{
	char text[MR_FORMAT_BYTES];

	mr_format_bytes(text, (int64_t)bytes);
	add_value(fields, name, text, "bytes", (int64_t)bytes);
}

void mr_fields_add_count(const struct mr_fields *fields, struct mr_field_name name, uint64_t count)
{
	char text[MR_FORMAT_BYTES];

	mr_format_count(text, (int64_t)count);
	add_value(fields, name, text, "count", (int64_t)count);
}

/* ---- a column ------------------------------------------------------------------------------------- */

static bool ends_in(const char *text, const char *end)
{
	size_t length = strlen(text), end_length = strlen(end);

	return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

/* "queued_ns" becomes "queued". */
static const char *name_for_people(const char *column, char *to)
{
	size_t length = strlen(column) - (ends_in(column, "_ns") ? strlen("_ns") : 0);

	snprintf(to, NAME_BYTES, "%.*s", (int)length, column);
	for (char *at = to; (at = strchr(at, '_'));)
		*at = ' ';
	return to;
}

static const char *flag_texts(const struct mr_enum_desc *desc, uint64_t bits, char *to)
{
	size_t used = 0;

	*to = 0;
	for (uint32_t i = 0; i < desc->value_count; i++)
		if (bits & desc->values[i].number && used < FLAGS_BYTES)
			used += (size_t)snprintf(to + used, FLAGS_BYTES - used, "%s%s",
						 used ? ", " : "", desc->values[i].name);
	return to;
}

static const char *enumeration_text(const struct mr_column_desc *desc, uint64_t value, char *to)
{
	const struct mr_enum_desc *values = mr_enum_find(desc->of);

	if (desc->meaning == MR_MEANS_row_flags) {
		flag_texts(values, value, to);
	} else {
		*to = 0;
		for (uint32_t i = 0; i < values->value_count; i++)
			if (values->values[i].number == value)
				snprintf(to, FLAGS_BYTES, "%s", values->values[i].name);
	}
	for (char *at = to; *at; at++)
		*at = (char)tolower((unsigned char)*at);
	return to;
}

/* Whether a number is a handle, which people know in hexadecimal. */
static bool is_handle(const char *name)
{
	return strcmp(name, "address") == 0 || strcmp(name, "object") == 0 ||
	       strcmp(name, "argument") == 0;
}

/* Whether a number may be below 0; ids and keys never are. */
static bool is_signed(const char *name)
{
	return strcmp(name, "result") == 0 || strcmp(name, "value") == 0;
}

static void add_number(const struct mr_fields *fields, struct mr_field_name name,
		       const struct mr_column_desc *desc, uint64_t value)
{
	char text[VALUE_BYTES];

	if (strcmp(desc->name, "bound_ns") == 0) {
		mr_fields_add_bound(fields, name, value);
		return;
	}
	if (ends_in(desc->name, "_ns")) {
		mr_fields_add_ns(fields, name, (int64_t)value);
		return;
	}
	if (ends_in(desc->name, "bytes")) {
		mr_fields_add_bytes(fields, name, value);
		return;
	}
	if (strncmp(desc->name, "is_", strlen("is_")) == 0)
		snprintf(text, sizeof text, "%s", value ? "yes" : "no");
	else if (is_handle(desc->name))
		snprintf(text, sizeof text, "0x%" PRIx64, value);
	else if (is_signed(desc->name))
		snprintf(text, sizeof text, "%" PRId64, (int64_t)value);
	else
		snprintf(text, sizeof text, "%" PRIu64, value);
	mr_fields_add_text(fields, name, text, nowhere);
}

/* What a number of a list of the survey is called there. */
static void add_listed(const struct mr_fields *fields, struct mr_field_name name,
		       const struct mr_column_desc *desc, uint32_t number)
{
	const struct mr_list *list = mr_list_of(desc->meaning);
	const struct mr_list_rows rows = list->rows(fields->view->model);
	bool is_known = number >= list->first_row && number < rows.count;
	const struct mr_column_desc *named = mr_list_name(list);
	struct mr_reference reference = nowhere;
	uint32_t text = 0;

	if (is_known)
		memcpy(&text,
		       (const char *)rows.items + (size_t)number * rows.item_bytes + named->offset,
		       sizeof text);
	if (is_known && desc->meaning == MR_MEANS_node)
		reference = (struct mr_reference){MR_REFERENCE_NODE, NULL, number};
	if (is_known && desc->meaning == MR_MEANS_track)
		reference = (struct mr_reference){MR_REFERENCE_TRACK, NULL, number};
	if (is_known && desc->meaning == MR_MEANS_file)
		reference = (struct mr_reference){MR_REFERENCE_FILE, NULL, number};
	mr_fields_add_text(fields, name, mr_model_text(fields->view->model, text), reference);
}

void mr_fields_add_row(const struct mr_fields *fields, struct mr_field_name name, const char *table,
		       uint32_t row)
{
	char title[MR_LABEL_BYTES] = "";
	enum mr_sliced sliced;

	if (row == MR_NO_ROW || !mr_sliced_find(table, &sliced)) {
		if (row != MR_NO_ROW)
			snprintf(title, sizeof title, "row %u", row);
		mr_fields_add_text(fields, name, title, nowhere);
		return;
	}
	uint32_t label = mr_label_of(fields->view, sliced, row);
	mr_fields_add_text(fields, name, mr_label_text(fields->view, sliced, label, title),
			   (struct mr_reference){MR_REFERENCE_ROW, table, row});
}

static void add_column(const struct mr_fields *fields, const struct mr_column_desc *desc,
		       uint64_t value)
{
	char people[NAME_BYTES], text[FLAGS_BYTES];
	const struct mr_field_name name = {name_for_people(desc->name, people), desc->doc};

	switch (desc->meaning) {
	case MR_MEANS_number:
		add_number(fields, name, desc, value);
		break;
	case MR_MEANS_time_ns:
		mr_fields_add_time(fields, name, (int64_t)value);
		break;
	case MR_MEANS_known_number:
		if (value == UINT64_MAX >> (64 - 8 * desc->bytes))
			mr_fields_add_text(fields, name, "", nowhere);
		else
			add_number(fields, name, desc, value);
		break;
	case MR_MEANS_string:
		mr_fields_add_text(fields, name,
				   mr_model_text(fields->view->model, (uint32_t)value), nowhere);
		break;
	case MR_MEANS_row:
		mr_fields_add_row(fields, name, desc->of, (uint32_t)value);
		break;
	case MR_MEANS_enumeration:
	case MR_MEANS_row_flags:
		mr_fields_add_text(fields, name, enumeration_text(desc, value, text), nowhere);
		break;
	default:
		add_listed(fields, name, desc, (uint32_t)value);
	}
}

void mr_fields_add_columns(const struct mr_fields *fields, const struct mr_table *table,
			   uint32_t row)
{
	const struct mr_column_desc *descs = table->desc->columns;
	void *const *columns = (void *const *)(table + 1);
	int64_t start_ns = 0;

	for (uint32_t i = 0; i < table->desc->column_count; i++) {
		const struct mr_field field = {columns[i], descs[i].bytes, descs[i].bytes};
		uint64_t value = mr_field_read(&field, row);

		add_column(fields, &descs[i], value);
		if (strcmp(descs[i].name, "start_ns") == 0)
			start_ns = (int64_t)value;
		if (strcmp(descs[i].name, "duration_ns") == 0)
			mr_fields_add_time(fields, (struct mr_field_name){"end", "when it ended"},
					   start_ns + (int64_t)value);
	}
}
