/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/analysis.h"

#include <inttypes.h>
#include <string.h>

#include "analysis/device_order.h"
#include "analysis/framework_health.h"
#include "analysis/kernel_health.h"
#include "analysis/loss.h"
#include "base/error.h"
#include "base/format.h"

/* What every part below needs. */
struct health {
	const struct mr_model *model;
	struct mr_findings *findings;
	struct mr_finding *finding;
};

#define say(health, severity, ...) \
	mr_finding_say((health)->findings, (health)->finding, severity, __VA_ARGS__)

/* ---- what was lost ------------------------------------------------------------------------------ */

static const struct mr_enum_desc *find_enum(const char *name)
{
	const struct mr_enum_desc *desc = mr_enum_table;

	while (desc->name && strcmp(desc->name, name) != 0)
		desc++;
	return desc;
}

static int tabulate_losses(struct health *health, uint64_t lost)
{
	static const struct mr_finding_column columns[] = {
		{"reason", "reason", MR_UNIT_TEXT, 0},
		{"events", "events", MR_UNIT_COUNT, MR_COLUMN_BREAKDOWN},
	};
	const struct mr_enum_desc *reasons = find_enum("loss_reason");
	struct mr_finding_table *table =
		mr_finding_add_table(health->findings, health->finding, "losses", "Lost events",
				     columns, mr_countof(columns), reasons->value_count + 1);
	uint32_t row = 0;

	if (!table)
		return -ENOMEM;
	table->wholes[1] = (int64_t)lost;
	for (uint32_t i = 0; i < reasons->value_count; i++) {
		uint64_t count = health->model->survey->losses[reasons->values[i].number];

		if (count == 0)
			continue;
		mr_finding_value(table, row, 0)->text = reasons->values[i].name;
		mr_finding_value(table, row++, 1)->number = (int64_t)count;
		lost -= count;
	}
	if (lost) {
		mr_finding_value(table, row, 0)->text = "reason not recorded";
		mr_finding_value(table, row++, 1)->number = (int64_t)lost;
	}
	table->row_count = row;
	mr_finding_check(table);
	return 0;
}

static int tell_losses(struct health *health)
{
	const struct mr_model *model = health->model;
	uint64_t lost = mr_count_lost_events(model);

	if (model->manifest->lost_definitions &&
	    say(health, MR_SEVERITY_WARNING,
		"%" PRIu64 " definition%s could not be recorded: some names are missing.",
		model->manifest->lost_definitions,
		mr_plural(model->manifest->lost_definitions)) < 0)
		return -ENOMEM;
	if (lost == 0)
		return 0;
	if (say(health, MR_SEVERITY_WARNING,
		"%" PRIu64 " event%s could not be recorded: counts and times are too low.", lost,
		mr_plural(lost)) < 0)
		return -ENOMEM;
	return tabulate_losses(health, lost);
}

/* The flight recorder drops packets on purpose; without it a missing packet is damage. */
static int tell_missing(struct health *health)
{
	const struct mr_survey *survey = health->model->survey;
	const struct mr_manifest *manifest = health->model->manifest;

	if (manifest->overwritten_packets) {
		int64_t from_ns = mr_clock_to_ns(survey->clocks->user, manifest->kept_from_ticks);
		int64_t kept_ms = (survey->last_ns - from_ns) / 1000000;

		return say(health, MR_SEVERITY_NOTE,
			   "As requested, millrace kept only the newest %" PRId64 ".%03" PRId64
			   " s: %" PRIu64 " older packet%s overwritten.",
			   kept_ms / 1000, kept_ms % 1000, manifest->overwritten_packets,
			   manifest->overwritten_packets == 1 ? " was" : "s were");
	}
	if (survey->missing_packets)
		return say(health, MR_SEVERITY_WARNING,
			   "%" PRIu64 " packet%s of events %s missing from the middle of a stream.",
			   survey->missing_packets, mr_plural(survey->missing_packets),
			   survey->missing_packets == 1 ? "is" : "are");
	return 0;
}

