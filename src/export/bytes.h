/* SPDX-License-Identifier: Apache-2.0
 *
 * Bytes of a file that is being made. Whoever adds need not check each time: if memory runs out, nothing is added any
 * more, and mr_bytes_write() says so.
 *
 *     struct mr_bytes bytes = {0};
 *     mr_bytes_varint(&bytes, 300);
 *     int result = mr_bytes_write(&bytes, file);      // and empty again
 *     mr_bytes_free(&bytes);
 */
#ifndef MR_EXPORT_BYTES_H
#define MR_EXPORT_BYTES_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/macros.h"
#include "base/vector.h"

struct mr_bytes {
	uint8_t *items;
	size_t count;
	size_t capacity;
	bool is_incomplete; /* there was no memory */
};

/* Room for so many more, to be filled in and counted by the caller; NULL if there is none. */
static inline uint8_t *mr_bytes_room(struct mr_bytes *bytes, size_t count)
{
	if (mr_unlikely(bytes->capacity - bytes->count < count) &&
	    mr_vec_reserve(bytes, bytes->count + count) < 0) {
		bytes->is_incomplete = true;
		return NULL;
	}
	return bytes->items + bytes->count;
}

static inline void mr_bytes_add(struct mr_bytes *bytes, const void *from, size_t count)
{
	uint8_t *to = mr_bytes_room(bytes, count);

	if (to && count) {
		memcpy(to, from, count);
		bytes->count += count;
	}
}

/* Seven bits in each byte, the low ones first. */
static inline void mr_bytes_varint(struct mr_bytes *bytes, uint64_t number)
{
	uint8_t *to = mr_bytes_room(bytes, 10);

	if (!to)
		return;
	for (; number > 0x7f; number >>= 7)
		*to++ = (uint8_t)(number | 0x80);
	*to++ = (uint8_t)number;
	bytes->count = (size_t)(to - bytes->items);
}

/* Small numbers of either sign become small ones without. */
static inline uint64_t mr_zigzag(int64_t number)
{
	return ((uint64_t)number << 1) ^ (uint64_t)(number >> 63);
}

/* A text of the trace, up to its first zero byte, as UTF-8: a byte that is not part of it becomes U+FFFD. */
void mr_bytes_text(struct mr_bytes *bytes, const char *text);

/* Writes all of them and forgets them: 0, or a negative errno with a cause. */
int mr_bytes_write(struct mr_bytes *bytes, FILE *file);

static inline void mr_bytes_free(struct mr_bytes *bytes)
{
	mr_vec_free(bytes);
}

#endif
