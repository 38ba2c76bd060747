/* SPDX-License-Identifier: Apache-2.0
 *
 * Folds similar nodes into one item: nodes that differ only in their names, with the same type, in the same box, linked
 * with the same items in the same way, such as forty arguments that all lead to one scope.
 */
#include <errno.h>
#include <string.h>

#include "base/sort.h"
#include "graph/graph.h"

enum {
	FOLD_MIN = 4, /* fewer are left as they are */
};

/* What distinguishes nodes: box, type, and then (other item, kind, direction) of each link. */
struct fold {
	const struct mr_model *model;
	struct mr_graph_picture *picture;
	uint32_t *first; /* by item: its ends of links; and one more */
	struct mr_sort_item *ends;
	struct mr_strings looks;
	uint32_t *look;      /* by item: number in looks, or NONE */
	uint32_t *count;     /* by look */
	uint32_t *stands_in; /* by item: the one that is shown for it */
};

#define NONE UINT32_MAX

static int collect_ends(struct fold *fold)
{
	const struct mr_graph_picture *picture = fold->picture;
	size_t item_count = picture->items.count, link_count = picture->links.count;

	fold->first = calloc(item_count + 2, sizeof *fold->first);
	fold->ends = calloc(4 * link_count + 1, sizeof *fold->ends);
	if (!fold->first || !fold->ends)
		return -ENOMEM;
	for (size_t i = 0; i < link_count; i++) {
		fold->first[picture->links.items[i].from + 2]++;
		fold->first[picture->links.items[i].to + 2]++;
	}
	for (size_t i = 2; i < item_count + 2; i++)
		fold->first[i] += fold->first[i - 1];
	for (size_t i = 0; i < link_count; i++) {
		const struct mr_graph_link *link = &picture->links.items[i];

		fold->ends[fold->first[link->from + 1]++].key =
			(uint64_t)link->to << 8 | (uint64_t)link->kind << 1;
		fold->ends[fold->first[link->to + 1]++].key =
			(uint64_t)link->from << 8 | (uint64_t)link->kind << 1 | 1;
	}
	return 0;
}

static int find_look(struct fold *fold, uint32_t number)
{
	const struct mr_graph_item *item = &fold->picture->items.items[number];
	uint32_t type = fold->model->survey->definitions.nodes.items[item->node].type;
	struct mr_sort_item *ends = fold->ends + fold->first[number];
	size_t count = fold->first[number + 1] - fold->first[number];
	mr_vec(uint64_t) look = {0};
	int result = mr_vec_push(&look, (uint64_t)item->box << 32 | type);

	mr_sort(ends, fold->ends + 2 * fold->picture->links.count, count);
	for (size_t i = 0; i < count && result == 0; i++)
		result = mr_vec_push(&look, ends[i].key);
	if (result == 0)
		result = mr_strings_intern(&fold->looks, look.items,
					   look.count * sizeof *look.items, &fold->look[number]);
	mr_vec_free(&look);
	return result;
}

bool mr_graph_is_wanted(const struct mr_graph_wish *wish, uint32_t node)
{
	bool is_found = node == wish->node;

	for (size_t i = 0; i < wish->unfold.count && !is_found; i++)
		is_found = wish->unfold.items[i] == node;
	return is_found;
}

static int find_looks(struct fold *fold, const struct mr_graph_wish *wish)
{
	uint32_t item_count = (uint32_t)fold->picture->items.count;

	fold->look = calloc(item_count + 1, sizeof *fold->look);
	fold->count = calloc(item_count + 1, sizeof *fold->count);
	fold->stands_in = calloc(item_count + 1, sizeof *fold->stands_in);
	if (!fold->look || !fold->count || !fold->stands_in)
		return -ENOMEM;
	for (uint32_t i = 0; i < item_count; i++) {
		fold->look[i] = NONE;
		if (!fold->picture->items.items[i].node || fold->first[i] == fold->first[i + 1])
			continue; /* a scope, or linked with nothing */
		if (find_look(fold, i) < 0)
			return -ENOMEM;
		fold->count[fold->look[i]]++;
	}
	for (uint32_t i = 0; i < item_count; i++)
		if (fold->look[i] != NONE &&
		    mr_graph_is_wanted(wish, fold->picture->items.items[i].node))
			fold->count[fold->look[i]] = 0;
	return 0;
}

/* The first of a look stands for the others; what is left moves up. */
static int merge_items(struct fold *fold)
{
	struct mr_graph_picture *picture = fold->picture;
	size_t left = 0;
	uint32_t *shown = calloc(mr_strings_count(&fold->looks) + 1, sizeof *shown);

	if (!shown)
		return -ENOMEM;
	memset(shown, 0xff, mr_strings_count(&fold->looks) * sizeof *shown);
	for (size_t i = 0; i < picture->items.count; i++) {
		struct mr_graph_item item = picture->items.items[i];
		uint32_t look = fold->look[i];
		bool is_folded = look != NONE && fold->count[look] >= FOLD_MIN;

		if (is_folded && shown[look] != NONE) {
			struct mr_graph_item *other = &picture->items.items[shown[look]];
			mr_node_figures_add(&other->figures, &item.figures);
			other->is_on_several |= other->device != item.device;
			fold->stands_in[i] = shown[look];
			continue;
		}
		if (is_folded) {
			shown[look] = (uint32_t)left;
			item.folded = fold->count[look];
		}
		if (item.box != MR_NO_BOX)
			item.box = fold->stands_in[item.box];
		fold->stands_in[i] = (uint32_t)left;
		picture->items.items[left++] = item;
	}
	picture->items.count = left;
	free(shown);
	return 0;
}

static int merge_links(struct fold *fold)
{
	struct mr_graph_picture *picture = fold->picture;
	size_t count = picture->links.count;
	struct mr_strings keys = {0};
	int result = 0;

	picture->links.count = 0; /* refilled from the front, never faster than it is read */
	for (size_t i = 0; i < count && result == 0; i++) {
		struct mr_graph_link link = picture->links.items[i];

		link.from = fold->stands_in[link.from];
		link.to = fold->stands_in[link.to];
		result = mr_graph_add_link(picture, &keys, &link);
	}
	mr_strings_free(&keys);
	return result;
}

int mr_graph_fold(const struct mr_model *model, const struct mr_graph_wish *wish,
		  struct mr_graph_picture *picture)
{
	struct fold fold = {.model = model, .picture = picture};
	int result = collect_ends(&fold);

	if (result == 0)
		result = find_looks(&fold, wish);
	if (result == 0)
		result = merge_items(&fold);
	if (result == 0)
		result = merge_links(&fold);
	free(fold.first);
	free(fold.ends);
	free(fold.look);
	free(fold.count);
	free(fold.stands_in);
	mr_strings_free(&fold.looks);
	return result;
}
