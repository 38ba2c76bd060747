/* SPDX-License-Identifier: Apache-2.0
 *
 * Texts of a trace may hold any bytes; only UTF-8 may be shown.
 */
#ifndef MR_BASE_UTF8_H
#define MR_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Length of the UTF-8 sequence at `text`, or 0 if there is none: over-long forms, surrogates and
 * numbers above U+10FFFF are invalid. Stops at the terminating NUL. */
size_t mr_utf8_length(const char *text);

/* The code point of a sequence of that length, which must be valid. */
uint32_t mr_utf8_code(const char *sequence, size_t length);

/* Bytes of the character at `text`, at least 1; *ret_shown says whether it may be printed as it is. Control characters
 * (also C1, which begin escape sequences too), characters that change the direction of a text or cannot be seen, and
 * invalid UTF-8 may not. */
size_t mr_utf8_character(const char *text, bool *ret_shown);

#endif
