/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads protobuf messages without their descriptions. A message is a list of fields, each with a number and a value; a
 * value is a number, or bytes, which may be a text or another message:
 *
 *     08 96 01            field 1, number 150
 *     12 02 68 69         field 2, two bytes: "hi"
 *
 * Traces are one message that may be larger than memory, with messages inside that are not. So there are two walks:
 *
 *     mr_message_next()   over a message in memory
 *     mr_stream_next()    over one that lies in a file: of bytes it reads the length; the caller then takes them
 *                         (mr_stream_take), skips them (mr_stream_skip), or walks over the message that they are
 *
 * Whatever the bytes are, a walk ends, and stays inside.
 */
#ifndef MR_IMPORT_PROTOBUF_H
#define MR_IMPORT_PROTOBUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "import/source.h"

/* How a field is stored: the low three bits of its tag. */
enum mr_wire {
	MR_WIRE_VARINT = 0,
	MR_WIRE_FIXED64 = 1,
	MR_WIRE_BYTES = 2,
	MR_WIRE_FIXED32 = 5,
};

struct mr_message {
	const uint8_t *at;
	const uint8_t *end;
	bool is_bad; /* the walk ended because the rest is no message */
};

struct mr_field {
	uint32_t number;
	enum mr_wire wire;
	uint64_t value;       /* or the number of bytes */
	const uint8_t *bytes; /* in memory only */
};

static inline struct mr_message mr_message_of(const struct mr_field *field)
{
	return (struct mr_message){.at = field->bytes, .end = field->bytes + field->value};
}

/* A double, as protobuf stores it. */
static inline double mr_field_double(const struct mr_field *field)
{
	double value;

	memcpy(&value, &field->value, sizeof value);
	return value;
}

static inline bool mr_field_is(const struct mr_field *field, uint32_t number, enum mr_wire wire)
{
	return field->number == number && field->wire == wire;
}

/* The next field; false at the end, and where the bytes are no field. */
bool mr_message_next(struct mr_message *message, struct mr_field *ret_field);

/* Enters the first of the messages that a file of messages (all in field 1) consists of, by the head of the file; the
 * message may go on behind it. */
bool mr_message_enter_first(const uint8_t *head, size_t count, struct mr_message *ret_message);

enum mr_stream_found {
	MR_STREAM_FIELD,
	MR_STREAM_END, /* the message ended where it should */
	MR_STREAM_BAD, /* the file ends before, or these bytes are no field */
};

/* The next field of the message that ends at `end`, an offset in the text; UINT64_MAX: with the file. */
enum mr_stream_found mr_stream_next(struct mr_source *source, uint64_t end,
				    struct mr_field *ret_field);

/* The bytes of a field, which are in memory until the next call with that source; false: too large, or not there. */
bool mr_stream_take(struct mr_source *source, struct mr_field *field);
bool mr_stream_skip(struct mr_source *source, const struct mr_field *field);

#endif
