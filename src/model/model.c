/* SPDX-License-Identifier: Apache-2.0 */
#include "model/model.h"

#include "model/nesting.h"

int mr_model_nest(struct mr_model *model)
{
	const struct mr_node_executions *executions = &model->node_executions;
	const struct mr_calls *calls = &model->calls;
	const struct mr_nesting of_executions = {executions->start_ns, executions->duration_ns,
						 executions->self_ns, executions->parent,
						 executions->flags};
	const struct mr_nesting of_calls = {calls->start_ns, calls->duration_ns, calls->self_ns,
					    calls->parent, calls->flags};
	struct mr_nesting_faults faults = {0};
	int result = 0;

	for (uint32_t i = 0; result == 0 && i < model->survey->tracks.count; i++) {
		const uint32_t *first = &executions->table.first_of_track[i];
		result = mr_nest(&of_executions, first[0], first[1], &faults);
		if (result < 0)
			break;
		first = &calls->table.first_of_track[i];
		result = mr_nest(&of_calls, first[0], first[1], &faults);
	}
	model->anomalies.overlapping += faults.overlaps;
	model->anomalies.too_deep += faults.too_deep;
	return result;
}

struct mr_window mr_model_recorded(const struct mr_model *model)
{
	const struct mr_survey *survey = model->survey;
	const struct mr_manifest *manifest = model->manifest;
	int64_t first_ns = mr_max(survey->first_ns, survey->recorded.on_ns);

	if (manifest->overwritten_packets && survey->clocks)
		first_ns = mr_max(first_ns,
				  mr_clock_to_ns(survey->clocks->user, manifest->kept_from_ticks));
	return (struct mr_window){
		first_ns, mr_max(first_ns, mr_min(survey->last_ns, survey->recorded.off_ns))};
}

void mr_model_free(struct mr_model *model)
{
	if (!model)
		return;
#define FREE_TABLE(name) mr_table_free(&model->name.table);
	MR_TABLES(FREE_TABLE)
#undef FREE_TABLE
	if (model->whole) {
		mr_model_free_cut(model);
	} else {
		free(model->device_clocks);
		mr_vec_free(&model->inferences.list);
		mr_survey_free(model->survey);
		mr_manifest_free(model->manifest);
		mr_trace_close(model->trace);
		mr_mapping_close(&model->index);
		free(model->index_key);
	}
	free(model);
}