static int tell_damage(struct health *health)
{
	static const struct mr_finding_column columns[] = {
		{"file", "file", MR_UNIT_TEXT, 0},
		{"offset", "offset", MR_UNIT_NUMBER, 0},
		{"lost_bytes", "lost", MR_UNIT_BYTES, MR_COLUMN_BREAKDOWN},
		{"reason", "reason", MR_UNIT_TEXT, 0},
	};
	const struct mr_trace *trace = health->model->trace;

	if (trace->damage_count == 0)
		return 0;
	struct mr_finding_table *table =
		mr_finding_add_table(health->findings, health->finding, "damage", "Damage", columns,
				     mr_countof(columns), trace->damage_count);
	if (!table)
		return -ENOMEM;
	for (uint32_t i = 0; i < trace->damage_count; i++) {
		mr_finding_value(table, i, 0)->text = trace->damages[i].file;
		mr_finding_value(table, i, 1)->number = (int64_t)trace->damages[i].offset;
		mr_finding_value(table, i, 2)->number = (int64_t)trace->damages[i].lost_bytes;
		mr_finding_value(table, i, 3)->text = trace->damages[i].reason;
	}
	table->wholes[2] = (int64_t)health->model->survey->lost_bytes;
	mr_finding_check(table);
	return say(health, MR_SEVERITY_WARNING, "The trace is damaged in %u place%s.",
		   trace->damage_count, mr_plural(trace->damage_count));
}

/* What was cut off at the end of a packet, or whole files that are gone, leaves no damage to see. */
static int tell_missing_bytes(struct health *health)
{
	uint64_t missing = mr_count_missing_bytes(health->model);

	if (missing == 0)
		return 0;
	return say(health, MR_SEVERITY_WARNING,
		   "%" PRIu64
		   " byte%s of recorded events %s missing: files were removed or shortened since.",
		   missing, mr_plural(missing), missing == 1 ? "is" : "are");
}

/* ---- what was not instrumented ------------------------------------------------------------------ */

/* One that was, until it became another user, has a reason, too. */
static bool is_not_instrumented(const struct mr_manifest_process *process)
{
	return !process->traced || process->reason;
}

static int tell_not_instrumented(struct health *health)
{
	static const struct mr_finding_column columns[] = {
		{"pid", "pid", MR_UNIT_NUMBER, 0},
		{"program", "program", MR_UNIT_TEXT, MR_COLUMN_TELLING},
		{"reason", "reason", MR_UNIT_TEXT, MR_COLUMN_TELLING},
	};
	const struct mr_manifest *manifest = health->model->manifest;
	uint32_t count = 0, row = 0;

	for (size_t i = 0; i < manifest->process_count; i++)
		count += is_not_instrumented(&manifest->processes[i]);
	if (count == 0)
		return 0;
	struct mr_finding_table *table = mr_finding_add_table(
		health->findings, health->finding, "untraced", "Processes not instrumented",
		columns, mr_countof(columns), count);
	if (!table)
		return -ENOMEM;
	for (size_t i = 0; i < manifest->process_count; i++) {
		const struct mr_manifest_process *process = &manifest->processes[i];
		if (!is_not_instrumented(process))
			continue;
		mr_finding_value(table, row, 0)->number = process->pid;
		mr_finding_value(table, row, 1)->text = process->program ? process->program : "?";
		mr_finding_value(table, row++, 2)->text = process->reason ? process->reason : "?";
	}
	return say(health, MR_SEVERITY_WARNING,
		   "%u process%s not instrumented: the trace lacks what happened inside %s.", count,
		   count == 1 ? " was" : "es were", count == 1 ? "it" : "them");
}

static int tell_removed_arena(struct health *health)
{
	uint64_t removals = health->model->manifest->arena_removals;

	if (removals == 0)
		return 0;
	return say(health, MR_SEVERITY_NOTE,
		   "Something removed the recording's buffer from /dev/shm %" PRIu64
		   " time%s while it was in use, as cleaners do: programs that started in that "
		   "moment, or may not look into the recorder, were not instrumented.",
		   removals, mr_plural(removals));
}

