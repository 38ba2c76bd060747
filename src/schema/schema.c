/* SPDX-License-Identifier: Apache-2.0 */
#include "schema/schema.h"

#include <string.h>

/* Values of each enumeration: static const struct mr_enum_value values_of_edge_kind[] = {...}; */
#define MR_FIELD(type, name, doc)
#define MR_EVENT(id, name, level, doc, ...)
#define MR_VALUE(enumeration, name, number) {#name, number},
#define MR_ENUM(enumeration, ...)                                                    \
	static const struct mr_enum_value values_of_##enumeration[] = {__VA_ARGS__}; \
	static const struct mr_enum_desc enum_##enumeration = {                      \
		#enumeration, values_of_##enumeration, mr_countof(values_of_##enumeration)};
#include "schema/events.def"
#undef MR_ENUM
#undef MR_VALUE

#define MR_VALUE(enumeration, name, number)
#define MR_ENUM(enumeration, ...) \
	{#enumeration, values_of_##enumeration, mr_countof(values_of_##enumeration)},
const struct mr_enum_desc mr_enum_table[] = {
#include "schema/events.def"
	{NULL, NULL, 0}};
#undef MR_ENUM
#undef MR_VALUE
#undef MR_EVENT
#undef MR_FIELD

/* Fields of each event: static const struct mr_field_desc fields_of_node_interval[] = {...}; */
#define MR_FIELD(type, name, doc)             {#name, doc, NULL, MR_ID_none, MR_##type},
#define MR_FIELD_ENUM(enumeration, name, doc) {#name, doc, &enum_##enumeration, MR_ID_none, MR_u8},
#define MR_FIELD_ID(kind, name, doc)          {#name, doc, NULL, MR_ID_##kind, MR_u32},
#define MR_EVENT(id, name, level, doc, ...) \
	static const struct mr_field_desc fields_of_##name[] = {__VA_ARGS__};
#include "schema/events.def"
#undef MR_EVENT
#undef MR_FIELD_ID
#undef MR_FIELD_ENUM
#undef MR_FIELD

/* Expands a field list to a condition: is any of them a text? */
#define MR_FIELD(type, name, doc) || MR_##type == MR_str
#define MR_EVENT(event_id, event_name, event_level, event_doc, ...)  \
	[event_id] = {                                               \
		.name = #event_name,                                 \
		.doc = event_doc,                                    \
		.fields = fields_of_##event_name,                    \
		.field_count = mr_countof(fields_of_##event_name),   \
		.fixed_bytes = sizeof(struct mr_event_##event_name), \
		.id = event_id,                                      \
		.level = MR_LEVEL_##event_level,                     \
		.has_text = false __VA_ARGS__,                       \
	},
const struct mr_event_desc mr_event_table[256] = {
#include "schema/events.def"
};
#undef MR_EVENT
#undef MR_FIELD

static const struct {
	const char *name;
	uint32_t bytes;
} types[MR_TYPE_COUNT] = {
	[MR_u8] = {"u8", 1},   [MR_u16] = {"u16", 2}, [MR_u32] = {"u32", 4},
	[MR_u48] = {"u48", 6}, [MR_u64] = {"u64", 8}, [MR_i32] = {"i32", 4},
	[MR_i64] = {"i64", 8}, [MR_f64] = {"f64", 8}, [MR_str] = {"str", 0},
};

const char *mr_type_name(enum mr_type type)
{
	return types[type].name;
}

uint32_t mr_type_bytes(enum mr_type type)
{
	return types[type].bytes;
}

const char *mr_level_name(enum mr_level level)
{
	switch (level) {
	case MR_LEVEL_core:
		return "core";
	case MR_LEVEL_dataflow:
		return "dataflow";
	case MR_LEVEL_runtime:
		return "runtime";
	case MR_LEVEL_kernel:
		return "kernel";
	}
	return "unknown";
}

const char *mr_enum_value_name(const char *enumeration, uint32_t number)
{
	const struct mr_enum_desc *desc = mr_enum_table;

	while (desc->name && strcmp(desc->name, enumeration) != 0)
		desc++;
	for (uint32_t i = 0; desc->name && i < desc->value_count; i++)
		if (desc->values[i].number == number)
			return desc->values[i].name;
	return "?";
}
