/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds functions of loaded libraries without dlopen() or dlsym(): those run constructors out of order if a
 * constructor is the caller, and do not find libraries that were opened privately, as Python opens its own.
 */
#ifndef MR_HOOK_SYMBOLS_H
#define MR_HOOK_SYMBOLS_H

/* The address of a symbol in the first library loaded that defines it, or NULL; ours is never looked at. */
void *mr_symbol_find(const char *name);

#endif
