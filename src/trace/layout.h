/* SPDX-License-Identifier: Apache-2.0
 *
 * Converts the event layouts of a trace to those of this program.
 *
 *     in the trace      node  step  colour  duration          (its metadata says so)
 *                         │     │              │
 *     struct mr_event_… node  step  ─ 0 ─   duration          (fields matched by name)
 *
 * Integers may have become wider, and enumerations may have gained values. If a field cannot be
 * converted without changing its meaning (a number may not fit, or a value has another name here),
 * the event counts as unknown: readers skip and count it.
 */
#ifndef MR_TRACE_LAYOUT_H
#define MR_TRACE_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "schema/schema.h"
#include "trace/tsdl.h"

enum {
	MR_WIRE_FIELDS_MAX = 64
};

/* An event as described by the metadata. */
struct mr_wire_label {
	struct mr_token name;
	uint8_t number;
};

struct mr_wire_field {
	struct mr_token name;
	enum mr_type type;
	uint32_t first_label; /* of the enumeration, in mr_wire_event.labels */
	uint32_t label_count;
};

struct mr_wire_event {
	struct mr_token name;
	struct mr_wire_field fields[MR_WIRE_FIELDS_MAX];
	uint32_t field_count;
	const struct mr_wire_label *labels;
};

/* How one field is moved from the trace's layout to ours. */
struct mr_move {
	uint16_t from;
	uint16_t to;
	enum mr_type from_type;
	enum mr_type to_type;
};

/* What a cursor needs to know about an event id. */
struct mr_layout {
	const struct mr_event_desc *desc; /* NULL: not known to this program */

	/* Bytes of a whole event, including the compact header, if its payload needs no conversion
	 * and no text follows. Otherwise larger than any packet, so that one comparison with the
	 * rest of the packet decides between the fast path and the slow one. */
	uint32_t plain_bytes;

	uint16_t fixed_bytes; /* of the payload in the trace, without the text */
	bool declared;        /* false: no such event in this trace */
	bool has_text;        /* a text follows in the trace ... */
	bool text_known;      /* ... and is the one that desc has */
	uint16_t move_count;
	struct mr_move *moves; /* owned; NULL: the payload has the layout of our struct */
};

#define MR_LAYOUT_NOT_PLAIN UINT32_MAX

/* 0 or -ENOMEM. */
int mr_layout_make(const struct mr_wire_event *wire, struct mr_layout *ret_layout);

/* Converts a payload to our struct; absent fields become zero. */
void mr_layout_rearrange(const struct mr_layout *layout, const uint8_t *from, uint8_t *to);

#endif
