/* SPDX-License-Identifier: Apache-2.0
 *
 * Attributes of Python objects and entries of dictionaries, from outside of Python: nothing is called, all is read by a reader (layout.h) and checked.
 *
 *     object ──► type ──► names of attributes that its instances share
 *       ├─ values, in the order of these names              most instances, from 3.11 on
 *       └─ dictionary ──► names, and values beside them or in an array of their own
 */
#ifndef MR_HOOK_PYTHON_OBJECT_H
#define MR_HOOK_PYTHON_OBJECT_H

#include "hook/python/code.h"

/* The entries of a dictionary, in the order in which they came. */
struct mr_python_items {
	uintptr_t entries; /* the key of the first */
	uintptr_t values;  /* 0: each follows its key */
	uint32_t entry_bytes;
	uint32_t count;
};

/* False if it cannot be read. */
bool mr_python_items_find(const struct mr_python *python, const struct mr_python_reader *reader,
			  uintptr_t dictionary, struct mr_python_items *ret_items);

/* Key and value of one; 0: it was removed. */
bool mr_python_item_read(const struct mr_python_reader *reader, const struct mr_python_items *items,
			 uint32_t index, uintptr_t *ret_key, uintptr_t *ret_value);

/* The value of an instance's own attribute; 0 if it has none of that name, or it cannot be read. */
uintptr_t mr_python_attribute(const struct mr_python *python, const struct mr_python_reader *reader,
			      uintptr_t object, const char *name);

#endif
