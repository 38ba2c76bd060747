/* SPDX-License-Identifier: Apache-2.0
 *
 * Where the values are, by version:
 *
 *     3.9, 3.10   in the dictionary, at the offset that the type says
 *     3.11        in an array before the object; else in a dictionary, likewise
 *     3.12        the same, but one word before the object leads to either: the lowest bit says to which
 *     3.13 +      behind the object itself, unless a word before the object leads to a dictionary
 *
 * A table of names (PyDictKeysObject): numbers, an index for hashing, then the entries in the order in which they came:
 *
 *     ┌─────────┬───────┬──────────────────────┐
 *     │ numbers │ index │ key, value │ key ... │      entries with a hash in front have 24 bytes, others 16
 *     └─────────┴───────┴──────────────────────┘
 */
#include "hook/python/object.h"

#include <string.h>

enum {
	WORD = 8,
	TYPE_BASIC_BYTES = 32,
	TYPE_FLAGS = 168,
	TYPE_DICTIONARY = 288, /* offset of the dictionary in instances */
	FLAG_INLINE_VALUES = 1 << 2,
	FLAG_MANAGED_DICTIONARY = 1 << 4,
	DICTIONARY_KEYS = 32,
	DICTIONARY_VALUES = 40,
	BEFORE_DICTIONARY = 3 * WORD, /* in front of an object */
	BEFORE_VALUES = 4 * WORD,     /* 3.11 */
	INLINE_IS_VALID = 3,          /* in the values behind an object */
	INLINE_HEAD = WORD,
	ENTRIES_MAX = 4096,
	NAME_BYTES = 64, /* of attributes that are looked for */
};

/* Names, and the values that belong to them; with `values` 0 they are in the entries. */
struct attributes {
	uintptr_t keys;
	uintptr_t values;
};

/* The entries of a table of names. */
struct entries {
	uintptr_t at;
	uint64_t count;
	uint32_t bytes; /* of one */
	uint32_t key;   /* in one; the value follows */
};

static bool read_word(const struct mr_python_reader *reader, uintptr_t at, uintptr_t *ret_word)
{
	return mr_python_read(reader, ret_word, at, sizeof *ret_word);
}

static bool of_dictionary(const struct mr_python *python, const struct mr_python_reader *reader,
			  uintptr_t dictionary, struct attributes *ret)
{
	if (!dictionary || !read_word(reader, dictionary + DICTIONARY_KEYS, &ret->keys) ||
	    !read_word(reader, dictionary + DICTIONARY_VALUES, &ret->values))
		return false;
	if (ret->values && python->layout.attributes == MR_PYTHON_ATTRIBUTES_INLINE)
		ret->values += INLINE_HEAD;
	return true;
}

/* In a dictionary at the offset that the type says. */
static bool of_plain(const struct mr_python *python, const struct mr_python_reader *reader,
		     uintptr_t object, uintptr_t type, struct attributes *ret)
{
	uintptr_t offset, dictionary;
	return read_word(reader, type + TYPE_DICTIONARY, &offset) && (intptr_t)offset > 0 &&
	       read_word(reader, object + offset, &dictionary) &&
	       of_dictionary(python, reader, dictionary, ret);
}

static bool of_inline(const struct mr_python *python, const struct mr_python_reader *reader,
		      uintptr_t object, uintptr_t type, uintptr_t flags, struct attributes *ret)
{
	uintptr_t dictionary, basic_bytes;
	uint8_t is_valid;
	if (!read_word(reader, object - BEFORE_DICTIONARY, &dictionary))
		return false;
	if (dictionary || !(flags & FLAG_INLINE_VALUES))
		return of_dictionary(python, reader, dictionary, ret);
	if (!read_word(reader, type + TYPE_BASIC_BYTES, &basic_bytes) ||
	    !mr_python_read(reader, &is_valid, object + basic_bytes + INLINE_IS_VALID, 1) ||
	    !is_valid)
		return false;
	ret->values = object + basic_bytes + INLINE_HEAD;
	return read_word(reader, type + python->layout.type_keys, &ret->keys);
}

/* 3.11: two words before the object; 3.12: one. */
static bool of_beside(const struct mr_python *python, const struct mr_python_reader *reader,
		      uintptr_t object, uintptr_t type, struct attributes *ret)
{
	const bool is_one_word = python->layout.attributes == MR_PYTHON_ATTRIBUTES_TAGGED;
	uintptr_t word;
	if (!read_word(reader, object - (is_one_word ? BEFORE_DICTIONARY : BEFORE_VALUES), &word))
		return false;
	ret->values = !is_one_word ? word : word & 1 ? word + 1 : 0;
	if (ret->values)
		return read_word(reader, type + python->layout.type_keys, &ret->keys);
	return read_word(reader, object - BEFORE_DICTIONARY, &word) &&
	       of_dictionary(python, reader, word, ret);
}

