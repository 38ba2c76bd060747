/* SPDX-License-Identifier: Apache-2.0
 *
 * graph: the layout of a graph with some scopes open.
 */
#include "serve/endpoints.h"

#include <inttypes.h>
#include <time.h>

#include "base/error.h"
#include "base/json_writer.h"
#include "graph/graph.h"
#include "serve/parameters.h"

/* What the page draws in: two lines of text in fonts of about this width, a frame of about this size. */
enum {
	LETTER = 7,
	SMALL_LETTER = 6,
	FRAME = 24,
	NARROWEST = 70,
	WIDEST = 240,
	NODE_HEIGHT = 38,
	ID_BYTES = 16,
};

/* Behind those of all devices: what runs on several, or on none. */
#define OTHER_LANE UINT32_MAX

static const char *title_of(const struct mr_model *model, const struct mr_graph_picture *picture,
			    const struct mr_graph_item *item)
{
	const struct mr_node *node = &model->survey->definitions.nodes.items[item->node];
	uint32_t around = item->box == MR_NO_BOX ? 0 : picture->items.items[item->box].scope;

	return mr_graph_scope_title(&picture->scopes, around,
				    item->node ? mr_model_text(model, node->name)
					       : picture->scopes.list.items[item->scope].path);
}

/* ---- layout ---------------------------------------------------------------------------------------- */

static struct mr_drawing_item shape_of(const struct mr_model *model,
				       const struct mr_graph_picture *picture,
				       const struct mr_graph_item *item, bool has_lanes)
{
	uint32_t lane = !has_lanes                             ? 0
			: item->device && !item->is_on_several ? item->device
							       : OTHER_LANE;
	const struct mr_node *node = &model->survey->definitions.nodes.items[item->node];
	size_t letters = strlen(title_of(model, picture, item));
	size_t type_letters = strlen(mr_model_text(model, node->type));
	size_t small_letters = (item->node ? type_letters : strlen("1000 operations")) +
			       (item->figures.self_ns > 0 ? strlen(" · 9.99 ms") : 0);

	if (item->folded)
		letters = strlen("1000 x ") + type_letters;
	double width = (double)mr_max(letters * LETTER, small_letters * SMALL_LETTER) + FRAME;

	if (item->is_open)
		return (struct mr_drawing_item){.box = item->box, .is_box = true, .lane = lane};
	return (struct mr_drawing_item){
		.box = item->box,
		.lane = lane,
		.width = mr_min(mr_max(width, (double)NARROWEST), (double)WIDEST),
		.height = NODE_HEIGHT,
	};
}

/* The arrays of the drawing are the caller's to free, whatever is returned. */
static int lay_out(const struct mr_model *model, const struct mr_graph_picture *picture,
		   bool has_lanes, struct mr_drawing *drawing)
{
	drawing->items = calloc(picture->items.count + 1, sizeof *drawing->items);
	drawing->edges = calloc(picture->links.count + 1, sizeof *drawing->edges);
	if (!drawing->items || !drawing->edges)
		return -ENOMEM;
	drawing->item_count = (uint32_t)picture->items.count;
	drawing->edge_count = (uint32_t)picture->links.count;
	for (uint32_t i = 0; i < drawing->item_count; i++)
		drawing->items[i] = shape_of(model, picture, &picture->items.items[i], has_lanes);
	for (uint32_t i = 0; i < drawing->edge_count; i++) {
		drawing->edges[i].from = picture->links.items[i].from;
		drawing->edges[i].to = picture->links.items[i].to;
	}
	return mr_drawing_layout(drawing);
}

/* ---- JSON ------------------------------------------------------------------------------------------ */

/* "n12" for a node, "g12" for several of which it is the first, "s3" for a scope, NULL for none. */
static const char *id_of(const struct mr_graph_picture *picture, uint32_t number, char *buffer)
{
	if (number == MR_NO_BOX)
		return NULL;
	const struct mr_graph_item *item = &picture->items.items[number];
	snprintf(buffer, ID_BYTES, "%c%" PRIu32,
		 item->scope    ? 's'
		 : item->folded ? 'g'
				: 'n',
		 item->scope ? item->scope : item->node);
	return buffer;
}

