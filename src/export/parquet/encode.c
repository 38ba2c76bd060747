/* SPDX-License-Identifier: Apache-2.0
 *
 *     numbers     head │ block of 128 differences: the smallest │ four widths │ 32 differences above it each, packed
 *     places      width │ one run of a single place, or one of packed groups of eight
 */
#include "export/parquet/encode.h"

enum {
	BLOCK = 128,
	PARTS = 4, /* of a block */
	PART = BLOCK / PARTS,
	GROUP = 8, /* places are packed in groups */
};

/* Appends so many low bits of each value, the first in the lowest bits. */
static void pack(struct mr_bytes *bytes, const uint64_t *values, uint32_t count, uint32_t width)
{
	uint8_t *to = mr_bytes_room(bytes, ((size_t)count * width + 7) / 8 + sizeof(uint64_t));
	unsigned __int128 pending = 0;
	uint32_t bits = 0;

	if (!to)
		return;
	for (uint32_t i = 0; i < count; i++) {
		pending |= (unsigned __int128)values[i] << bits;
		for (bits += width; bits >= 64; bits -= 64, pending >>= 64, to += sizeof(uint64_t))
			memcpy(to, &(uint64_t){(uint64_t)pending}, sizeof(uint64_t));
	}
	memcpy(to, &(uint64_t){(uint64_t)pending}, sizeof(uint64_t));
	bytes->count = (size_t)(to - bytes->items) + (bits + 7) / 8;
}

/* One run of packed values, padded to groups. */
static void pack_run(struct mr_bytes *bytes, const uint32_t *values, uint32_t count, uint32_t width)
{
	uint32_t groups = (count + GROUP - 1) / GROUP;
	uint64_t wide[BLOCK];

	mr_bytes_varint(bytes, (uint64_t)groups << 1 | 1);
	for (uint32_t at = 0; at < groups * GROUP; at += BLOCK) {
		uint32_t here = mr_min(groups * GROUP - at, (uint32_t)BLOCK);

		for (uint32_t i = 0; i < here; i++)
			wide[i] = at + i < count ? values[at + i] : 0;
		pack(bytes, wide, here, width); /* whole bytes, as it is whole groups */
	}
}

void mr_encode_presence(struct mr_bytes *bytes, const bool *is_there, uint32_t count,
			uint32_t there)
{
	uint32_t length;
	size_t begin = bytes->count;

	mr_bytes_add(bytes, &(uint32_t){0}, sizeof length);
	if (there == 0 || there == count) {
		mr_bytes_varint(bytes, (uint64_t)count << 1);
		mr_bytes_add(bytes, &(uint8_t){there > 0}, 1);
	} else {
		uint32_t groups = (count + GROUP - 1) / GROUP;

		mr_bytes_varint(bytes, (uint64_t)groups << 1 | 1);
		for (uint32_t i = 0; i < groups; i++) {
			uint8_t bits = 0;

			for (uint32_t k = i * GROUP; k < mr_min(count, (i + 1) * GROUP); k++)
				bits |= (uint8_t)(is_there[k] << k % GROUP);
			mr_bytes_add(bytes, &bits, 1);
		}
	}
	if (bytes->is_incomplete)
		return;
	length = (uint32_t)(bytes->count - begin - sizeof length);
	memcpy(bytes->items + begin, &length, sizeof length);
}

/* Differences of a block; past the last number they repeat the smallest, which takes no bits. */
static void encode_block(struct mr_bytes *bytes, const int64_t *before, uint32_t count)
{
	uint64_t differences[BLOCK];
	uint8_t widths[PARTS] = {0};
	int64_t smallest = INT64_MAX;

	for (uint32_t i = 0; i < count; i++) {
		differences[i] = (uint64_t)before[i + 1] - (uint64_t)before[i]; /* may wrap */
		smallest = mr_min(smallest, (int64_t)differences[i]);
	}
	for (uint32_t i = 0; i < BLOCK; i++) {
		differences[i] = i < count ? differences[i] - (uint64_t)smallest : 0;
		widths[i / PART] =
			(uint8_t)mr_max((uint32_t)widths[i / PART], mr_bit_width(differences[i]));
	}
	mr_bytes_varint(bytes, mr_zigzag(smallest));
	mr_bytes_add(bytes, widths, sizeof widths);
	for (uint32_t i = 0; i < PARTS; i++)
		if (i * PART < count)
			pack(bytes, differences + i * PART, PART, widths[i]);
}

void mr_encode_numbers(struct mr_bytes *bytes, const int64_t *numbers, uint32_t count)
{
	mr_bytes_varint(bytes, BLOCK);
	mr_bytes_varint(bytes, PARTS);
	mr_bytes_varint(bytes, count);
	mr_bytes_varint(bytes, count ? mr_zigzag(numbers[0]) : 0);
	for (uint32_t at = 1; at < count; at += BLOCK)
		encode_block(bytes, numbers + at - 1, mr_min(count - at, (uint32_t)BLOCK));
}

void mr_encode_places(struct mr_bytes *bytes, const uint32_t *places, uint32_t count,
		      uint32_t width)
{
	mr_bytes_add(bytes, &(uint8_t){(uint8_t)width}, 1);
	if (width > 0) {
		pack_run(bytes, places, count, width);
	} else {
		mr_bytes_varint(bytes, (uint64_t)count << 1);
	}
}
