/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds the tensor that a copy moved. A graph passes tensors between devices through pairs of nodes, and whichever of
 * the two is executed last copies; an eager operation fetches the inputs that are elsewhere:
 *
 *     execution of "x/_3", a _Send        ├──────────────────┤           its only input is output 1 of x,
 *     call of clEnqueueWriteBuffer              ├────┤                   which is what is copied
 *
 *     execution of MatMul, eager          ├─────────────────────────┤
 *     scope "_Send input 1 from ..."        ├───────────┤
 *     call of clEnqueueWriteBuffer              ├────┤                   input 1 of MatMul
 *
 * An operation that changes a variable copies it first if a value read from it is still in use:
 *
 *     execution of AssignAddVariableOp    ├─────────────────────────┤
 *     call of clEnqueueCopyBuffer           ├────┤                       input 0, the variable
 *
 * For other copies the tensor is not known; they are in the table without one.
 */
#include <string.h>

#include "base/macros.h"
#include "load/tensorflow/tensorflow.h"
#include "model/nesting.h"

struct tensor {
	uint32_t node; /* 0: not known */
	uint32_t number;
	bool is_input;
};

/* ---- of a graph ------------------------------------------------------------------------------------- */

/* By node: its first input. The caller frees it; NULL without memory. */
static struct tensor *find_inputs(const struct mr_definitions *definitions)
{
	struct tensor *inputs = calloc(definitions->nodes.count + 1, sizeof *inputs);

	for (size_t i = 0; inputs && i < definitions->edges.count; i++) {
		const struct mr_edge *edge = &definitions->edges.items[i];

		if (edge->kind == MR_edge_kind_data && edge->target_input == 0)
			inputs[edge->target] =
				(struct tensor){edge->source, edge->source_output, false};
	}
	return inputs;
}

/* By node that sends or receives: what it hands on. */
static int find_handed(const struct mr_model *model, struct tensor *handed)
{
	const struct mr_messages *messages = &model->messages;
	mr_auto(free) struct tensor *inputs = find_inputs(&model->survey->definitions);

	if (!inputs)
		return -ENOMEM;
	for (uint32_t row = 0; row < messages->table.count; row++) {
		uint32_t sending = messages->is_receive[row] ? messages->peer[row] : row;

		if (sending != MR_NO_ROW)
			handed[messages->node[row]] = inputs[messages->node[sending]];
	}
	return 0;
}

/* ---- of operations executed by themselves ------------------------------------------------------------- */

/* By call: the innermost scope around it. */
static int find_scopes(const struct mr_model *model, uint32_t *ret_around)
{
	const struct mr_scopes *scopes = &model->scopes;
	const struct mr_calls *calls = &model->calls;
	const struct mr_nesting outer = {.start_ns = scopes->start_ns,
					 .duration_ns = scopes->duration_ns};
	const struct mr_nesting inner = {.start_ns = calls->start_ns,
					 .duration_ns = calls->duration_ns};
	int result = 0;

	for (uint32_t i = 0; result == 0 && i < model->survey->tracks.count; i++) {
		const uint32_t *of_scopes = &scopes->table.first_of_track[i];
		const uint32_t *of_calls = &calls->table.first_of_track[i];

		result = mr_nest_in(&outer, of_scopes[0], of_scopes[1], &inner, of_calls[0],
				    of_calls[1], ret_around);
	}
	return result;
}

static struct tensor fetched(const struct mr_model *model, uint32_t scope, uint32_t node)
{
	static const char fetch[] = "_Send input ";
	const char *name =
		scope == MR_NO_ROW ? "" : mr_model_text(model, model->scopes.name[scope]);

	if (strncmp(name, fetch, strlen(fetch)) != 0)
		return (struct tensor){0};
	return (struct tensor){node, (uint32_t)strtoul(name + strlen(fetch), NULL, 10), true};
}

