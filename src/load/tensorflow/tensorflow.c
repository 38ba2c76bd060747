/* SPDX-License-Identifier: Apache-2.0 */
#include "load/tensorflow/tensorflow.h"

#include "load/called_steps.h"
#include "load/tensorflow/families.h"
#include "load/tensorflow/functions.h"
#include "model/nesting.h"

static int nest_scopes(struct mr_model *model)
{
	const struct mr_scopes *scopes = &model->scopes;
	const struct mr_nesting nesting = {scopes->start_ns, scopes->duration_ns, scopes->self_ns,
					   scopes->parent, scopes->flags};
	struct mr_nesting_faults faults = {0}; /* halves of asynchronous scopes do: no anomaly */
	int result = 0;

	for (uint32_t i = 0; result == 0 && i < model->survey->tracks.count; i++) {
		const uint32_t *rows = &scopes->table.first_of_track[i];

		result = mr_nest(&nesting, rows[0], rows[1], &faults);
	}
	return result;
}

static int join_all(struct mr_tensorflow *tensorflow)
{
	struct mr_model *model = tensorflow->model;
	uint32_t track_count = (uint32_t)model->survey->tracks.count;
	struct mr_runs runs = {0};

	if (tensorflow->meanings.count == 0 && tensorflow->seen.count == 0 &&
	    tensorflow->calls.count == 0)
		return 0;
	int result = mr_pending_sort(tensorflow);
	if (result == 0)
		result = mr_table_sort(&model->scopes.table, track_count);
	if (result == 0)
		result = nest_scopes(model);
	if (result == 0)
		result = mr_tensorflow_add_function_calls(tensorflow);
	if (result == 0)
		result = mr_table_sort(&model->function_calls.table, track_count);
	if (result == 0)
		result = mr_tensorflow_add_input_work(tensorflow);
	if (result == 0)
		result = mr_called_steps_add(model);
	if (result == 0)
		result = mr_table_sort(&model->steps.table, track_count);
	if (result == 0)
		result = mr_eager_join(tensorflow);
	if (result == 0)
		result = mr_runs_find_functions(tensorflow, &runs);
	if (result == 0)
		result = mr_tensorflow_place_operations(tensorflow, &runs);
	if (result == 0)
		result = mr_tensorflow_add_edges(tensorflow, &runs);
	if (result == 0)
		result = mr_runs_name_collectives(tensorflow, &runs);
	mr_runs_free(&runs);
	return result;
}

/* ---- the framework --------------------------------------------------------------------------------- */

void mr_tensorflow_clear(struct mr_tensorflow *tensorflow)
{
	mr_vec_free(&tensorflow->pending);
	mr_vec_free(&tensorflow->calls);
	mr_vec_free(&tensorflow->collectives);
	mr_vec_free(&tensorflow->meanings);
	mr_vec_free(&tensorflow->seen);
	mr_strings_free(&tensorflow->graph_keys);
	mr_vec_free(&tensorflow->graphs);
	mr_strings_free(&tensorflow->node_keys);
	mr_vec_free(&tensorflow->nodes);
	mr_vec_free(&tensorflow->enqueued);
	mr_vec_free(&tensorflow->untaken);
	mr_vec_free(&tensorflow->runs);
}

static int start(struct mr_loader *loader, void **ret_state)
{
	struct mr_tensorflow *tensorflow = malloc(sizeof *tensorflow);

	if (!tensorflow)
		return -ENOMEM;
	*tensorflow = (struct mr_tensorflow){.loader = loader, .model = loader->model};
	*ret_state = tensorflow;
	return 0;
}

static int add(void *state, const struct mr_event *event)
{
	return mr_tensorflow_add(state, event);
}

static int join(void *state)
{
	int result = join_all(state);

	mr_tensorflow_clear(state);
	return result;
}

static int place_memory(void *state)
{
	return mr_tensorflow_place_memory(((struct mr_tensorflow *)state)->model);
}

static int link_rows(void *state)
{
	struct mr_model *model = ((struct mr_tensorflow *)state)->model;
	int result = mr_tensorflow_set_families(model);

	return result < 0 ? result : mr_tensorflow_link_copies(model);
}

static void end(void *state)
{
	mr_tensorflow_clear(state);
	free(state);
}

static const uint8_t events[] = {
	MR_EVENT_traceme,   MR_EVENT_traceme_numbers, MR_EVENT_traceme_text,
	MR_EVENT_activity,  MR_EVENT_eager_operation, MR_EVENT_eager_enqueue,
	MR_EVENT_eager_run,
};

const struct mr_framework mr_framework_tensorflow = {
	.name = "TensorFlow",
	.events = events,
	.event_count = mr_countof(events),
	.start = start,
	.add = add,
	.stages = {[MR_FRAMEWORK_JOIN] = join,
		   [MR_FRAMEWORK_PLACE_MEMORY] = place_memory,
		   [MR_FRAMEWORK_LINK] = link_rows},
	.end = end,
};