static void write_number_or_null(struct mr_json *json, const char *key, uint32_t number)
{
	if (number)
		mr_json_uint(json, key, number);
	else
		mr_json_null(json, key);
}

static void write_figures(struct mr_json *json, const struct mr_node_figures *figures)
{
	mr_json_uint(json, "count", figures->count);
	mr_json_int(json, "total_ns", figures->total_ns);
	mr_json_int(json, "self_ns", figures->self_ns);
	mr_json_int(json, "device_ns", figures->device_ns);
	mr_json_int(json, "critical_ns", figures->critical_ns);
}

static void write_item(struct mr_json *json, const struct mr_model *model,
		       const struct mr_graph_picture *picture, uint32_t number,
		       const struct mr_drawing_item *place)
{
	const struct mr_definitions *definitions = &model->survey->definitions;
	const struct mr_graph_item *item = &picture->items.items[number];
	const struct mr_node *node = &definitions->nodes.items[item->node];
	const struct mr_graph_scope *scope = &picture->scopes.list.items[item->scope];
	char id[ID_BYTES];

	mr_json_begin_object(json, NULL);
	mr_json_string(json, "id", id_of(picture, number, id));
	mr_json_string(json, "parent", id_of(picture, item->box, id));
	write_number_or_null(json, "node", item->node);
	write_number_or_null(json, "scope", item->scope);
	mr_json_string(json, "title", title_of(model, picture, item));
	mr_json_string(json, "name", item->node ? mr_model_text(model, node->name) : scope->path);
	mr_json_string(json, "type", item->node ? mr_model_text(model, node->type) : NULL);
	mr_json_string(json, "device",
		       item->device
			       ? mr_model_text(model, definitions->devices.items[item->device].name)
			       : NULL);
	mr_json_bool(json, "is_on_several", item->is_on_several);
	mr_json_uint(json, "children", item->node ? item->folded : scope->node_count);
	mr_json_bool(json, "is_open", item->is_open);
	mr_json_uint(json, "variables", item->variables);
	write_figures(json, &item->figures);
	mr_json_real(json, "x", place->x);
	mr_json_real(json, "y", place->y);
	mr_json_real(json, "width", place->width);
	mr_json_real(json, "height", place->height);
	mr_json_end_object(json);
}

static void write_link(struct mr_json *json, const struct mr_graph_picture *picture,
		       const struct mr_graph_link *link, const struct mr_drawing *drawing,
		       const struct mr_drawing_edge *edge)
{
	char id[ID_BYTES];

	mr_json_begin_object(json, NULL);
	mr_json_string(json, "from", id_of(picture, link->from, id));
	mr_json_string(json, "to", id_of(picture, link->to, id));
	mr_json_string(json, "kind", link->kind == MR_edge_kind_control ? "control" : "data");
	mr_json_uint(json, "count", link->count);
	if (link->bytes == MR_BYTES_UNKNOWN)
		mr_json_null(json, "bytes");
	else
		mr_json_uint(json, "bytes", link->bytes);
	mr_json_bool(json, "is_back", edge->is_back);
	mr_json_bool(json, "is_cut", edge->is_cut);
	mr_json_begin_array(json, "points");
	for (uint32_t i = 0; i < edge->point_count; i++) {
		mr_json_real(json, NULL, drawing->points.items[edge->first_point + i].x);
		mr_json_real(json, NULL, drawing->points.items[edge->first_point + i].y);
	}
	mr_json_end_array(json);
	mr_json_end_object(json);
}

