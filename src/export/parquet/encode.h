/* SPDX-License-Identifier: Apache-2.0
 *
 * Values as bytes of a Parquet page.
 */
#ifndef MR_EXPORT_PARQUET_ENCODE_H
#define MR_EXPORT_PARQUET_ENCODE_H

#include "export/bytes.h"

/* Bits that the number needs. */
static inline uint32_t mr_bit_width(uint64_t number)
{
	return number ? 64 - (uint32_t)__builtin_clzll(number) : 0;
}

/* Which values there are, before the values themselves: a length and one bit each (RLE, or bit-packed). */
void mr_encode_presence(struct mr_bytes *bytes, const bool *is_there, uint32_t count,
			uint32_t there);

/* DELTA_BINARY_PACKED. */
void mr_encode_numbers(struct mr_bytes *bytes, const int64_t *numbers, uint32_t count);

/* RLE_DICTIONARY: numbers below 2^width, after a byte that says the width. */
void mr_encode_places(struct mr_bytes *bytes, const uint32_t *places, uint32_t count,
		      uint32_t width);

#endif