/* ---- of operations that change variables ---------------------------------------------------------------- */

/* Operations that change only one variable: with several it is not known which one was copied. */
static bool changes_variable(const struct mr_model *model, uint32_t node)
{
	static const char *const types[] = {"AssignAddVariableOp", "AssignSubVariableOp",
					    "ResourceApplyGradientDescent"};
	const char *type = mr_model_text(model, model->survey->definitions.nodes.items[node].type);

	for (size_t i = 0; i < mr_countof(types); i++) {
		if (strcmp(type, types[i]) == 0)
			return true;
	}
	return false;
}

/* ---- all -------------------------------------------------------------------------------------------- */

static bool is_copy(const struct mr_model *model, uint32_t operation)
{
	uint8_t kind = operation == MR_NO_ROW ? MR_operation_kind_other
					      : model->device_operations.kind[operation];

	return kind >= MR_operation_kind_copy_to_device &&
	       kind <= MR_operation_kind_copy_between_devices;
}

static struct tensor find_tensor(const struct mr_model *model, uint32_t call, uint32_t scope,
				 const struct tensor *handed)
{
	uint32_t execution = model->calls.execution[call];

	if (execution == MR_NO_ROW)
		return (struct tensor){0};
	uint32_t node = model->node_executions.node[execution];
	struct tensor tensor = fetched(model, scope, node);
	if (tensor.node)
		return tensor;
	if (model->device_operations.kind[model->calls.operation[call]] ==
		    MR_operation_kind_copy_on_device &&
	    changes_variable(model, node))
		return (struct tensor){.node = node, .number = 0, .is_input = true};
	return handed[node];
}

static int add_copy(struct mr_model *model, uint32_t call, struct tensor tensor)
{
	const struct mr_calls *calls = &model->calls;
	struct mr_tensor_copies_row row = {.track = calls->track[call],
					   .start_ns = calls->start_ns[call],
					   .operation = calls->operation[call],
					   .execution = calls->execution[call],
					   .node = tensor.node,
					   .number = MR_NO_ORDINAL,
					   .is_input = MR_NO_TRUTH};

	if (tensor.node) {
		row.number = tensor.number;
		row.is_input = tensor.is_input;
	}
	return mr_tensor_copies_append(&model->tensor_copies, row);
}

/* By process: whether it has a framework. */
static void find_programs(const struct mr_model *model, bool *ret_has_framework)
{
	const struct mr_node_executions *executions = &model->node_executions;

	for (uint32_t row = 0; row < executions->table.count; row++)
		ret_has_framework[model->survey->tracks.items[executions->track[row]].process] =
			true;
}

int mr_tensorflow_link_copies(struct mr_model *model)
{
	const struct mr_survey *survey = model->survey;
	uint32_t call_count = model->calls.table.count;

	if (model->scopes.table.count == 0 || call_count == 0)
		return 0;
	mr_auto(free) uint32_t *around = malloc(call_count * sizeof *around);
	mr_auto(free) struct tensor *handed =
		calloc(survey->definitions.nodes.count + 1, sizeof *handed);
	mr_auto(free) bool *has_framework =
		calloc(survey->processes.count + 1, sizeof *has_framework);
	int result = around && handed && has_framework ? find_scopes(model, around) : -ENOMEM;
	if (result == 0)
		result = find_handed(model, handed);
	if (result == 0)
		find_programs(model, has_framework);
	for (uint32_t call = 0; result == 0 && call < call_count; call++) {
		const struct mr_track *track = &survey->tracks.items[model->calls.track[call]];

		if (has_framework[track->process] && is_copy(model, model->calls.operation[call]))
			result = add_copy(model, call,
					  find_tensor(model, call, around[call], handed));
	}
	/* Calls are in order, and so are these. */
	return result < 0 ? result
			  : mr_table_find_tracks(&model->tensor_copies.table,
						 (uint32_t)survey->tracks.count);
}
