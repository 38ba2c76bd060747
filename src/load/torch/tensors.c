/* SPDX-License-Identifier: Apache-2.0
 *
 * The graph as it was executed: an edge leads from the operator that made a tensor to each that takes it. Which tensor it is
 * says the memory that holds it, as long as it is not freed; views share it, and of these the address of the tensor tells
 * which it is.
 *
 *     memory 0x80   ├ allocated ────────────────────────────── freed ┤├ allocated: another tensor
 *     aten::linear    makes it                                          no operator that was recorded made this one
 *     aten::relu                      takes it: an edge
 *
 * Inside of a backward function, operators make what it gives on: they count for it. Edges lead from one step to the next
 * nowhere, as the weights would tie all to all.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "load/torch/torch.h"

enum {
	SHAPES_BYTES = 1024, /* of one operation; more are left out */
};

/* ---- whose they are ---------------------------------------------------------------------------------- */

/* Operations are by track and start. The last one that had begun by then; MR_NO_ROW: none. */
static uint32_t find_begun(const struct mr_torch *torch, uint32_t track, int64_t ns)
{
	const struct mr_torch_operation *operations = torch->operations.items;
	size_t low = 0, high = torch->operations.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct mr_torch_operation *at = &operations[middle];

		if (at->track < track || (at->track == track && at->start_ns <= ns))
			low = middle + 1;
		else
			high = middle;
	}
	return low > 0 && operations[low - 1].track == track ? (uint32_t)(low - 1) : MR_NO_ROW;
}

static uint32_t find_operation(const struct mr_torch *torch, uint32_t track, int64_t ns)
{
	const struct mr_torch_operation *operations = torch->operations.items;
	uint32_t at = find_begun(torch, track, ns);

	while (at != MR_NO_ROW && operations[at].start_ns + operations[at].duration_ns < ns)
		at = operations[at].parent;
	return at;
}

/* "(float32[8,16];float32[4])": as long as there is room. */
static int name_shapes(struct mr_torch *torch, uint32_t operation, size_t first, size_t end)
{
	char text[SHAPES_BYTES];
	size_t length = 0;
	bool is_known = false;

	for (size_t i = first; i < end; i++) {
		const struct mr_torch_tensor *tensor = &torch->tensors.items[i];
		const char *shape = mr_torch_text(torch, tensor->shape);

		if (tensor->operation != operation || tensor->is_output)
			continue;
		if (length + strlen(shape) + 3 > sizeof text)
			break;
		is_known |= *shape != 0;
		length += (size_t)snprintf(text + length, sizeof text - length, "%c%s",
					   length ? ';' : '(', shape);
	}
	if (!is_known)
		return 0;
	text[length++] = ')';
	return mr_strings_intern(&torch->model->survey->definitions.strings, text, length,
				 &torch->operations.items[operation].shapes);
}

/* Those of one operation are written one after the other. */
int mr_torch_place_tensors(struct mr_torch *torch)
{
	struct mr_torch_tensor *tensors = torch->tensors.items;
	size_t count = torch->tensors.count;
	int result = 0;

	for (size_t i = 0; i < count; i++)
		tensors[i].operation = find_operation(torch, tensors[i].track, tensors[i].ns);
	for (size_t first = 0, end; result == 0 && first < count; first = end) {
		for (end = first + 1; end < count &&
				      tensors[end].operation == tensors[first].operation &&
				      tensors[end].is_output == tensors[first].is_output;)
			end++;
		for (size_t i = first; i < end; i++)
			tensors[i].number = (uint16_t)mr_min(i - first, (size_t)UINT16_MAX);
		if (tensors[first].operation != MR_NO_ROW && !tensors[first].is_output)
			result = name_shapes(torch, tensors[first].operation, first, end);
	}
	return result;
}

/* ---- what happened to memory ------------------------------------------------------------------------- */

/* In the order of time, of one process after the other. */
struct item {
	int64_t ns;
	uint64_t memory;
	uint32_t process;
	uint32_t tensor; /* MR_NO_ROW: the memory was allocated or freed */
};

typedef mr_vec(struct item) item_list;

static int compare(const void *left, const void *right)
{
	const struct item *a = left, *b = right;

	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	if (a->ns != b->ns)
		return a->ns < b->ns ? -1 : 1;
	return (a->tensor != MR_NO_ROW) - (b->tensor != MR_NO_ROW);
}

static int list_items(struct mr_torch *torch, item_list *items)
{
	const struct mr_memory *memory = &torch->model->memory;
	int result = 0;

	for (uint32_t row = 0; result == 0 && row < memory->table.count; row++)
		result = mr_vec_push(
			items,
			((struct item){memory->start_ns[row], memory->address[row],
				       mr_torch_process(torch, memory->track[row]), MR_NO_ROW}));
	for (uint32_t i = 0; result == 0 && i < torch->tensors.count; i++) {
		const struct mr_torch_tensor *tensor = &torch->tensors.items[i];

		if (tensor->operation != MR_NO_ROW)
			result = mr_vec_push(
				items, ((struct item){tensor->ns, tensor->memory,
						      mr_torch_process(torch, tensor->track), i}));
	}
	if (items->count)
		qsort(items->items, items->count, sizeof *items->items, compare);
	return result;
}

