/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds the function and the step of each run, from its scopes and the scopes around them. The thread that begins a run
 * is the one that makes the step, so a run belongs to the step around any of its scopes, and so do all of its
 * operations, on any thread. If this is not certain, the run has no step.
 */
#include <string.h>

#include "load/tensorflow/tensorflow.h"
#include "model/nesting.h"

struct run_key {
	uint64_t run;
	uint64_t process;
};

struct mr_run mr_runs_look_up(const struct mr_runs *runs, uint32_t process, uint64_t run)
{
	const struct run_key key = {run, process};
	uint32_t number;

	return mr_strings_find(&runs->keys, &key, sizeof key, &number)
		       ? runs->items.items[number]
		       : (struct mr_run){.step = MR_NO_STEP};
}

uint32_t mr_runs_find(const struct mr_runs *runs, uint32_t process, uint64_t run)
{
	return mr_runs_look_up(runs, process, run).function;
}

/* The first name stays: later ones name parts of it. All must agree on the step. */
static void add_to_run(struct mr_run *run, const struct mr_run *told)
{
	if (run->function == 0)
		run->function = told->function;
	if (told->step == MR_NO_STEP || run->is_ambiguous)
		return;
	run->is_ambiguous = run->step != MR_NO_STEP && run->step != told->step;
	run->step = run->is_ambiguous ? MR_NO_STEP : told->step;
}

static int tell_run(struct mr_runs *runs, uint32_t process, uint64_t run, const struct mr_run *told)
{
	const struct run_key key = {run, process};
	uint32_t count = mr_strings_count(&runs->keys);
	uint32_t number;
	int result = mr_strings_intern(&runs->keys, &key, sizeof key, &number);

	if (result == 0 && number == count)
		return mr_vec_push(&runs->items, *told);
	if (result == 0)
		add_to_run(&runs->items.items[number], told);
	return result;
}

static bool begins_with(const char *text, const char *beginning)
{
	return strncmp(text, beginning, strlen(beginning)) == 0;
}

static bool ends_with(const char *text, const char *ending)
{
	size_t length = strlen(text);

	return length >= strlen(ending) && strcmp(text + length - strlen(ending), ending) == 0;
}

static int intern(struct mr_tensorflow *tensorflow, const char *text, uint32_t *ret_string)
{
	return mr_strings_intern(&tensorflow->model->survey->definitions.strings, text,
				 strlen(text), ret_string);
}

/* What a scope says about the function that runs in it: a string, or 0. */
static int function_of_scope(struct mr_tensorflow *tensorflow, uint32_t row, uint32_t *ret_function)
{
	const struct mr_scopes *scopes = &tensorflow->model->scopes;
	const char *name = mr_model_text(tensorflow->model, scopes->name[row]);

	*ret_function = 0;
	if (begins_with(name, MR_LOCAL_EXECUTE))
		return intern(tensorflow, name + strlen(MR_LOCAL_EXECUTE), ret_function);
	if (begins_with(name, "Iterator::") || begins_with(name, "SessionRun") ||
	    begins_with(name, "RunGraph") || ends_with(name, "Produce"))
		*ret_function = scopes->name[row]; /* of tf.data: what calls the function */
	return 0;
}

/* Scopes stand in order of time on each thread, so what is around one is known before it. */
static int find_function(struct mr_tensorflow *tensorflow, const struct mr_runs *runs,
			 uint32_t process, uint32_t row, uint32_t *ret_function)
{
	const struct mr_scopes *scopes = &tensorflow->model->scopes;
	uint64_t run = scopes->run[row];
	uint32_t function = 0;
	int result = run == MR_FOLDING_RUN ? intern(tensorflow, "constant folding", &function)
					   : function_of_scope(tensorflow, row, &function);

	for (uint32_t at = scopes->parent[row]; result == 0 && !function && at != MR_NO_ROW;
	     at = scopes->parent[at]) {
		result = function_of_scope(tensorflow, at, &function);
		if (!function && scopes->run[at] && scopes->run[at] != run)
			function = mr_runs_find(runs, process, scopes->run[at]);
	}
	*ret_function = function;
	return result;
}

/* That of the step around it on its thread, or of the run in which it is. */
static uint32_t find_step(const struct mr_model *model, const struct mr_runs *runs,
			  uint32_t process, uint32_t row)
{
	const struct mr_scopes *scopes = &model->scopes;
	uint64_t run = scopes->run[row];
	uint32_t step = mr_step_number(model, runs->step_around[row]);

	for (uint32_t at = scopes->parent[row]; step == MR_NO_STEP && at != MR_NO_ROW;
	     at = scopes->parent[at])
		if (scopes->run[at] && scopes->run[at] != run)
			step = mr_runs_look_up(runs, process, scopes->run[at]).step;
	return step;
}

