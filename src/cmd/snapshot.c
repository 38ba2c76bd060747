/* SPDX-License-Identifier: Apache-2.0
 *
 * millrace snapshot: asks a running `millrace record` to save what it has recorded so far.
 */
#include "launch/snapshot.h"
#include "base/error.h"
#include "cmd/command.h"

static const struct mr_example examples[] = {
	{"millrace record -o a.mill -- sleep 1& sleep .5; millrace snapshot a.mill; wait",
	 "look at a program while it runs"},
	{0},
};

static int run(int count, char **operands)
{
	(void)count;
	char *path;
	int result = mr_snapshot_request(operands[0], &path);
	if (result < 0)
		return result;
	printf("%s\n", path);
	free(path);
	return 0;
}

const struct mr_command mr_command_snapshot = {
	.name = "snapshot",
	.summary = "save a trace of a recording that is still running",
	.operands = "TRACE",
	.description = "TRACE is the folder that a running `millrace record` writes. The snapshot "
		       "is a complete trace inside that folder; millrace prints its path. If "
		       "record was started with --last, the snapshot holds the newest events: take "
		       "one when something has just gone wrong.",
	.examples = examples,
	.run = run,
	.operands_min = 1,
	.operands_max = 1,
};