/* ---- who made it ------------------------------------------------------------------------------------- */

struct memory_key {
	uint64_t memory;
	uint64_t process;
};

struct view_key {
	uint64_t memory;
	uint64_t tensor;
	uint64_t process;
};

struct maker {
	uint32_t tensor;     /* MR_NO_ROW: none that is known */
	uint32_t generation; /* of the memory: how often it was allocated or freed */
};

struct makers {
	struct mr_torch *torch;
	struct mr_strings keys; /* struct memory_key or struct view_key → index */
	mr_vec(struct maker) list;
};

static int find_maker(struct makers *makers, const void *key, size_t bytes,
		      struct maker **ret_maker)
{
	uint32_t number;
	int result = mr_strings_intern(&makers->keys, key, bytes, &number);

	if (result == 0 && number == makers->list.count)
		result = mr_vec_push(&makers->list, ((struct maker){MR_NO_ROW, 0}));
	if (result == 0)
		*ret_maker = &makers->list.items[number];
	return result;
}

/* The operator that is outermost, or the backward function around it. */
static uint32_t owner_of(const struct mr_torch *torch, uint32_t operation)
{
	const struct mr_torch_operation *operations = torch->operations.items;

	for (uint32_t at = operation; at != MR_NO_ROW; at = operations[at].parent)
		if (operations[at].scope == MR_torch_scope_backward_function)
			return at;
	return operation;
}

/* Not to the next step: what optimizers change, too, where they mark no steps. */
static bool are_of_one_step(const struct mr_torch_operation *source,
			    const struct mr_torch_operation *target)
{
	return source->step == target->step &&
	       !(source->phase == MR_TORCH_OPTIMIZER && target->phase == MR_TORCH_FORWARD);
}

static int add_edge(struct mr_torch *torch, uint32_t made, uint32_t taken)
{
	const struct mr_torch_tensor *tensors = torch->tensors.items;
	const struct mr_torch_operation *operations = torch->operations.items;
	uint32_t source = owner_of(torch, tensors[made].operation);
	uint32_t target = owner_of(torch, tensors[taken].operation);

	if (source == target || operations[source].node == operations[target].node ||
	    !are_of_one_step(&operations[source], &operations[target]))
		return 0;
	return mr_torch_add_edge(torch, (struct mr_edge){.source = operations[source].node,
							 .target = operations[target].node,
							 .source_output = tensors[made].number,
							 .target_input = tensors[taken].number,
							 .kind = MR_edge_kind_data});
}

static int take(struct makers *makers, const struct item *item)
{
	struct mr_torch *torch = makers->torch;
	const struct mr_torch_tensor *tensor = &torch->tensors.items[item->tensor];
	const struct memory_key key = {item->memory, item->process};
	const struct view_key view = {item->memory, tensor->tensor, item->process};
	struct maker *of_memory, *of_view;
	int result = find_maker(makers, &key, sizeof key, &of_memory);
	struct maker memory = result == 0 ? *of_memory : (struct maker){0};

	if (result == 0)
		result = find_maker(makers, &view, sizeof view, &of_view);
	if (result < 0)
		return result;
	if (tensor->is_output) {
		*of_view = (struct maker){item->tensor, memory.generation};
		result = find_maker(makers, &key, sizeof key, &of_memory);
		of_memory->tensor = item->tensor;
		return result;
	}
	bool has_view = of_view->tensor != MR_NO_ROW && of_view->generation == memory.generation;
	uint32_t made = has_view ? of_view->tensor : memory.tensor;
	return made == MR_NO_ROW ? 0 : add_edge(torch, made, item->tensor);
}

static int forget(struct makers *makers, const struct item *item)
{
	const struct memory_key key = {item->memory, item->process};
	struct maker *maker;
	int result = find_maker(makers, &key, sizeof key, &maker);

	if (result == 0)
		*maker = (struct maker){MR_NO_ROW, maker->generation + 1};
	return result;
}

int mr_torch_add_tensor_edges(struct mr_torch *torch)
{
	struct makers makers = {.torch = torch};
	item_list items = {0};
	int result = torch->tensors.count ? list_items(torch, &items) : 0;

	for (size_t i = 0; result == 0 && i < items.count; i++)
		result = items.items[i].tensor == MR_NO_ROW ? forget(&makers, &items.items[i])
							    : take(&makers, &items.items[i]);
	mr_vec_free(&items);
	mr_strings_free(&makers.keys);
	mr_vec_free(&makers.list);
	return result;
}
