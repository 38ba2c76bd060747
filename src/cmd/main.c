/* SPDX-License-Identifier: Apache-2.0
 *
 * The program `millrace`: finds the command, parses its options, runs it, prints its failure.
 */
#include <errno.h>
#include <locale.h>
#include <string.h>

#include "base/error.h"
#include "cmd/command.h"
#include "launch/privilege.h"

/* In the order of the help. clang-format would set them in columns. */
/* clang-format off */
const struct mr_command *const mr_commands[] = {
	&mr_command_record,
	&mr_command_report,
	&mr_command_view,
	&mr_command_whatif,
	&mr_command_diff,
	&mr_command_info,
	&mr_command_query,
	&mr_command_export,
	&mr_command_dump,
	&mr_command_snapshot,
	&mr_command_doctor,
	&mr_command_help,
	&mr_command_version,
	NULL,
};
/* clang-format on */

static int check_operands(const struct mr_command *command, int count, char **operands)
{
	if (count < command->operands_min)
		return mr_command_misused(command, "missing operand: %s", command->operands);
	if (command->operands_max != MR_OPERANDS_ANY && count > command->operands_max)
		return mr_command_misused(command, "unexpected operand '%s'",
					  operands[command->operands_max]);
	return 0;
}

static int run_command(const struct mr_command *command, int count, char **arguments)
{
	int result = command->is_privileged ? 0 : mr_privilege_drop_of_file();
	if (result < 0) {
		fprintf(stderr, "millrace: %s\n", mr_error_text());
		return MR_EXIT_FAILURE;
	}
	result = mr_options_parse(command->options, command->options_order, &count, arguments);
	if (result == -ECANCELED) {
		mr_command_print_help(command, stdout);
		return 0;
	}
	if (result < 0)
		return mr_command_misused(command, "%s", mr_error_text());
	result = check_operands(command, count, arguments);
	if (result != 0)
		return result;
	result = command->run(count, arguments);
	if (result >= 0)
		return result;
	fprintf(stderr, "millrace: %s\n", mr_error_text());
	return command->failure_status ? command->failure_status : MR_EXIT_FAILURE;
}

int main(int argc, char **argv)
{
	setlocale(LC_CTYPE, ""); /* does the terminal understand UTF-8? numbers stay as in "C" */
	if (argc < 2) {
		mr_command_help.run(0, NULL);
		return MR_EXIT_USAGE;
	}
	const char *name = argv[1];
	if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
		name = mr_command_help.name;
	else if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0)
		name = mr_command_version.name;
	const struct mr_command *command = mr_command_find(name);
	int status = command ? run_command(command, argc - 2, argv + 2) : mr_command_refuse(name);
	/* A full disk may show only when the last output is flushed. */
	if ((fflush(stdout) != 0 || ferror(stdout)) && status == 0) {
		fprintf(stderr, "millrace: standard output cannot be written: %s\n",
			strerror(errno));
		status = MR_EXIT_FAILURE;
	}
	return status;
}
