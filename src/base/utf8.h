/* SPDX-License-Identifier: Apache-2.0
 *
 * Texts of a trace may hold any bytes; what is shown of them must be UTF-8.
 */
#ifndef MR_BASE_UTF8_H
#define MR_BASE_UTF8_H

#include <stddef.h>

/* Length of the UTF-8 sequence at `text`, or 0 when there is none: over-long forms, surrogates and
 * numbers above U+10FFFF are refused. Stops at the terminating NUL. */
size_t mr_utf8_length(const char *text);

#endif
