/* SPDX-License-Identifier: Apache-2.0
 *
 * millrace info: prints what a trace contains, and whether it can be trusted.
 */
#include "cmd/command.h"
#include "cmd/max_memory.h"
#include "cmd/present.h"

static struct {
	bool json;
	bool verify;
} given;

static const struct mr_option options[] = {
	MR_FLAG(0, "json", &given.json, "print JSON"),
	MR_MAX_MEMORY_OPTION,
	MR_FLAG(0, "verify", &given.verify, "check every packet and the saved index"),
	{0},
};

static const struct mr_example examples[] = {
	{"millrace info", "the newest trace in this folder"},
	{"millrace info --json", "the same as JSON"},
	{"millrace info --verify", "also check the files; exit status 1 if one is damaged"},
	{0},
};

static int run(int count, char **operands)
{
	static mr_analysis *const usual[] = {mr_analyse_health, mr_analyse_contents,
					     mr_analyse_notes, NULL};
	static mr_analysis *const verifying[] = {mr_analyse_verification, mr_analyse_health,
						 mr_analyse_contents, mr_analyse_notes, NULL};

	return mr_present(count, operands,
			  &(struct mr_presentation){
				  .analyses = given.verify ? verifying : usual,
				  .json = given.json,
				  .verdict = given.verify ? "verification" : NULL,
			  });
}

const struct mr_command mr_command_info = {
	.name = "info",
	.summary = "show what a trace contains, and its health",
	.operands = "[TRACE]",
	.description =
		"Shows what ran, whether anything in the trace is missing or damaged, and what it "
		"contains: events, processes, and clocks with their error bounds.\n\n"
		"With --verify it reads every packet and event and compares the saved index with "
		"its checksums. The exit status is 1 if anything is damaged or missing.\n\n"
		"TRACE is a trace folder, or a file of PyTorch's profiler or another file in the "
		"Chrome trace format. The default is the newest *.mill in the current folder.",
	.options = options,
	.examples = examples,
	.run = run,
	.operands_max = 1,
};
