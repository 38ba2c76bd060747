/* SPDX-License-Identifier: Apache-2.0
 *
 * The first reading: planes with their names, and what their lines are called.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "import/xplane/xplane.h"

/* ---- figures ---------------------------------------------------------------------------------------- */

static enum mr_xplane_figure name_figure(const char *text)
{
	static const struct {
		const char *name;
		enum mr_xplane_figure figure;
	} names[] = {
		{"correlation_id", MR_XPLANE_CORRELATION},
		{"kernel_details", MR_XPLANE_KERNEL_DETAILS},
		{"memcpy_details", MR_XPLANE_COPY_DETAILS},
		{"memset_details", MR_XPLANE_FILL_DETAILS},
		{"hlo_category", MR_XPLANE_CATEGORY},
		{"flops", MR_XPLANE_FLOPS},
		{"bytes_accessed", MR_XPLANE_BYTES_ACCESSED},
		{"step_num", MR_XPLANE_STEP},
		{"profile_start_time", MR_XPLANE_BEGIN_TIME},
	};

	for (size_t i = 0; i < mr_countof(names); i++)
		if (strcmp(text, names[i].name) == 0)
			return names[i].figure;
	return MR_XPLANE_OTHER;
}

static int64_t id_at(const void *items, size_t bytes, size_t i)
{
	int64_t id;

	memcpy(&id, (const char *)items + i * bytes, sizeof id);
	return id;
}

/* Finds a thing of `bytes` bytes, which begins with its number, in a list by number. These are mostly 1, 2, 3 ..., so
 * that it mostly stands at its place. */
