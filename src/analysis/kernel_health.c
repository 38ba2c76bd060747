/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/kernel_health.h"

#include <inttypes.h>
#include <string.h>

#include "base/format.h"

struct health {
	const struct mr_model *model;
	const struct mr_manifest_kernel *kernel;
	struct mr_findings *findings;
	struct mr_finding *finding;
};

#define say(health, severity, ...) \
	mr_finding_say((health)->findings, (health)->finding, severity, __VA_ARGS__)

static bool is_mode(const struct health *health, const char *mode)
{
	return health->kernel->mode && strcmp(health->kernel->mode, mode) == 0;
}

/* A user without the privilege need not read this in every report. */
static int tell_mode(const struct health *health)
{
	const char *reason = health->kernel->reason;

	if (is_mode(health, "off") && reason)
		return say(health, MR_SEVERITY_FINE, "The kernel level was not recorded: %s.",
			   reason);
	if (is_mode(health, "perf"))
		return say(health, MR_SEVERITY_NOTE,
			   "The kernel level shows when threads ran, but neither who woke them nor "
			   "what they "
			   "waited for: %s.",
			   reason ? reason : "it was recorded without privilege");
	return 0;
}

static int tell_off(const struct health *health)
{
	for (size_t i = 0; i < health->kernel->off_count; i++)
		if (say(health, MR_SEVERITY_FINE, "Not recorded on this kernel: %s: %s.",
			health->kernel->off[i].what, health->kernel->off[i].why) < 0)
			return -ENOMEM;
	return 0;
}

static int tell_recovered(const struct health *health)
{
	const char *state = health->model->manifest->state;

	if (!state || strcmp(state, "recovered") != 0 || !health->kernel->mode ||
	    is_mode(health, "off"))
		return 0;
	return say(health, MR_SEVERITY_NOTE,
		   "Up to the last second of the kernel level was lost with the recorder.");
}

static int tell_losses(const struct health *health)
{
	static const struct mr_finding_column columns[] = {
		{"cpu", "CPU", MR_UNIT_NUMBER, 0},
		{"lost_events", "events lost", MR_UNIT_COUNT, MR_COLUMN_SUM},
	};
	const struct mr_manifest_kernel *kernel = health->kernel;
	uint32_t count = 0, row = 0;

	for (size_t cpu = 0; cpu < kernel->cpu_count; cpu++)
		count += kernel->lost_by_cpu[cpu] != 0;
	if (count == 0)
		return 0;
	struct mr_finding_table *table =
		mr_finding_add_table(health->findings, health->finding, "losses_by_cpu",
				     "Events of the kernel level that found no room", columns,
				     mr_countof(columns), count);
	if (!table)
		return -ENOMEM;
	for (size_t cpu = 0; cpu < kernel->cpu_count; cpu++) {
		if (kernel->lost_by_cpu[cpu] == 0)
			continue;
		mr_finding_value(table, row, 0)->number = (int64_t)cpu;
		mr_finding_value(table, row++, 1)->number = (int64_t)kernel->lost_by_cpu[cpu];
	}
	return say(health, MR_SEVERITY_WARNING,
		   "The buffers of the kernel level were full at times: what threads did then is "
		   "not known. A larger --kernel-buffer avoids this.");
}

/* Since the trace begins; of CLOCK_MONOTONIC. */
static int64_t since_begin(const struct health *health, uint64_t ns)
{
	const struct mr_survey *survey = health->model->survey;

	return mr_clock_to_ns(mr_clocks_of_stream(survey->clocks, MR_STREAM_KERNEL), ns) -
	       survey->first_ns;
}

