/* SPDX-License-Identifier: Apache-2.0
 *
 * Where the time went, on half a page: how much of it lies outside the steps, what the devices did, what the end of the
 * run waited for, and the three largest causes. Everything is taken from the findings that are there already.
 */
#include "analysis/analysis.h"

#include <string.h>

#include "analysis/finding/tally.h"
#include "analysis/steps.h"
#include "base/error.h"
#include "base/format.h"

enum {
	CAUSES = 3,
	EVIDENCE = 3,
	DEVICES_SAID = 3,
	HELD_UP_PERMILLE = 100, /* a device that is idle less is not held up by anything */
	OUTSIDE_PERMILLE = 100, /* less time before and after the steps is not worth a word */
};

static const struct mr_finding_column time_columns[] = {
	{"what", "", MR_UNIT_TEXT, 0},
	{"part", "", MR_UNIT_TEXT, 0},
	{"time_ns", "time", MR_UNIT_NS, 0},
	{"share_permille", "share", MR_UNIT_PERMILLE, MR_COLUMN_BAR},
};
static const struct mr_finding_column cause_columns[] = {
	{"what", "of", MR_UNIT_TEXT, 0},
	{"cause", "cause", MR_UNIT_TEXT, 0},
	{"time_ns", "time", MR_UNIT_NS, 0},
	{"share_permille", "share", MR_UNIT_PERMILLE, 0},
	{"culprit", "worst culprit", MR_UNIT_TEXT, MR_COLUMN_TELLING},
	{"culprit_ns", "its time", MR_UNIT_NS, MR_COLUMN_SPARE},
	{"operation", "before", MR_UNIT_TEXT, MR_COLUMN_TELLING},
};

/* Why something took so long: all that has the same cause, and the worst of it. */
struct cause {
	const char *what;
	const char *cause;
	const char *culprit;
	const char *operation;
	int64_t device; /* number; MR_NO_VALUE: it is of the critical path */
	int64_t time_ns;
	int64_t whole_ns;
	int64_t culprit_ns;
};

struct overview {
	const struct mr_model *model;
	struct mr_findings *findings;
	struct mr_finding *finding;
	const struct mr_finding_table *devices;       /* of finding devices; each may be NULL */
	const struct mr_finding_table *communication; /* of finding communication */
	const struct mr_finding_table *levels;        /* of finding critical_path */
	const struct mr_finding_table *shares;
	const struct mr_finding_table *idle_devices; /* of finding idle */
	const struct mr_finding_table *idle_causes;
	const struct mr_finding_table *idle_by_all;
	const struct mr_finding_table *phases;  /* of finding steps */
	const struct mr_finding_table *threads; /* of finding threads */
	mr_vec(struct cause) causes;
};

static int64_t number_of(const struct mr_finding_table *table, uint32_t row, const char *key)
{
	return mr_finding_value(table, row, mr_finding_column(table, key))->number;
}

static const char *text_of(const struct mr_finding_table *table, uint32_t row, const char *key)
{
	return mr_finding_value(table, row, mr_finding_column(table, key))->text;
}

static uint32_t rows_of(const struct mr_finding_table *table)
{
	return table ? table->row_count : 0;
}

static int64_t path_ns(const struct overview *overview)
{
	return overview->levels->wholes[mr_finding_column(overview->levels, "time_ns")];
}

/* ---- in a sentence -------------------------------------------------------------------------------- */

