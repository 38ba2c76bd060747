/* SPDX-License-Identifier: Apache-2.0
 *
 * Why the devices were idle, in sentences: the three largest causes of each device, how much is explained, and
 * the longest gaps.
 */
#include "analysis/analysis.h"

#include <inttypes.h>

#include "analysis/cause/activity.h"
#include "analysis/cause/idle_gaps.h"
#include "analysis/cause/idle_tables.h"
#include "analysis/cause/waiting.h"
#include "analysis/device_time.h"
#include "base/error.h"
#include "base/format.h"

enum {
	CAUSES = 3,           /* named in a sentence */
	EXAMPLES = 3,         /* longest gaps */
	BUSY_PERCENT = 90,    /* a device that is busy as much is not held up */
	COVERED_PERCENT = 90, /* is enough */
	MOST_PERCENT = 99,    /* is nearly all */
};

struct report {
	const struct mr_model *model; /* the whole one */
	struct mr_findings *findings;
	struct mr_finding *finding;
	struct mr_idle idle;
	struct mr_step_index steps;
};

static const char *ns_text(const struct report *report, int64_t ns)
{
	char text[MR_FORMAT_BYTES];

	mr_format_ns(text, ns, true);
	return mr_region_print(&report->findings->region, "%s", text);
}

static const char *percent_text(const struct report *report, int64_t part, int64_t whole)
{
	char text[MR_FORMAT_BYTES];

	mr_format_percent(text, part, whole);
	return mr_region_print(&report->findings->region, "%s", text);
}

/* At least so much of the whole. */
static bool is_percent(int64_t part, int64_t whole, int percent)
{
	return (__int128)part * 100 >= (__int128)whole * percent;
}

/* ---- the largest causes of some pieces ----------------------------------------------------------- */

struct pieces {
	uint32_t first;
	uint32_t count;
};

/* The number of the system call in which the thread of a piece was blocked, or UINT32_MAX. */
static uint32_t find_system_call(const struct mr_model *model, const struct mr_idle_piece *piece)
{
	struct mr_activity activity;

	mr_activity_find(model, NULL, piece->thread, piece->start_ns, &activity);
	uint32_t call = model->states.system_call[activity.state];
	return call == MR_NO_ROW ? UINT32_MAX : model->system_calls.number[call];
}

/* ", in pread64", if that is so of all pieces of a wait for the disk. */
static const char *tell_system_call(const struct report *report, struct pieces pieces,
				    const struct mr_idle_cause *cause)
{
	const struct mr_idle *idle = &report->idle;
	uint32_t number = UINT32_MAX;

	if (mr_chain_link(&idle->chains, cause->headline)->kind != MR_CAUSE_DISK)
		return "";
	for (uint32_t i = pieces.first; i < pieces.first + pieces.count; i++) {
		const struct mr_idle_piece *piece = &idle->pieces.items[i];

		if (mr_idle_headline(idle, piece->chain) != cause->headline)
			continue;
		uint32_t found = find_system_call(report->model, piece);
		if (found == UINT32_MAX || (number != UINT32_MAX && found != number))
			return "";
		number = found;
	}
	const char *name = mr_system_call_text(report->model, report->findings, number);
	return name ? mr_region_print(&report->findings->region, ", in %s", name) : NULL;
}

static const char *clause_text(const struct report *report, struct pieces pieces,
			       const struct mr_idle_cause *cause)
{
	struct mr_region *region = &report->findings->region;
	const char *clause = mr_chain_clause(report->model, region, &report->idle.chains,
					     cause->headline, cause->thread);
	const char *call = tell_system_call(report, pieces, cause);

	return clause && call ? mr_region_print(region, "%s%s", clause, call) : NULL;
}

/* "15.1 ms because ..."; where culprits differ, with the worst. */
static const char *kind_text(const struct report *report, struct pieces pieces,
			     enum mr_cause_kind kind, int64_t total_ns,
			     const struct mr_idle_cause *worst)
{
	struct mr_region *region = &report->findings->region;
	const char *total = ns_text(report, total_ns), *part = ns_text(report, worst->total_ns);
	const char *clause = clause_text(report, pieces, worst);

	if (!total || !part || !clause)
		return NULL;
	if (is_percent(worst->total_ns, total_ns, MOST_PERCENT))
		return mr_region_print(region, "%s because %s", total, clause);
	return mr_region_print(region, "%s %s, of which %s because %s", total, mr_cause_noun(kind),
			       part, clause);
}

/* Kinds of causes by time. */
struct kinds {
	int64_t total_ns[MR_CAUSE_COUNT];
	const struct mr_idle_cause *worst[MR_CAUSE_COUNT];
};

