/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/command.h"

#include <stdarg.h>
#include <string.h>

#include "cmd/terminal.h"

const struct mr_command *mr_command_find(const char *name)
{
	for (int i = 0; mr_commands[i]; i++)
		if (strcmp(mr_commands[i]->name, name) == 0)
			return mr_commands[i];
	return NULL;
}

int mr_command_misused(const struct mr_command *command, const char *format, ...)
{
	va_list arguments;
	fprintf(stderr, "millrace: %s: ", command->name);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fprintf(stderr, "\nmillrace: see 'millrace %s --help'\n", command->name);
	return MR_EXIT_USAGE;
}

void mr_command_print_help(const struct mr_command *command, FILE *file)
{
	fprintf(file, "Usage: millrace %s [OPTION]...%s%s\n\n", command->name,
		command->operands ? " " : "", command->operands ? command->operands : "");
	mr_print_wrapped(file, command->description, 0, 0);
	fputs("\nOptions:\n", file);
	mr_options_print_help(command->options, file);
	if (command->examples)
		fputs("\nExamples:\n", file);
	for (const struct mr_example *example = command->examples; example && example->command;
	     example++)
		fprintf(file, "  %s\n      %s\n", example->command, example->purpose);
}

/* Number of letters to insert, delete or change; words longer than the row count as far away. */
static int edit_distance(const char *a, const char *b)
{
	enum {
		LIMIT = 32
	};
	int row[LIMIT + 1];
	int length = (int)strlen(b);
	if (length > LIMIT)
		return LIMIT;
	for (int j = 0; j <= length; j++)
		row[j] = j;
	for (int i = 1; a[i - 1]; i++) {
		int diagonal = row[0];
		row[0] = i;
		for (int j = 1; j <= length; j++) {
			int change = diagonal + (a[i - 1] != b[j - 1]);
			int insertion = mr_min(row[j], row[j - 1]) + 1;
			diagonal = row[j];
			row[j] = mr_min(change, insertion);
		}
	}
	return row[length];
}

/* NULL if none is similar. */
static const char *find_nearest(const char *word)
{
	const char *nearest = NULL;
	int distance = 3; /* a difference of more than two letters would be a guess */
	for (int i = 0; mr_commands[i]; i++) {
		int d = edit_distance(word, mr_commands[i]->name);
		if (d < distance) {
			distance = d;
			nearest = mr_commands[i]->name;
		}
	}
	return nearest;
}

int mr_command_refuse(const char *name)
{
	const char *near = find_nearest(name);
	if (near)
		fprintf(stderr, "millrace: unknown command '%s': did you mean '%s'?\n", name, near);
	else
		fprintf(stderr, "millrace: unknown command '%s': see 'millrace help'\n", name);
	return MR_EXIT_USAGE;
}
