/* SPDX-License-Identifier: Apache-2.0
 *
 * Messages of Protocol Buffers, field by field.
 *
 *     size_t packet = mr_proto_begin(&bytes, 1);
 *     mr_proto_number(&bytes, 8, time);
 *     mr_proto_end(&bytes, packet);
 *
 * The length of a message stands before it and is filled in at its end; it takes four bytes, which readers accept for
 * smaller numbers, too.
 */
#ifndef MR_EXPORT_PROTOBUF_H
#define MR_EXPORT_PROTOBUF_H

#include "export/bytes.h"

enum {
	MR_PROTO_VARINT = 0,
	MR_PROTO_FIXED64 = 1,
	MR_PROTO_BYTES = 2,
	MR_PROTO_LENGTH_BYTES = 4,
};

static inline void mr_proto_number(struct mr_bytes *bytes, uint32_t field, uint64_t number)
{
	mr_bytes_varint(bytes, field << 3 | MR_PROTO_VARINT);
	mr_bytes_varint(bytes, number);
}

static inline void mr_proto_fixed64(struct mr_bytes *bytes, uint32_t field, uint64_t number)
{
	mr_bytes_varint(bytes, field << 3 | MR_PROTO_FIXED64);
	mr_bytes_add(bytes, &number, sizeof number);
}

/* Returns where the message begins. */
static inline size_t mr_proto_begin(struct mr_bytes *bytes, uint32_t field)
{
	static const uint8_t no_length[MR_PROTO_LENGTH_BYTES];

	mr_bytes_varint(bytes, field << 3 | MR_PROTO_BYTES);
	mr_bytes_add(bytes, no_length, sizeof no_length);
	return bytes->count;
}

static inline void mr_proto_end(struct mr_bytes *bytes, size_t begin)
{
	size_t length = bytes->count - begin;

	if (bytes->is_incomplete)
		return;
	for (uint32_t i = MR_PROTO_LENGTH_BYTES; i > 0; i--, length >>= 7)
		bytes->items[begin - i] = (uint8_t)((length & 0x7f) | (i > 1 ? 0x80 : 0));
}

static inline void mr_proto_text(struct mr_bytes *bytes, uint32_t field, const char *text)
{
	size_t begin = mr_proto_begin(bytes, field);

	mr_bytes_text(bytes, text);
	mr_proto_end(bytes, begin);
}

#endif
