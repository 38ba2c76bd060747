/* SPDX-License-Identifier: Apache-2.0
 *
 * Sixty-four bytes of JSON at once, as bit masks: bit n describes byte n.
 *
 *     text        {"a": [1, "]"]}
 *     quotes      .1.1.......1.1..
 *     in_string   .11........11...        (from an opening quote to before the closing one)
 *     closes      .............11         (the bracket in the string does not count)
 *
 * A reader skips most of a trace; this makes skipping cheap.
 */
#ifndef MR_IMPORT_CHROME_BLOCK_H
#define MR_IMPORT_CHROME_BLOCK_H

#include <stdint.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum {
	MR_BLOCK_BYTES = 64
};

struct mr_block {
	uint64_t quotes;
	uint64_t backslashes;
	uint64_t opens; /* [ { */
	uint64_t closes;
	uint64_t zeros;
};

#ifdef __SSE2__
static inline uint64_t mr_block_bits(__m128i bytes, char byte, int shift)
{
	__m128i equal = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(byte));

	return (uint64_t)(unsigned)_mm_movemask_epi8(equal) << shift;
}

static inline struct mr_block mr_block_read(const char *at)
{
	struct mr_block block = {0};

	for (int i = 0; i < MR_BLOCK_BYTES; i += 16) {
		__m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)(at + i));
		/* [ ] and { } differ in one bit. */
		__m128i joined = _mm_or_si128(bytes, _mm_set1_epi8(0x20));

		block.quotes |= mr_block_bits(bytes, '"', i);
		block.backslashes |= mr_block_bits(bytes, '\\', i);
		block.zeros |= mr_block_bits(bytes, 0, i);
		block.opens |= mr_block_bits(joined, '{', i);
		block.closes |= mr_block_bits(joined, '}', i);
	}
	return block;
}

/* The next quote, backslash or zero. */
static inline const char *mr_find_in_string(const char *at)
{
	for (;; at += 16) {
		__m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)at);
		uint64_t found = mr_block_bits(bytes, '"', 0) | mr_block_bits(bytes, '\\', 0) |
				 mr_block_bits(bytes, 0, 0);

		if (found)
			return at + __builtin_ctzll(found);
	}
}
#else
static inline struct mr_block mr_block_read(const char *at)
{
	struct mr_block block = {0};

	for (int i = 0; i < MR_BLOCK_BYTES; i++) {
		uint64_t bit = UINT64_C(1) << i;

		block.quotes |= at[i] == '"' ? bit : 0;
		block.backslashes |= at[i] == '\\' ? bit : 0;
		block.zeros |= at[i] == 0 ? bit : 0;
		block.opens |= (at[i] | 0x20) == '{' ? bit : 0;
		block.closes |= (at[i] | 0x20) == '}' ? bit : 0;
	}
	return block;
}

static inline const char *mr_find_in_string(const char *at)
{
	while (*at != '"' && *at != '\\' && *at != 0)
		at++;
	return at;
}
#endif

/* What the bytes before a block mean for it. */
struct mr_block_state {
	uint64_t in_string;  /* all bits or none */
	uint64_t is_escaped; /* 1: the first byte is */
};

/* Bytes that stand behind a backslash which is not escaped itself. */
static inline uint64_t mr_block_escaped(uint64_t backslashes, struct mr_block_state *state)
{
	uint64_t escaped = state->is_escaped;

	state->is_escaped = 0;
	while (backslashes &= ~escaped) {
		uint64_t lowest = backslashes & -backslashes;

		escaped |= lowest << 1;
		state->is_escaped = lowest >> 63;
		backslashes ^= lowest;
	}
	return escaped;
}

/* Bit n of the result: is the number of bits up to n odd? */
static inline uint64_t mr_block_parity(uint64_t bits)
{
	for (int shift = 1; shift < 64; shift *= 2)
		bits ^= bits << shift;
	return bits;
}

/* The bytes of a block that are in strings. */
static inline uint64_t mr_block_in_string(const struct mr_block *block,
					  struct mr_block_state *state)
{
	uint64_t escaped = 0;

	if (block->backslashes | state->is_escaped)
		escaped = mr_block_escaped(block->backslashes, state);
	uint64_t in_string = mr_block_parity(block->quotes & ~escaped) ^ state->in_string;
	state->in_string = -(in_string >> 63);
	return in_string;
}

#endif