static int say_devices(const struct overview *overview)
{
	for (uint32_t row = 0; row < rows_of(overview->devices) && row < DEVICES_SAID; row++) {
		int64_t span_ns = number_of(overview->devices, row, "span_ns");
		char busy[MR_FORMAT_BYTES], span[MR_FORMAT_BYTES];

		mr_format_percent(busy, number_of(overview->devices, row, "busy_ns"), span_ns);
		mr_format_ns(span, span_ns, true);
		if (span_ns > 0 &&
		    mr_finding_say(overview->findings, overview->finding, MR_SEVERITY_NOTE,
				   "%s was busy %s of %s.",
				   text_of(overview->devices, row, "device"), busy, span) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* Being busy with that is no computing. */
static int say_communication(const struct overview *overview)
{
	const struct mr_finding_table *table = overview->communication;

	for (uint32_t row = 0; row < rows_of(table) && row < DEVICES_SAID; row++) {
		int64_t span_ns = number_of(table, row, "span_ns");
		char exposed[MR_FORMAT_BYTES], hidden[MR_FORMAT_BYTES];

		mr_format_percent(exposed, number_of(table, row, "exposed_ns"), span_ns);
		mr_format_percent(hidden, number_of(table, row, "hidden_ns"), span_ns);
		if (mr_finding_say(overview->findings, overview->finding, MR_SEVERITY_NOTE,
				   "%s spent %s of the time on communication alone, and hid "
				   "communication of another %s behind its computing.",
				   text_of(table, row, "device"), exposed, hidden) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* Without a device, what the threads did: of all of them together. */
static int say_threads(const struct overview *overview)
{
	int64_t sums_ns[3] = {0};
	static const char *const keys[] = {"run_ns", "runnable_ns", "blocked_ns"};
	char texts[3][MR_FORMAT_BYTES];
	uint32_t count = rows_of(overview->threads);

	if (rows_of(overview->devices))
		return 0;
	if (count == 0)
		return mr_finding_say(overview->findings, overview->finding, MR_SEVERITY_NOTE,
				      "The trace has no work of a device, and no kernel level: it "
				      "does not show what the threads did between the calls and "
				      "operations that were recorded.");
	for (size_t i = 0; i < mr_countof(keys); i++) {
		for (uint32_t row = 0; row < count; row++)
			mr_ns_add(&sums_ns[i], number_of(overview->threads, row, keys[i]));
		mr_format_ns(texts[i], sums_ns[i], true);
	}
	return mr_finding_say(overview->findings, overview->finding, MR_SEVERITY_NOTE,
			      "No device did any work. All threads together ran on CPUs for %s, "
			      "waited %s for a CPU and were blocked for %s.",
			      texts[0], texts[1], texts[2]);
}

/* Whether the report looks at the steps alone, if nobody asks for more; or -ENOMEM. */
static int has_steady_steps(const struct mr_model *model)
{
	struct mr_step_list list = {0};
	struct mr_steady steady;
	int result = mr_step_list_make(model, NULL, &list);

	if (result == 0)
		result = mr_steps_steady(model, &list, &steady);
	mr_step_list_free(&list);
	return result;
}

/* A run that is short has most of its time before its first step. */
static int say_steps(const struct overview *overview)
{
	struct mr_window window = mr_model_window(overview->model);

	if (rows_of(overview->phases) == 0 || overview->model->whole)
		return 0;
	int64_t before_ns = number_of(overview->phases, MR_PHASE_BEFORE, "time_ns");
	int64_t after_ns = number_of(overview->phases, MR_PHASE_AFTER, "time_ns");
	int64_t whole_ns = window.last_ns - window.first_ns;
	char before[MR_FORMAT_BYTES], after[MR_FORMAT_BYTES], whole[MR_FORMAT_BYTES];

	if (mr_permille(before_ns + after_ns, whole_ns) < OUTSIDE_PERMILLE ||
	    before_ns + after_ns == whole_ns) /* the steps took no time */
		return 0;
	mr_format_percent(before, before_ns, whole_ns);
	mr_format_percent(after, after_ns, whole_ns);
	mr_format_ns(whole, whole_ns, true);
	int is_steady = has_steady_steps(overview->model);
	if (is_steady < 0)
		return is_steady;
	return mr_finding_say(overview->findings, overview->finding, MR_SEVERITY_NOTE,
			      "Of these %s, %s passed before the first step and %s after the last "
			      "one: %s.",
			      whole, before, after,
			      is_steady ? "without --whole the report looks at the steps alone"
					: "--step N looks at a step alone");
}

/* ---- as bars -------------------------------------------------------------------------------------- */

static void add_bar(struct mr_finding_table *table, const char *what, const char *part,
		    int64_t time_ns, int64_t whole_ns)
{
	union mr_value *cells = mr_finding_value(table, table->row_count, 0);

	if (time_ns == 0)
		return;
	cells[0].text = what;
	cells[1].text = part;
	cells[2].number = time_ns;
	cells[3].number = mr_permille(time_ns, whole_ns);
	table->row_count++;
}

static int add_bars(const struct overview *overview)
{
	static const char *const parts[][2] = {{"compute_ns", "device kernels"},
					       {"exposed_ns", "copies alone"},
					       {"idle_ns", "idle"}};
	struct mr_finding_table *table = mr_finding_add_table(
		overview->findings, overview->finding, "time",
		overview->devices ? "Devices and critical path" : "Critical path", time_columns,
		mr_countof(time_columns),
		mr_countof(parts) * rows_of(overview->devices) + rows_of(overview->levels));

	if (!table)
		return -ENOMEM;
	table->row_count = 0; /* those of no time are left out */
	for (uint32_t row = 0; row < rows_of(overview->devices); row++)
		for (size_t i = 0; i < mr_countof(parts); i++)
			add_bar(table, text_of(overview->devices, row, "device"), parts[i][1],
				number_of(overview->devices, row, parts[i][0]),
				number_of(overview->devices, row, "span_ns"));
	for (uint32_t row = 0; row < rows_of(overview->levels); row++)
		add_bar(table, "critical path", text_of(overview->levels, row, "level"),
			number_of(overview->levels, row, "time_ns"), path_ns(overview));
	return 0;
}

/* ---- causes --------------------------------------------------------------------------------------- */

/* The row of a device that is idle so much that it matters; MR_NO_ROW if it is not. */
static uint32_t find_held_up(const struct overview *overview, int64_t device)
{
	const struct mr_finding_table *devices = overview->idle_devices;

	for (uint32_t row = 0; row < rows_of(devices); row++)
		if (number_of(devices, row, "device_number") == device)
			return number_of(devices, row, "idle_permille") >= HELD_UP_PERMILLE
				       ? row
				       : MR_NO_ROW;
	return MR_NO_ROW;
}

static struct cause *find_cause(struct overview *overview, int64_t device, const char *name)
{
	for (size_t i = 0; i < overview->causes.count; i++) {
		struct cause *cause = &overview->causes.items[i];

		if (cause->device == device && strcmp(cause->cause, name) == 0)
			return cause;
	}
	return NULL;
}

/* Culprits of the same cause are one. They come with the worst first; one that has a name is better than one
 * that has not. */
static int add_cause(struct overview *overview, const struct cause *added)
{
	struct cause *cause = find_cause(overview, added->device, added->cause);

	if (!cause)
		return mr_vec_push(&overview->causes, *added);
	mr_ns_add(&cause->time_ns, added->time_ns);
	if (*cause->culprit == '\0' && *added->culprit) {
		cause->culprit = added->culprit;
		cause->culprit_ns = added->culprit_ns;
	}
	return 0;
}

/* The name of the only device says nothing. */
static const char *name_idle(const struct overview *overview, const char *device)
{
	return rows_of(overview->idle_devices) == 1
		       ? "idle time"
		       : mr_region_print(&overview->findings->region, "idle %s", device);
}

static int collect_idle(struct overview *overview)
{
	const struct mr_finding_table *causes = overview->idle_causes;

	for (uint32_t row = 0; row < rows_of(causes); row++) {
		int64_t device = number_of(causes, row, "device_number");
		uint32_t held_up = find_held_up(overview, device);

		if (held_up == MR_NO_ROW)
			continue;
		const struct cause cause = {
			.what = name_idle(overview, text_of(causes, row, "device")),
			.cause = text_of(causes, row, "cause"),
			.culprit = text_of(causes, row, "culprit"),
			.operation = "",
			.device = device,
			.time_ns = number_of(causes, row, "time_ns"),
			.whole_ns = number_of(overview->idle_devices, held_up, "idle_ns"),
			.culprit_ns = number_of(causes, row, "time_ns"),
		};
		if (!cause.what || add_cause(overview, &cause) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* Where no device is held up, what the end of the run waited for. */
static int collect_path(struct overview *overview)
{
	const struct mr_finding_table *shares = overview->shares;

	if (overview->causes.count)
		return 0;
	for (uint32_t row = 0; row < rows_of(shares); row++) {
		const struct cause cause = {
			.what = "critical path",
			.cause = text_of(shares, row, "cause"),
			.culprit = text_of(shares, row, "culprit"),
			.operation = "",
			.device = MR_NO_VALUE,
			.time_ns = number_of(shares, row, "time_ns"),
			.whole_ns = path_ns(overview),
			.culprit_ns = number_of(shares, row, "time_ns"),
		};

		if (add_cause(overview, &cause) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int compare_causes(const void *left, const void *right)
{
	const struct cause *a = left, *b = right;

	return (a->time_ns < b->time_ns) - (a->time_ns > b->time_ns);
}

/* The operation that waited most because of it. */
static int find_operation(const struct overview *overview, struct cause *cause)
{
	const struct mr_finding_table *all = overview->idle_by_all;
	mr_auto(tally) struct mr_tally operations = {0};
	mr_auto(free) struct mr_sort_item *order = NULL;

	for (uint32_t row = 0; row < rows_of(all); row++) {
		const char *operation = text_of(all, row, "operation");

		if (number_of(all, row, "device_number") == cause->device &&
		    strcmp(text_of(all, row, "cause"), cause->cause) == 0 &&
		    mr_tally_add(&operations, operation, strlen(operation) + 1,
				 number_of(all, row, "total_ns"), row) < 0)
			return -ENOMEM;
	}
	if (operations.entries.count == 0)
		return 0;
	if (mr_tally_sort(&operations, &order) < 0)
		return -ENOMEM;
	cause->operation =
		text_of(all, operations.entries.items[order[0].index].longest, "operation");
	return 0;
}

static int add_causes(struct overview *overview)
{
	uint32_t count = (uint32_t)mr_min(overview->causes.count, (size_t)CAUSES);
	struct mr_finding_table *table = mr_finding_add_table(
		overview->findings, overview->finding, "causes", "The largest causes",
		cause_columns, mr_countof(cause_columns), count);

	if (!table)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++) {
		struct cause *cause = &overview->causes.items[i];
		union mr_value *cells = mr_finding_value(table, i, 0);

		if (find_operation(overview, cause) < 0)
			return -ENOMEM;
		cells[0].text = cause->what;
		cells[1].text = cause->cause;
		cells[2].number = cause->time_ns;
		cells[3].number = mr_permille(cause->time_ns, cause->whole_ns);
		cells[4].text = cause->culprit;
		cells[5].number = cause->culprit_ns;
		cells[6].text = cause->operation;
	}
	return 0;
}

/* The same as below, where texts then leave it out. The longest idle time stands there with its cause. */
static int add_evidence(const struct overview *overview)
{
	bool is_idle = overview->causes.count && overview->causes.items[0].device != MR_NO_VALUE;
	struct mr_finding *from =
		mr_findings_find(overview->findings, is_idle ? "idle" : "critical_path");

	for (size_t i = 0; from && i < from->evidence.count && i < EVIDENCE; i++)
		if (mr_finding_prove(overview->finding, from->evidence.items[i]) < 0)
			return -ENOMEM;
	if (from)
		from->is_proved_before = true;
	if (is_idle && overview->devices)
		mr_findings_find(overview->findings, "devices")->is_proved_before = true;
	return 0;
}

/* ---- together ------------------------------------------------------------------------------------- */

static int fill(struct overview *overview)
{
	overview->finding = mr_finding_begin(overview->findings, "overview");
	if (!overview->finding)
		return -ENOMEM;
	if (say_steps(overview) < 0 || say_devices(overview) < 0 ||
	    say_communication(overview) < 0 || say_threads(overview) < 0 ||
	    add_bars(overview) < 0 || collect_idle(overview) < 0 || collect_path(overview) < 0)
		return -ENOMEM;
	if (overview->causes.count)
		qsort(overview->causes.items, overview->causes.count,
		      sizeof *overview->causes.items, compare_causes);
	return add_causes(overview) < 0 ? -ENOMEM : add_evidence(overview);
}

int mr_analyse_overview(const struct mr_model *model, struct mr_findings *findings)
{
	struct overview overview = {
		.model = model,
		.findings = findings,
		.devices = mr_findings_find_table(findings, "devices", "devices"),
		.levels = mr_findings_find_table(findings, "critical_path", "levels"),
		.shares = mr_findings_find_table(findings, "critical_path", "shares"),
		.communication = mr_findings_find_table(findings, "communication", "devices"),
		.idle_devices = mr_findings_find_table(findings, "idle", "devices"),
		.idle_causes = mr_findings_find_table(findings, "idle", "causes"),
		.idle_by_all = mr_findings_find_table(findings, "idle", "by_all"),
		.phases = mr_findings_find_table(findings, "steps", "phases"),
		.threads = mr_findings_find_table(findings, "threads", "by_thread"),
	};

	if (rows_of(overview.devices) + rows_of(overview.levels) == 0)
		return 0;
	int result = fill(&overview);
	mr_vec_free(&overview.causes);
	return result < 0 ? mr_fail_errno(-result, "sum up the findings") : 0;
}
