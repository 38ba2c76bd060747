/* SPDX-License-Identifier: Apache-2.0
 *
 * The work of threads for the stages of an input pipeline (tf.data). TensorFlow reports requests with their iterators;
 * what else threads do for a stage has only a name:
 *
 *     request  Root              ├─────────────────┤                                          consumer
 *     request  Root::Prefetch      ├─────────────┤       waits for the buffer
 *
 *     PrefetchProduce            ├─────────────────┤     belongs to the iterator that the     thread of Prefetch
 *     request  Root::Prefetch::Map ├─────────────┤       request inside it feeds
 *     ...CapturedFunction::Run       ├─────────┤         belongs to the request around it, and so does its run
 *
 *     ExecutorState::Process           ├─────┤           belongs to the stage whose run it is      any thread
 */
#include <string.h>

#include "load/tensorflow/tensorflow.h"
#include "model/nesting.h"

static bool begins_with(const char *text, const char *beginning)
{
	return strncmp(text, beginning, strlen(beginning)) == 0;
}

static bool ends_with(const char *text, const char *ending)
{
	size_t length = strlen(text);

	return length >= strlen(ending) && strcmp(text + length - strlen(ending), ending) == 0;
}

static int add_work(struct mr_model *model, uint32_t scope, enum mr_input_kind kind)
{
	const struct mr_scopes *scopes = &model->scopes;

	return mr_input_work_append(
		&model->input_work,
		(struct mr_input_work_row){.track = scopes->track[scope],
					   .start_ns = scopes->start_ns[scope],
					   .duration_ns = scopes->duration_ns[scope],
					   .kind = (uint8_t)kind,
					   .run = scopes->run[scope],
					   .parallelism = MR_NO_ORDINAL,
					   .buffer_limit = MR_NO_ORDINAL,
					   .buffered = MR_NO_ORDINAL,
					   .is_autotuned = MR_NO_TRUTH});
}

static int nest(struct mr_model *model)
{
	const struct mr_input_work *work = &model->input_work;
	uint32_t track_count = (uint32_t)model->survey->tracks.count;
	int result = mr_table_sort(&model->input_work.table, track_count);
	const struct mr_nesting nesting = {work->start_ns, work->duration_ns, work->self_ns,
					   work->parent, work->flags};
	struct mr_nesting_faults faults = {0}; /* halves of asynchronous scopes do: no anomaly */

	for (uint32_t i = 0; result == 0 && i < track_count; i++)
		result = mr_nest(&nesting, work->table.first_of_track[i],
				 work->table.first_of_track[i + 1], &faults);
	return result;
}

/* ---- producers, and calls of functions --------------------------------------------------------------- */

static int add_producers(struct mr_model *model)
{
	const struct mr_scopes *scopes = &model->scopes;
	int result = 0;

	for (uint32_t row = 0; result == 0 && row < scopes->table.count; row++) {
		const char *name = mr_model_text(model, scopes->name[row]);

		if (ends_with(name, "Produce"))
			result = add_work(model, row, MR_INPUT_PRODUCE);
		else if (begins_with(name, "InstantiatedCapturedFunction::") && scopes->run[row])
			result = add_work(model, row, MR_INPUT_CALL);
	}
	return result;
}

static int path_of_consumer(struct mr_model *model, uint32_t path, uint32_t *ret_path)
{
	struct mr_strings *strings = &model->survey->definitions.strings;
	const char *text = mr_strings_text(strings, path);
	size_t length = strlen(text);

	while (length > 0 && strncmp(text + length, "::", 2) != 0)
		length--;
	return mr_strings_intern(strings, text, length, ret_path);
}

/* A producer asks the stage that feeds its own. If it did not in one round, it is that of the rounds before. */
static int name_producers(struct mr_model *model)
{
	const struct mr_input_work *work = &model->input_work;
	uint32_t last = MR_NO_ROW;
	int result = 0;

	for (uint32_t row = 0; result == 0 && row < work->table.count; row++) {
		uint32_t parent = work->parent[row];

		if (last != MR_NO_ROW && work->track[last] != work->track[row])
			last = MR_NO_ROW;
		if (work->kind[row] == MR_INPUT_PRODUCE && last != MR_NO_ROW) {
			work->iterator[row] = work->iterator[last];
			work->path[row] = work->path[last];
		}
		if (parent == MR_NO_ROW || work->kind[parent] != MR_INPUT_PRODUCE ||
		    work->kind[row] != MR_INPUT_REQUEST)
			continue;
		work->iterator[parent] = work->consumer[row];
		result = path_of_consumer(model, work->path[row], &work->path[parent]);
		last = parent;
	}
	return result;
}