static const void *find(const void *items, size_t count, size_t bytes, int64_t id)
{
	size_t low = 0, high = count;

	if (id > 0 && (uint64_t)id <= count && id_at(items, bytes, (size_t)id - 1) == id)
		return (const char *)items + (size_t)(id - 1) * bytes;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int64_t found = id_at(items, bytes, middle);

		if (found == id)
			return (const char *)items + middle * bytes;
		if (found < id)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

static const struct mr_xplane_text *text_of(const struct mr_xplane_plane *plane, int64_t id)
{
	return find(plane->texts.items, plane->texts.count, sizeof *plane->texts.items, id);
}

const struct mr_xplane_kind *mr_xplane_kind_of(const struct mr_xplane_plane *plane, int64_t id)
{
	return find(plane->kinds.items, plane->kinds.count, sizeof *plane->kinds.items, id);
}

/* A count, however it is stored. */
static uint64_t count_of(const struct mr_field *field)
{
	double value = field->wire == MR_WIRE_FIXED64 ? mr_field_double(field) : 0;

	if (field->wire != MR_WIRE_FIXED64)
		return field->value;
	return value >= 1 && value < 0x1p63 ? (uint64_t)value : 0;
}

bool mr_xplane_figure_of(const struct mr_xplane *xplane, const struct mr_xplane_plane *plane,
			 const struct mr_field *field, struct mr_xplane_value *ret_value)
{
	enum {
		OF = 1,
		DOUBLE,
		UNSIGNED,
		SIGNED,
		TEXT,
		REFERENCE = 7
	};
	struct mr_message message = mr_message_of(field);
	struct mr_field part;

	*ret_value = (struct mr_xplane_value){.text = ""};
	while (mr_message_next(&message, &part)) {
		const struct mr_xplane_text *text;

		switch (part.number) {
		case OF:
			text = text_of(plane, (int64_t)part.value);
			ret_value->figure = text ? text->figure : MR_XPLANE_OTHER;
			break;
		case DOUBLE:
		case UNSIGNED:
		case SIGNED:
			ret_value->number = count_of(&part);
			break;
		case TEXT:
			if (part.wire != MR_WIRE_BYTES)
				return false;
			ret_value->text = (const char *)part.bytes;
			ret_value->length = part.value;
			break;
		case REFERENCE:
			text = text_of(plane, (int64_t)part.value);
			if (text) {
				ret_value->text = mr_strings_text(&xplane->texts, text->string);
				ret_value->length = strlen(ret_value->text);
			}
			break;
		}
	}
	return !message.is_bad;
}

/* ---- names -------------------------------------------------------------------------------------------- */

/* An entry of a map: a number and a message, whose fields are given back. */
static bool enter_entry(const struct mr_field *field, int64_t *ret_id,
			struct mr_message *ret_message)
{
	struct mr_message entry = mr_message_of(field);
	struct mr_field part;

	*ret_id = 0;
	*ret_message = (struct mr_message){0};
	while (mr_message_next(&entry, &part))
		if (mr_field_is(&part, 1, MR_WIRE_VARINT))
			*ret_id = (int64_t)part.value;
		else if (mr_field_is(&part, 2, MR_WIRE_BYTES))
			*ret_message = mr_message_of(&part);
	return !entry.is_bad;
}

static int add_text(struct mr_xplane *xplane, struct mr_xplane_plane *plane,
		    const struct mr_field *field)
{
	struct mr_xplane_text added = {0};
	struct mr_message message;
	struct mr_field part;

	if (!enter_entry(field, &added.id, &message))
		return -EINVAL;
	while (mr_message_next(&message, &part))
		if (mr_field_is(&part, 2, MR_WIRE_BYTES) &&
		    mr_strings_intern(&xplane->texts, part.bytes, part.value, &added.string) < 0)
			return -ENOMEM;
	added.figure = name_figure(mr_strings_text(&xplane->texts, added.string));
	return message.is_bad ? -EINVAL : mr_vec_push(&plane->texts, added);
}

static int keep_figure(struct mr_xplane *xplane, const struct mr_field *field)
{
	struct mr_message bytes = mr_message_of(field);
	size_t used = xplane->figures.count;

	/* As a field of one message, of which the length needs at most ten bytes. */
	if (mr_vec_reserve(&xplane->figures, used + field->value + 11) < 0)
		return -ENOMEM;
	uint8_t *to = &xplane->figures.items[used];
	*to++ = 1 << 3 | MR_WIRE_BYTES;
	for (uint64_t left = field->value; *to = left & 0x7F, left >>= 7, left > 0;)
		*to++ |= 0x80;
	to++;
	if (field->value)
		memcpy(to, bytes.at, field->value);
	xplane->figures.count = (size_t)(to + field->value - xplane->figures.items);
	return 0;
}

static int add_kind(struct mr_xplane *xplane, struct mr_xplane_plane *plane,
		    const struct mr_field *field)
{
	enum {
		KIND_NAME = 2,
		KIND_DISPLAY_NAME = 4,
		KIND_FIGURES = 5
	};
	struct mr_xplane_kind added = {.figures = xplane->figures.count};
	struct mr_message message;
	struct mr_field part;

	if (!enter_entry(field, &added.id, &message))
		return -EINVAL;
	while (mr_message_next(&message, &part)) {
		int result = 0;

		/* An operation of XLA is named by its whole line of HLO, and displayed as what it is called. */
		if (mr_field_is(&part, KIND_NAME, MR_WIRE_BYTES) ||
		    (mr_field_is(&part, KIND_DISPLAY_NAME, MR_WIRE_BYTES) && part.value > 0))
			result = mr_builder_string(xplane->builder, (const char *)part.bytes,
						   part.value, &added.name);
		else if (mr_field_is(&part, KIND_FIGURES, MR_WIRE_BYTES))
			result = keep_figure(xplane, &part);
		if (result < 0)
			return result;
	}
	added.figure_bytes = xplane->figures.count - added.figures;
	return message.is_bad ? -EINVAL : mr_vec_push(&plane->kinds, added);
}

static int read_kind_figures(struct mr_xplane *xplane, const struct mr_xplane_plane *plane,
			     struct mr_xplane_kind *kind)
{
	struct mr_message message = {.at = xplane->figures.items + kind->figures};
	struct mr_xplane_value value;
	struct mr_field figure;
	int result = 0;

	message.end = message.at + kind->figure_bytes;
	while (result == 0 && kind->figure_bytes && mr_message_next(&message, &figure)) {
		if (!mr_xplane_figure_of(xplane, plane, &figure, &value))
			continue;
		if (value.figure == MR_XPLANE_FLOPS)
			kind->flops = value.number;
		if (value.figure == MR_XPLANE_BYTES_ACCESSED)
			kind->bytes = value.number;
		if (value.figure == MR_XPLANE_CATEGORY)
			result = mr_builder_string(xplane->builder, value.text, value.length,
						   &kind->category);
	}
	return result;
}

static int compare_texts(const void *left, const void *right)
{
	const struct mr_xplane_text *a = left, *b = right;

	return (a->id > b->id) - (a->id < b->id);
}

static int compare_kinds(const void *left, const void *right)
{
	const struct mr_xplane_kind *a = left, *b = right;

	return (a->id > b->id) - (a->id < b->id);
}

/* ---- planes ------------------------------------------------------------------------------------------- */

/* Fields of a plane. */
enum {
	NAME = 2,
	LINES,
	KINDS,
	TEXTS,
	FIGURES,
};

/* "/device:GPU:0"; a device of a kind of its own (CUSTOM) is none: what it shows is made up. */
static enum mr_xplane_role role_of(const char *name)
{
	if (strncmp(name, "/device:", 8) == 0 && strncmp(name, "/device:CUSTOM:", 15) != 0)
		return MR_XPLANE_DEVICE;
	return strncmp(name, "/host:", 6) == 0 ? MR_XPLANE_HOST : MR_XPLANE_PROCESS;
}

static int name_plane(struct mr_xplane *xplane, struct mr_xplane_plane *plane,
		      const struct mr_field *field)
{
	int result = mr_builder_string(xplane->builder, (const char *)field->bytes, field->value,
				       &plane->name);

	if (result == 0)
		plane->role = role_of(mr_strings_text(&xplane->builder->strings, plane->name));
	return result;
}

/* A map has no order in the file. */
static void sort_texts(struct mr_xplane_plane *plane)
{
	if (plane->texts.count)
		qsort(plane->texts.items, plane->texts.count, sizeof *plane->texts.items,
		      compare_texts);
}

/* The figures of a plane are the last of its fields. */
static void note_begin(struct mr_xplane *xplane, struct mr_xplane_plane *plane,
		       const struct mr_field *field)
{
	struct mr_xplane_value value;

	sort_texts(plane);
	if (mr_xplane_figure_of(xplane, plane, field, &value) &&
	    value.figure == MR_XPLANE_BEGIN_TIME && value.number <= INT64_MAX)
		xplane->builder->epoch_ns = (int64_t)value.number;
}

static int note_line(struct mr_xplane *xplane, struct mr_xplane_plane *plane,
		     struct mr_source *source, uint64_t end)
{
	struct mr_xplane_line line;
	struct mr_field event;
	bool has_event;

	if (!mr_xplane_enter_line(xplane, source, end, &line, &event, &has_event))
		return -EINVAL;
	if (strncmp(line.name, "Stream #", 8) == 0)
		plane->has_streams = true;
	if (!has_event)
		return 0;
	const struct mr_field rest = {.wire = MR_WIRE_BYTES, .value = end - source->offset};
	return mr_stream_skip(source, &rest) ? 0 : -EINVAL;
}

/* One field of a plane that is wanted as a whole. */
static int add_field(struct mr_xplane *xplane, struct mr_xplane_plane *plane,
		     const struct mr_field *field)
{
	switch (field->number) {
	case NAME:
		return name_plane(xplane, plane, field);
	case KINDS:
		return add_kind(xplane, plane, field);
	case TEXTS:
		return add_text(xplane, plane, field);
	case FIGURES:
		note_begin(xplane, plane, field);
	}
	return 0;
}

/* The programs that ran are large, and nothing is asked of them. */
static bool is_wanted(const struct mr_field *field)
{
	return (field->number == NAME || (field->number >= KINDS && field->number <= FIGURES)) &&
	       field->value <= MR_SOURCE_WINDOW_MAX / 2;
}

static int read_plane(struct mr_xplane *xplane, struct mr_xplane_plane *plane,
		      struct mr_source *source, uint64_t end)
{
	enum mr_stream_found found = MR_STREAM_END;
	struct mr_field field;
	int result = 0;

	xplane->figures.count = 0;
	while (result == 0 && (found = mr_stream_next(source, end, &field)) == MR_STREAM_FIELD) {
		if (field.wire != MR_WIRE_BYTES)
			continue;
		if (field.number == LINES)
			result = note_line(xplane, plane, source, source->offset + field.value);
		else if (!is_wanted(&field))
			result = mr_stream_skip(source, &field) ? 0 : -EINVAL;
		else
			result = mr_stream_take(source, &field) ? add_field(xplane, plane, &field)
								: -EINVAL;
	}
	sort_texts(plane);
	for (size_t i = 0; result != -ENOMEM && i < plane->kinds.count; i++)
		if (read_kind_figures(xplane, plane, &plane->kinds.items[i]) < 0)
			return -ENOMEM;
	if (plane->kinds.count)
		qsort(plane->kinds.items, plane->kinds.count, sizeof *plane->kinds.items,
		      compare_kinds);
	return result == 0 && found == MR_STREAM_BAD ? -EINVAL : result;
}

int mr_xplane_read_names(struct mr_xplane *xplane, struct mr_source *source)
{
	enum mr_stream_found found = MR_STREAM_END;
	struct mr_field field;
	int result = 0;

	while (result == 0 &&
	       (found = mr_stream_next(source, UINT64_MAX, &field)) == MR_STREAM_FIELD) {
		if (!mr_field_is(&field, 1, MR_WIRE_BYTES)) {
			result = mr_stream_skip(source, &field) ? 0 : -EINVAL;
			continue;
		}
		if (mr_vec_push(&xplane->planes, ((struct mr_xplane_plane){0})) < 0)
			return -ENOMEM;
		result = read_plane(xplane, &xplane->planes.items[xplane->planes.count - 1], source,
				    source->offset + field.value);
	}
	if (result != -EINVAL && found != MR_STREAM_BAD)
		return result;
	const char *reason = source->problem
				     ? source->problem
				     : "the profile is damaged, or ends too early, from here on";
	uint64_t offset = source->offset;
	return mr_import_faults_add(&xplane->import->faults, reason, offset,
				    mr_source_drain(source));
}
