/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/graph.h"

#include "base/error.h"

#define NONE UINT32_MAX

struct show {
	const struct mr_model *model;
	const struct mr_graph_figures *figures;
	struct mr_graph_picture *picture;
	struct mr_node_figures *sums; /* by scope */
	bool *is_open;                /* by scope */
	uint32_t *item_of_scope;      /* NONE: it is inside one that is not open */
	uint32_t *item_of_node;       /* by node of the model */
};

static struct mr_graph_scope *scope_at(const struct show *show, uint32_t scope)
{
	return &show->picture->scopes.list.items[scope];
}

static void add_up(struct show *show)
{
	const struct mr_graph_scopes *scopes = &show->picture->scopes;

	for (size_t i = 0; i < scopes->nodes.count; i++)
		mr_node_figures_add(&show->sums[scopes->scope_of.items[i]],
				    &show->figures->nodes[scopes->nodes.items[i]]);
	for (size_t i = scopes->list.count; i-- > 1;)
		if (scopes->list.items[i].is_shown)
			mr_node_figures_add(&show->sums[scopes->list.items[i].parent],
					    &show->sums[i]);
}

/* ---- which scopes are open ------------------------------------------------------------------------- */

/* The closed scope, in open ones alone, that takes most time and has no more than `room` things in it; 0: none. */
static uint32_t find_next(const struct show *show, uint32_t room)
{
	const struct mr_graph_scopes *scopes = &show->picture->scopes;
	uint32_t best = 0;

	for (uint32_t i = 1; i < scopes->list.count; i++) {
		const struct mr_graph_scope *it = &scopes->list.items[i];

		if (it->is_shown && !show->is_open[i] && show->is_open[it->parent] &&
		    it->child_count <= room &&
		    (best == 0 || show->sums[i].self_ns > show->sums[best].self_ns))
			best = i;
	}
	return best;
}

static void open_some(struct show *show)
{
	uint32_t shown = scope_at(show, 0)->child_count;

	show->is_open[0] = true;
	while (shown < MR_GRAPH_FEW) {
		uint32_t scope = find_next(show, MR_GRAPH_MANY - shown);

		if (scope == 0)
			break;
		show->is_open[scope] = true;
		shown += scope_at(show, scope)->child_count;
	}
}

static void open_around(struct show *show, uint32_t scope)
{
	for (; scope != 0; scope = scope_at(show, scope)->parent)
		show->is_open[scope] = true;
}

static int check_scope(const struct show *show, uint32_t scope)
{
	if (scope < show->picture->scopes.list.count && scope_at(show, scope)->is_shown)
		return 0;
	return mr_fail(ENOENT, "scope %u: is not in the graph", scope);
}

static int grant(struct show *show, const struct mr_graph_wish *wish)
{
	const struct mr_graph_scopes *scopes = &show->picture->scopes;
	bool is_found = wish->node == 0;

	for (size_t i = 0; i < wish->open.count; i++) {
		if (check_scope(show, wish->open.items[i]) < 0)
			return -ENOENT;
		open_around(show, wish->open.items[i]);
	}
	for (size_t i = 0; i < wish->close.count; i++) {
		if (check_scope(show, wish->close.items[i]) < 0)
			return -ENOENT;
		show->is_open[wish->close.items[i]] = wish->close.items[i] == 0;
	}
	for (size_t i = 0; i < scopes->nodes.count && !is_found; i++) {
		is_found = scopes->nodes.items[i] == wish->node;
		if (is_found)
			open_around(show, scopes->scope_of.items[i]);
	}
	return is_found ? 0 : mr_fail(ENOENT, "node %u: is not in the graph", wish->node);
}

/* ---- items ----------------------------------------------------------------------------------------- */

/* Is everything around it open? Then it is an item, in the box of its parent. */
static bool is_visible(const struct show *show, uint32_t parent, uint32_t *ret_box)
{
	*ret_box = parent == 0 ? MR_NO_BOX : show->item_of_scope[parent];
	return show->is_open[parent] && (parent == 0 || *ret_box != NONE);
}

static int add_scopes(struct show *show)
{
	struct mr_graph_picture *picture = show->picture;
	int result = 0;

	show->item_of_scope[0] = NONE;
	for (uint32_t i = 1; i < picture->scopes.list.count && result == 0; i++) {
		const struct mr_graph_scope *scope = scope_at(show, i);
		struct mr_graph_item item = {
			.scope = i, .is_open = show->is_open[i], .figures = show->sums[i]};

		show->item_of_scope[i] = NONE;
		if (!scope->is_shown || !is_visible(show, scope->parent, &item.box))
			continue;
		show->item_of_scope[i] = (uint32_t)picture->items.count;
		result = mr_vec_push(&picture->items, item);
	}
	return result;
}

/* The item that stands for what is in a scope: the outermost one around it that is not open. */
static uint32_t find_cover(const struct show *show, uint32_t scope)
{
	while (show->item_of_scope[scope] == NONE)
		scope = scope_at(show, scope)->parent;
	return show->item_of_scope[scope];
}

static void add_device(struct mr_graph_item *item, uint32_t device, bool is_first)
{
	if (is_first)
		item->device = device;
	else if (item->device != device)
		item->is_on_several = true;
}

