/* SPDX-License-Identifier: Apache-2.0
 *
 * Operators, autograd nodes and what else PyTorch executes: which phase of the step each belongs to, and its node.
 *
 *     counter of autograd      5                    6    7                    what is outermost, and while which the
 *     thread          ├ aten::ones ┤├ aten::linear ┤├ ...                     counter of its thread advances, is
 *     phase              eager        forward                                 part of the forward pass
 *
 * What is nested in an operator, or in a backward function, belongs to the same phase.
 */
#include <stdio.h>
#include <string.h>

#include "base/sort.h"
#include "load/torch/torch.h"

static const char *const phase_names[MR_TORCH_PHASES] = {
	[MR_TORCH_EAGER] = "eager",       [MR_TORCH_FORWARD] = "forward",
	[MR_TORCH_BACKWARD] = "backward", [MR_TORCH_OPTIMIZER] = "optimizer",
	[MR_TORCH_INPUT] = "input",
};

/* ---- nodes ----------------------------------------------------------------------------------------- */

struct node_key {
	uint32_t process;
	uint32_t phase;
	uint32_t name;
	uint32_t module; /* 0: none */
};

static int find_graph(struct mr_torch *torch, uint32_t process, uint32_t *ret_graph)
{
	struct mr_definitions *definitions = &torch->model->survey->definitions;
	uint32_t name;
	int result = 0;

	while (result == 0 && torch->graphs.count <= process)
		result = mr_vec_push(&torch->graphs, 0);
	if (result < 0)
		return result;
	*ret_graph = torch->graphs.items[process];
	if (*ret_graph)
		return 0;
	result = mr_strings_intern(&definitions->strings, MR_TORCH_GRAPH, strlen(MR_TORCH_GRAPH),
				   &name);
	*ret_graph = torch->graphs.items[process] = (uint32_t)definitions->graphs.count;
	return result < 0 ? result
			  : mr_vec_push(&definitions->graphs,
					((struct mr_graph){.name = name, .process = process}));
}

/* "forward/layer3/1/conv2/aten::conv2d": modules are scopes of the graph. */
static void write_path(const struct mr_torch *torch, const struct node_key *key, char *path,
		       size_t room)
{
	const char *module = mr_torch_text(torch, key->module);
	int length = snprintf(path, room, "%s/%s", phase_names[key->phase], module);

	for (char *at = path; *at; at++)
		*at = *at == '.' ? '/' : *at;
	snprintf(path + length, room - (size_t)length, "%s%s", *module ? "/" : "",
		 mr_torch_text(torch, key->name));
}

static int make_node(struct mr_torch *torch, const struct node_key *key)
{
	struct mr_definitions *definitions = &torch->model->survey->definitions;
	size_t room = strlen(phase_names[key->phase]) + strlen(mr_torch_text(torch, key->module)) +
		      strlen(mr_torch_text(torch, key->name)) + 3;
	mr_auto(free) char *path = malloc(room);
	struct mr_node node = {.type = key->name, .process = key->process};
	int result = path ? find_graph(torch, key->process, &node.graph) : -ENOMEM;

	if (result < 0)
		return result;
	write_path(torch, key, path, room);
	result = mr_strings_intern(&definitions->strings, path, strlen(path), &node.name);
	if (result == 0)
		result = mr_vec_push(&torch->nodes, (uint32_t)definitions->nodes.count);
	return result < 0 ? result : mr_vec_push(&definitions->nodes, node);
}

int mr_torch_find_node(struct mr_torch *torch, uint32_t process, enum mr_torch_phase phase,
		       uint32_t name, uint32_t module, uint32_t *ret_node)
{
	const struct node_key key = {process, phase, name, module};
	uint32_t count = mr_strings_count(&torch->node_keys);
	uint32_t number;
	int result = mr_strings_intern(&torch->node_keys, &key, sizeof key, &number);

	if (result == 0 && number == count)
		result = make_node(torch, &key);
	if (result == 0)
		*ret_node = torch->nodes.items[number];
	return result;
}

/* ---- order and nesting ------------------------------------------------------------------------------- */

static int64_t end_of(const struct mr_torch_operation *operation)
{
	return operation->start_ns + operation->duration_ns;
}

/* By track, then by start; of two that begin together the longer first. */
static int compare(const void *left, const void *right)
{
	const struct mr_torch_operation *a = left, *b = right;

	if (a->track != b->track)
		return a->track < b->track ? -1 : 1;
	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	return (a->duration_ns < b->duration_ns) - (a->duration_ns > b->duration_ns);
}

static void find_parents(struct mr_torch *torch)
{
	struct mr_torch_operation *operations = torch->operations.items;
	uint32_t around = MR_NO_ROW;

	for (uint32_t i = 0; i < torch->operations.count; i++) {
		while (around != MR_NO_ROW &&
		       (operations[around].track != operations[i].track ||
			end_of(&operations[around]) < end_of(&operations[i])))
			around = operations[around].parent;
		operations[i].parent = around;
		around = i;
	}
}

/* ---- phases ------------------------------------------------------------------------------------------ */

/* Phases that scopes give to what is outermost in them. Both are by track and start. */
static void mark_scopes(struct mr_torch *torch)
{
	struct mr_torch_operation *operations = torch->operations.items;
	uint32_t first = 0;

	for (size_t i = 0; i < torch->scopes.count; i++) {
		const struct mr_torch_annotation *scope = &torch->scopes.items[i];
		enum mr_torch_phase phase =
			mr_torch_phase_of_scope(mr_torch_text(torch, scope->name));

		while (first < torch->operations.count &&
		       (operations[first].track < scope->track ||
			(operations[first].track == scope->track &&
			 operations[first].start_ns < scope->start_ns)))
			first++;
		if (phase == MR_TORCH_EAGER)
			continue;
		for (uint32_t at = first;
		     at < torch->operations.count && operations[at].track == scope->track &&
		     operations[at].start_ns < scope->start_ns + scope->duration_ns;
		     at++)
			operations[at].phase = (uint8_t)phase;
	}
}

