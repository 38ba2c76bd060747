/* SPDX-License-Identifier: Apache-2.0
 *
 * String table: bytes → a small number, and back. Equal bytes have equal numbers, so texts are
 * compared and grouped as integers. Numbers are assigned in the order of first appearance, from 0.
 *
 * The table of a model holds the empty text as number 0, which therefore means "no text". A table
 * may also hold fixed-size keys instead of texts (the bytes need not be text).
 *
 * A zeroed table is empty and valid. Texts never move until the table is freed. Any number
 * of threads may read it; only one may intern.
 */
#ifndef MR_BASE_STRINGS_H
#define MR_BASE_STRINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/region.h"
#include "base/vector.h"

struct mr_strings {
	mr_vec(const char *) texts; /* by number, each followed by a zero byte */
	mr_vec(uint32_t) lengths;
	uint32_t *slots; /* hash table: number + 1, or 0 where free */
	uint32_t slot_count;
	uint64_t secret; /* of its hashes, which hostile texts cannot know */
	struct mr_region region;
};

/* Finds or assigns the number of these bytes; 0 on success or -ENOMEM. */
int mr_strings_intern(struct mr_strings *strings, const void *bytes, size_t count,
		      uint32_t *ret_number);

/* False if these bytes are not in the table. */
bool mr_strings_find(const struct mr_strings *strings, const void *bytes, size_t count,
		     uint32_t *ret_number);

static inline uint32_t mr_strings_count(const struct mr_strings *strings)
{
	return (uint32_t)strings->texts.count;
}

static inline uint32_t mr_strings_length(const struct mr_strings *strings, uint32_t number)
{
	return strings->lengths.items[number];
}

static inline const char *mr_strings_text(const struct mr_strings *strings, uint32_t number)
{
	return strings->texts.items[number];
}

void mr_strings_free(struct mr_strings *strings);

#endif
