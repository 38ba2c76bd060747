/* SPDX-License-Identifier: Apache-2.0 */
#include "base/strings.h"

#include <string.h>
#include <sys/random.h>

static uint64_t mix(uint64_t hash, uint64_t word, uint64_t secret)
{
	unsigned __int128 product = (unsigned __int128)(hash ^ word) * secret;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Eight bytes at a time. Who does not know the secret cannot make texts that all belong to one slot. */
static uint32_t hash_of(uint64_t secret, const unsigned char *bytes, size_t count)
{
	uint64_t hash = mix(secret >> 32, count, secret);
	uint64_t word = 0;

	for (; count >= sizeof word; bytes += sizeof word, count -= sizeof word) {
		memcpy(&word, bytes, sizeof word);
		hash = mix(hash, word, secret);
	}
	word = 0;
	for (size_t i = 0; i < count; i++)
		word = word << 8 | bytes[i];
	return (uint32_t)mix(hash, word, secret);
}

/* Odd, so that no bit of a text is lost. */
static uint64_t make_secret(void)
{
	uint64_t secret = 0;

#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
	return 0x9e3779b97f4a7c15; /* a fuzzer learns from runs that can be repeated */
#endif
	if (getrandom(&secret, sizeof secret, GRND_NONBLOCK) != sizeof secret)
		secret = UINT64_C(0x9e3779b97f4a7c15) * (uintptr_t)&secret;
	return secret | 1 | UINT64_C(1) << 63;
}

static bool is_same(const struct mr_strings *strings, uint32_t number, const void *bytes,
		    size_t count)
{
	return strings->lengths.items[number] == count &&
	       (count == 0 || memcmp(strings->texts.items[number], bytes, count) == 0);
}

/* The slot that holds these bytes, or the free slot where they belong. */
static uint32_t *find_slot(const struct mr_strings *strings, const void *bytes, size_t count)
{
	uint32_t mask = strings->slot_count - 1;
	uint32_t at = hash_of(strings->secret, bytes, count) & mask;

	while (strings->slots[at] && !is_same(strings, strings->slots[at] - 1, bytes, count))
		at = (at + 1) & mask;
	return &strings->slots[at];
}

/* Keeps at least half of the slots free. */
static int make_room(struct mr_strings *strings)
{
	if (strings->texts.count < strings->slot_count / 2)
		return 0;
	if (strings->slot_count > UINT32_MAX / 2)
		return -ENOMEM;

	if (!strings->secret)
		strings->secret = make_secret();
	uint32_t slot_count = strings->slot_count ? 2 * strings->slot_count : 64;
	uint32_t *slots = calloc(slot_count, sizeof *slots);
	if (!slots)
		return -ENOMEM;
	free(strings->slots);
	strings->slots = slots;
	strings->slot_count = slot_count;
	for (uint32_t number = 0; number < strings->texts.count; number++)
		*find_slot(strings, strings->texts.items[number], strings->lengths.items[number]) =
			number + 1;
	return 0;
}

int mr_strings_intern(struct mr_strings *strings, const void *bytes, size_t count,
		      uint32_t *ret_number)
{
	if (count > UINT32_MAX || make_room(strings) < 0)
		return -ENOMEM;

	uint32_t *slot = find_slot(strings, bytes, count);
	if (!*slot) {
		const char *copy = mr_region_copy(&strings->region, bytes, count);

		if (!copy || mr_vec_reserve(&strings->lengths, strings->texts.count + 1) < 0 ||
		    mr_vec_push(&strings->texts, copy) < 0)
			return -ENOMEM;
		strings->lengths.items[strings->lengths.count++] = (uint32_t)count;
		*slot = (uint32_t)strings->texts.count;
	}
	*ret_number = *slot - 1;
	return 0;
}

bool mr_strings_find(const struct mr_strings *strings, const void *bytes, size_t count,
		     uint32_t *ret_number)
{
	uint32_t slot = strings->slot_count ? *find_slot(strings, bytes, count) : 0;

	if (slot)
		*ret_number = slot - 1;
	return slot != 0;
}

void mr_strings_free(struct mr_strings *strings)
{
	mr_vec_free(&strings->texts);
	mr_vec_free(&strings->lengths);
	free(strings->slots);
	mr_region_free(&strings->region);
	*strings = (struct mr_strings){0};
}
