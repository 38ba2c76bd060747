/* SPDX-License-Identifier: Apache-2.0
 *
 * Structs of Thrift's compact protocol, in which Parquet describes itself. Fields are given in ascending order.
 *
 *     struct mr_thrift thrift = {&bytes};
 *     mr_thrift_i32(&thrift, 1, version);
 *     mr_thrift_begin(&thrift, 5);            // a struct inside
 *     mr_thrift_i64(&thrift, 1, rows);
 *     mr_thrift_end(&thrift);
 *     mr_thrift_end(&thrift);                 // the outermost
 */
#ifndef MR_EXPORT_PARQUET_THRIFT_H
#define MR_EXPORT_PARQUET_THRIFT_H

#include "export/bytes.h"

enum mr_thrift_type {
	MR_THRIFT_I32 = 5,
	MR_THRIFT_I64 = 6,
	MR_THRIFT_BINARY = 8,
	MR_THRIFT_LIST = 9,
	MR_THRIFT_STRUCT = 12,

	MR_THRIFT_DEPTH = 8,
};

struct mr_thrift {
	struct mr_bytes *bytes;
	uint32_t last[MR_THRIFT_DEPTH]; /* field of each struct that is open */
	uint32_t depth;
};

static inline void mr_thrift_field(struct mr_thrift *thrift, uint32_t field,
				   enum mr_thrift_type type)
{
	const uint8_t head = (uint8_t)((field - thrift->last[thrift->depth]) << 4 | type);

	mr_bytes_add(thrift->bytes, &head, 1); /* fields of Parquet are never 16 apart */
	thrift->last[thrift->depth] = field;
}

/* Structs in a list have no field: begin with 0. */
static inline void mr_thrift_begin(struct mr_thrift *thrift, uint32_t field)
{
	if (field)
		mr_thrift_field(thrift, field, MR_THRIFT_STRUCT);
	thrift->last[++thrift->depth] = 0;
}

static inline void mr_thrift_end(struct mr_thrift *thrift)
{
	mr_bytes_add(thrift->bytes, "", 1);
	if (thrift->depth)
		thrift->depth--;
}

static inline void mr_thrift_i32(struct mr_thrift *thrift, uint32_t field, int32_t number)
{
	mr_thrift_field(thrift, field, MR_THRIFT_I32);
	mr_bytes_varint(thrift->bytes, mr_zigzag(number));
}

static inline void mr_thrift_i64(struct mr_thrift *thrift, uint32_t field, int64_t number)
{
	mr_thrift_field(thrift, field, MR_THRIFT_I64);
	mr_bytes_varint(thrift->bytes, mr_zigzag(number));
}

/* An item of a list of texts: field 0. */
static inline void mr_thrift_binary(struct mr_thrift *thrift, uint32_t field, const void *from,
				    size_t count)
{
	if (field)
		mr_thrift_field(thrift, field, MR_THRIFT_BINARY);
	mr_bytes_varint(thrift->bytes, count);
	mr_bytes_add(thrift->bytes, from, count);
}

/* The items follow. */
static inline void mr_thrift_list(struct mr_thrift *thrift, uint32_t field,
				  enum mr_thrift_type type, uint32_t count)
{
	const uint8_t head = (uint8_t)(mr_min(count, 15u) << 4 | type);

	mr_thrift_field(thrift, field, MR_THRIFT_LIST);
	mr_bytes_add(thrift->bytes, &head, 1);
	if (count >= 15)
		mr_bytes_varint(thrift->bytes, count);
}

#endif
