/* SPDX-License-Identifier: Apache-2.0
 *
 * Texts of a trace may hold any bytes; what is shown of them must be UTF-8.
 */
#ifndef MR_BASE_UTF8_H
#define MR_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* Length of the UTF-8 sequence at `text`, or 0 when there is none: over-long forms, surrogates and
 * numbers above U+10FFFF are refused. Stops at the terminating NUL. */
size_t mr_utf8_length(const char *text);

/* Bytes of the character at `text`, at least 1; *ret_shown tells whether a terminal may get it as it is.
 * Control characters (C1 ones too: they begin sequences as escape does) and what is no UTF-8 may not. */
size_t mr_utf8_character(const char *text, bool *ret_shown);

#endif