static bool has_number(const struct mr_torch_operation *operation)
{
	return operation->sequence != MR_U48_MAX &&
	       operation->scope != MR_torch_scope_backward_function;
}

/* From the last to the first: `next` is the counter when the next one of the thread began. */
static void mark_forward(struct mr_torch *torch)
{
	uint64_t next = MR_U48_MAX;

	for (size_t i = torch->operations.count; i-- > 0;) {
		struct mr_torch_operation *operation = &torch->operations.items[i];

		if (i + 1 < torch->operations.count && operation[1].track != operation->track)
			next = MR_U48_MAX;
		if (!has_number(operation))
			continue;
		if (operation->phase == MR_TORCH_EAGER && operation->parent == MR_NO_ROW &&
		    next != MR_U48_MAX && next > operation->sequence)
			operation->phase = MR_TORCH_FORWARD;
		if (operation->parent == MR_NO_ROW)
			next = operation->sequence;
	}
}

/* Autograd's engine reports the evaluation of a function as if it were an operator. */
static bool is_backward(const struct mr_torch *torch, const struct mr_torch_operation *operation)
{
	static const char engine[] = "autograd::engine::";

	return operation->scope == MR_torch_scope_backward_function ||
	       strncmp(mr_torch_text(torch, operation->name), engine, strlen(engine)) == 0;
}

static void find_phases(struct mr_torch *torch)
{
	struct mr_torch_operation *operations = torch->operations.items;

	mark_scopes(torch);
	mark_forward(torch);
	for (size_t i = 0; i < torch->operations.count; i++) {
		struct mr_torch_operation *operation = &operations[i];

		if (is_backward(torch, operation))
			operation->phase = MR_TORCH_BACKWARD;
		else if (operation->parent != MR_NO_ROW)
			operation->phase = operations[operation->parent].phase;
	}
}

/* ---- rows -------------------------------------------------------------------------------------------- */

/* The step of the thread that is going on, by the order of both; MR_NO_STEP if there is none. */
static uint32_t step_at(const struct mr_model *model, uint32_t track, int64_t ns)
{
	const struct mr_steps *steps = &model->steps;
	const uint32_t *first = &steps->table.first_of_track[track];
	uint32_t row = mr_find_larger(steps->start_ns, first[0], first[1], ns);

	if (row == first[0] || steps->start_ns[row - 1] + steps->duration_ns[row - 1] <= ns ||
	    steps->step[row - 1] >= MR_NO_STEP)
		return MR_NO_STEP;
	return (uint32_t)steps->step[row - 1];
}

/* For each process the thread that makes its steps; MR_NO_TRACK: none, or several do. */
static void find_step_threads(const struct mr_model *model, uint32_t *thread_of)
{
	const struct mr_track *tracks = model->survey->tracks.items;
	mr_auto(free) bool *is_shared =
		calloc(model->survey->processes.count + 1, sizeof *is_shared);

	for (size_t i = 0; i < model->survey->processes.count; i++)
		thread_of[i] = MR_NO_TRACK;
	for (uint32_t row = 0; is_shared && row < model->steps.table.count; row++) {
		uint32_t track = model->steps.track[row], process = tracks[track].process;

		is_shared[process] |=
			thread_of[process] != MR_NO_TRACK && thread_of[process] != track;
		thread_of[process] = is_shared[process] ? MR_NO_TRACK : track;
	}
}

static int add_row(struct mr_torch *torch, struct mr_torch_operation *operation,
		   const uint32_t *thread_of)
{
	struct mr_model *model = torch->model;
	uint32_t process = mr_torch_process(torch, operation->track);
	uint32_t thread = thread_of[process] != MR_NO_TRACK ? thread_of[process] : operation->track;
	int result = mr_torch_find_node(torch, process, (enum mr_torch_phase)operation->phase,
					operation->name, operation->module, &operation->node);

	if (result < 0)
		return result;
	operation->step = step_at(model, thread, operation->start_ns);
	return mr_node_executions_append(
		&model->node_executions,
		(struct mr_node_executions_row){.track = operation->track,
						.start_ns = operation->start_ns,
						.duration_ns = operation->duration_ns,
						.parent = MR_NO_ROW,
						.node = operation->node,
						.site = operation->site,
						.module = operation->module,
						.step = operation->step,
						.shapes = operation->shapes,
						.asked_ns = MR_NO_TIME,
						.done_ns = MR_NO_TIME,
						.flags = operation->flags});
}

int mr_torch_add_operations(struct mr_torch *torch)
{
	struct mr_model *model = torch->model;
	mr_auto(free) uint32_t *thread_of =
		malloc((model->survey->processes.count + 1) * sizeof *thread_of);
	int result = thread_of ? 0 : -ENOMEM;

	if (result < 0)
		return result;
	if (torch->operations.count)
		qsort(torch->operations.items, torch->operations.count,
		      sizeof *torch->operations.items, compare);
	find_parents(torch);
	find_phases(torch);
	result = mr_torch_find_modules(torch);
	if (result == 0)
		result = mr_torch_place_tensors(torch);
	find_step_threads(model, thread_of);
	for (size_t i = 0; result == 0 && i < torch->operations.count; i++)
		result = add_row(torch, &torch->operations.items[i], thread_of);
	return result;
}
