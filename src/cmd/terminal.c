/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/terminal.h"

#include <langinfo.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool mr_terminal_has_colour(FILE *file)
{
	const char *no_colour = getenv("NO_COLOR"), *terminal = getenv("TERM");
	if (no_colour && *no_colour)
		return false;
	return isatty(fileno(file)) && (!terminal || strcmp(terminal, "dumb") != 0);
}

bool mr_terminal_has_utf8(FILE *file)
{
	return isatty(fileno(file)) && strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

const char *mr_colour_code(FILE *file, enum mr_colour colour)
{
	static const char *const codes[] = {
		[MR_COLOUR_NONE] = "\033[0m",    [MR_COLOUR_BOLD] = "\033[1m",
		[MR_COLOUR_RED] = "\033[31m",    [MR_COLOUR_GREEN] = "\033[32m",
		[MR_COLOUR_YELLOW] = "\033[33m", [MR_COLOUR_DIM] = "\033[2m",
	};
	return mr_terminal_has_colour(file) ? codes[colour] : "";
}

void mr_print_wrapped(FILE *file, const char *text, int column, int indent)
{
	bool line_is_empty = true;
	while (*text) {
		if (*text == '\n') {
			fputc('\n', file);
			text++;
			column = *text == '\n' || !*text ? 0 : fprintf(file, "%*s", indent, "");
			line_is_empty = true;
			continue;
		}
		int length = (int)strcspn(text, " \n");
		if (!line_is_empty && column + 1 + length > MR_HELP_COLUMNS) {
			fprintf(file, "\n%*s", indent, "");
			column = indent;
			line_is_empty = true;
		}
		column += fprintf(file, "%s%.*s", line_is_empty ? "" : " ", length, text);
		line_is_empty = false;
		text += length;
		while (*text == ' ')
			text++;
	}
	fputc('\n', file);
}
