/* SPDX-License-Identifier: Apache-2.0
 *
 * From forward operators to backward functions. Autograd numbers what it records, and the backward function has the number of
 * the operator that it was made by:
 *
 *     aten::linear 5   ├────────────────┤           several operators may begin with the same number, nested in each
 *     aten::t      5     ├──┤                       other; the last of them is the one that autograd recorded
 *     aten::addmm  6          ├───────┤
 *
 * Each thread counts for itself. A backward function runs on the thread of its operator, or on one of autograd's, which
 * records nothing forward: then the operator must be the only one of the process with that number.
 */
#include <string.h>

#include "load/torch/torch.h"

struct number_key {
	uint64_t sequence;
	uint32_t owner; /* track, or process */
	uint32_t is_process;
};

struct forward {
	uint32_t operation; /* the last one with the number */
	uint32_t track;
	bool is_ambiguous; /* threads of the process have it */
};

struct finder {
	struct mr_torch *torch;
	struct mr_strings keys; /* struct number_key */
	mr_vec(struct forward) found;
};

struct edge_key {
	uint32_t source;
	uint32_t target;
	uint32_t kind;
};

static int note(struct finder *finder, struct number_key key, uint32_t index, uint32_t track)
{
	uint32_t count = mr_strings_count(&finder->keys), number;
	int result = mr_strings_intern(&finder->keys, &key, sizeof key, &number);

	if (result == 0 && number == count)
		result = mr_vec_push(&finder->found,
				     ((struct forward){index, track, .is_ambiguous = false}));
	if (result < 0)
		return result;
	struct forward *forward = &finder->found.items[number];
	forward->is_ambiguous |= forward->track != track;
	forward->operation = index;
	return 0;
}

/* Operations are by track and start, so the last one that is noted began last. */
static int note_forward(struct finder *finder)
{
	struct mr_torch *torch = finder->torch;
	int result = 0;

	for (uint32_t i = 0; result == 0 && i < torch->operations.count; i++) {
		const struct mr_torch_operation *operation = &torch->operations.items[i];
		struct number_key key = {operation->sequence, operation->track, 0};

		if (operation->phase != MR_TORCH_FORWARD || operation->sequence == MR_U48_MAX)
			continue;
		result = note(finder, key, i, operation->track);
		key.owner = mr_torch_process(torch, operation->track);
		key.is_process = 1;
		if (result == 0)
			result = note(finder, key, i, operation->track);
	}
	return result;
}

static const struct forward *look_up(const struct finder *finder, struct number_key key)
{
	uint32_t number;

	return mr_strings_find(&finder->keys, &key, sizeof key, &number)
		       ? &finder->found.items[number]
		       : NULL;
}

static const struct forward *find_forward(const struct finder *finder,
					  const struct mr_torch_operation *backward)
{
	struct number_key key = {backward->sequence, backward->track, 0};
	const struct forward *forward = look_up(finder, key);

	if (forward)
		return forward;
	key.owner = mr_torch_process(finder->torch, backward->track);
	key.is_process = 1;
	forward = look_up(finder, key);
	return forward && !forward->is_ambiguous ? forward : NULL;
}

int mr_torch_add_edge(struct mr_torch *torch, struct mr_edge edge)
{
	struct mr_definitions *definitions = &torch->model->survey->definitions;
	const struct edge_key key = {edge.source, edge.target, edge.kind};
	uint32_t count = mr_strings_count(&torch->edge_keys), number;
	int result = mr_strings_intern(&torch->edge_keys, &key, sizeof key, &number);

	if (result < 0 || number < count)
		return result;
	edge.process = definitions->nodes.items[edge.target].process;
	return mr_vec_push(&definitions->edges, edge);
}

static int link_backward(struct finder *finder)
{
	const struct mr_torch *torch = finder->torch;
	int result = 0;

	for (size_t i = 0; result == 0 && i < torch->operations.count; i++) {
		const struct mr_torch_operation *backward = &torch->operations.items[i];
		const struct forward *forward =
			backward->scope == MR_torch_scope_backward_function &&
					backward->sequence != MR_U48_MAX
				? find_forward(finder, backward)
				: NULL;

		if (forward)
			result = mr_torch_add_edge(
				finder->torch,
				(struct mr_edge){
					.source = torch->operations.items[forward->operation].node,
					.target = backward->node,
					.kind = MR_edge_kind_control});
	}
	return result;
}

static void inherit_modules(struct finder *finder)
{
	struct mr_torch_operation *operations = finder->torch->operations.items;

	for (size_t i = 0; i < finder->torch->operations.count; i++) {
		struct mr_torch_operation *operation = &operations[i];
		const struct forward *forward =
			operation->scope == MR_torch_scope_backward_function &&
					operation->sequence != MR_U48_MAX
				? find_forward(finder, operation)
				: NULL;

		if (forward)
			operation->module = operations[forward->operation].module;
		else if (!operation->module && operation->parent != MR_NO_ROW)
			operation->module = operations[operation->parent].module;
	}
}

static void free_finder(struct finder *finder)
{
	mr_strings_free(&finder->keys);
	mr_vec_free(&finder->found);
}

int mr_torch_find_modules(struct mr_torch *torch)
{
	struct finder finder = {.torch = torch};
	int result = note_forward(&finder);

	if (result == 0)
		inherit_modules(&finder);
	free_finder(&finder);
	return result;
}

int mr_torch_add_edges(struct mr_torch *torch)
{
	struct finder finder = {.torch = torch};
	int result = note_forward(&finder);

	if (result == 0)
		result = link_backward(&finder);
	free_finder(&finder);
	return result;
}
