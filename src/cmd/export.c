/* SPDX-License-Identifier: Apache-2.0
 *
 * millrace export: writes the trace for other tools.
 */
#include "export/export.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "cmd/command.h"
#include "cmd/max_memory.h"
#include "cmd/new_file.h"
#include "cmd/progress_line.h"
#include "cmd/trace_argument.h"
#include "load/load.h"

enum format {
	FORMAT_PERFETTO,
	FORMAT_PARQUET,
};

static struct {
	int format;
	const char *output;
} given;

/* In the order of enum format. */
static const char *const formats[] = {"perfetto", "parquet", NULL};
static const char *const endings[] = {".pftrace", ".parquet"};

static const struct mr_option options[] = {
	MR_CHOICE(0, "format", &given.format, formats, "FORMAT",
		  "perfetto (one file, the default) or parquet (a folder, one file per table)"),
	MR_STRING('o', "output", &given.output, "PATH", "where to put it"),
	MR_MAX_MEMORY_OPTION,
	{0},
};

static const struct mr_example examples[] = {
	{"millrace export", "the newest trace in this folder, for ui.perfetto.dev"},
	{"millrace export --format parquet -o tables", "all tables, for pyarrow, DuckDB or Spark"},
	{0},
};

/* NAME of .../NAME.mill/, with the ending of the format. */
static char *make_name(const char *trace)
{
	size_t end = strlen(trace);

	while (end > 1 && trace[end - 1] == '/')
		end--;
	size_t begin = end;
	while (begin > 0 && trace[begin - 1] != '/')
		begin--;
	if (end - begin > strlen(".mill") &&
	    strncmp(trace + end - strlen(".mill"), ".mill", strlen(".mill")) == 0)
		end -= strlen(".mill");
	char *name;
	return asprintf(&name, "%.*s%s", (int)(end - begin), trace + begin, endings[given.format]) <
			       0
		       ? NULL
		       : name;
}

static int export_perfetto(const struct mr_model *model, const char *output)
{
	struct mr_new_file file;
	uint64_t left_out = 0;
	int result = mr_new_file_open(&file, output);

	if (result == 0)
		result =
			mr_new_file_close(&file, mr_export_perfetto(model, file.stream, &left_out));
	if (result == 0 && left_out)
		fprintf(stderr,
			"millrace: %" PRIu64 " rows lie before time 0 and were left out: Perfetto "
			"has no such times\n",
			left_out);
	return result;
}

static void remove_folder(const char *path)
{
	DIR *folder = opendir(path);
	struct dirent *entry;

	while (folder && (entry = readdir(folder)))
		if (entry->d_name[0] != '.')
			unlinkat(dirfd(folder), entry->d_name, 0);
	if (folder)
		closedir(folder);
	rmdir(path);
}

/* All files or none: they are written beside and moved. */
static int export_parquet(const struct mr_model *model, const char *output)
{
	mr_auto(free) char *temporary = NULL;
	mode_t mask = umask(0);

	umask(mask);
	if (asprintf(&temporary, "%s.XXXXXX", output) < 0)
		return mr_fail_errno(ENOMEM, "cannot write %s", output);
	if (!mkdtemp(temporary))
		return mr_fail_errno(errno, "cannot write %s", output);
	int result = mr_export_parquet(model, temporary);
	if (result == 0 && (chmod(temporary, 0777 & ~mask) < 0 || rename(temporary, output) < 0))
		result = mr_fail_errno(errno, "cannot write %s", output);
	if (result < 0)
		remove_folder(temporary);
	return result;
}

static int write_output(const struct mr_model *model, const char *output)
{
	struct stat status;

	if (given.format == FORMAT_PERFETTO)
		return export_perfetto(model, output);
	if (lstat(output, &status) == 0)
		return mr_fail(EEXIST, "%s already exists: remove it, or give another name with -o",
			       output);
	return export_parquet(model, output);
}

static int run(int count, char **operands)
{
	mr_auto(free) char *path = NULL, *name = NULL;
	mr_auto(model) struct mr_model *model = NULL;

	if (given.output && !*given.output)
		return mr_command_misused(&mr_command_export, "--output: the name is empty");
	if (given.format == FORMAT_PARQUET && given.output && strcmp(given.output, "-") == 0)
		return mr_command_misused(
			&mr_command_export,
			"--format parquet writes a folder: give its name with -o");
	signal(SIGPIPE, SIG_DFL); /* if the reader closes the pipe, end quietly */
	int result = mr_trace_argument(count, operands, &path);
	mr_progress_line_start();
	if (result == 0)
		result = mr_model_load(path, &model);
	if (result == 0) {
		name = given.output ? strdup(given.output) : make_name(path);
		result = name ? write_output(model, name) : mr_fail_errno(ENOMEM, "export");
	}
	mr_progress_line_stop();
	if (result == 0)
		result = mr_mappings_check();
	if (result == 0 && strcmp(name, "-") != 0)
		printf("%s\n", name);
	return result;
}

const struct mr_command mr_command_export = {
	.name = "export",
	.summary = "write the trace for Perfetto, or as Parquet",
	.operands = "[TRACE]",
	.description =
		"Writes the whole trace in a format of other tools, and prints where.\n\n"
		"perfetto: one file for ui.perfetto.dev or trace_processor: processes, threads, "
		"queues and CPUs as tracks, every interval as a slice, launches, waits, messages "
		"and wake-ups as flows, counters and memory as counters. The category of a slice "
		"is its table and its argument `row` the rowid there, as in millrace query.\n\n"
		"parquet: a folder with one file for each table of millrace query, with the same "
		"columns and values after a column rowid.\n\n"
		"Times are in nanoseconds of the trace clock. Without -o the output is named after "
		"the trace and put into the current folder.\n\n"
		"TRACE is a trace folder, or a file of PyTorch's profiler or another file in the "
		"Chrome trace format. The default is the newest *.mill in the current folder.",
	.options = options,
	.examples = examples,
	.run = run,
	.operands_max = 1,
};
