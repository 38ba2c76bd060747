/* SPDX-License-Identifier: Apache-2.0
 *
 * millrace report: where the time went.
 */
#include "cmd/command.h"
#include "cmd/present.h"

static struct {
	bool json;
} given;

static const struct mr_option options[] = {
	MR_FLAG(0, "json", &given.json, "print JSON"),
	{0},
};

static const struct mr_example examples[] = {
	{"millrace report", "the newest trace in this folder"},
	{"millrace report --json", "the same, complete, for programs"},
	{0},
};

static int run(int count, char **operands)
{
	static mr_analysis *const analyses[] = {mr_analyse_health, mr_analyse_operations, NULL};

	return mr_present(count, operands, analyses, given.json, true);
}

const struct mr_command mr_command_report = {
	.name = "report",
	.summary = "show where the time went",
	.operands = "[TRACE]",
	.description = "Shows what ran, the trace's health, and then where the time went: by node, "
		       "by type of "
		       "operation and by thread; steps; runtime calls; device operations.\n\n"
		       "Self time is an operation's time without the operations nested in it; the "
		       "self times "
		       "sum to the whole. Percentiles are exact.\n\n"
		       "TRACE defaults to the newest *.mill in the current folder.",
	.options = options,
	.examples = examples,
	.run = run,
	.operands_max = 1,
};
