/* SPDX-License-Identifier: Apache-2.0
 *
 * graph_find: the nodes of a graph whose name or type contains a text, and the scopes around each. The page knows only
 * the nodes that are laid out, and marks closed scopes that contain matches.
 */
#include "serve/endpoints.h"

#include <string.h>

#include "base/error.h"
#include "base/json_writer.h"
#include "graph/scopes.h"
#include "serve/request.h"
#include "timeline/view.h"

/* The innermost first. */
static void write_scopes(struct mr_json *json, const struct mr_graph_scopes *scopes, uint32_t scope)
{
	mr_json_begin_array(json, "scopes");
	for (; scope != 0; scope = scopes->list.items[scope].parent)
		mr_json_uint(json, NULL, scope);
	mr_json_end_array(json);
}

static int write_found(FILE *body, const struct mr_model *model,
		       const struct mr_graph_scopes *scopes, const char *text)
{
	struct mr_json json;

	mr_json_start(&json, body, MR_JSON_ONE_LINE);
	mr_json_begin_object(&json, NULL);
	mr_json_begin_array(&json, "nodes");
	for (size_t i = 0; i < scopes->nodes.count; i++) {
		uint32_t number = scopes->nodes.items[i];
		const struct mr_node *node = &model->survey->definitions.nodes.items[number];

		if (!strcasestr(mr_model_text(model, node->name), text) &&
		    !strcasestr(mr_model_text(model, node->type), text))
			continue;
		mr_json_begin_object(&json, NULL);
		mr_json_uint(&json, "node", number);
		write_scopes(&json, scopes, scopes->scope_of.items[i]);
		mr_json_end_object(&json);
	}
	mr_json_end_array(&json);
	mr_json_end_object(&json);
	return mr_json_finish(&json);
}

int mr_answer_graph_find(struct mr_view *view, const struct mr_request *request,
			 struct mr_answer *answer)
{
	const char *text = mr_request_text(request, "text");
	struct mr_graph_scopes scopes = {0};
	int64_t graph;
	int result = mr_request_integer(request, "graph", 1, UINT32_MAX, &graph);

	if (result < 0)
		return result;
	if (!text || !*text)
		return mr_fail(EINVAL, "text: is not given");
	if (graph >= (int64_t)view->model->survey->definitions.graphs.count)
		return mr_fail(ENOENT, "graph %lld: is not in the trace", (long long)graph);
	result = mr_graph_scopes_make(view->model, (uint32_t)graph, &scopes);
	if (result == 0)
		result = write_found(answer->body, view->model, &scopes, text);
	mr_graph_scopes_free(&scopes);
	return result;
}