static int write_graph(FILE *file, const struct mr_model *model, const struct mr_graph_wish *wish,
		       const struct mr_graph_picture *picture, const struct mr_drawing *drawing,
		       double layout_ms)
{
	struct mr_json json;

	mr_json_start(&json, file, MR_JSON_ONE_LINE);
	mr_json_begin_object(&json, NULL);
	mr_json_uint(&json, "graph", wish->graph);
	mr_json_string(
		&json, "name",
		mr_model_text(model, model->survey->definitions.graphs.items[wish->graph].name));
	mr_json_bool(&json, "has_lanes", wish->has_lanes);
	mr_json_real(&json, "width", drawing->width);
	mr_json_real(&json, "height", drawing->height);
	mr_json_real(&json, "ms", layout_ms);
	mr_json_begin_array(&json, "nodes");
	for (uint32_t i = 0; i < drawing->item_count; i++)
		write_item(&json, model, picture, i, &drawing->items[i]);
	mr_json_end_array(&json);
	mr_json_begin_array(&json, "edges");
	for (uint32_t i = 0; i < drawing->edge_count; i++)
		write_link(&json, picture, &picture->links.items[i], drawing, &drawing->edges[i]);
	mr_json_end_array(&json);
	mr_json_end_object(&json);
	return mr_json_finish(&json);
}

static double milliseconds_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static int answer(const struct mr_model *model, const struct mr_graph_wish *wish,
		  const struct mr_graph_picture *picture, FILE *file)
{
	struct mr_drawing drawing = {0};
	double before_ms = milliseconds_now();
	int result = lay_out(model, picture, wish->has_lanes, &drawing);

	if (result == 0)
		result = write_graph(file, model, wish, picture, &drawing,
				     milliseconds_now() - before_ms);
	else
		mr_fail_errno(-result, "lay out the graph");
	mr_drawing_free(&drawing);
	free(drawing.items);
	free(drawing.edges);
	return result;
}

/* ---- the request ----------------------------------------------------------------------------------- */

/* Empty if it is not given. */
static int read_list(const struct mr_request *request, const char *name,
		     struct mr_number_list *numbers)
{
	const char *list = mr_request_text(request, name);
	int result = 0;

	while (list && *list && result == 0) {
		int64_t number;

		result = mr_request_next_integer(&list, name, 0, UINT32_MAX, &number);
		if (result == 0)
			result = mr_vec_push(numbers, (uint32_t)number);
	}
	return result;
}

/* graph=1&open=3,7&close=2&unfold=9&show=12&lanes=1: scopes to open and close in addition to the default, nodes to show
 * individually, a node that must be visible, and whether each device has a lane. */
static int read_wish(const struct mr_request *request, struct mr_graph_wish *wish)
{
	int64_t graph, node = 0, lanes = 0;
	int result = mr_request_integer(request, "graph", 1, UINT32_MAX, &graph);

	if (result == 0 && mr_request_has(request, "lanes"))
		result = mr_request_integer(request, "lanes", 0, 1, &lanes);
	if (result == 0 && mr_request_has(request, "show"))
		result = mr_request_integer(request, "show", 1, UINT32_MAX, &node);
	if (result == 0)
		result = read_list(request, "open", &wish->open);
	if (result == 0)
		result = read_list(request, "close", &wish->close);
	if (result == 0)
		result = read_list(request, "unfold", &wish->unfold);
	if (result < 0)
		return result;
	wish->graph = (uint32_t)graph;
	wish->node = (uint32_t)node;
	wish->has_lanes = lanes != 0;
	return 0;
}

int mr_answer_graph(struct mr_view *view, const struct mr_request *request,
		    struct mr_answer *ret_answer)
{
	mr_auto(graph_picture) struct mr_graph_picture picture = {0};
	struct mr_graph_wish wish = {0};
	enum mr_scope scope;
	int result = mr_request_scope(request, &scope);

	if (result == 0)
		result = read_wish(request, &wish);
	if (result == 0) {
		const struct mr_graph_figures *figures = mr_view_graph_figures(view, scope);
		result = figures ? mr_graph_show(view->model, figures, &wish, &picture) : -ENOMEM;
	}
	if (result == 0)
		result = answer(view->model, &wish, &picture, ret_answer->body);
	mr_vec_free(&wish.open);
	mr_vec_free(&wish.close);
	mr_vec_free(&wish.unfold);
	return result;
}
