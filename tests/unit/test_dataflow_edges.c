/* SPDX-License-Identifier: Apache-2.0
 *
 * What is made of things that a framework only mentions: devices by half a name, inputs that something else has taken
 * the place of, collectives of operations that are executed by themselves.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "hand_model.h"
#include "load/tensorflow/tensorflow.h"

#define LOCAL  "/job:localhost/replica:0/task:0/device:CPU:0"
#define WORKER "/job:worker/replica:0/task:1/device:CPU:0"
#define SHORT  "/device:CPU:0"

enum {
	HAND_DEVICES = 3 /* that a hand model has, with the one that is none */
};

static struct mr_model *model;
static struct mr_loader loader;
static struct mr_tensorflow tensorflow;

static int start(void **state)
{
	(void)state;
	model = hand_model_start();
	loader = (struct mr_loader){.model = model};
	tensorflow = (struct mr_tensorflow){.loader = &loader, .model = model};
	return mr_vec_push(&model->survey->processes, ((struct mr_process){.pid = 8}));
}

static int finish(void **state)
{
	(void)state;
	mr_tensorflow_clear(&tensorflow);
	mr_model_free(model);
	return 0;
}

static uint32_t text(const char *characters)
{
	uint32_t number;

	assert_int_equal(mr_strings_intern(&model->survey->definitions.strings, characters,
					   strlen(characters), &number),
			 0);
	return number;
}

static void see(uint32_t process, const char *name, const char *type, const char *device,
		const char *inputs)
{
	char line[400];

	snprintf(line, sizeof line,
		 "ExecutorState::Process\nnode_name=%s\nop=%s\ndevice=%s\ninputs=%s\n", name, type,
		 device, inputs);
	const struct mr_activity_seen seen = {process, text(line), 7};
	assert_int_equal(mr_vec_push(&tensorflow.seen, seen), 0);
}

static void add_edges(void)
{
	const struct mr_runs runs = {0};

	assert_int_equal(mr_tensorflow_add_edges(&tensorflow, &runs), 0);
}

static const struct mr_node *node_of(uint32_t process, const char *name)
{
	const struct mr_definitions *definitions = &model->survey->definitions;

	for (uint32_t i = 1; i < definitions->nodes.count; i++)
		if (definitions->nodes.items[i].process == process &&
		    strcmp(mr_model_text(model, definitions->nodes.items[i].name), name) == 0)
			return &definitions->nodes.items[i];
	return NULL;
}

static const char *device_of(uint32_t process, const char *name)
{
	const struct mr_device *devices = model->survey->definitions.devices.items;

	return mr_model_text(model, devices[node_of(process, name)->device].name);
}

static size_t new_devices(void)
{
	return model->survey->definitions.devices.count - HAND_DEVICES;
}

/* The same text means the device of the one task in one process, and of another in the other. */
static void test_short_names(void **state)
{
	(void)state;
	see(0, "folded", "Mul", SHORT, "");
	see(0, "a", "Mul", LOCAL, "");
	see(1, "folded", "Mul", SHORT, "");
	see(1, "b", "Mul", WORKER, "");
	add_edges();
	assert_string_equal(device_of(0, "folded"), LOCAL);
	assert_string_equal(device_of(1, "folded"), WORKER);
	assert_int_equal(node_of(0, "folded")->device, node_of(0, "a")->device);
	assert_int_equal(new_devices(), 2);
}

/* A process of which no task is known, or several are. */
static void test_short_names_that_say_too_little(void **state)
{
	(void)state;
	see(0, "folded", "Mul", SHORT, "");
	see(1, "folded", "Mul", SHORT, "");
	see(1, "a", "Mul", LOCAL, "");
	see(1, "b", "Mul", WORKER, "");
	add_edges();
	assert_string_equal(device_of(0, "folded"), SHORT);
	assert_string_equal(device_of(1, "folded"), SHORT);
	assert_int_equal(new_devices(), 4);
}

/* What is executed by itself says which task it is, unless graphs do: it may lie elsewhere. */
static void test_tasks_of_operations_by_themselves(void **state)
{
	uint32_t device;

	(void)state;
	assert_int_equal(mr_tensorflow_find_device(&tensorflow, 0, text(LOCAL), &device), 0);
	assert_int_equal(mr_tensorflow_find_device(&tensorflow, 1, text(LOCAL), &device), 0);
	see(0, "folded", "Mul", SHORT, "");
	see(1, "folded", "Mul", SHORT, "");
	see(1, "b", "Mul", WORKER, "");
	add_edges();
	assert_string_equal(device_of(0, "folded"), LOCAL);
	assert_string_equal(device_of(1, "folded"), WORKER);
}

