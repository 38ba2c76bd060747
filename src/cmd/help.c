/* SPDX-License-Identifier: Apache-2.0
 *
 * millrace help: prints the list of commands, the help of one, or the lists that shell completion reads.
 */
#include "cmd/command.h"
#include "cmd/terminal.h"

static struct {
	bool list_commands;
	const char *list_options;
	const char *list_examples;
} given;

static const struct mr_option options[] = {
	MR_FLAG(0, "list-commands", &given.list_commands,
		"print the name and summary of every command, separated by a tab"),
	MR_STRING(
		0, "list-options", &given.list_options, "COMMAND",
		"print the options of a command: name, letter, value and help, separated by tabs"),
	MR_STRING(0, "list-examples", &given.list_examples, "COMMAND",
		  "print the examples of a command, one per line"),
	{0},
};

static const struct mr_example examples[] = {
	{"millrace help doctor", "how to use the command doctor"},
	{0},
};

static void print_overview(FILE *file)
{
	fputs("Usage: millrace COMMAND [OPTION]... [OPERAND]...\n\n", file);
	mr_print_wrapped(
		file,
		"Finds out why a dataflow program is slow: traces the unmodified program, "
		"its graph of operations, its threads, CPUs and GPUs, and reports where the "
		"time went.",
		0, 0);
	fputs("\nCommands:\n", file);
	for (int i = 0; mr_commands[i]; i++)
		fprintf(file, "  %-10s %s\n", mr_commands[i]->name, mr_commands[i]->summary);
	fputs("\nStart with:\n"
	      "  millrace record -- PROGRAM...\n"
	      "  millrace report\n\n"
	      "'millrace help COMMAND' explains a command.\n",
	      file);
}

static int run(int count, char **operands)
{
	const char *name = given.list_options    ? given.list_options
			   : given.list_examples ? given.list_examples
			   : count > 0           ? operands[0]
						 : NULL;
	const struct mr_command *command = name ? mr_command_find(name) : NULL;
	if (name && !command)
		return mr_command_refuse(name);
	if (given.list_commands) {
		for (int i = 0; mr_commands[i]; i++)
			printf("%s\t%s\n", mr_commands[i]->name, mr_commands[i]->summary);
	} else if (given.list_options) {
		mr_options_print_list(command->options, stdout);
	} else if (given.list_examples) {
		for (const struct mr_example *example = command->examples;
		     example && example->command; example++)
			printf("%s\n", example->command);
	} else if (command) {
		mr_command_print_help(command, stdout);
	} else {
		print_overview(stdout);
	}
	return 0;
}

const struct mr_command mr_command_help = {
	.name = "help",
	.summary = "explain a command",
	.operands = "[COMMAND]",
	.description = "Prints the list of commands, or how to use one of them.",
	.options = options,
	.examples = examples,
	.run = run,
	.operands_max = 1,
};
