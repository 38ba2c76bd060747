/* SPDX-License-Identifier: Apache-2.0
 *
 * millrace snapshot: asks a running `millrace record` to save what it has recorded so far.
 */
#include "launch/snapshot.h"

#include <errno.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/json_writer.h"
#include "cmd/command.h"

static struct {
	const char *output;
	bool json;
} given;

static const struct mr_option options[] = {
	MR_STRING('o', "output", &given.output, "DIR", "where to put the snapshot"),
	MR_FLAG(0, "json", &given.json, "print JSON"),
	{0},
};

static const struct mr_example examples[] = {
	{"millrace record -o a.mill -- sleep 1& sleep .5; millrace snapshot a.mill; wait",
	 "look at a program while it runs"},
	{0},
};

static int print(const char *path)
{
	struct mr_json json;
	if (!given.json) {
		printf("%s\n", path);
		return 0;
	}
	mr_json_start(&json, stdout, MR_JSON_INDENTED);
	mr_json_begin_object(&json, NULL);
	mr_json_string(&json, "trace", path);
	mr_json_end_object(&json);
	return mr_json_finish(&json);
}

static int run(int count, char **operands)
{
	(void)count;
	mr_auto(free) char *path = NULL;
	struct stat status;
	if (given.output && !*given.output)
		return mr_command_misused(&mr_command_snapshot, "--output: the name is empty");
	if (given.output && lstat(given.output, &status) == 0)
		return mr_fail(EEXIST, "%s already exists", given.output);
	int result = mr_snapshot_request(operands[0], &path);
	if (result < 0)
		return result;
	if (given.output)
		result = mr_snapshot_move(path, given.output);
	if (result < 0)
		return mr_fail_more(result, "the snapshot stays in %s", path);
	return print(given.output ? given.output : path);
}

const struct mr_command mr_command_snapshot = {
	.name = "snapshot",
	.summary = "save a trace of a recording that is still running",
	.operands = "TRACE",
	.description = "TRACE is the folder that a running `millrace record` writes. The snapshot "
		       "is a complete trace, made inside that folder, or moved to DIR by -o; "
		       "millrace prints its path. If record was started with --last, the snapshot "
		       "holds the newest events: take one when something has just gone wrong.",
	.options = options,
	.examples = examples,
	.run = run,
	.operands_min = 1,
	.operands_max = 1,
};