/* Inside of an asynchronous operation: the program's call of the function, and its step, are on another thread. */
static void find_call(const struct mr_tensorflow *tensorflow, const struct mr_runs *runs,
		      uint32_t scope, struct mr_run *told)
{
	const struct mr_model *model = tensorflow->model;
	const struct mr_node_executions *executions = &model->node_executions;
	uint32_t row = runs->execution_around[scope];

	if (row == MR_NO_ROW || mr_pending_kind(tensorflow, row) != MR_PENDING_NOTHING ||
	    !(executions->flags[row] & MR_ROW_ASYNCHRONOUS))
		return;
	if (!told->function)
		told->function = model->survey->definitions.nodes.items[executions->node[row]].name;
	if (told->step == MR_NO_STEP)
		told->step = executions->step[row];
}

static int find_run(struct mr_tensorflow *tensorflow, struct mr_runs *runs, uint32_t row)
{
	const struct mr_scopes *scopes = &tensorflow->model->scopes;
	uint32_t process = tensorflow->model->survey->tracks.items[scopes->track[row]].process;
	struct mr_run told = {.step = MR_NO_STEP};
	int result = find_function(tensorflow, runs, process, row, &told.function);

	if (result < 0)
		return result;
	if (scopes->run[row] != MR_FOLDING_RUN) {
		told.step = find_step(tensorflow->model, runs, process, row);
		if (runs->execution_around)
			find_call(tensorflow, runs, row, &told);
	}
	if (!told.function && told.step == MR_NO_STEP)
		return 0;
	return tell_run(runs, process, scopes->run[row], &told);
}

/* ---- what is around scopes -------------------------------------------------------------------------- */

/* For each row of the inner table the innermost of the outer one that encloses it, or MR_NO_ROW; NULL: -ENOMEM. */
static uint32_t *find_around(const struct mr_model *model, const struct mr_table *outer_table,
			     const struct mr_nesting *outer, const struct mr_table *inner_table,
			     const struct mr_nesting *inner)
{
	size_t bytes = ((size_t)inner_table->count + 1) * sizeof(uint32_t);
	mr_auto(free) uint32_t *around = malloc(bytes);
	int result = around ? 0 : -ENOMEM;

	if (around)
		memset(around, 0xff, bytes); /* MR_NO_ROW */
	for (uint32_t i = 0; result == 0 && i < model->survey->tracks.count; i++) {
		const uint32_t *rows = &outer_table->first_of_track[i];
		const uint32_t *of_track = &inner_table->first_of_track[i];

		if (rows[0] < rows[1])
			result = mr_nest_in(outer, rows[0], rows[1], inner, of_track[0],
					    of_track[1], around);
	}
	return result < 0 ? NULL : mr_take(around);
}

uint32_t *mr_steps_around(const struct mr_model *model, const struct mr_table *table,
			  const struct mr_nesting *rows)
{
	const struct mr_steps *steps = &model->steps;
	const struct mr_nesting outer = {steps->start_ns, steps->duration_ns, NULL, NULL, NULL};

	return find_around(model, &steps->table, &outer, table, rows);
}

static int find_all_around(struct mr_tensorflow *tensorflow, struct mr_runs *runs)
{
	const struct mr_model *model = tensorflow->model;
	const struct mr_scopes *scopes = &model->scopes;
	const struct mr_node_executions *executions = &model->node_executions;
	const struct mr_nesting inner = {scopes->start_ns, scopes->duration_ns, NULL, NULL, NULL};
	const struct mr_nesting outer = {executions->start_ns, executions->duration_ns, NULL, NULL,
					 NULL};

	runs->step_around = mr_steps_around(model, &scopes->table, &inner);
	if (!runs->step_around)
		return -ENOMEM;
	if (tensorflow->runs.count == 0)
		return 0;
	runs->execution_around =
		find_around(model, &executions->table, &outer, &scopes->table, &inner);
	return runs->execution_around ? 0 : -ENOMEM;
}

/* Runs begin on the thread that asks for them; other threads only work for them. Two rounds: a thread that
 * works may come before the one that asked. */
int mr_runs_find_functions(struct mr_tensorflow *tensorflow, struct mr_runs *runs)
{
	const struct mr_scopes *scopes = &tensorflow->model->scopes;
	int result = find_all_around(tensorflow, runs);

	for (int round = 0; round < 2; round++)
		for (uint32_t row = 0; row < scopes->table.count && result == 0; row++)
			if (scopes->run[row])
				result = find_run(tensorflow, runs, row);
	return result;
}

void mr_runs_free(struct mr_runs *runs)
{
	mr_strings_free(&runs->keys);
	mr_vec_free(&runs->items);
	free(runs->step_around);
	free(runs->execution_around);
}
