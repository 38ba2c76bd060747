/* SPDX-License-Identifier: Apache-2.0
 *
 * millrace query: runs SQL on the trace.
 */
#include "query/query.h"

#include <signal.h>
#include <string.h>

#include "base/error.h"
#include "cmd/command.h"
#include "cmd/max_memory.h"
#include "cmd/progress_line.h"
#include "cmd/trace_argument.h"
#include "load/load.h"
#include "query/describe.h"

static struct {
	int format;
} given = {.format = MR_QUERY_TABLE};

/* In the order of enum mr_query_format. */
static const char *const formats[] = {"table", "csv", "json", NULL};

static const struct mr_option options[] = {
	MR_CHOICE(0, "format", &given.format, formats, "FORMAT",
		  "table (for people), csv, or json: one object per line"),
	MR_MAX_MEMORY_OPTION,
	{0},
};

static const struct mr_example examples[] = {
	{"millrace query .tables", "list the tables"},
	{"millrace query '.schema node_executions'", "the columns of a table"},
	{"millrace query 'select name, count(*) from device_operations group by name'",
	 "how often each device operation ran"},
	{"echo 'select * from tracks' | millrace query --format csv -", "SQL from standard input"},
	{0},
};

static struct mr_query *interruptible;

static void interrupt(int signal_number)
{
	(void)signal_number;
	/* Sets a flag in SQLite, as its own shell does on an interrupt. */
	mr_query_interrupt(interruptible); /* NOLINT(bugprone-signal-handler) */
}

/* All of standard input as a text. */
static int read_input(char **ret_text)
{
	mr_auto(free) char *text = NULL;
	size_t room = 0;

	if (getdelim(&text, &room, '\0', stdin) < 0 && ferror(stdin))
		return mr_fail_errno(EIO, "read standard input");
	*ret_text = text ? mr_take(text) : strdup("");
	return *ret_text ? 0 : mr_fail_errno(ENOMEM, "read standard input");
}

static int query_trace(int count, char **operands, const char *sql)
{
	mr_auto(free) char *path = NULL;
	mr_auto(model) struct mr_model *model = NULL;
	mr_auto(query) struct mr_query *query = NULL;
	int result = mr_trace_argument(count, operands, &path);

	mr_progress_line_start();
	if (result == 0)
		result = mr_model_load(path, &model);
	mr_progress_line_stop();
	if (result == 0)
		result = mr_query_open(model, &query);
	if (result < 0)
		return result;
	interruptible = query;
	signal(SIGINT, interrupt);
	result = mr_query_print(query, sql, (enum mr_query_format)given.format, stdout);
	signal(SIGINT, SIG_DFL);
	return result < 0 ? result : mr_mappings_check();
}

static int run(int count, char **operands)
{
	const char *sql = operands[count - 1];
	mr_auto(free) char *input = NULL;

	signal(SIGPIPE, SIG_DFL); /* if the reader closes the pipe, end quietly */
	if (count == 1 && access(sql, F_OK) == 0)
		return mr_command_misused(&mr_command_query,
					  "missing operand: the SQL to run on '%s'", sql);
	if (strcmp(sql, "-") == 0) {
		int result = read_input(&input);

		if (result < 0)
			return result;
		sql = input;
	}
	return *sql == '.' ? mr_describe(sql, stdout) : query_trace(count - 1, operands, sql);
}

const struct mr_command mr_command_query = {
	.name = "query",
	.summary = "query the trace in SQL",
	.operands = "[TRACE] SQL",
	.description =
		"Runs an SQLite SELECT statement on the tables of the trace and prints the rows. "
		"SQL is the statement, - to read it from standard input, .tables to list the "
		"tables, or .schema [TABLE] to list their columns; doc/tables.md explains them. "
		"A query can only read.\n\n"
		"Times are in nanoseconds. Unknown values are NULL. A column that refers to a row "
		"of another table holds its rowid.\n\n"
		"TRACE is a trace folder, or a file of PyTorch's profiler or another file in the "
		"Chrome trace format. The default is the newest *.mill in the current folder.",
	.options = options,
	.examples = examples,
	.run = run,
	.operands_min = 1,
	.operands_max = 2,
};
