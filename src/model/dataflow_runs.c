/* SPDX-License-Identifier: Apache-2.0
 *
 * Which function a run is of: what its scopes, and those around them, say.
 */
#include <string.h>

#include "model/dataflow.h"

/* The run of all operations that TensorFlow executes in advance, when it prepares a graph; of whatever function. */
static const uint64_t FOLDING_RUN = UINT64_MAX;

struct run_key {
	uint64_t run;
	uint64_t process;
};

uint32_t mr_runs_find(const struct mr_runs *runs, uint32_t process, uint64_t run)
{
	const struct run_key key = {run, process};
	uint32_t number;

	return mr_strings_find(&runs->keys, &key, sizeof key, &number)
		       ? runs->functions.items[number]
		       : 0;
}

/* The first name stays: later ones tell of parts of it. */
static int set_function(struct mr_runs *runs, uint32_t process, uint64_t run, uint32_t function)
{
	const struct run_key key = {run, process};
	uint32_t count = mr_strings_count(&runs->keys);
	uint32_t number;
	int result = mr_strings_intern(&runs->keys, &key, sizeof key, &number);

	if (result == 0 && number == count)
		return mr_vec_push(&runs->functions, function);
	if (result == 0 && runs->functions.items[number] == 0)
		runs->functions.items[number] = function;
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

static int intern(struct mr_loader *loader, const char *text, uint32_t *ret_string)
{
	return mr_strings_intern(&loader->model->survey->definitions.strings, text, strlen(text),
				 ret_string);
}

/* What a scope says about the function that runs in it: a string, or 0. */
static int function_of_scope(struct mr_loader *loader, uint32_t row, uint32_t *ret_function)
{
	const struct mr_scopes *scopes = &loader->model->scopes;
	const char *name = mr_model_text(loader->model, scopes->name[row]);

	*ret_function = 0;
	if (begins_with(name, MR_LOCAL_EXECUTE))
		return intern(loader, name + strlen(MR_LOCAL_EXECUTE), ret_function);
	if (begins_with(name, "Iterator::") || begins_with(name, "SessionRun") ||
	    begins_with(name, "RunGraph") || ends_with(name, "Produce"))
		*ret_function = scopes->name[row]; /* of tf.data: what calls the function */
	return 0;
}

/* Scopes stand in order of time on each thread, so what is around one is known before it. */
static int find_function(struct mr_loader *loader, struct mr_runs *runs, uint32_t row)
{
	const struct mr_scopes *scopes = &loader->model->scopes;
	uint32_t process = loader->model->survey->tracks.items[scopes->track[row]].process;
	uint64_t run = scopes->run[row];
	uint32_t function = 0;
	int result = run == FOLDING_RUN ? intern(loader, "constant folding", &function)
					: function_of_scope(loader, row, &function);

	for (uint32_t at = scopes->parent[row]; result == 0 && !function && at != MR_NO_ROW;
	     at = scopes->parent[at]) {
		result = function_of_scope(loader, at, &function);
		if (!function && scopes->run[at] && scopes->run[at] != run)
			function = mr_runs_find(runs, process, scopes->run[at]);
	}
	return result < 0 || !function ? result : set_function(runs, process, run, function);
}

/* Runs begin on the thread that asks for them; other threads only work for them. Two rounds: a thread that
 * works may come before the one that asked. */
int mr_runs_find_functions(struct mr_loader *loader, struct mr_runs *runs)
{
	const struct mr_scopes *scopes = &loader->model->scopes;
	int result = 0;

	for (int round = 0; round < 2; round++)
		for (uint32_t row = 0; row < scopes->table.count && result == 0; row++)
			if (scopes->run[row])
				result = find_function(loader, runs, row);
	return result;
}

int mr_runs_name_collectives(struct mr_loader *loader, const struct mr_runs *runs)
{
	struct mr_collectives *collectives = &loader->model->collectives;
	int result = 0;

	for (uint32_t row = 0; result == 0 && row < collectives->table.count; row++) {
		uint32_t process =
			loader->model->survey->tracks.items[collectives->track[row]].process;

		result = mr_dataflow_find_node(loader, process,
					       mr_runs_find(runs, process, collectives->run[row]),
					       collectives->node[row], 0, &collectives->node[row]);
	}
	return result;
}

void mr_runs_free(struct mr_runs *runs)
{
	mr_strings_free(&runs->keys);
	mr_vec_free(&runs->functions);
}
