/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/layout.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "schema/packet.h"

static const struct mr_event_desc *find_event(struct mr_token name)
{
	for (int id = 0; id < MR_EVENT_EXTENDED; id++)
		if (mr_event_table[id].name && mr_token_is(name, mr_event_table[id].name))
			return &mr_event_table[id];
	return NULL;
}

static const struct mr_field_desc *find_field(const struct mr_event_desc *desc,
					      struct mr_token name, uint16_t *ret_offset)
{
	uint16_t offset = 0;
	for (uint32_t i = 0; i < desc->field_count; i++) {
		if (mr_token_is(name, desc->fields[i].name)) {
			*ret_offset = offset;
			return &desc->fields[i];
		}
		offset += (uint16_t)mr_type_bytes(desc->fields[i].type);
	}
	return NULL;
}

static bool is_signed(enum mr_type type)
{
	return type == MR_i32 || type == MR_i64;
}

/* Does every value of one type fit the other? */
static bool type_fits(enum mr_type from, enum mr_type to)
{
	if (from == to)
		return true;
	if (from == MR_f64 || from == MR_str || to == MR_f64 || to == MR_str)
		return false;
	if (is_signed(from) == is_signed(to))
		return mr_type_bytes(from) <= mr_type_bytes(to);
	return is_signed(to) && mr_type_bytes(from) < mr_type_bytes(to);
}

/* Does each number have the same name in both, where both name it? */
static bool labels_agree(const struct mr_wire_event *wire, const struct mr_wire_field *field,
			 const struct mr_enum_desc *enumeration)
{
	if (!enumeration)
		return true;
	for (uint32_t i = 0; i < field->label_count; i++) {
		const struct mr_wire_label *label = &wire->labels[field->first_label + i];
		for (uint32_t j = 0; j < enumeration->value_count; j++)
			if (enumeration->values[j].number == label->number &&
			    !mr_token_is(label->name, enumeration->values[j].name))
				return false;
	}
	return true;
}

/* Does the event have the layout of our struct, field by field? */
static bool is_same(const struct mr_wire_event *wire, const struct mr_event_desc *desc)
{
	if (wire->field_count != desc->field_count)
		return false;
	for (uint32_t i = 0; i < wire->field_count; i++)
		if (wire->fields[i].type != desc->fields[i].type ||
		    !mr_token_is(wire->fields[i].name, desc->fields[i].name))
			return false;
	return true;
}

/* Determines how to convert each field; desc stays NULL if one of them cannot be converted. */
static void plan_moves(const struct mr_wire_event *wire, const struct mr_event_desc *desc,
		       struct mr_layout *layout)
{
	uint16_t from = 0;
	for (uint32_t i = 0; i < wire->field_count; i++) {
		const struct mr_wire_field *field = &wire->fields[i];
		uint16_t to;
		const struct mr_field_desc *ours = find_field(desc, field->name, &to);
		if (ours && !(type_fits(field->type, ours->type) &&
			      labels_agree(wire, field, ours->enumeration)))
			return;
		if (ours && field->type == MR_str)
			layout->text_known = true;
		else if (ours)
			layout->moves[layout->move_count++] =
				(struct mr_move){from, to, field->type, ours->type};
		from += (uint16_t)mr_type_bytes(field->type);
	}
	layout->desc = desc;
}

int mr_layout_make(const struct mr_wire_event *wire, struct mr_layout *ret_layout)
{
	struct mr_layout layout = {.plain_bytes = MR_LAYOUT_NOT_PLAIN, .declared = true};
	for (uint32_t i = 0; i < wire->field_count; i++) {
		layout.fixed_bytes += (uint16_t)mr_type_bytes(wire->fields[i].type);
		layout.has_text |= wire->fields[i].type == MR_str;
	}
	const struct mr_event_desc *desc = find_event(wire->name);
	if (desc) {
		mr_auto(free) struct mr_move *moves = malloc(MR_WIRE_FIELDS_MAX * sizeof *moves);
		if (!moves)
			return mr_fail_errno(ENOMEM, "event layout");
		layout.moves = moves;
		plan_moves(wire, desc, &layout);
		if (layout.desc && !is_same(wire, desc))
			moves = NULL; /* now owned by the layout */
		else
			layout.moves = NULL;
		if (layout.desc && !layout.moves && !layout.has_text)
			layout.plain_bytes = MR_COMPACT_HEADER_BYTES + layout.fixed_bytes;
	}
	*ret_layout = layout;
	return 0;
}

static uint64_t load(const uint8_t *from, enum mr_type type)
{
	uint64_t value = 0;
	memcpy(&value, from, mr_type_bytes(type));
	return type == MR_i32 ? (uint64_t)(int64_t)(int32_t)value : value;
}

void mr_layout_rearrange(const struct mr_layout *layout, const uint8_t *from, uint8_t *to)
{
	memset(to, 0, layout->desc->fixed_bytes);
	for (uint32_t i = 0; i < layout->move_count; i++) {
		const struct mr_move *move = &layout->moves[i];
		uint64_t value = load(from + move->from, move->from_type);
		memcpy(to + move->to, &value, mr_type_bytes(move->to_type));
	}
}
