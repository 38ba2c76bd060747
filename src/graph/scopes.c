/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/scopes.h"

#include <string.h>

static int find_scope(struct mr_graph_scopes *scopes, const char *name, size_t length,
		      uint32_t parent, uint32_t *ret_scope)
{
	uint32_t number;
	int result = mr_strings_intern(&scopes->paths, name, length, &number);

	if (result == 0 && number == scopes->list.count) {
		const struct mr_graph_scope scope = {
			.path = mr_strings_text(&scopes->paths, number), .parent = parent};

		result = mr_vec_push(&scopes->list, scope);
	}
	if (result == 0)
		*ret_scope = number;
	return result;
}

static int add_node(struct mr_graph_scopes *scopes, uint32_t node, const char *name)
{
	uint32_t scope = 0;
	int result = 0;

	for (const char *slash = strchr(name, '/'); slash && result == 0;
	     slash = strchr(slash + 1, '/'))
		if (slash > name) /* the empty path is what is around all */
			result = find_scope(scopes, name, (size_t)(slash - name), scope, &scope);
	if (result == 0)
		result = mr_vec_push(&scopes->nodes, node);
	return result < 0 ? result : mr_vec_push(&scopes->scope_of, scope);
}

static void count_contents(struct mr_graph_scopes *scopes)
{
	struct mr_graph_scope *list = scopes->list.items;

	for (size_t i = 0; i < scopes->nodes.count; i++) {
		list[scopes->scope_of.items[i]].child_count++;
		list[scopes->scope_of.items[i]].node_count++;
	}
	/* Inner ones first: what they hold is known when they are counted. One that holds a single thing is not shown,
	 * and the thing counts as its parent's. */
	for (size_t i = scopes->list.count; i-- > 1;) {
		list[i].is_shown = list[i].child_count > 1;
		list[list[i].parent].child_count++;
		list[list[i].parent].node_count += list[i].node_count;
	}
	list[0].is_shown = true;
}

/* Leads past scopes that are not shown. */
static void shorten_ways(struct mr_graph_scopes *scopes)
{
	struct mr_graph_scope *list = scopes->list.items;

	for (size_t i = 1; i < scopes->list.count; i++)
		if (!list[list[i].parent].is_shown)
			list[i].parent = list[list[i].parent].parent;
	for (size_t i = 0; i < scopes->nodes.count; i++) {
		uint32_t *scope = &scopes->scope_of.items[i];

		if (!list[*scope].is_shown)
			*scope = list[*scope].parent;
	}
}

int mr_graph_scopes_make(const struct mr_model *model, uint32_t graph,
			 struct mr_graph_scopes *ret_scopes)
{
	const struct mr_definitions *definitions = &model->survey->definitions;
	struct mr_graph_scopes scopes = {0};
	uint32_t around_all;
	int result = find_scope(&scopes, "", 0, 0, &around_all);

	for (uint32_t i = 1; i < definitions->nodes.count && result == 0; i++) {
		const struct mr_node *node = &definitions->nodes.items[i];

		if (node->graph == graph)
			result = add_node(&scopes, i, mr_model_text(model, node->name));
	}
	if (result < 0) {
		mr_graph_scopes_free(&scopes);
		return result;
	}
	count_contents(&scopes);
	shorten_ways(&scopes);
	*ret_scopes = scopes;
	return 0;
}

void mr_graph_scopes_free(struct mr_graph_scopes *scopes)
{
	mr_vec_free(&scopes->list);
	mr_strings_free(&scopes->paths);
	mr_vec_free(&scopes->nodes);
	mr_vec_free(&scopes->scope_of);
}

const char *mr_graph_scope_title(const struct mr_graph_scopes *scopes, uint32_t scope,
				 const char *name)
{
	size_t length = strlen(scopes->list.items[scope].path);

	return length > 0 ? name + length + 1 : name;
}
