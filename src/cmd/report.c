/* SPDX-License-Identifier: Apache-2.0
 *
 * millrace report: prints where the time went.
 */
#include "cmd/command.h"
#include "cmd/max_memory.h"
#include "cmd/present.h"

static struct {
	bool json;
	const char *html;
	struct mr_part_options part;
} given = {.part = MR_NO_PART};

static const struct mr_option options[] = {
	MR_FLAG(0, "json", &given.json, "print JSON"),
	MR_STRING(0, "html", &given.html, "FILE", "write a page for a browser; - is stdout"),
	MR_INTEGER(0, "step", &given.part.step, "N", "report only on this step"),
	MR_DURATION(0, "from", &given.part.from_ns, "TIME", "report only from this time on"),
	MR_DURATION(0, "to", &given.part.to_ns, "TIME", "report only until this time"),
	MR_STRING(0, "process", &given.part.process, "PROCESS",
		  "report only on this process: its pid or the name of its program"),
	MR_STRING(
		0, "step-range", &given.part.step_range, "NAME",
		"the ranges or annotations of this name are the steps; 'NAME*': all that begin so"),
	MR_FLAG(0, "whole", &given.part.whole, "report on all of the time, not only on the steps"),
	MR_MAX_MEMORY_OPTION,
	{0},
};

static const struct mr_example examples[] = {
	{"millrace report", "the newest trace in this folder"},
	{"millrace report --json", "all findings as JSON"},
	{"millrace report --html report.html", "a page to open, send or print"},
	{"millrace report --whole", "not only the steps, but all of the time"},
	{"millrace report --step 3", "only the step with the number 3"},
	{"millrace report --from 1ms --to 2.5ms", "only a part of the time"},
	{0},
};

static int run(int count, char **operands)
{
	static mr_analysis *const analyses[] = {mr_analyse_all, NULL};

	if (given.json && given.html)
		return mr_command_misused(&mr_command_report,
					  "--json and --html cannot be combined");
	if (given.part.step != MR_NOT_GIVEN &&
	    (given.part.from_ns != MR_NOT_GIVEN || given.part.to_ns != MR_NOT_GIVEN))
		return mr_command_misused(&mr_command_report,
					  "--step cannot be combined with --from or --to");
	if (given.part.to_ns == 0 ||
	    (given.part.from_ns != MR_NOT_GIVEN && given.part.from_ns >= given.part.to_ns))
		return mr_command_misused(&mr_command_report, "--from is not before --to");
	return mr_present(count, operands,
			  &(struct mr_presentation){.analyses = analyses,
						    .part = &given.part,
						    .json = given.json,
						    .brief = true,
						    .tells_damage = true,
						    .html = given.html});
}

const struct mr_command mr_command_report = {
	.name = "report",
	.summary = "show where the time went",
	.operands = "[TRACE]",
	.description =
		"Shows what ran, what is wrong with it and what to do about that, and where "
		"the time went. If the program has steps, the report is of the steps as "
		"they go on, without start-up, warm-up and end; --whole covers all of the "
		"time. Details follow: devices and why they were idle, the "
		"critical path, device operations, runtime calls, the dataflow graph by "
		"node, by type of operation and by thread, steps, memory, threads, what "
		"they waited for and who had the CPU they wanted, system calls, disks and "
		"sockets.\n\n"
		"Self time is an operation's time without the operations nested in it; the "
		"self times add up to the whole. Percentiles are exact.\n\n"
		"--html writes everything to one page for a browser, which needs neither "
		"network nor server.\n\n"
		"--step, --from, --to and --process select a part of the trace. Intervals "
		"that extend beyond it count only with the portion inside. TIME is counted "
		"from the beginning of the trace: 250ms, 1.5s, 10 (seconds), 2m. Steps are "
		"the ones that the program marks. If it marks none, they are the calls of "
		"the TensorFlow function that is called most often, or inferred from what "
		"the program launches, counted from 0. --step-range names ranges of NVTX or "
		"annotations of PyTorch that are the steps instead, each one step, also "
		"counted from 0.\n\n"
		"TRACE is a trace folder, a file of PyTorch's profiler or another file in the "
		"Chrome trace format, or an SQLite report of Nsight Systems. The default is the "
		"newest *.mill in the "
		"current folder.",
	.options = options,
	.examples = examples,
	.run = run,
	.operands_max = 1,
};