static bool find_attributes(const struct mr_python *python, const struct mr_python_reader *reader,
			    uintptr_t object, struct attributes *ret)
{
	uintptr_t type, flags;
	if (!read_word(reader, object + MR_PYTHON_OBJECT_TYPE, &type) ||
	    !read_word(reader, type + TYPE_FLAGS, &flags))
		return false;
	if (python->layout.attributes == MR_PYTHON_ATTRIBUTES_PLAIN ||
	    !(flags & FLAG_MANAGED_DICTIONARY))
		return of_plain(python, reader, object, type, ret);
	if (python->layout.attributes == MR_PYTHON_ATTRIBUTES_INLINE)
		return of_inline(python, reader, object, type, flags, ret);
	return of_beside(python, reader, object, type, ret);
}

/* The table of names of 3.9 and 3.10. */
struct old_keys {
	uint64_t references, size;
	uintptr_t lookup;
	uint64_t usable, count;
};

/* The table of names from 3.11 on. */
struct new_keys {
	uint64_t references;
	uint8_t size_bits, index_bytes_bits, kind, unused;
	uint32_t version;
	uint64_t usable, count;
};

static bool find_old_entries(const struct mr_python_reader *reader, uintptr_t keys,
			     struct entries *ret)
{
	struct old_keys head;
	if (!mr_python_read(reader, &head, keys, sizeof head))
		return false;
	uint64_t index_bytes = head.size <= UINT8_MAX ? 1 : head.size <= UINT16_MAX ? 2 : 4;
	*ret = (struct entries){keys + sizeof head + head.size * index_bytes, head.count, 3 * WORD,
				WORD};
	return head.size <= UINT16_MAX;
}

static bool find_new_entries(const struct mr_python_reader *reader, uintptr_t keys,
			     struct entries *ret)
{
	struct new_keys head;
	if (!mr_python_read(reader, &head, keys, sizeof head) || head.index_bytes_bits > 20)
		return false;
	const bool has_hash = head.kind == 0;
	*ret = (struct entries){keys + sizeof head + (UINT64_C(1) << head.index_bytes_bits),
				head.count, has_hash ? 3 * WORD : 2 * WORD, has_hash ? WORD : 0};
	return true;
}

static bool find_items(const struct mr_python *python, const struct mr_python_reader *reader,
		       const struct attributes *attributes, struct mr_python_items *ret_items)
{
	struct entries entries;
	if (!(python->layout.attributes == MR_PYTHON_ATTRIBUTES_PLAIN
		      ? find_old_entries(reader, attributes->keys, &entries)
		      : find_new_entries(reader, attributes->keys, &entries)) ||
	    entries.count > ENTRIES_MAX)
		return false;
	*ret_items = (struct mr_python_items){.entries = entries.at + entries.key,
					      .values = attributes->values,
					      .entry_bytes = entries.bytes,
					      .count = (uint32_t)entries.count};
	return true;
}

bool mr_python_items_find(const struct mr_python *python, const struct mr_python_reader *reader,
			  uintptr_t dictionary, struct mr_python_items *ret_items)
{
	struct attributes attributes;
	return of_dictionary(python, reader, dictionary, &attributes) &&
	       find_items(python, reader, &attributes, ret_items);
}

bool mr_python_item_read(const struct mr_python_reader *reader, const struct mr_python_items *items,
			 uint32_t index, uintptr_t *ret_key, uintptr_t *ret_value)
{
	const uintptr_t entry = items->entries + (uintptr_t)index * items->entry_bytes;
	return read_word(reader, entry, ret_key) &&
	       read_word(reader,
			 items->values ? items->values + (uintptr_t)index * WORD : entry + WORD,
			 ret_value);
}

uintptr_t mr_python_attribute(const struct mr_python *python, const struct mr_python_reader *reader,
			      uintptr_t object, const char *name)
{
	struct attributes attributes;
	struct mr_python_items items;
	if (!find_attributes(python, reader, object, &attributes) ||
	    !find_items(python, reader, &attributes, &items))
		return 0;
	for (uint32_t i = 0; i < items.count; i++) {
		char text[NAME_BYTES];
		uintptr_t key, value;
		if (!mr_python_item_read(reader, &items, i, &key, &value))
			return 0;
		if (key && mr_python_text_read(python, reader, key, text, sizeof text) &&
		    strcmp(text, name) == 0)
			return value;
	}
	return 0;
}
