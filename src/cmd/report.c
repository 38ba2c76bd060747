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
	static mr_analysis *const analyses[] = {
		mr_analyse_health,       mr_analyse_devices,      mr_analyse_device_operations,
		mr_analyse_calls,        mr_analyse_operations,   mr_analyse_memory,
		mr_analyse_threads,      mr_analyse_waits,        mr_analyse_preemption,
		mr_analyse_system_calls, mr_analyse_input_output, NULL,
	};

	return mr_present(count, operands, analyses, given.json, true);
}

const struct mr_command mr_command_report = {
	.name = "report",
	.summary = "show where the time went",
	.operands = "[TRACE]",
	.description = "Shows what ran, the trace's health, and then where the time went: devices, "
		       "busy and idle; "
		       "device operations; runtime calls; the dataflow graph by node, by type "
		       "of operation and by thread; steps; memory; threads, what they waited for "
		       "and who had the CPU they wanted; system calls; disks and sockets.\n\n"
		       "Self time is an operation's time without the operations nested in it; the "
		       "self times "
		       "sum to the whole. Percentiles are exact.\n\n"
		       "TRACE is a trace folder, or a trace of PyTorch's profiler or any other in "
		       "the Chrome "
		       "format; it defaults to the newest *.mill in the current folder.",
	.options = options,
	.examples = examples,
	.run = run,
	.operands_max = 1,
};
