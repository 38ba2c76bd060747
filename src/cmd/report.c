/* SPDX-License-Identifier: Apache-2.0
 *
 * millrace report: where the time went.
 */
#include "cmd/command.h"
#include "cmd/present.h"

static struct {
	bool json;
	const char *html;
	struct mr_part_options part;
} given = {.part = MR_WHOLE_TRACE};

static const struct mr_option options[] = {
	MR_FLAG(0, "json", &given.json, "print JSON"),
	MR_STRING(0, "html", &given.html, "FILE", "write a page for a browser; - is stdout"),
	MR_INTEGER(0, "step", &given.part.step, "N", "only this step"),
	MR_DURATION(0, "from", &given.part.from_ns, "TIME", "only from this time of the trace on"),
	MR_DURATION(0, "to", &given.part.to_ns, "TIME", "only until this time of the trace"),
	MR_STRING(0, "process", &given.part.process, "PROCESS",
		  "only this process: its pid or the name of its program"),
	{0},
};

static const struct mr_example examples[] = {
	{"millrace report", "the newest trace in this folder"},
	{"millrace report --json", "the same, complete, for programs"},
	{"millrace report --html report.html", "as a page to open, send or print"},
	{"millrace report --step 3", "of the step that the program calls 3"},
	{"millrace report --from 1ms --to 2.5ms", "of a part of the time"},
	{0},
};

static int run(int count, char **operands)
{
	static mr_analysis *const analyses[] = {mr_analyse_all, NULL};

	if (given.json && given.html)
		return mr_command_misused(&mr_command_report,
					  "--json and --html exclude each other");
	if (given.part.step != MR_NOT_GIVEN &&
	    (given.part.from_ns != MR_NOT_GIVEN || given.part.to_ns != MR_NOT_GIVEN))
		return mr_command_misused(&mr_command_report,
					  "--step and --from or --to exclude each other");
	if (given.part.to_ns == 0 ||
	    (given.part.from_ns != MR_NOT_GIVEN && given.part.from_ns >= given.part.to_ns))
		return mr_command_misused(&mr_command_report, "--from is not before --to");
	return mr_present(
		count, operands,
		&(struct mr_presentation){analyses, &given.part, given.json, true, given.html});
}

const struct mr_command mr_command_report = {
	.name = "report",
	.summary = "show where the time went",
	.operands = "[TRACE]",
	.description = "Shows what ran, the trace's health, and then where the time went: first in "
		       "short, with the largest causes, then devices, why they were idle, the "
		       "critical path, device operations, runtime calls, the dataflow graph by "
		       "node, by type of operation and by thread, steps, memory, threads, what "
		       "they waited for and who had the CPU they wanted, system calls, disks and "
		       "sockets.\n\n"
		       "Self time is an operation's time without the operations nested in it; the "
		       "self times "
		       "sum to the whole. Percentiles are exact.\n\n"
		       "With --html all of it goes into a page for a browser that needs neither "
		       "network nor server.\n\n"
		       "With --step, --from, --to and --process only a part of the trace is looked "
		       "at: what reaches out of it counts as far as it lies inside. A TIME is "
		       "counted from the begin of the trace: 250ms, 1.5s, 10 (seconds), 2m. Steps "
		       "are those that the program marks; where it marks none, those that can be "
		       "inferred from what it launches, counted from 0.\n\n"
		       "TRACE is a trace folder, or a trace of PyTorch's profiler or any other in "
		       "the Chrome "
		       "format; it defaults to the newest *.mill in the current folder.",
	.options = options,
	.examples = examples,
	.run = run,
	.operands_max = 1,
};
