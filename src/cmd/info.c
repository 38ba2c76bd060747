/* SPDX-License-Identifier: Apache-2.0
 *
 * millrace info: prints what a trace contains, and whether it can be trusted.
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
	{"millrace info", "the newest trace in this folder"},
	{"millrace info --json", "the same as JSON"},
	{0},
};

static int run(int count, char **operands)
{
	static mr_analysis *const analyses[] = {mr_analyse_health, mr_analyse_contents,
						mr_analyse_notes, NULL};

	return mr_present(count, operands,
			  &(struct mr_presentation){.analyses = analyses, .json = given.json});
}

const struct mr_command mr_command_info = {
	.name = "info",
	.summary = "show what a trace contains, and its health",
	.operands = "[TRACE]",
	.description =
		"Shows what ran, whether anything in the trace is missing or damaged, and what it "
		"contains: events, processes, and clocks with their error bounds.\n\n"
		"TRACE is a trace folder, or a file of PyTorch's profiler or another file in the "
		"Chrome trace format. The default is the newest *.mill in the current folder.",
	.options = options,
	.examples = examples,
	.run = run,
	.operands_max = 1,
};