static const struct mr_edge *edge_to(const char *target, uint16_t input)
{
	const struct mr_definitions *definitions = &model->survey->definitions;

	for (size_t i = 0; i < definitions->edges.count; i++)
		if (&definitions->nodes.items[definitions->edges.items[i].target] ==
			    node_of(0, target) &&
		    definitions->edges.items[i].target_input == input)
			return &definitions->edges.items[i];
	fail_msg("%s has no input %u", target, input);
	return NULL;
}

static void assert_source(const char *target, uint16_t input, const char *source, uint16_t output)
{
	const struct mr_edge *edge = edge_to(target, input);
	const struct mr_node *node = &model->survey->definitions.nodes.items[edge->source];

	assert_string_equal(mr_model_text(model, node->name), source);
	assert_int_equal(edge->source_output, output);
}

static void test_inputs_that_were_replaced(void **state)
{
	(void)state;
	see(0, "range", "Range", LOCAL, "start; Rank:1; delta; ^Rank");
	see(0, "start", "Const", LOCAL, "");
	see(0, "_recv_start_0", "_Recv", LOCAL, ""); /* of another graph: start is there */
	see(0, "_recv_Rank_1", "_Recv", LOCAL, "");
	see(0, "shuffle", "RandomShuffle", LOCAL, "order; twice");
	see(0, "order/_0__cf__3", "Const", LOCAL, "");
	see(0, "twice/_0__cf__4", "Const", LOCAL, "");
	see(0, "twice/_1__cf__5", "Const", LOCAL, "");
	add_edges();
	assert_source("range", 0, "start", 0);
	assert_source("range", 1, "_recv_Rank_1", 0);
	assert_source("range", 2, "delta", 0);
	assert_source("range", 3, "Rank", 0); /* what it waits for is not handed over */
	assert_source("shuffle", 0, "order/_0__cf__3", 0);
	assert_source("shuffle", 1, "twice", 0);
	assert_null(node_of(0, "order"));
	assert_int_equal(node_of(0, "delta")->type, 0);
}

/* ---- collectives ---------------------------------------------------------------------------------- */

static void add_eager(uint32_t thread, int64_t begin_ns, int64_t end_ns, const char *name)
{
	struct mr_definitions *definitions = &model->survey->definitions;
	const struct mr_graph eager = {.name = text(MR_EAGER_GRAPH)};

	assert_int_equal(mr_vec_push(&definitions->graphs, eager), 0);
	hand_node(thread, begin_ns, end_ns, name);
	definitions->nodes.items[definitions->nodes.count - 1].graph =
		(uint32_t)definitions->graphs.count - 1;
}

static void add_collective(int64_t begin_ns, int64_t end_ns, const char *name, uint64_t run)
{
	const struct mr_collectives_row row = {
		.track = 2, .start_ns = begin_ns, .duration_ns = end_ns - begin_ns, .run = run};

	assert_int_equal(mr_vec_push(&tensorflow.collectives, text(name)), 0);
	assert_int_equal(mr_collectives_append(&model->collectives, row), 0);
}

static void test_collectives_of_operations_by_themselves(void **state)
{
	const struct mr_runs runs = {0};
	const struct mr_scopes_row scope = {.track = 1, .start_ns = 5, .run = 4};

	(void)state;
	add_eager(0, 10, 50, "Send");
	assert_int_equal(mr_scopes_append(&model->scopes, scope), 0);
	add_collective(20, 30, "Send", 3);
	add_collective(20, 30, "Send", 4);  /* a function's, which is not known */
	add_collective(20, 60, "Send", 5);  /* ends later than the operation */
	add_collective(20, 30, "Other", 6); /* nothing is called so */
	assert_int_equal(mr_runs_name_collectives(&tensorflow, &runs), 0);
	assert_int_equal(model->collectives.node[0], 1);
	for (uint32_t row = 1; row < 4; row++)
		assert_int_not_equal(model->collectives.node[row], 1);
	assert_int_equal(model->collectives.node[1], model->collectives.node[2]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_short_names, start, finish),
		cmocka_unit_test_setup_teardown(test_short_names_that_say_too_little, start,
						finish),
		cmocka_unit_test_setup_teardown(test_tasks_of_operations_by_themselves, start,
						finish),
		cmocka_unit_test_setup_teardown(test_inputs_that_were_replaced, start, finish),
		cmocka_unit_test_setup_teardown(test_collectives_of_operations_by_themselves, start,
						finish),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