static int tell_unseen(struct health *health)
{
	if (!health->model->manifest->unseen_processes_possible)
		return 0;
	return say(health, MR_SEVERITY_FINE,
		   "Some processes may be missing: without the complete kernel level millrace "
		   "sees only those that instrumented programs start in the usual ways.");
}

static int tell_not_traced(struct health *health)
{
	char names[MR_NAMES_BYTES];

	if (!mr_name_not_traced(health->model->survey, names))
		return 0;
	return say(health, MR_SEVERITY_NOTE,
		   "The program loaded %s, which this version of millrace does not trace.", names);
}

static int tell_empty(struct health *health)
{
	char sentence[MR_EMPTY_BYTES];

	if (!mr_explain_empty(health->model, sentence))
		return tell_not_traced(health);
	/* The kernel level has something to say all the same. */
	return say(health,
		   health->model->states.table.count ? MR_SEVERITY_NOTE : MR_SEVERITY_WARNING, "%s",
		   sentence);
}

/* ---- how the recording went --------------------------------------------------------------------- */

static int tell_state(struct health *health)
{
	const struct mr_manifest *manifest = health->model->manifest;
	const char *state = manifest->state ? manifest->state : "complete";

	if (manifest->problem)
		return say(health, MR_SEVERITY_WARNING,
			   "%s: the trace does not fully say what ran.", manifest->problem);
	if (strcmp(state, "complete") == 0)
		return 0;
	if (mr_model_is_imported(health->model))
		return say(
			health, MR_SEVERITY_NOTE,
			"Another tool wrote this trace. It gives times to the %s; how exact they "
			"are is not known.",
			health->model->trace->metadata.user.precision_ns > 1 ? "microsecond"
									     : "nanosecond");
	if (strcmp(state, "recording") == 0)
		return say(health, MR_SEVERITY_WARNING,
			   "The recording is still running. This is what it has written so far; "
			   "'millrace snapshot' copies all of it.");
	if (strcmp(state, "lost") == 0)
		return say(health, MR_SEVERITY_WARNING,
			   "The recorder was killed and its buffer is gone: the last events are "
			   "missing.");
	if (strcmp(state, "recovered") == 0)
		return say(health, MR_SEVERITY_NOTE,
			   "The recorder was killed; its trace was recovered.");
	return say(health, MR_SEVERITY_WARNING,
		   "The recording was %s before the program's end%s%s.", state,
		   manifest->stop_reason ? ": " : "",
		   manifest->stop_reason ? manifest->stop_reason : "");
}

static int tell_count(struct health *health, uint64_t count, enum mr_severity severity,
		      const char *one, const char *many)
{
	if (count == 0)
		return 0;
	return say(health, severity, "%" PRIu64 " %s.", count, count == 1 ? one : many);
}

/* Definitions and clock samples of a recording that goes on are still on their way to the disk. */
static bool is_going_on(const struct mr_model *model)
{
	return model->manifest->state && strcmp(model->manifest->state, "recording") == 0;
}

