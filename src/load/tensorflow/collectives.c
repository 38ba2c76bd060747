/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds the owner of each collective: a node of the function of its run, or an operation that was executed eagerly.
 *
 *     eager execution CollectiveBcastSend   ├────────────────────────┤      the calling thread
 *     collective CollectiveBcastSend, run 9         ├──────────┤            a thread for collectives
 *
 * Each eager operation has its own run, which no other event mentions: the executor, which records the run of
 * everything that it does, has no part in it. A run that no scope has is therefore such a run, and the operation is the
 * one of that name around the collective.
 */
#include "load/tensorflow/tensorflow.h"

#include <stdlib.h>
#include <string.h>

struct run_key {
	uint64_t run;
	uint64_t process;
};

struct name_key {
	uint32_t process;
	uint32_t name;
};

/* An execution by itself of an operation that is called like a collective. */
struct caller {
	uint32_t called; /* number of the name_key */
	uint32_t node;
	int64_t start_ns;
	int64_t end_ns;
};

struct finder {
	struct mr_tensorflow *tensorflow;
	struct mr_strings runs;  /* struct run_key: of collectives of no function that is known */
	mr_vec(bool) has_scope;  /* by run */
	struct mr_strings names; /* struct name_key, of the same collectives */
	mr_vec(struct caller) callers; /* by name, then by start */
};

static uint32_t process_of(const struct finder *finder, uint32_t track)
{
	return finder->tensorflow->model->survey->tracks.items[track].process;
}

static int note_collective(struct finder *finder, const struct mr_runs *runs, uint32_t row)
{
	const struct mr_collectives *collectives = &finder->tensorflow->model->collectives;
	uint32_t process = process_of(finder, collectives->track[row]);
	const struct run_key run = {collectives->run[row], process};
	const struct name_key name = {process, finder->tensorflow->collectives.items[row]};
	uint32_t number;

	if (mr_runs_find(runs, process, run.run))
		return 0;
	int result = mr_strings_intern(&finder->runs, &run, sizeof run, &number);
	if (result == 0 && number == finder->has_scope.count)
		result = mr_vec_push(&finder->has_scope, false);
	return result < 0 ? result : mr_strings_intern(&finder->names, &name, sizeof name, &number);
}

static void note_scopes(struct finder *finder)
{
	const struct mr_scopes *scopes = &finder->tensorflow->model->scopes;
	uint32_t number;

	for (uint32_t row = 0; row < scopes->table.count; row++) {
		const struct run_key key = {scopes->run[row],
					    process_of(finder, scopes->track[row])};

		if (key.run && mr_strings_find(&finder->runs, &key, sizeof key, &number))
			finder->has_scope.items[number] = true;
	}
}

static bool is_eager(const struct finder *finder, const struct mr_node *node)
{
	const struct mr_model *model = finder->tensorflow->model;
	const struct mr_graph *graph = &model->survey->definitions.graphs.items[node->graph];

	return strcmp(mr_model_text(model, graph->name), MR_EAGER_GRAPH) == 0;
}

static int compare(const void *left, const void *right)
{
	const struct caller *a = left, *b = right;

	if (a->called != b->called)
		return a->called < b->called ? -1 : 1;
	return (a->start_ns > b->start_ns) - (a->start_ns < b->start_ns);
}

static int note_callers(struct finder *finder)
{
	const struct mr_model *model = finder->tensorflow->model;
	const struct mr_node_executions *executions = &model->node_executions;
	int result = 0;

	for (uint32_t row = 0; result == 0 && row < executions->table.count; row++) {
		uint32_t number = executions->node[row];
		const struct mr_node *node = &model->survey->definitions.nodes.items[number];
		const struct name_key key = {node->process, node->name};
		struct caller caller = {.node = number, .start_ns = executions->start_ns[row]};

		if (!mr_strings_find(&finder->names, &key, sizeof key, &caller.called) ||
		    !is_eager(finder, node))
			continue;
		caller.end_ns = caller.start_ns + executions->duration_ns[row];
		result = mr_vec_push(&finder->callers, caller);
	}
	if (result == 0 && finder->callers.count)
		qsort(finder->callers.items, finder->callers.count, sizeof(struct caller), compare);
	return result;
}

/* The last that began before the collective, if it lasted as long; else NULL. */
static const struct caller *find_caller(const struct finder *finder, uint32_t row)
{
	const struct mr_collectives *collectives = &finder->tensorflow->model->collectives;
	uint32_t process = process_of(finder, collectives->track[row]);
	const struct run_key run = {collectives->run[row], process};
	const struct name_key name = {process, finder->tensorflow->collectives.items[row]};
	struct caller wanted = {.start_ns = collectives->start_ns[row]};
	size_t first = 0, end = finder->callers.count;
	uint32_t number;

	if (!mr_strings_find(&finder->runs, &run, sizeof run, &number) ||
	    finder->has_scope.items[number] ||
	    !mr_strings_find(&finder->names, &name, sizeof name, &wanted.called))
		return NULL;
	while (first < end) {
		size_t middle = first + (end - first) / 2;

		if (compare(&finder->callers.items[middle], &wanted) <= 0)
			first = middle + 1;
		else
			end = middle;
	}
	const struct caller *found = first ? &finder->callers.items[first - 1] : NULL;
	return found && found->called == wanted.called &&
			       wanted.start_ns + collectives->duration_ns[row] <= found->end_ns
		       ? found
		       : NULL;
}

static int name_collective(struct finder *finder, const struct mr_runs *runs, uint32_t row)
{
	struct mr_collectives *collectives = &finder->tensorflow->model->collectives;
	const struct caller *caller = find_caller(finder, row);
	uint32_t process = process_of(finder, collectives->track[row]);

	if (caller) {
		collectives->node[row] = caller->node;
		return 0;
	}
	return mr_tensorflow_find_node(
		finder->tensorflow, process, mr_runs_find(runs, process, collectives->run[row]),
		finder->tensorflow->collectives.items[row], 0, &collectives->node[row]);
}

int mr_runs_name_collectives(struct mr_tensorflow *tensorflow, const struct mr_runs *runs)
{
	uint32_t count = tensorflow->model->collectives.table.count;
	struct finder finder = {.tensorflow = tensorflow};
	int result = 0;

	for (uint32_t row = 0; result == 0 && row < count; row++)
		result = note_collective(&finder, runs, row);
	if (result == 0 && finder.has_scope.count) {
		note_scopes(&finder);
		result = note_callers(&finder);
	}
	for (uint32_t row = 0; result == 0 && row < count; row++)
		result = name_collective(&finder, runs, row);
	mr_strings_free(&finder.runs);
	mr_strings_free(&finder.names);
	mr_vec_free(&finder.has_scope);
	mr_vec_free(&finder.callers);
	return result;
}