static int add_nodes(struct show *show)
{
	const struct mr_definitions *definitions = &show->model->survey->definitions;
	struct mr_graph_picture *picture = show->picture;
	int result = 0;

	for (size_t i = 0; i < picture->scopes.nodes.count && result == 0; i++) {
		uint32_t node = picture->scopes.nodes.items[i];
		uint32_t scope = picture->scopes.scope_of.items[i];
		struct mr_graph_item item = {.node = node,
					     .device = definitions->nodes.items[node].device,
					     .figures = show->figures->nodes[node]};

		if (is_visible(show, scope, &item.box)) {
			show->item_of_node[node] = (uint32_t)picture->items.count;
			result = mr_vec_push(&picture->items, item);
		} else {
			show->item_of_node[node] = find_cover(show, scope);
		}
	}
	return result;
}

/* What all nodes of a scope that is closed have in common. */
static void find_devices(struct show *show, bool *has_device)
{
	const struct mr_definitions *definitions = &show->model->survey->definitions;
	struct mr_graph_picture *picture = show->picture;

	for (size_t i = 0; i < picture->scopes.nodes.count; i++) {
		uint32_t node = picture->scopes.nodes.items[i];
		uint32_t at = show->item_of_node[node];

		if (picture->items.items[at].scope == 0)
			continue;
		add_device(&picture->items.items[at], definitions->nodes.items[node].device,
			   !has_device[at]);
		has_device[at] = true;
	}
}

/* ---- links ----------------------------------------------------------------------------------------- */

struct link_key {
	uint32_t from;
	uint32_t to;
	uint32_t kind;
};

int mr_graph_add_link(struct mr_graph_picture *picture, struct mr_strings *keys,
		      const struct mr_graph_link *link)
{
	const struct link_key key = {link->from, link->to, link->kind};
	uint32_t number;
	int result = mr_strings_intern(keys, &key, sizeof key, &number);

	if (result < 0)
		return result;
	if (number == picture->links.count)
		return mr_vec_push(&picture->links, *link);
	struct mr_graph_link *known = &picture->links.items[number];
	known->count += link->count;
	if (known->bytes == MR_BYTES_UNKNOWN)
		known->bytes = link->bytes;
	else if (link->bytes != MR_BYTES_UNKNOWN)
		known->bytes += link->bytes;
	return 0;
}

static int add_links(struct show *show, uint32_t graph)
{
	const struct mr_definitions *definitions = &show->model->survey->definitions;
	const struct mr_node *nodes = definitions->nodes.items;
	struct mr_strings keys = {0};
	int result = 0;

	for (size_t i = 0; i < definitions->edges.count && result == 0; i++) {
		const struct mr_edge *edge = &definitions->edges.items[i];

		if (nodes[edge->source].graph != graph || nodes[edge->target].graph != graph ||
		    edge->source == 0 || edge->target == 0)
			continue;
		const struct mr_graph_link link = {.from = show->item_of_node[edge->source],
						   .to = show->item_of_node[edge->target],
						   .kind = edge->kind,
						   .count = 1,
						   .bytes = show->figures->edge_bytes[i]};
		if (link.from != link.to || show->picture->items.items[link.from].node)
			result = mr_graph_add_link(show->picture, &keys, &link);
	}
	mr_strings_free(&keys);
	return result;
}

/* ---- all together ---------------------------------------------------------------------------------- */

static int make_items(struct show *show)
{
	int result = add_scopes(show);

	if (result == 0)
		result = add_nodes(show);
	if (result < 0)
		return result;
	mr_auto(free) bool *has_device = calloc(show->picture->items.count + 1, sizeof *has_device);
	if (!has_device)
		return -ENOMEM;
	find_devices(show, has_device);
	return 0;
}

static int run(struct show *show, const struct mr_graph_wish *wish)
{
	size_t scope_count = show->picture->scopes.list.count;
	size_t node_count = show->model->survey->definitions.nodes.count;
	mr_auto(free) struct mr_node_figures *sums = calloc(scope_count, sizeof *sums);
	mr_auto(free) bool *is_open = calloc(scope_count, sizeof *is_open);
	mr_auto(free) uint32_t *item_of_scope = calloc(scope_count, sizeof *item_of_scope);
	mr_auto(free) uint32_t *item_of_node = calloc(node_count, sizeof *item_of_node);

	if (!sums || !is_open || !item_of_scope || !item_of_node)
		return -ENOMEM;
	show->sums = sums;
	show->is_open = is_open;
	show->item_of_scope = item_of_scope;
	show->item_of_node = item_of_node;
	add_up(show);
	open_some(show);
	int result = grant(show, wish);
	if (result == 0)
		result = make_items(show);
	if (result == 0)
		result = add_links(show, wish->graph);
	if (result == 0)
		result = mr_graph_fold_variables(show->model, wish, show->picture);
	return result < 0 ? result : mr_graph_fold(show->model, wish, show->picture);
}

int mr_graph_show(const struct mr_model *model, const struct mr_graph_figures *figures,
		  const struct mr_graph_wish *wish, struct mr_graph_picture *ret_picture)
{
	mr_auto(graph_picture) struct mr_graph_picture picture = {0};
	struct show show = {.model = model, .figures = figures, .picture = &picture};

	if (wish->graph == 0 || wish->graph >= model->survey->definitions.graphs.count)
		return mr_fail(ENOENT, "graph %u: is not in the trace", wish->graph);
	int result = mr_graph_scopes_make(model, wish->graph, &picture.scopes);
	if (result == 0)
		result = run(&show, wish);
	if (result < 0)
		return result;
	*ret_picture = picture;
	picture = (struct mr_graph_picture){0};
	return 0;
}

void mr_graph_picture_free(struct mr_graph_picture *picture)
{
	mr_graph_scopes_free(&picture->scopes);
	mr_vec_free(&picture->items);
	mr_vec_free(&picture->links);
}