static int tell_anomalies(struct health *health)
{
	const struct mr_anomalies *anomalies = &health->model->anomalies;
	const struct mr_survey *survey = health->model->survey;
	const struct {
		uint64_t count;
		enum mr_severity severity;
		const char *one, *many;
	} list[] = {
		{survey->malformed_packets, MR_SEVERITY_WARNING,
		 "packet holds an invalid event; what follows it in the packet is left out",
		 "packets hold an invalid event; what follows it in each packet is left out"},
		{survey->unknown_events, MR_SEVERITY_NOTE,
		 "event is of a type that this version does not know",
		 "events are of types that this version does not know"},
		{survey->definitions.impossible, MR_SEVERITY_WARNING,
		 "definition has an invalid id", "definitions have an invalid id"},
		{is_going_on(health->model) ? 0 : anomalies->undefined, MR_SEVERITY_WARNING,
		 "execution belongs to a node that the trace does not define",
		 "executions belong to nodes that the trace does not define"},
		{anomalies->unplaced, MR_SEVERITY_WARNING,
		 "event is left out: its times are of a clock that was never sampled",
		 "events are left out: their times are of a clock that was never sampled"},
		{anomalies->backwards, MR_SEVERITY_WARNING,
		 "interval ends before it starts; it counts as empty",
		 "intervals end before they start; they count as empty"},
		{anomalies->overlapping, MR_SEVERITY_NOTE,
		 "interval overlaps another of its thread without nesting",
		 "intervals overlap others of their thread without nesting"},
		{anomalies->too_deep, MR_SEVERITY_NOTE,
		 "interval is nested too deep: where it lies is known only down to level 1024",
		 "intervals are nested too deep: where they lie is known only down to level 1024"},
		{anomalies->unfinished, MR_SEVERITY_NOTE,
		 "interval was open when its thread or the recording ended; it counts up to there",
		 "intervals were open when their thread or the recording ended; they count up to "
		 "there"},
		{anomalies->unfinished_operations, MR_SEVERITY_NOTE,
		 "device operation was launched but not seen to end; it counts as taking no time",
		 "device operations were launched but not seen to end; they count as taking no "
		 "time"},
		{anomalies->untimed_operations, MR_SEVERITY_WARNING,
		 "device operation counts as taking no time: the runtime gave no times for it, "
		 "or its clock was never sampled",
		 "device operations count as taking no time: the runtime gave no times for them, "
		 "or their clock was never sampled"},
		{anomalies->uncorrelated, MR_SEVERITY_NOTE,
		 "device operation cannot be tied to the call that launched it",
		 "device operations cannot be tied to the calls that launched them"},
		{anomalies->ambiguous, MR_SEVERITY_WARNING,
		 "runtime call has the correlation of another of its process",
		 "runtime calls have the correlation of another of their process"},
	};

	for (size_t i = 0; i < mr_countof(list); i++)
		if (tell_count(health, list[i].count, list[i].severity, list[i].one, list[i].many) <
		    0)
			return -ENOMEM;
	return 0;
}

/* Sums of times that cannot be would be wrong, and look as if they could. */
static int tell_sums(struct health *health, const struct mr_table *table)
{
	const int64_t *duration_ns = mr_table_columns((struct mr_table *)table)[2];
	__int128 sum_ns = 0;

	if (!mr_table_is_interval(table))
		return 0;
	for (uint32_t row = 0; row < table->count; row++)
		sum_ns += duration_ns[row];
	return sum_ns <= INT64_MAX ? 0
				   : say(health, MR_SEVERITY_WARNING,
					 "The times of all %s together are more than 292 years: "
					 "their sums are wrong.",
					 table->desc->name);
}

static int tell_all_sums(struct health *health)
{
#define TELL_SUMS(name)                                        \
	if (tell_sums(health, &health->model->name.table) < 0) \
		return -ENOMEM;
	MR_TABLES(TELL_SUMS)
#undef TELL_SUMS
	return 0;
}

static int tell_devices(struct health *health)
{
	return mr_tell_device_order(health->model, health->findings, health->finding);
}

static int tell_clocks(struct health *health)
{
	const struct mr_survey *survey = health->model->survey;
	uint64_t bound = mr_clock_max_bound_ns(survey->clocks->user, survey->first_user_ticks,
					       survey->last_user_ticks);

	if (mr_model_is_imported(health->model) ||
	    (bound == MR_CLOCK_BOUND_UNKNOWN && is_going_on(health->model)))
		return 0;
	if (bound == MR_CLOCK_BOUND_UNKNOWN)
		return say(health, MR_SEVERITY_WARNING,
			   "How exact the times are is not known: the trace has too few clock "
			   "samples.");
	return say(health, MR_SEVERITY_FINE, "%sTimes are exact within %" PRIu64 " ns.",
		   health->finding->severity == MR_SEVERITY_FINE ? "Nothing was lost. " : "",
		   bound);
}

static int tell_kernel(struct health *health)
{
	return mr_tell_kernel_health(health->model, health->findings, health->finding);
}

