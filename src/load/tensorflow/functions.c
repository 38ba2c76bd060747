/* SPDX-License-Identifier: Apache-2.0 */
#include "load/tensorflow/functions.h"

#include <ctype.h>
#include <string.h>

#include "base/sort.h"

/* ---- names ----------------------------------------------------------------------------------------- */

static size_t length_without_number(const char *name, size_t length)
{
	size_t at = length;

	while (at > 0 && isdigit((unsigned char)name[at - 1]))
		at--;
	return at < length && at > 1 && name[at - 1] == '_' ? at - 1 : length;
}

struct mr_slice mr_tensorflow_function(const char *graph)
{
	static const char *const prefixes[] = {"__inference_", "__forward_", "__backward_"};
	size_t length = strlen(graph);

	for (size_t i = 0; i < mr_countof(prefixes); i++) {
		size_t skipped = strlen(prefixes[i]);

		if (strncmp(graph, prefixes[i], skipped) != 0)
			continue;
		size_t rest = length_without_number(graph + skipped, length - skipped);
		if (rest < length - skipped)
			return (struct mr_slice){graph + skipped, rest};
	}
	return (struct mr_slice){graph, length};
}

int mr_tensorflow_intern_function(struct mr_tensorflow *tensorflow, const char *graph,
				  uint32_t *ret_function)
{
	struct mr_slice name = mr_tensorflow_function(graph);

	return mr_strings_intern(&tensorflow->model->survey->definitions.strings, name.at,
				 name.length, ret_function);
}

/* ---- calls ----------------------------------------------------------------------------------------- */

/* The name of the graph that a scope executes; NULL: it is not a call. Functions are named like that, operations are
 * not. */
static const char *graph_of_call(const char *scope)
{
	static const char call[] = MR_LOCAL_EXECUTE "__";

	if (strncmp(scope, call, strlen(call)) == 0)
		return scope + strlen(MR_LOCAL_EXECUTE);
	return strcmp(scope, "SessionRun") == 0 ? scope : NULL;
}

/* When TensorFlow has prepared the graph, which takes long when it is new, and executes it. MR_NO_TIME: another thread
 * does that. */
static int64_t execution_ns(const struct mr_model *model, uint32_t call)
{
	const struct mr_scopes *scopes = &model->scopes;
	int64_t end_ns = scopes->start_ns[call] + scopes->duration_ns[call];

	for (uint32_t row = call + 1; row < scopes->table.count; row++) {
		if (scopes->track[row] != scopes->track[call] || scopes->start_ns[row] >= end_ns)
			break;
		if (scopes->parent[row] == call &&
		    strcmp(mr_model_text(model, scopes->name[row]), "EagerKernelExecute") == 0)
			return scopes->start_ns[row];
	}
	return MR_NO_TIME;
}

static int add_call(struct mr_tensorflow *tensorflow, uint32_t scope, const char *graph)
{
	struct mr_model *model = tensorflow->model;
	const struct mr_scopes *scopes = &model->scopes;
	struct mr_function_calls_row row = {.track = scopes->track[scope],
					    .start_ns = scopes->start_ns[scope],
					    .duration_ns = scopes->duration_ns[scope],
					    .executed_ns = execution_ns(model, scope)};
	int result = mr_strings_intern(&model->survey->definitions.strings, graph, strlen(graph),
				       &row.graph);

	if (result == 0)
		result = mr_tensorflow_intern_function(tensorflow, graph, &row.function);
	return result < 0 ? result : mr_function_calls_append(&model->function_calls, row);
}

struct graph_key {
	uint32_t process;
	uint32_t graph;
};

/* The first call of each graph, of whatever thread. */
static int mark_first_calls(struct mr_model *model)
{
	const struct mr_function_calls *calls = &model->function_calls;
	uint32_t count = calls->table.count;
	mr_auto(free) struct mr_sort_item *items = malloc((2 * (size_t)count + 1) * sizeof *items);
	struct mr_strings called = {0};
	int result = items ? 0 : -ENOMEM;

	for (uint32_t row = 0; items && row < count; row++)
		items[row] = (struct mr_sort_item){mr_sort_key(calls->start_ns[row]), row};
	if (items)
		mr_sort(items, items + count, count);
	for (uint32_t i = 0; result == 0 && i < count; i++) {
		uint32_t row = items[i].index, before = mr_strings_count(&called), number;
		const struct graph_key key = {
			model->survey->tracks.items[calls->track[row]].process, calls->graph[row]};

		result = mr_strings_intern(&called, &key, sizeof key, &number);
		if (result == 0)
			calls->is_first[row] = number == before;
	}
	mr_strings_free(&called);
	return result;
}

int mr_tensorflow_add_function_calls(struct mr_tensorflow *tensorflow)
{
	struct mr_model *model = tensorflow->model;
	const struct mr_scopes *scopes = &model->scopes;
	int result = 0;

	for (uint32_t row = 0; result == 0 && row < scopes->table.count; row++) {
		const char *graph = graph_of_call(mr_model_text(model, scopes->name[row]));

		if (graph)
			result = add_call(tensorflow, row, graph);
	}
	return result < 0 ? result : mark_first_calls(model);
}
