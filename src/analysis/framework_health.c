/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/framework_health.h"

#include <inttypes.h>
#include <string.h>

/* TensorFlow learns what an operation costs in steps that are not traced, and until then hands each to another
 * thread. Traced from its first step it never learns. */
static int tell_history(const struct mr_model *model, struct mr_findings *findings,
			struct mr_finding *finding)
{
	if (model->survey->event_counts[MR_EVENT_traceme_numbers] == 0)
		return 0;
	if (model->manifest->delay_ns || model->manifest->first_step)
		return mr_finding_say(
			findings, finding, MR_SEVERITY_NOTE,
			"Operations that TensorFlow had executed often before it was traced run on "
			"the threads on which they run when it is not traced; of the others it "
			"hands also cheap ones to other threads than their input's.");
	return mr_finding_say(
		findings, finding, MR_SEVERITY_NOTE,
		"TensorFlow was traced from its first step: it then goes on to run cheap "
		"operations on other threads than their input's, which it does not when it is not "
		"traced.");
}

/* Nodes that no activity told of: executed too late to be discovered, or folded away. */
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
			      "Of %" PRIu64 " of %" PRIu64
			      " executions of graph nodes the device is not known.",
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
			      "Of %" PRIu64 " of %" PRIu64
			      " asynchronous executions it is not known when they were done: their "
			      "times are those of the launch, or of the part that was seen.",
			      unknown, count);
}

/* XLA makes one piece of code of many operations, and tells of that in its own terms. */
static int tell_compiled(const struct mr_model *model, struct mr_findings *findings,
			 struct mr_finding *finding)
{
	const struct mr_strings *strings = &model->survey->definitions.strings;

	for (uint32_t i = 0; i < mr_strings_count(strings); i++)
		if (strncmp(mr_strings_text(strings, i), "hlo_op=", strlen("hlo_op=")) == 0)
			return mr_finding_say(
				findings, finding, MR_SEVERITY_NOTE,
				"Functions that XLA has compiled were executed: the operations in "
				"them are not visible, only what the compiler made of them, as "
				"scopes (hlo_op).");
	return 0;
}

int mr_tell_framework_health(const struct mr_model *model, struct mr_findings *findings,
			     struct mr_finding *finding)
{
	const struct mr_survey *survey = model->survey;
	int result = 0;

	/* Where it means that nothing is traced, that is a warning of its own. */
	for (size_t i = 0; i < survey->hooks_missing.count && result == 0; i++)
		result = mr_finding_say(findings, finding, MR_SEVERITY_NOTE,
					"millrace could not hook %s.",
					mr_survey_text(survey, survey->hooks_missing.items[i]));
	if (result == 0)
		result = tell_history(model, findings, finding);
	if (result == 0)
		result = tell_unplaced(model, findings, finding);
	if (result == 0)
		result = tell_unknown_ends(model, findings, finding);
	return result < 0 ? result : tell_compiled(model, findings, finding);
}
