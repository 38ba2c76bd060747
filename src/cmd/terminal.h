/* SPDX-License-Identifier: Apache-2.0
 *
 * Output for terminals: colour only on terminals and never against NO_COLOR, characters beyond ASCII
 * only if the terminal understands UTF-8, text broken into lines.
 */
#ifndef MR_CMD_TERMINAL_H
#define MR_CMD_TERMINAL_H

#include <stdbool.h>
#include <stdio.h>

enum {
	MR_HELP_COLUMNS = 80
};

enum mr_colour {
	MR_COLOUR_NONE, /* back to normal */
	MR_COLOUR_BOLD,
	MR_COLOUR_RED,
	MR_COLOUR_GREEN,
	MR_COLOUR_YELLOW,
	MR_COLOUR_DIM,
};

bool mr_terminal_has_colour(FILE *file);
bool mr_terminal_has_utf8(FILE *file);

/* The escape code that starts a colour on `file`; "" if colour is not wanted. */
const char *mr_colour_code(FILE *file, enum mr_colour colour);

/* Prints words of `text` with line breaks so that no line exceeds MR_HELP_COLUMNS, the first
 * beginning at `column` (where the caller has left off) and the others at `indent`. Line breaks of
 * the text itself are kept. Ends with a line break. */
void mr_print_wrapped(FILE *file, const char *text, int column, int indent);

#endif