/* Counts of calls must not be taken for complete. */
static int tell_reduced(const struct health *health)
{
	static const struct mr_finding_column columns[] = {
		{"pid", "pid", MR_UNIT_NUMBER, 0},
		{"program", "program", MR_UNIT_TEXT, 0},
		{"since_ns", "since", MR_UNIT_NS, 0},
	};
	const struct mr_manifest_kernel *kernel = health->kernel;
	uint64_t others = kernel->processes_reduced - mr_min(kernel->processes_reduced, 1u);

	if (kernel->reduced_count == 0)
		return 0;
	struct mr_finding_table *table = mr_finding_add_table(
		health->findings, health->finding, "reduced",
		"Processes of whose system calls only those that block were recorded", columns,
		mr_countof(columns), (uint32_t)kernel->reduced_count);
	if (!table)
		return -ENOMEM;
	for (uint32_t i = 0; i < kernel->reduced_count; i++) {
		const struct mr_manifest_reduced *reduced = &kernel->reduced[i];

		mr_finding_value(table, i, 0)->number = reduced->pid;
		mr_finding_value(table, i, 1)->text = reduced->name ? reduced->name : "?";
		mr_finding_value(table, i, 2)->number = since_begin(health, reduced->since_ns);
	}
	char since[MR_FORMAT_BYTES], limit[32] = "too many", more[64] = "";
	mr_format_ns(since, mr_finding_value(table, 0, 2)->number, true);
	if (kernel->reduced_above)
		snprintf(limit, sizeof limit, "more than %" PRIu64, kernel->reduced_above);
	if (others)
		snprintf(more, sizeof more, ", and so did %" PRIu64 " other process%s", others,
			 others == 1 ? "" : "es");
	return say(health, MR_SEVERITY_NOTE,
		   "Process %u '%s' made %s system calls a second%s: from %s on only those that "
		   "block were recorded. --syscalls=all records every one.",
		   kernel->reduced[0].pid, mr_finding_value(table, 0, 1)->text, limit, more, since);
}

static int tell_all_reduced(const struct health *health)
{
	char since[MR_FORMAT_BYTES];

	if (health->kernel->all_reduced_since_ns == 0)
		return 0;
	mr_format_ns(since, since_begin(health, health->kernel->all_reduced_since_ns), false);
	return say(health, MR_SEVERITY_NOTE,
		   "The other processes made few system calls: from %s on, only those that block "
		   "were recorded of all processes, and the machine was not slowed down any more.",
		   since);
}

static int tell_guarded(const struct health *health)
{
	uint64_t count = health->kernel->guarded_threads;

	if (count == 0)
		return 0;
	return say(health, MR_SEVERITY_NOTE,
		   "%" PRIu64 " thread%s had rights that you do not have (a setuid program, or "
		   "another user): %s files, sockets and addresses are not in the trace. Root can "
		   "record them.",
		   count, count == 1 ? "" : "s", count == 1 ? "its" : "their");
}

static int tell_doubts(const struct health *health)
{
	uint64_t not_followed = health->kernel->not_followed;
	uint64_t contradictory = health->model->anomalies.contradictory;
	uint64_t ambiguous = health->model->survey->ambiguous_tasks;

	if (not_followed && say(health, MR_SEVERITY_WARNING,
				"The kernel level could not follow %" PRIu64 " thread%s.",
				not_followed, not_followed == 1 ? "" : "s") < 0)
		return -ENOMEM;
	if (contradictory &&
	    say(health, MR_SEVERITY_NOTE,
		"The kernel did not report %" PRIu64 " switch%s: what the thread did just before "
		"its next event is not known.",
		contradictory, contradictory == 1 ? "" : "es") < 0)
		return -ENOMEM;
	if (ambiguous &&
	    say(health, MR_SEVERITY_NOTE,
		"%" PRIu64 " thread%s of the kernel level could be one of several of the program; "
		"the report shows %s separately.",
		ambiguous, ambiguous == 1 ? "" : "s", ambiguous == 1 ? "it" : "them") < 0)
		return -ENOMEM;
	return 0;
}

int mr_tell_kernel_health(const struct mr_model *model, struct mr_findings *findings,
			  struct mr_finding *finding)
{
	const struct health health = {model, &model->manifest->kernel_level, findings, finding};

	if (tell_mode(&health) < 0 || tell_recovered(&health) < 0 || tell_losses(&health) < 0 ||
	    tell_reduced(&health) < 0 || tell_all_reduced(&health) < 0 ||
	    tell_guarded(&health) < 0 || tell_doubts(&health) < 0 || tell_off(&health) < 0)
		return -ENOMEM;
	return 0;
}