static struct kinds add_up_kinds(const struct mr_chains *chains, const struct mr_idle_cause *causes,
				 uint32_t count)
{
	struct kinds kinds = {0};

	for (uint32_t i = 0; i < count; i++) {
		uint16_t kind = mr_chain_link(chains, causes[i].headline)->kind;

		kinds.total_ns[kind] += causes[i].total_ns;
		if (!kinds.worst[kind])
			kinds.worst[kind] = &causes[i];
	}
	return kinds;
}

static enum mr_cause_kind largest_kind(const struct kinds *kinds)
{
	enum mr_cause_kind largest = 0;

	for (uint32_t kind = 1; kind < MR_CAUSE_COUNT; kind++)
		if (kinds->total_ns[kind] > kinds->total_ns[largest])
			largest = kind;
	return largest;
}

/* "15.1 ms because ...; 3.00 ms because ...; 0.3 ms for other reasons". NULL without memory. */
static const char *causes_text(const struct report *report, struct pieces pieces, int64_t idle_ns)
{
	struct mr_region *region = &report->findings->region;
	mr_auto(free) struct mr_idle_cause *causes = NULL;
	const char *text = "";
	uint32_t count;

	if (mr_idle_causes(&report->idle, pieces.first, pieces.count, &causes, &count) < 0)
		return NULL;
	struct kinds kinds = add_up_kinds(&report->idle.chains, causes, count);
	for (uint32_t i = 0; i < CAUSES && idle_ns > 0; i++) {
		enum mr_cause_kind kind = largest_kind(&kinds);
		const char *part =
			kind_text(report, pieces, kind, kinds.total_ns[kind], kinds.worst[kind]);

		text = part ? mr_region_print(region, "%s%s%s", text, *text ? "; " : "", part)
			    : NULL;
		if (!text)
			return NULL;
		idle_ns -= kinds.total_ns[kind];
		kinds.total_ns[kind] = 0;
	}
	if (idle_ns == 0)
		return text;
	const char *rest = ns_text(report, idle_ns);
	return rest ? mr_region_print(region, "%s; %s for other reasons", text, rest) : NULL;
}

/* ---- sentences ---------------------------------------------------------------------------------- */

static int say_device(const struct report *report, const struct mr_idle_device *device)
{
	int64_t span_ns = device->end_ns - device->first_ns, busy_ns = mr_idle_busy_ns(device);
	bool is_busy = is_percent(busy_ns, span_ns, BUSY_PERCENT);
	const char *name = mr_device_name(report->model, device->device);
	const char *share = percent_text(report, is_busy ? busy_ns : device->idle_ns, span_ns);
	const char *span = ns_text(report, span_ns), *idle = ns_text(report, device->idle_ns);
	const char *causes = causes_text(
		report, (struct pieces){device->first_piece, device->piece_count}, device->idle_ns);

	if (!share || !span || !idle || !causes)
		return -ENOMEM;
	if (device->idle_ns == 0)
		return mr_finding_say(report->findings, report->finding, MR_SEVERITY_FINE,
				      "%s was busy all the time (%s).", name, span);
	if (is_busy)
		return mr_finding_say(report->findings, report->finding, MR_SEVERITY_FINE,
				      "%s was busy %s of the time (%s). It was idle for %s: %s.",
				      name, share, span, idle, causes);
	return mr_finding_say(report->findings, report->finding, MR_SEVERITY_NOTE,
			      "%s was idle for %s (%s of %s): %s.", name, idle, share, span,
			      causes);
}

/* Idle time of all devices. */
struct sums {
	int64_t span_ns;
	int64_t idle_ns;
	int64_t explained_ns;
	int64_t untraced_ns;
};

static struct sums add_up(const struct mr_idle *idle)
{
	struct sums sums = {0};

	for (size_t i = 0; i < idle->devices.count; i++) {
		const struct mr_idle_device *device = &idle->devices.items[i];

		sums.span_ns += device->end_ns - device->first_ns;
		sums.idle_ns += device->idle_ns;
		sums.explained_ns += device->explained_ns;
	}
	for (size_t i = 0; i < idle->pieces.count; i++) {
		const struct mr_idle_piece *piece = &idle->pieces.items[i];
		uint32_t headline = mr_idle_headline(idle, piece->chain);

		if (mr_chain_link(&idle->chains, headline)->kind == MR_CAUSE_UNTRACED)
			sums.untraced_ns += piece->duration_ns;
	}
	return sums;
}

/* What is missing matters where devices were idle. */
static int say_coverage(const struct report *report)
{
	struct sums sums = add_up(&report->idle);
	bool is_fine = is_percent(sums.explained_ns, sums.idle_ns, COVERED_PERCENT) ||
		       is_percent(sums.span_ns - sums.idle_ns, sums.span_ns, BUSY_PERCENT);
	enum mr_severity severity = is_fine ? MR_SEVERITY_FINE : MR_SEVERITY_NOTE;
	const char *explained = percent_text(report, sums.explained_ns, sums.idle_ns);
	const char *untraced = percent_text(report, sums.untraced_ns, sums.idle_ns);

	if (!explained || !untraced)
		return -ENOMEM;
	if (sums.idle_ns == 0)
		return 0;
	if (sums.untraced_ns == 0 || report->model->states.table.count)
		return mr_finding_say(report->findings, report->finding, severity,
				      "The trace explains %s of the idle time.", explained);
	return mr_finding_say(
		report->findings, report->finding, severity,
		"The trace explains %s of the idle time. Another %s passed in threads "
		"outside any runtime call, which only the kernel level could explain.",
		explained, untraced);
}

