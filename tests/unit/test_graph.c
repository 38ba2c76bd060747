/* SPDX-License-Identifier: Apache-2.0
 *
 * A graph as it is shown: scopes, what is open, what is folded, what edges and figures add up to.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <string.h>

#include "analysis/cause/critical_path.h"
#include "base/error.h"
#include "graph/graph.h"
#include "hand_model.h"
#include "load/operations.h"

static struct mr_model *model;
static struct mr_graph_figures figures;

static uint32_t text(const char *characters)
{
	uint32_t number;

	assert_int_equal(mr_strings_intern(&model->survey->definitions.strings, characters,
					   strlen(characters), &number),
			 0);
	return number;
}

static uint32_t add_node(uint32_t graph, const char *name, const char *type, uint32_t device)
{
	struct mr_definitions *definitions = &model->survey->definitions;
	const struct mr_node node = {
		.graph = graph, .name = text(name), .type = text(type), .device = device};

	assert_int_equal(mr_vec_push(&definitions->nodes, node), 0);
	return (uint32_t)definitions->nodes.count - 1;
}

static void add_edge(uint32_t source, uint32_t target, uint16_t input, enum mr_edge_kind kind)
{
	const struct mr_edge edge = {
		.source = source, .target = target, .target_input = input, .kind = (uint8_t)kind};

	assert_int_equal(mr_vec_push(&model->survey->definitions.edges, edge), 0);
}

static void execute(uint32_t node, int64_t begin_ns, int64_t end_ns, const char *shapes)
{
	const struct mr_node_executions_row row = {.track = 0,
						   .start_ns = begin_ns,
						   .duration_ns = end_ns - begin_ns,
						   .node = node,
						   .shapes = text(shapes)};

	assert_int_equal(mr_node_executions_append(&model->node_executions, row), 0);
}

/* Nodes 1 to 5 of graph 1 are in scopes, 6 to 9 look alike; 10 is of graph 2. */
static int set_up(void **state)
{
	static const char *const names[] = {"net/a/x", "net/a/y", "net/b/z", "net/c", "end/of/it"};
	struct mr_critical_path path = {0};

	(void)state;
	model = hand_model_start();
	for (int i = 0; i < 2; i++)
		assert_int_equal(mr_vec_push(&model->survey->definitions.graphs,
					     ((struct mr_graph){.name = text(i ? "two" : "one")})),
				 0);
	for (uint32_t i = 0; i < 5; i++)
		add_node(1, names[i], "Op", 1 + (i == 1));
	for (uint32_t i = 0; i < 4; i++)
		add_edge(i + 1, i + 2, 1, MR_edge_kind_data);
	add_edge(1, 3, 0, MR_edge_kind_data);
	add_edge(1, 4, 0, MR_edge_kind_control);
	for (uint32_t i = 6; i <= 9; i++)
		add_edge(add_node(1, (const char[]){'s', (char)('0' + i), 0}, "Arg", 1), 1, 0,
			 MR_edge_kind_data);
	add_node(2, "other", "Op", 0);
	execute(1, 0, 100, "");
	execute(2, 10, 40, "(;float[2,3])"); /* inside: 70 ns of the first are its own */
	execute(2, 200, 210, "(;float[4])");
	execute(3, 300, 310, "(int64[];half[2,?])");
	hand_launch(0, 320, 330, 1);
	execute(4, 315, 340, "");
	hand_operation(QUEUE_A, 400, 450, "kernel", 1);
	hand_model_load();
	model->calls.execution[0] = model->node_executions.table.count - 1; /* the last to begin */
	assert_int_equal(mr_operations_link(model), 0);
	assert_int_equal(mr_graph_figures_make(model, &path, &figures), 0);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	mr_graph_figures_free(&figures);
	mr_model_free(model);
	return 0;
}

static const struct mr_graph_item *item_of(const struct mr_graph_picture *picture, const char *path)
{
	for (size_t i = 0; i < picture->items.count; i++) {
		const struct mr_graph_item *item = &picture->items.items[i];
		uint32_t name = model->survey->definitions.nodes.items[item->node].name;

		if (strcmp(path, item->node ? mr_model_text(model, name)
					    : picture->scopes.list.items[item->scope].path) == 0)
			return item;
	}
	return NULL;
}

static const struct mr_graph_link *link_of(const struct mr_graph_picture *picture, const char *from,
					   const char *to)
{
	for (size_t i = 0; i < picture->links.count; i++) {
		const struct mr_graph_link *link = &picture->links.items[i];

		if (&picture->items.items[link->from] == item_of(picture, from) &&
		    &picture->items.items[link->to] == item_of(picture, to))
			return link;
	}
	return NULL;
}

static struct mr_graph_picture show(struct mr_graph_wish wish)
{
	struct mr_graph_picture picture;

	assert_int_equal(mr_graph_show(model, &figures, &wish, &picture), 0);
	return picture;
}

static uint32_t scope_number(const char *path)
{
	mr_auto(graph_picture) struct mr_graph_picture picture =
		show((struct mr_graph_wish){.graph = 1});

	return item_of(&picture, path)->scope;
}

