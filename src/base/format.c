/* SPDX-License-Identifier: Apache-2.0 */
#include "base/format.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

/* Three digits: 1.23, 12.3, 123. */
static void print_scaled(char *to, double value, const char *unit)
{
	int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;

	snprintf(to, MR_FORMAT_BYTES, "%.*f %s", decimals, value, unit);
}

void mr_format_ns(char *to, int64_t ns, bool utf8)
{
	if (ns <= -1000) {
		char positive[MR_FORMAT_BYTES];

		mr_format_ns(positive, ns == INT64_MIN ? INT64_MAX : -ns, utf8);
		snprintf(to, MR_FORMAT_BYTES, "-%.*s", MR_FORMAT_BYTES - 2, positive);
		return;
	}
	if (ns < 1000)
		snprintf(to, MR_FORMAT_BYTES, "%" PRId64 " ns", ns);
	else if (ns < 999500)
		print_scaled(to, (double)ns / 1e3, utf8 ? "µs" : "us");
	else if (ns < 999500000)
		print_scaled(to, (double)ns / 1e6, "ms");
	else
		print_scaled(to, (double)ns / 1e9, "s");
}

void mr_format_bytes(char *to, int64_t bytes)
{
	static const char *const units[] = {"KiB", "MiB", "GiB", "TiB"};
	double value = (double)bytes / 1024;
	size_t unit = 0;

	if (bytes < 1024) {
		snprintf(to, MR_FORMAT_BYTES, "%" PRId64 " B", bytes);
		return;
	}
	for (; value >= 999.5 && unit < 3; unit++)
		value /= 1024;
	print_scaled(to, value, units[unit]);
}

void mr_format_count(char *to, int64_t count)
{
	char digits[MR_FORMAT_BYTES];
	int length = snprintf(digits, sizeof digits, "%" PRId64, count);

	for (int i = 0; i < length; i++) {
		*to++ = digits[i];
		if ((length - 1 - i) % 3 == 0 && i + 1 < length && digits[i] != '-')
			*to++ = ',';
	}
	*to = '\0';
}

void mr_format_percent(char *to, int64_t part, int64_t whole)
{
	if (whole > 0)
		snprintf(to, MR_FORMAT_BYTES, "%.1f%%", 100.0 * (double)part / (double)whole);
	else
		*to = '\0';
}

size_t mr_text_width(const char *text)
{
	return mr_text_width_of(text, SIZE_MAX);
}

size_t mr_text_width_of(const char *text, size_t bytes)
{
	size_t width = 0, at = 0;
	bool shown;

	for (; at < bytes && text[at]; at += mr_utf8_character(text + at, &shown))
		width++;
	return width;
}

/* Copies columns [first, end). */
static char *copy_columns(char *to, const char *text, size_t first, size_t end)
{
	for (size_t column = 0; *text && column < end; column++) {
		bool shown;
		size_t length = mr_utf8_character(text, &shown);

		if (column >= first && shown)
			to = mempcpy(to, text, length);
		else if (column >= first)
			*to++ = '?';
		text += length;
	}
	return to;
}

/* Shortens a text in the middle: one part in `parts` of what it keeps is the text's beginning. */
static void fit(char *to, const char *text, size_t width, size_t parts)
{
	size_t whole = mr_text_width(text);

	if (whole <= width) {
		to = copy_columns(to, text, 0, whole);
	} else {
		size_t kept = width > 2 ? width - 2 : 0, head = (kept + parts - 1) / parts;

		to = copy_columns(to, text, 0, head);
		to = stpcpy(to, "..");
		to = copy_columns(to, text, whole - (kept - head), whole);
	}
	*to = '\0';
}

void mr_text_fit(char *to, const char *text, size_t width)
{
	fit(to, text, width, 2);
}

void mr_path_fit(char *to, const char *text, size_t width)
{
	fit(to, text, width, 4);
}