/* ---- the longest gaps --------------------------------------------------------------------------- */

struct gap {
	uint32_t device; /* of the result */
	struct mr_gap_pieces whole;
};

/* Keeps the longest, in order. */
static void keep(struct gap *longest, struct gap gap)
{
	for (uint32_t i = 0; i < EXAMPLES; i++)
		if (gap.whole.duration_ns > longest[i].whole.duration_ns) {
			struct gap shorter = longest[i];

			longest[i] = gap;
			gap = shorter;
		}
}

/* Those that an operation ended. */
static void find_gaps(const struct mr_idle *idle, uint32_t number, struct gap *longest)
{
	struct gap gap = {.device = number};

	while (mr_gap_next(idle, &idle->devices.items[number], &gap.whole))
		if (idle->pieces.items[gap.whole.first].operation != MR_NO_ROW)
			keep(longest, gap);
}

/* "aten::mul (step 41)" */
static const char *name_end(const struct report *report, uint32_t operation)
{
	struct mr_region *region = &report->findings->region;
	uint32_t step = report->model->device_operations.step_row[operation];
	const char *name = mr_name_text(region, mr_operation_text(report->model, operation));

	if (!name || step == MR_NO_ROW)
		return name;
	return mr_region_print(region, "%s (step %" PRIu64 ")", name,
			       report->steps.list.steps.items[step].number);
}

static int tell_gap(const struct report *report, const struct gap *gap)
{
	const struct mr_model *model = report->model;
	const struct mr_idle_piece *piece = &report->idle.pieces.items[gap->whole.first];
	const struct pieces pieces = {gap->whole.first, gap->whole.count};
	uint32_t device = report->idle.devices.items[gap->device].device;
	const char *name = mr_device_name(model, device);
	const char *end = name_end(report, piece->operation);
	const char *causes = causes_text(report, pieces, gap->whole.duration_ns);
	const char *duration = ns_text(report, gap->whole.duration_ns);

	if (!end || !causes || !duration ||
	    mr_finding_say(report->findings, report->finding, MR_SEVERITY_FINE,
			   "%s was idle for %s before %s: %s.", name, duration, end, causes) < 0)
		return -ENOMEM;
	const char *what =
		mr_region_print(&report->findings->region, "%s idle before %s", name, end);
	if (!what)
		return -ENOMEM;
	return mr_finding_prove(
		report->finding,
		(struct mr_evidence){.what = what,
				     .track = model->device_operations.track[piece->operation],
				     .pid = mr_operation_pid(model, piece->operation),
				     .start_ns = piece->start_ns,
				     .duration_ns = gap->whole.duration_ns});
}

static int tell_gaps(const struct report *report)
{
	struct gap longest[EXAMPLES] = {0};
	int result = 0;

	for (uint32_t i = 0; i < report->idle.devices.count; i++)
		find_gaps(&report->idle, i, longest);
	for (uint32_t i = 0; result == 0 && i < EXAMPLES && longest[i].whole.duration_ns; i++)
		result = tell_gap(report, &longest[i]);
	return result;
}

/* ---- all together ------------------------------------------------------------------------------- */

static int tell(struct report *report)
{
	int result = 0;

	report->finding = mr_finding_begin(report->findings, "idle");
	if (!report->finding)
		return -ENOMEM;
	for (size_t i = 0; result == 0 && i < report->idle.devices.count; i++)
		result = say_device(report, &report->idle.devices.items[i]);
	if (result == 0)
		result = say_coverage(report);
	if (result == 0)
		result = tell_gaps(report);
	return result < 0 ? result
			  : mr_idle_tabulate(report->model, &report->idle, &report->steps,
					     report->findings, report->finding);
}

int mr_analyse_idle(const struct mr_model *model, struct mr_findings *findings)
{
	struct report report = {.model = mr_model_whole(model), .findings = findings};
	int result = mr_idle_make(model, &report.idle);

	if (result < 0)
		return result;
	if (report.idle.devices.count)
		result = mr_step_index_make(report.model, &report.steps);
	if (result == 0 && report.idle.devices.count)
		result = tell(&report);
	mr_idle_free(&report.idle);
	mr_step_index_free(&report.steps);
	return result < 0 ? mr_fail_errno(-result, "explain why devices were idle") : 0;
}
