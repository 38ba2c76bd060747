/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds functions of loaded libraries without dlopen() or dlsym(): those run constructors out of order if a
 * constructor is the caller, and do not find libraries that were opened privately, as Python opens its own.
 */
#ifndef MR_HOOK_SYMBOLS_H
#define MR_HOOK_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>

/* The address of a symbol in the first library loaded that defines it, or NULL; ours is never looked at. */
void *mr_symbol_find(const char *name);

/* Likewise, in libraries that were loaded after ours, if one has it. For what others may replace, too: a search from the
 * start could end at one that calls us. */
void *mr_symbol_find_behind(const char *name);

/* Likewise, in the library that contains an address. NULL if it does not define the symbol; its range of addresses is
 * returned nevertheless. */
void *mr_symbol_find_in(const void *address, const char *name, uintptr_t *ret_first,
			uintptr_t *ret_bytes);

/* Likewise, without the range. */
static inline void *mr_symbol_find_beside(const void *address, const char *name)
{
	uintptr_t first, bytes;
	return mr_symbol_find_in(address, name, &first, &bytes);
}

/* Like mr_symbol_find(), of a variable, with its size. */
void *mr_symbol_find_object(const char *name, size_t *ret_bytes);

#endif
