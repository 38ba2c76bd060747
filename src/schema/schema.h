/* SPDX-License-Identifier: Apache-2.0
 *
 * events.def as C: ids, packed structs, enumerations and tables.
 *
 * An event in a packet:      ┌────┬──────────┬─────────────────────────────┬ ─ ─ ─ ─ ─ ─ ┐
 *                            │ id │ time low │ fixed fields, packed        │ text \0
 *                            │ u8 │ u32      │ struct mr_event_NAME        │ (str field)  │
 *                            └────┴──────────┴─────────────────────────────┴ ─ ─ ─ ─ ─ ─ ┘
 * or, if 2^32 ticks or more have passed since the previous event (or the beginning of the packet):
 *                            ┌─────┬────┬──────────┬─────────────────────────────┬ ─ ─ ─ ─ ─ ─ ┐
 *                            │ 255 │ id │ time u64 │ fixed fields, packed        │ text \0
 *                            │ u8  │ u8 │          │ struct mr_event_NAME        │             │
 *                            └─────┴────┴──────────┴─────────────────────────────┴ ─ ─ ─ ─ ─ ─ ┘
 * All fields are little-endian and byte-aligned.
 */
#ifndef MR_SCHEMA_SCHEMA_H
#define MR_SCHEMA_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/macros.h"

enum mr_level {
	MR_LEVEL_core = 1 << 0, /* always on while recording */
	MR_LEVEL_dataflow = 1 << 1,
	MR_LEVEL_runtime = 1 << 2,
	MR_LEVEL_kernel = 1 << 3,
};

/* 48-bit unsigned integer: two bytes shorter than 64 bits, and enough for 32 hours at 2.4 GHz. */
struct mr_u48 {
	uint32_t low;
	uint16_t high;
} __attribute__((packed));

static inline struct mr_u48 mr_u48_from(uint64_t value)
{
	return (struct mr_u48){(uint32_t)value, (uint16_t)(value >> 32)};
}

static inline uint64_t mr_u48_value(struct mr_u48 value)
{
	return (uint64_t)value.high << 32 | value.low;
}

#define MR_U48_MAX ((UINT64_C(1) << 48) - 1)

typedef uint8_t mr_type_u8;
typedef uint16_t mr_type_u16;
typedef uint32_t mr_type_u32;
typedef struct mr_u48 mr_type_u48;
typedef uint64_t mr_type_u64;
typedef int32_t mr_type_i32;
typedef int64_t mr_type_i64;
typedef double mr_type_f64;
typedef char mr_type_str;

enum mr_type {
	MR_u8,
	MR_u16,
	MR_u32,
	MR_u48,
	MR_u64,
	MR_i32,
	MR_i64,
	MR_f64,
	MR_str,
	MR_TYPE_COUNT
};

/* enum mr_event_id { MR_EVENT_node_interval = 48, ... } */
enum mr_event_id {
#define MR_FIELD(type, name, doc)
#define MR_EVENT(id, name, level, doc, ...) MR_EVENT_##name = id,
#include "schema/events.def"
#undef MR_EVENT
#undef MR_FIELD
	MR_EVENT_EXTENDED = 255, /* not an event: the long header follows */
};

/* enum mr_edge_kind { MR_edge_kind_data = 0, ... } */
#define MR_FIELD(type, name, doc)
#define MR_EVENT(id, name, level, doc, ...)
#define MR_VALUE(enumeration, name, number) MR_##enumeration##_##name = number,
#define MR_ENUM(enumeration, ...)           enum mr_##enumeration{__VA_ARGS__};
#include "schema/events.def"
#undef MR_ENUM
#undef MR_VALUE
#undef MR_EVENT
#undef MR_FIELD

/* struct mr_event_node_interval { uint32_t node; ... }, with the layout it has in a packet. */
#define MR_FIELD(type, name, doc) MR_MEMBER_##type(name)
#define MR_MEMBER_u8(name)        mr_type_u8 name;
#define MR_MEMBER_u16(name)       mr_type_u16 name;
#define MR_MEMBER_u32(name)       mr_type_u32 name;
#define MR_MEMBER_u48(name)       mr_type_u48 name;
#define MR_MEMBER_u64(name)       mr_type_u64 name;
#define MR_MEMBER_i32(name)       mr_type_i32 name;
#define MR_MEMBER_i64(name)       mr_type_i64 name;
#define MR_MEMBER_f64(name)       mr_type_f64 name;
#define MR_MEMBER_str(name)       char name[0];
#define MR_EVENT(id, name, level, doc, ...) \
	struct mr_event_##name {            \
		__VA_ARGS__                 \
	} __attribute__((packed));
#include "schema/events.def"
#undef MR_EVENT
#undef MR_FIELD

/* ---- the same as tables ------------------------------------------------------------------------ */

struct mr_enum_value {
	const char *name;
	uint8_t number;
};

struct mr_enum_desc {
	const char *name;
	const struct mr_enum_value *values;
	uint32_t value_count;
};

/* The kind of definition that an id field refers to. */
enum mr_id_kind {
	MR_ID_none,
	MR_ID_string,
	MR_ID_graph,
	MR_ID_node,
	MR_ID_device,
	MR_ID_queue,
	MR_ID_file,
	MR_ID_clock,
	MR_ID_code,
	MR_ID_site,
	MR_ID_KINDS,
};

struct mr_field_desc {
	const char *name;
	const char *doc;
	const struct mr_enum_desc *enumeration; /* NULL unless the field is one */
	enum mr_id_kind id_of;                  /* MR_ID_none unless the field is an id */
	enum mr_type type;                      /* fields follow one another without padding */
};

struct mr_event_desc {
	const char *name; /* NULL: no such event */
	const char *doc;
	const struct mr_field_desc *fields;
	uint16_t field_count;
	uint16_t fixed_bytes; /* size of the packed struct */
	uint8_t id;
	uint8_t level;
	bool has_text; /* the last field is a str and follows the struct */
};

/* Indexed by event id. */
extern const struct mr_event_desc mr_event_table[256];

/* All enumerations, ended by a NULL name. */
extern const struct mr_enum_desc mr_enum_table[];

/* "u32" etc., and its size in bytes (0 for str). */
const char *mr_type_name(enum mr_type type);
uint32_t mr_type_bytes(enum mr_type type);

const char *mr_level_name(enum mr_level level);

/* ("operation_kind", 1) → "kernel"; "?" for an unknown number. */
const char *mr_enum_value_name(const char *enumeration, uint32_t number);

#endif
