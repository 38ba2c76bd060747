/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/framework_health.h"

#include <inttypes.h>

/* Nodes without an activity: executed too late to be discovered, or folded away. */
static int tell_unplaced(const struct mr_model *model, struct mr_findings *findings,
			 struct mr_finding *finding)
{
	const struct mr_node_executions *executions = &model->node_executions;
	const struct mr_definitions *definitions = &model->survey->definitions;
	uint64_t unplaced = 0;
	uint64_t count = 0;

	for (uint32_t row = 0; row < executions->table.count; row++) {
		if (!executions->run[row])
			continue;
		count++;
		unplaced += definitions->nodes.items[executions->node[row]].device == 0;
	}
	if (unplaced == 0)
		return 0;
	return mr_finding_say(findings, finding, MR_SEVERITY_NOTE,
			      "The device is not known for %" PRIu64 " of %" PRIu64
			      " executions of graph nodes.",
			      unplaced, count);
}

/* Lost, still to be done when the recording ended, or done by another machine. */
static int tell_unknown_ends(const struct mr_model *model, struct mr_findings *findings,
			     struct mr_finding *finding)
{
	const struct mr_node_executions *executions = &model->node_executions;
	uint64_t unknown = 0;
	uint64_t count = 0;

	for (uint32_t row = 0; row < executions->table.count; row++) {
		if (!(executions->flags[row] & MR_ROW_ASYNCHRONOUS))
			continue;
		count++;
		unknown += executions->done_ns[row] == MR_NO_TIME;
	}
	if (unknown == 0)
		return 0;
	return mr_finding_say(findings, finding, MR_SEVERITY_NOTE,
			      "It is not known when %" PRIu64 " of %" PRIu64
			      " asynchronous executions were done: their times are those of the "
			      "launch, or of the part that was seen.",
			      unknown, count);
}

int mr_tell_framework_health(const struct mr_model *model, struct mr_findings *findings,
			     struct mr_finding *finding)
{
	int result = tell_unplaced(model, findings, finding);

	return result < 0 ? result : tell_unknown_ends(model, findings, finding);
}
