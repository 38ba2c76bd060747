/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/device_order.h"

#include <inttypes.h>

#include "analysis/device_time.h"
#include "analysis/vocabulary.h"
#include "base/format.h"

static const struct {
	const char *id;
	const char *broken; /* "3 of 100 ..." */
	enum mr_severity severity;
} constraints[MR_CONSTRAINTS] = {
	[MR_CONSTRAINT_LAUNCH] = {"start after launch",
				  "device operations started before their launch began",
				  MR_SEVERITY_WARNING},
	[MR_CONSTRAINT_WAIT] = {"end before wait returns",
				"waits returned before the device operation had ended",
				MR_SEVERITY_WARNING},
	[MR_CONSTRAINT_OWN_TIMES] = {"queued, submitted, start",
				     "device operations started before they were submitted or "
				     "queued",
				     MR_SEVERITY_WARNING},
	[MR_CONSTRAINT_DEPENDENCY] = {"start after dependency",
				      "dependent device operations started before what they wait "
				      "for had ended",
				      MR_SEVERITY_WARNING},
	[MR_CONSTRAINT_QUEUE_ORDER] = {"start after predecessor",
				       "device operations of in-order queues started before their "
				       "predecessor had ended",
				       MR_SEVERITY_NOTE},
};

static int tell_clocks(const struct mr_model *model, struct mr_findings *findings,
		       struct mr_finding *finding)
{
	for (uint32_t device = 1; device < model->survey->definitions.devices.count; device++) {
		const struct mr_device_clock *used = &model->device_clocks[device];

		if (used->first_ticks > used->last_ticks ||
		    used->bound_ns != MR_CLOCK_BOUND_UNKNOWN)
			continue;
		if (mr_finding_say(findings, finding, MR_SEVERITY_WARNING,
				   "How exact the times of device %s are is not known: the trace "
				   "has too few samples of its clock.",
				   mr_device_name(model, device)) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* Operations that were launched by threads of the runtime. */
static int tell_joined(const struct mr_model *model, struct mr_findings *findings,
		       struct mr_finding *finding)
{
	uint64_t by_order = model->anomalies.by_order, undecided = model->anomalies.undecided_order;

	if (by_order + undecided == 0)
		return 0;
	return mr_finding_say(
		findings, finding, MR_SEVERITY_NOTE,
		"Threads of the runtime launched %" PRIu64 " device operation%s: %" PRIu64
		" could be tied to calls by order and name, %" PRIu64 " could not.",
		by_order + undecided, mr_plural(by_order + undecided), by_order, undecided);
}

int mr_tell_device_order(const struct mr_model *model, struct mr_findings *findings,
			 struct mr_finding *finding)
{
	uint64_t uncertain = 0, checked = 0;
	int result = tell_clocks(model, findings, finding);

	if (result == 0)
		result = tell_joined(model, findings, finding);
	for (uint32_t i = 0; result == 0 && i < MR_CONSTRAINTS; i++) {
		const struct mr_constraint *constraint = &model->constraints[i];

		uncertain += constraint->uncertain;
		checked += constraint->checked;
		const char *broken = mr_reword(&findings->region, constraints[i].broken, "queue",
					       mr_queue_word(model));

		if (constraint->broken && broken)
			result = mr_finding_say(findings, finding, constraints[i].severity,
						"%" PRIu64 " of %" PRIu64 " %s, by up to %" PRId64
						" ns.",
						constraint->broken, constraint->checked, broken,
						-constraint->least_slack_ns);
		else if (!broken)
			result = -ENOMEM;
	}
	if (result == 0 && uncertain)
		result = mr_finding_say(
			findings, finding, MR_SEVERITY_NOTE,
			"%" PRIu64 " of %" PRIu64
			" orders of device operations and calls are uncertain: they lie "
			"within the error of the clocks.",
			uncertain, checked);
	return result;
}

int mr_tabulate_device_order(const struct mr_model *model, struct mr_findings *findings,
			     struct mr_finding *finding)
{
	static const struct mr_finding_column columns[] = {
		{"constraint", "constraint", MR_UNIT_TEXT, 0},
		{"checked", "checked", MR_UNIT_COUNT, 0},
		{"uncertain", "uncertain", MR_UNIT_COUNT, 0},
		{"broken", "broken", MR_UNIT_COUNT, 0},
		{"least_slack_ns", "least slack", MR_UNIT_NS, 0},
	};
	uint32_t row = 0;

	if (model->device_operations.table.count == 0)
		return 0;
	struct mr_finding_table *table = mr_finding_add_table(findings, finding, "device_order",
							      "Order of device operations", columns,
							      mr_countof(columns), MR_CONSTRAINTS);
	if (!table)
		return -ENOMEM;
	for (uint32_t i = 0; i < MR_CONSTRAINTS; i++) {
		const struct mr_constraint *constraint = &model->constraints[i];
		union mr_value *cells = mr_finding_value(table, row, 0);

		if (constraint->checked == 0)
			continue;
		cells[0].text = constraints[i].id;
		cells[1].number = (int64_t)constraint->checked;
		cells[2].number = (int64_t)constraint->uncertain;
		cells[3].number = (int64_t)constraint->broken;
		cells[4].number = constraint->least_slack_ns;
		row++;
	}
	table->row_count = row;
	return 0;
}