/* What stands around it is before it. */
static void name_calls(const struct mr_input_work *work)
{
	for (uint32_t row = 0; row < work->table.count; row++) {
		uint32_t parent = work->parent[row];

		if (work->kind[row] != MR_INPUT_CALL || parent == MR_NO_ROW)
			continue;
		work->iterator[row] = work->iterator[parent];
		work->path[row] = work->path[parent];
	}
}

/* ---- functions ------------------------------------------------------------------------------------ */

struct run_key {
	uint64_t run;
	uint64_t process;
};

static struct run_key key_of(const struct mr_model *model, uint32_t track, uint64_t run)
{
	return (struct run_key){run, model->survey->tracks.items[track].process};
}

/* The first call of each run, by number of its key. */
struct runs {
	struct mr_strings keys;
	mr_vec(uint32_t) calls; /* rows of input_work */
};

static int find_runs(const struct mr_model *model, struct runs *runs)
{
	const struct mr_input_work *work = &model->input_work;
	int result = 0;

	for (uint32_t row = 0; result == 0 && row < work->table.count; row++) {
		const struct run_key key = key_of(model, work->track[row], work->run[row]);
		uint32_t number;

		if (work->kind[row] != MR_INPUT_CALL || work->path[row] == 0)
			continue;
		result = mr_strings_intern(&runs->keys, &key, sizeof key, &number);
		if (result == 0 && number == runs->calls.count)
			result = mr_vec_push(&runs->calls, row);
	}
	return result;
}

static int add_function(struct mr_model *model, const struct runs *runs, uint32_t scope)
{
	struct mr_input_work *work = &model->input_work;
	const struct run_key key =
		key_of(model, model->scopes.track[scope], model->scopes.run[scope]);
	uint32_t number;

	if (!mr_strings_find(&runs->keys, &key, sizeof key, &number))
		return 0;
	uint32_t call = runs->calls.items[number];
	int result = add_work(model, scope, MR_INPUT_FUNCTION);
	if (result == 0) {
		work->iterator[work->table.count - 1] = work->iterator[call];
		work->path[work->table.count - 1] = work->path[call];
	}
	return result;
}

/* Executors work for a run in these scopes, and in no others. */
static bool is_executing(const char *scope)
{
	return strcmp(scope, "ExecutorState::Process") == 0 ||
	       strcmp(scope, "ExecutorDoneCallback") == 0;
}

static int add_functions(struct mr_model *model)
{
	const struct mr_scopes *scopes = &model->scopes;
	struct runs runs = {0};
	int result = find_runs(model, &runs);

	for (uint32_t row = 0; result == 0 && runs.calls.count && row < scopes->table.count; row++)
		if (scopes->run[row] && is_executing(mr_model_text(model, scopes->name[row])))
			result = add_function(model, &runs, row);
	mr_strings_free(&runs.keys);
	mr_vec_free(&runs.calls);
	return result;
}

/* ---- buffers -------------------------------------------------------------------------------------- */

/* Where TensorFlow tunes the pipeline, and only there, it says how many elements a buffer holds, unless it is empty. */
static int tell_empty_buffers(const struct mr_model *model)
{
	const struct mr_input_work *work = &model->input_work;
	const struct mr_track *tracks = model->survey->tracks.items;
	mr_auto(free) bool *is_tuned = calloc(model->survey->processes.count + 1, sizeof *is_tuned);

	if (!is_tuned)
		return -ENOMEM;
	for (uint32_t row = 0; row < work->table.count; row++)
		if (work->kind[row] == MR_INPUT_REQUEST && work->consumer[row] == 0 &&
		    work->is_autotuned[row] == 1)
			is_tuned[tracks[work->track[row]].process] = true;
	for (uint32_t row = 0; row < work->table.count; row++)
		if (work->kind[row] == MR_INPUT_REQUEST && work->buffered[row] == MR_NO_ORDINAL &&
		    is_tuned[tracks[work->track[row]].process] &&
		    (work->buffer_limit[row] != MR_NO_ORDINAL ||
		     work->parallelism[row] != MR_NO_ORDINAL))
			work->buffered[row] = 0;
	return 0;
}

int mr_tensorflow_add_input_work(struct mr_tensorflow *tensorflow)
{
	struct mr_model *model = tensorflow->model;
	int result;

	if (model->input_work.table.count == 0)
		return 0;
	result = add_producers(model);
	if (result == 0)
		result = nest(model);
	if (result == 0)
		result = name_producers(model);
	if (result < 0)
		return result;
	name_calls(&model->input_work);
	result = add_functions(model);
	if (result == 0)
		result = nest(model);
	return result < 0 ? result : tell_empty_buffers(model);
}
