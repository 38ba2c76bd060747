/* SPDX-License-Identifier: Apache-2.0 */
#include "base/quote.h"

#include <stdbool.h>
#include <string.h>

static bool is_plain(const char *word)
{
	return *word && word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
					  "0123456789_@%+=:,./-")] == '\0';
}

void mr_quote_print(FILE *file, const char *word)
{
	if (is_plain(word)) {
		fputs(word, file);
		return;
	}
	fputc('\'', file);
	for (; *word; word++) {
		if (*word == '\'')
			fputs("'\\''", file);
		else
			fputc(*word, file);
	}
	fputc('\'', file);
}