static void scopes_hold_two_or_more(void **state)
{
	mr_auto(graph_picture) struct mr_graph_picture picture =
		show((struct mr_graph_wish){.graph = 1});

	(void)state;
	const struct mr_graph_item *net = item_of(&picture, "net"), *a = item_of(&picture, "net/a");
	assert_true(net->is_open && a->is_open); /* there is room for all */
	assert_ptr_equal(&picture.items.items[a->box], net);
	assert_ptr_equal(&picture.items.items[item_of(&picture, "net/a/x")->box], a);
	assert_ptr_equal(&picture.items.items[item_of(&picture, "net/b/z")->box], net);
	assert_null(item_of(&picture, "net/b"));
	assert_null(item_of(&picture, "end"));
	assert_int_equal(item_of(&picture, "end/of/it")->box, MR_NO_BOX);
	assert_null(item_of(&picture, "other"));
	assert_string_equal(mr_graph_scope_title(&picture.scopes, net->scope, "net/b/z"), "b/z");
	assert_string_equal(mr_graph_scope_title(&picture.scopes, 0, "end/of/it"), "end/of/it");
}

static void closed_scopes_add_up(void **state)
{
	uint32_t scopes[] = {scope_number("net/a")};
	mr_auto(graph_picture) struct mr_graph_picture picture =
		show((struct mr_graph_wish){.graph = 1, .close = {.items = scopes, .count = 1}});
	const struct mr_graph_item *a = item_of(&picture, "net/a");

	(void)state;
	assert_false(a->is_open);
	assert_null(item_of(&picture, "net/a/x"));
	assert_int_equal(a->figures.count, 3);
	assert_int_equal(a->figures.total_ns, 100 + 30 + 10);
	assert_int_equal(a->figures.self_ns, 70 + 30 + 10);
	assert_true(a->is_on_several);
	assert_int_equal(item_of(&picture, "net/c")->figures.device_ns, 50);
	const struct mr_graph_link *link = link_of(&picture, "net/a", "net/b/z");
	assert_int_equal(link->count, 2);
	assert_int_equal(link->bytes, 8); /* the int64; how large the halfs are is not known */
	link = link_of(&picture, "net/a", "net/c");
	assert_int_equal(link->kind, MR_edge_kind_control);
	assert_true(link->bytes == MR_BYTES_UNKNOWN);
	assert_int_equal(picture.links.count, 5);
}

static void bytes_are_summed_over_executions(void **state)
{
	mr_auto(graph_picture) struct mr_graph_picture picture =
		show((struct mr_graph_wish){.graph = 1});

	(void)state;
	assert_int_equal(link_of(&picture, "net/a/x", "net/a/y")->bytes, 24 + 16);
	assert_true(link_of(&picture, "net/a/y", "net/b/z")->bytes == MR_BYTES_UNKNOWN);
	assert_int_equal(link_of(&picture, "net/a/x", "net/b/z")->bytes, 8);
}

static void nodes_that_look_alike_are_one(void **state)
{
	uint32_t nodes[] = {7};
	mr_auto(graph_picture) struct mr_graph_picture folded =
		show((struct mr_graph_wish){.graph = 1});
	mr_auto(graph_picture) struct mr_graph_picture unfolded =
		show((struct mr_graph_wish){.graph = 1, .unfold = {.items = nodes, .count = 1}});
	mr_auto(graph_picture) struct mr_graph_picture shown =
		show((struct mr_graph_wish){.graph = 1, .node = 9});

	(void)state;
	assert_int_equal(item_of(&folded, "s6")->folded, 4);
	assert_null(item_of(&folded, "s7"));
	assert_int_equal(link_of(&folded, "s6", "net/a/x")->count, 4);
	for (uint32_t i = 6; i <= 9; i++) {
		const char name[] = {'s', (char)('0' + i), 0};

		assert_int_equal(link_of(&unfolded, name, "net/a/x")->count, 1);
		assert_int_equal(item_of(&shown, name)->folded, 0);
	}
}

static void node_is_shown_wherever_it_is(void **state)
{
	uint32_t scopes[] = {scope_number("net")};
	const struct mr_graph_wish wish = {.graph = 1, .close = {.items = scopes, .count = 1}};
	struct mr_graph_wish with_node = wish;

	(void)state;
	with_node.node = 2;
	mr_auto(graph_picture) struct mr_graph_picture closed = show(wish);
	mr_auto(graph_picture) struct mr_graph_picture shown = show(with_node);
	assert_null(item_of(&closed, "net/a"));
	assert_int_equal(item_of(&closed, "net")->figures.count, 5);
	assert_non_null(item_of(&shown, "net/a/y"));
}

static void what_is_not_there(void **state)
{
	uint32_t scopes[] = {77};
	struct mr_graph_picture picture;
	const struct mr_graph_wish wishes[] = {
		{.graph = 3},
		{.graph = 0},
		{.graph = 2, .node = 1},
		{.graph = 1, .open = {.items = scopes, .count = 1}},
		{.graph = 1, .close = {.items = scopes, .count = 1}},
	};

	(void)state;
	for (size_t i = 0; i < mr_countof(wishes); i++)
		assert_int_equal(mr_graph_show(model, &figures, &wishes[i], &picture), -ENOENT);
	assert_non_null(strstr(mr_error_text(), "77"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(scopes_hold_two_or_more),
		cmocka_unit_test(closed_scopes_add_up),
		cmocka_unit_test(bytes_are_summed_over_executions),
		cmocka_unit_test(nodes_that_look_alike_are_one),
		cmocka_unit_test(node_is_shown_wherever_it_is),
		cmocka_unit_test(what_is_not_there),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
