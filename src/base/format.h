/* SPDX-License-Identifier: Apache-2.0
 *
 * Formats numbers and texts for people: 12.3 ms, 1.50 MiB, 1,234,567. Three digits are enough to read;
 * exact values are in the JSON.
 */
#ifndef MR_BASE_FORMAT_H
#define MR_BASE_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	MR_FORMAT_BYTES = 32 /* room for any of them */
};

void mr_format_ns(char *to, int64_t ns, bool utf8);
void mr_format_bytes(char *to, int64_t bytes);
void mr_format_count(char *to, int64_t count);

/* The end of the word for what is counted: "1 packet", "2 packets". */
static inline const char *mr_plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

/* "12.3%" of the whole; "" if the whole is 0. */
void mr_format_percent(char *to, int64_t part, int64_t whole);

/* Columns that a text takes: code points, and one for each control character or byte that is not UTF-8
 * (shown as ?). */
size_t mr_text_width(const char *text);

/* The same of its first `bytes` bytes, which end between two characters. */
size_t mr_text_width_of(const char *text, size_t bytes);

/* Copies a text, shortened in the middle to `width` columns; ? replaces what cannot be shown. `to`
 * has room for 4 * width + 4 bytes. */
void mr_text_fit(char *to, const char *text, size_t width);

/* The same for a path, whose end says more than its beginning: it gets three quarters of the width. */
void mr_path_fit(char *to, const char *text, size_t width);

#endif
