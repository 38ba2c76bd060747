/* SPDX-License-Identifier: Apache-2.0
 *
 * Folds variables and constants into what uses them. A model has hundreds of them, each used in a place or two; drawn
 * as items they hide what is computed, and their edges cross everything.
 *
 *     w     x          x                 A reader of a variable goes with it. What they took counts for the first
 *     │     │          │                 user, so that no time is lost. What the page asks for stays (unfold, show).
 *     └─ MatMul     MatMul (1 variable)
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "graph/graph.h"

#define NONE UINT32_MAX

struct folding {
	const struct mr_model *model;
	const struct mr_graph_wish *wish;
	struct mr_graph_picture *picture;
	uint32_t *first;    /* by item: its part of `out`; and one more */
	uint32_t *out;      /* links that lead from it */
	uint32_t *inputs;   /* by item: links that lead to it */
	uint32_t *children; /* by item: of a box, what is left in it */
	bool *is_gone;
	uint32_t *place; /* by item: where it is now */
};

/* Of the frameworks that have them; a type that is not here is an operation like any other. */
static bool is_variable(const struct mr_model *model, uint32_t node)
{
	static const char *const types[] = {"Const",      "ReadVariableOp", "VarHandleOp",
					    "Variable",   "VariableV2",     "_Arg",
					    "Placeholder"};
	const char *type = mr_model_text(model, model->survey->definitions.nodes.items[node].type);

	for (size_t i = 0; i < mr_countof(types); i++)
		if (strcmp(type, types[i]) == 0)
			return true;
	return false;
}

/* A box must not become empty, and what nothing uses would be nowhere. */
static bool may_go(const struct folding *folding, uint32_t number)
{
	const struct mr_graph_item *item = &folding->picture->items.items[number];

	return item->node && !folding->is_gone[number] && folding->inputs[number] == 0 &&
	       !mr_graph_is_wanted(folding->wish, item->node) &&
	       is_variable(folding->model, item->node) &&
	       (item->box == MR_NO_BOX || folding->children[item->box] > 1);
}

/* Whether somebody uses it; each of those then has one variable more. */
static bool give_to_users(struct folding *folding, uint32_t number)
{
	struct mr_graph_picture *picture = folding->picture;
	struct mr_graph_item *items = picture->items.items;
	bool is_used = false;

	for (uint32_t i = folding->first[number]; i < folding->first[number + 1]; i++) {
		const struct mr_graph_link *link = &picture->links.items[folding->out[i]];

		if (folding->is_gone[link->to] || link->to == number)
			continue;
		if (!is_used)
			mr_node_figures_add(&items[link->to].figures, &items[number].figures);
		items[link->to].variables += 1 + items[number].variables;
		folding->inputs[link->to]--;
		is_used = true;
	}
	return is_used;
}

/* Again and again, as a reader can go when its variable has gone. */
static void choose(struct folding *folding)
{
	struct mr_graph_picture *picture = folding->picture;
	bool is_changed = true;

	while (is_changed) {
		is_changed = false;
		for (uint32_t i = 0; i < picture->items.count; i++) {
			uint32_t box = picture->items.items[i].box;

			if (!may_go(folding, i) || !give_to_users(folding, i))
				continue;
			folding->is_gone[i] = is_changed = true;
			if (box != MR_NO_BOX)
				folding->children[box]--;
		}
	}
}

/* What is left moves up. */
static void remove_gone(struct folding *folding)
{
	struct mr_graph_picture *picture = folding->picture;
	size_t left = 0;

	for (size_t i = 0; i < picture->items.count; i++) {
		struct mr_graph_item item = picture->items.items[i];

		folding->place[i] = folding->is_gone[i] ? NONE : (uint32_t)left;
		if (folding->is_gone[i])
			continue;
		if (item.box != MR_NO_BOX)
			item.box = folding->place[item.box];
		picture->items.items[left++] = item;
	}
	picture->items.count = left;
	left = 0;
	for (size_t i = 0; i < picture->links.count; i++) {
		struct mr_graph_link link = picture->links.items[i];

		if (folding->is_gone[link.from] || folding->is_gone[link.to])
			continue;
		link.from = folding->place[link.from];
		link.to = folding->place[link.to];
		picture->links.items[left++] = link;
	}
	picture->links.count = left;
}

/* Links by the item that they lead from, in their order. */
static void sort_links(struct folding *folding)
{
	const struct mr_graph_picture *picture = folding->picture;

	for (size_t i = 0; i < picture->links.count; i++) {
		folding->first[picture->links.items[i].from + 2]++;
		folding->inputs[picture->links.items[i].to]++;
	}
	for (size_t i = 2; i < picture->items.count + 2; i++)
		folding->first[i] += folding->first[i - 1];
	for (uint32_t i = 0; i < picture->links.count; i++)
		folding->out[folding->first[picture->links.items[i].from + 1]++] = i;
}

int mr_graph_fold_variables(const struct mr_model *model, const struct mr_graph_wish *wish,
			    struct mr_graph_picture *picture)
{
	size_t count = picture->items.count + 2;
	mr_auto(free) uint32_t *first = calloc(count, sizeof *first);
	mr_auto(free) uint32_t *out = calloc(picture->links.count + 1, sizeof *out);
	mr_auto(free) uint32_t *inputs = calloc(count, sizeof *inputs);
	mr_auto(free) uint32_t *children = calloc(count, sizeof *children);
	mr_auto(free) bool *is_gone = calloc(count, sizeof *is_gone);
	mr_auto(free) uint32_t *place = calloc(count, sizeof *place);
	struct folding folding = {model,  wish,     picture, first, out,
				  inputs, children, is_gone, place};

	if (!first || !out || !inputs || !children || !is_gone || !place)
		return -ENOMEM;
	sort_links(&folding);
	for (size_t i = 0; i < picture->items.count; i++)
		if (picture->items.items[i].box != MR_NO_BOX)
			children[picture->items.items[i].box]++;
	choose(&folding);
	remove_gone(&folding);
	return 0;
}