static int tell_frameworks(struct health *health)
{
	return mr_tell_framework_health(health->model, health->findings, health->finding);
}

/* Before and after that only births and ends of tasks are known. */
static int tell_part(struct health *health)
{
	const struct mr_survey *survey = health->model->survey;
	const struct mr_window recorded = mr_model_recorded(health->model);
	char from[MR_FORMAT_BYTES], to[MR_FORMAT_BYTES];

	if (survey->recorded.on_ns == INT64_MIN && survey->recorded.off_ns == INT64_MAX)
		return 0;
	mr_format_ns(from, recorded.first_ns - survey->first_ns, true);
	mr_format_ns(to, recorded.last_ns - survey->first_ns, true);
	return say(health, MR_SEVERITY_FINE,
		   "As requested, millrace recorded from %s to %s of the trace. What threads did "
		   "before and after is not known.",
		   from, to);
}

/* A guest's threads do not run while its host runs somebody else's, and the guest does not notice. */
static int tell_stolen(struct health *health)
{
	const struct mr_manifest *manifest = health->model->manifest;
	char time[MR_FORMAT_BYTES];

	if (manifest->stolen_ns == 0)
		return 0;
	const double share = (double)manifest->stolen_ns / (double)manifest->cpu_ns;
	mr_format_ns(time, (int64_t)manifest->stolen_ns, true);
	return say(health, share < 0.01 ? MR_SEVERITY_FINE : MR_SEVERITY_NOTE,
		   "This is a virtual machine, and its host took %.1f%% of its CPU time (%s). "
		   "Threads that had a CPU then count as running.",
		   100 * share, time);
}

/* What the recorder takes is missing elsewhere. */
static int tell_recorder(struct health *health)
{
	const struct mr_manifest *manifest = health->model->manifest;
	char time[MR_FORMAT_BYTES], share[MR_FORMAT_BYTES];

	if (manifest->recorder_cpu_ns == 0 || manifest->duration_ns <= 0)
		return 0;
	mr_format_ns(time, (int64_t)manifest->recorder_cpu_ns, true);
	mr_format_percent(share, (int64_t)manifest->recorder_cpu_ns, manifest->duration_ns);
	return say(health, MR_SEVERITY_FINE,
		   "Recording took millrace itself %s of CPU time, %s of one CPU.", time, share);
}

static int tell_levels(struct health *health)
{
	const struct mr_manifest *manifest = health->model->manifest;
	static const char *const all[] = {"kernel", "runtime", "dataflow"};
	char absent[64] = "";

	if (manifest->problem || mr_model_is_imported(health->model))
		return 0;
	for (size_t i = 0; i < mr_countof(all); i++) {
		bool is_on = false;

		for (size_t j = 0; j < manifest->level_count; j++)
			is_on |= strcmp(manifest->levels[j], all[i]) == 0;
		if (!is_on) {
			strcat(absent, *absent ? ", " : "");
			strcat(absent, all[i]);
		}
	}
	return *absent ? say(health, MR_SEVERITY_FINE, "Levels not recorded: %s.", absent) : 0;
}

int mr_analyse_health(const struct mr_model *model, struct mr_findings *findings)
{
	typedef int tell(struct health * health);
	/* tell_clocks() wants to know what the others before it found. */
	static tell *const parts[] = {
		tell_state,     tell_empty,         tell_losses,           tell_missing,
		tell_damage,    tell_missing_bytes, tell_not_instrumented, tell_removed_arena,
		tell_anomalies, tell_all_sums,      tell_devices,          tell_frameworks,
		tell_kernel,    tell_stolen,        tell_recorder,         tell_part,
		tell_clocks,    tell_unseen,        tell_levels,
	};
	struct health health = {mr_model_whole(model), findings,
				mr_finding_begin(findings, "health")};

	if (!health.finding)
		return mr_fail_errno(ENOMEM, "judge the trace's health");
	for (size_t i = 0; i < mr_countof(parts); i++)
		if (parts[i](&health) < 0)
			return mr_fail_errno(ENOMEM, "judge the trace's health");
	return 0;
}
