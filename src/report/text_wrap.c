/* SPDX-License-Identifier: Apache-2.0
 *
 * Words of a text as lines of a page, and as no more lines than there is room for.
 */
#include <string.h>

#include "base/format.h"
#include "base/utf8.h"
#include "report/text.h"

enum {
	LONGEST_WORD = 1000, /* columns */
};

static const char more[] = " ...";

/* What a terminal must not get becomes ?. Findings write "µs": one that knows only ASCII gets "us". */
static void print_shown(const struct mr_page *page, const char *text, const char *end)
{
	while (text < end) {
		bool shown;
		size_t length = mr_utf8_character(text, &shown);

		if (!page->style->utf8 && strncmp(text, "µs", strlen("µs")) == 0)
			fputc('u', page->file);
		else
			fprintf(page->file, "%.*s", shown ? (int)length : 1, shown ? text : "?");
		text += length;
	}
}

void mr_page_put(const struct mr_page *page, const char *text)
{
	print_shown(page, text, text + strlen(text));
}

/* The lines that it makes; without `is_printed` it only counts. */
static size_t wrap(const struct mr_page *page, const char *text, size_t column, size_t indent,
		   bool is_printed)
{
	const char *separator = "";
	size_t lines = 1;

	while (*text) {
		size_t length = strcspn(text, " ");
		size_t width = mr_text_width_of(text, length);

		if (*separator && column + 1 + width > page->style->width) {
			if (is_printed)
				fprintf(page->file, "\n%*s", (int)indent, "");
			column = indent;
			separator = "";
			lines++;
		}
		if (is_printed) {
			fputs(separator, page->file);
			print_shown(page, text, text + length);
		}
		column += width + strlen(separator);
		separator = " ";
		text += length + strspn(text + length, " ");
	}
	if (is_printed)
		fputc('\n', page->file);
	return lines;
}

void mr_page_wrap(const struct mr_page *page, const char *text, size_t column, size_t indent)
{
	wrap(page, text, column, indent, true);
}

/* The bytes of as many characters as `columns`, or fewer where the word ends. */
static size_t bytes_of(const char *text, size_t columns)
{
	const char *end = text;

	for (bool shown; *end && *end != ' ' && columns; columns--)
		end += mr_utf8_character(end, &shown);
	return (size_t)(end - text);
}

/* A word that no line holds loses its middle, or its end if it is a page long. Returns where the copy ends. */
static char *copy_word(char *to, const char *text, size_t columns)
{
	char word[4 * LONGEST_WORD + 1];

	*(char *)mempcpy(word, text, bytes_of(text, LONGEST_WORD)) = '\0';
	mr_text_fit(to, word, columns);
	return to + strlen(to);
}

/* Copies words until there are more than `columns`, so that a text that is too long still is. `to` has room for four
 * bytes of each column and of one word more. */
static void copy_words(char *to, const char *text, size_t columns, size_t word_columns)
{
	for (size_t column = 0; *text && column <= columns;) {
		char *end = copy_word(to, text, word_columns);

		column += mr_text_width(to) + 1;
		text += strcspn(text, " ");
		text += strspn(text, " ");
		to = *text ? stpcpy(end, " ") : end;
	}
	*to = '\0';
}

/* Words go from the end until the rest and "..." fit. */
static void shorten(const struct mr_page *page, char *text, size_t indent, size_t max_lines)
{
	char *end = text + strlen(text);

	while (wrap(page, text, indent, indent, false) > max_lines) {
		char *last = memrchr(text, ' ', (size_t)(end - text));

		if (!last)
			return;
		strcpy(last, more);
		end = last;
	}
}

size_t mr_page_wrap_lines(const struct mr_page *page, const char *text, size_t indent,
			  size_t max_lines, bool is_printed)
{
	size_t width = page->style->width > indent + 8 ? page->style->width - indent : 8;
	size_t columns = (max_lines + 1) * width;
	char fitted[4 * (columns + width + 2) + sizeof more];

	copy_words(fitted, text, columns, width);
	shorten(page, fitted, indent, max_lines);
	return wrap(page, fitted, indent, indent, is_printed);
}
