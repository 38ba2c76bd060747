/* SPDX-License-Identifier: Apache-2.0
 *
 * Operations in the executor: finds the node and function of each, its run and step, and when an asynchronous
 * operation completed.
 */
#include <string.h>

#include "load/tensorflow/tensorflow.h"
#include "model/nesting.h"

/* The run that a scope belongs to: its own, or that of the first around it that has one. */
static uint64_t run_around(const struct mr_scopes *scopes, uint32_t row)
{
	for (; row != MR_NO_ROW; row = scopes->parent[row])
		if (scopes->run[row])
			return scopes->run[row];
	return 0;
}

/* Of a scope: the same at the start and at the end of an asynchronous operation. */
struct scope_key {
	uint64_t key;
	uint64_t process;
};

/* When asynchronous operations were done. */
struct completions {
	struct mr_strings keys;
	mr_vec(int64_t) done_ns;
};

static int find_completions(const struct mr_model *model, struct completions *completions)
{
	const struct mr_scopes *scopes = &model->scopes;
	int result = 0;

	for (uint32_t row = 0; row < scopes->table.count && result == 0; row++) {
		const char *name = mr_model_text(model, scopes->name[row]);
		uint32_t process = model->survey->tracks.items[scopes->track[row]].process;
		const struct scope_key key = {scopes->key[row], process};
		uint32_t count = mr_strings_count(&completions->keys);
		uint32_t number;

		if (strcmp(name, "ExecutorState::ProcessAsync::Done") != 0)
			continue;
		result = mr_strings_intern(&completions->keys, &key, sizeof key, &number);
		if (result == 0 && number == count)
			result = mr_vec_push(&completions->done_ns, scopes->start_ns[row]);
	}
	return result;
}

/* An operation inside a function is called asynchronously from an executor of its own, which stands between. */
static bool is_asynchronous(const struct mr_model *model, const struct completions *completions,
			    uint32_t process, uint32_t scope, int64_t *ret_done_ns)
{
	const struct mr_scopes *scopes = &model->scopes;
	uint32_t number;

	for (; scope != MR_NO_ROW; scope = scopes->parent[scope]) {
		const struct scope_key key = {scopes->key[scope], process};
		const char *name = mr_model_text(model, scopes->name[scope]);

		if (strcmp(name, "ExecutorState::Process") == 0)
			break;
		if (strcmp(name, "ExecutorState::ProcessAsync::Start") != 0)
			continue;
		if (mr_strings_find(&completions->keys, &key, sizeof key, &number))
			*ret_done_ns = completions->done_ns.items[number];
		return true;
	}
	return false;
}

static int add_message(struct mr_tensorflow *tensorflow, uint32_t row,
		       const struct mr_traceme *meaning)
{
	const struct mr_node_executions *executions = &tensorflow->model->node_executions;

	if (!meaning->channel)
		return 0;
	return mr_messages_append(&tensorflow->model->messages,
				  (struct mr_messages_row){.track = executions->track[row],
							   .start_ns = executions->start_ns[row],
							   .channel = meaning->channel,
							   .key = executions->run[row],
							   .node = executions->node[row],
							   .execution = row,
							   .peer = MR_NO_ROW,
							   .bytes = MR_NO_SIZE,
							   .is_receive = meaning->is_receive});
}

/* The scope and the step (a row) are those around it on its thread. Where its run is known, so is the run's step. */
static int place_operation(struct mr_tensorflow *tensorflow, const struct mr_runs *runs,
			   const struct completions *completions, uint32_t row, uint32_t scope,
			   uint32_t step)
{
	struct mr_model *model = tensorflow->model;
	struct mr_node_executions *executions = &model->node_executions;
	const struct mr_traceme meaning = *mr_pending_operation(tensorflow, row);
	uint32_t process = model->survey->tracks.items[executions->track[row]].process;

	mr_pending_settle(tensorflow, row);
	executions->run[row] = run_around(&model->scopes, scope);
	const struct mr_run run = mr_runs_look_up(runs, process, executions->run[row]);
	executions->step[row] = run.step == MR_NO_STEP ? mr_step_number(model, step) : run.step;
	if (is_asynchronous(model, completions, process, scope, &executions->done_ns[row]))
		executions->flags[row] |= MR_ROW_ASYNCHRONOUS;
	int result = mr_tensorflow_find_node(tensorflow, process, run.function, meaning.name,
					     meaning.type, &executions->node[row]);
	return result < 0 ? result : add_message(tensorflow, row, &meaning);
}

static int place_operations(struct mr_tensorflow *tensorflow, const struct mr_runs *runs,
			    const struct completions *completions)
{
	struct mr_model *model = tensorflow->model;
	const struct mr_node_executions *executions = &model->node_executions;
	const struct mr_nesting outer = {.start_ns = model->scopes.start_ns,
					 .duration_ns = model->scopes.duration_ns};
	const struct mr_nesting inner = {executions->start_ns, executions->duration_ns, NULL, NULL,
					 NULL};
	mr_auto(free) uint32_t *around = malloc((executions->table.count + 1) * sizeof *around);
	mr_auto(free) uint32_t *steps = mr_steps_around(model, &executions->table, &inner);
	int result = around && steps ? 0 : -ENOMEM;

	for (uint32_t i = 0; result == 0 && i < model->survey->tracks.count; i++) {
		const uint32_t *scopes = &model->scopes.table.first_of_track[i];
		const uint32_t *rows = &executions->table.first_of_track[i];

		result = mr_nest_in(&outer, scopes[0], scopes[1], &inner, rows[0], rows[1], around);
		for (uint32_t row = rows[0]; result == 0 && row < rows[1]; row++)
			if (mr_pending_kind(tensorflow, row) == MR_PENDING_OPERATION)
				result = place_operation(tensorflow, runs, completions, row,
							 around[row], steps[row]);
	}
	return result;
}

int mr_tensorflow_place_operations(struct mr_tensorflow *tensorflow, const struct mr_runs *runs)
{
	struct completions completions = {0};
	int result = find_completions(tensorflow->model, &completions);

	if (result == 0)
		result = place_operations(tensorflow, runs, &completions);
	mr_strings_free(&completions.keys);
	mr_vec_free(&completions.done_ns);
	return result;
}
