/* SPDX-License-Identifier: Apache-2.0
 *
 * A command of the program: its name, its usage, and the function that runs it.
 *
 * main.c holds the table of all commands. It parses the options into their targets, rejects a wrong
 * number of operands, answers --help, and only then calls run() with the operands. run() returns
 *     0 or more   the exit status
 *     -errno      failure: main.c prints the chain of causes once, as "millrace: what: why"
 */
#ifndef MR_CMD_COMMAND_H
#define MR_CMD_COMMAND_H

#include <stdbool.h>
#include <stdio.h>

#include "base/macros.h"
#include "cmd/options.h"

enum {
	MR_EXIT_FAILURE = 1,
	MR_EXIT_USAGE = 2,
	MR_EXIT_DAMAGED = 3, /* the answer is there, of what could be read of the trace */
	MR_OPERANDS_ANY = -1,
};

struct mr_example {
	const char *command; /* a line for the shell; a test runs it in an empty folder */
	const char *purpose;
};

struct mr_command {
	const char *name;
	const char *summary;               /* one line, small first letter, no full stop */
	const char *operands;              /* for the usage line: "[TRACE]"; NULL: none */
	const char *description;           /* paragraphs, separated by an empty line */
	const struct mr_option *options;   /* terminated by a zeroed one; NULL: none */
	const struct mr_example *examples; /* terminated by a zeroed one */
	int (*run)(int count, char **operands);
	enum mr_options_order options_order;
	int operands_min;
	int operands_max;   /* or MR_OPERANDS_ANY */
	int failure_status; /* exit status of a failure; 0: MR_EXIT_FAILURE */
	bool is_privileged; /* it may use the capabilities of the program file */
};

/* All commands in the order of the help, terminated by NULL. */
extern const struct mr_command *const mr_commands[];

/* NULL if there is no command of that name. */
const struct mr_command *mr_command_find(const char *name);

/* Prints "millrace COMMAND: ..." and a hint at --help on stderr; returns MR_EXIT_USAGE. For run() functions
 * that find their options or operands contradictory. */
int mr_command_misused(const struct mr_command *command, const char *format, ...)
	mr_printf_format(2, 3);

void mr_command_print_help(const struct mr_command *command, FILE *file);

/* Prints that there is no such command, and the most similar one; returns MR_EXIT_USAGE. */
int mr_command_refuse(const char *name);

extern const struct mr_command mr_command_diff;
extern const struct mr_command mr_command_doctor;
extern const struct mr_command mr_command_dump;
extern const struct mr_command mr_command_export;
extern const struct mr_command mr_command_help;
extern const struct mr_command mr_command_info;
extern const struct mr_command mr_command_query;
extern const struct mr_command mr_command_record;
extern const struct mr_command mr_command_report;
extern const struct mr_command mr_command_snapshot;
extern const struct mr_command mr_command_version;
extern const struct mr_command mr_command_view;
extern const struct mr_command mr_command_whatif;

#endif
