/* SPDX-License-Identifier: Apache-2.0
 *
 * Creates graphs, nodes and devices that a framework mentions without defining them.
 */
#include <string.h>

#include "load/runtime.h"
#include "load/tensorflow/functions.h"
#include "load/tensorflow/tensorflow.h"

static struct mr_definitions *definitions_of(struct mr_tensorflow *tensorflow)
{
	return &tensorflow->model->survey->definitions;
}

struct graph_key {
	uint32_t process;
	uint32_t name;
};

static int find_graph(struct mr_tensorflow *tensorflow, uint32_t process, uint32_t name,
		      uint32_t *ret_graph)
{
	struct mr_definitions *definitions = definitions_of(tensorflow);
	const struct graph_key key = {process, name};
	uint32_t count = mr_strings_count(&tensorflow->graph_keys);
	uint32_t number;
	int result = mr_strings_intern(&tensorflow->graph_keys, &key, sizeof key, &number);

	if (result == 0 && number == count) {
		struct mr_graph graph = {.name = name, .process = process};

		result = mr_tensorflow_intern_function(
			tensorflow, mr_strings_text(&definitions->strings, name), &graph.function);
		if (result == 0)
			result = mr_vec_push(&tensorflow->graphs,
					     (uint32_t)definitions->graphs.count);
		if (result == 0)
			result = mr_vec_push(&definitions->graphs, graph);
	}
	if (result == 0)
		*ret_graph = tensorflow->graphs.items[number];
	return result;
}

/* Nodes of a graph differ by name; those that are executed by themselves also by their device. */
struct node_key {
	uint32_t graph;
	uint32_t name;
	uint32_t device;
};

static int find_node(struct mr_tensorflow *tensorflow, uint32_t process, struct node_key key,
		     uint32_t type, uint32_t *ret_node)
{
	struct mr_definitions *definitions = definitions_of(tensorflow);
	uint32_t count = mr_strings_count(&tensorflow->node_keys);
	uint32_t number;
	int result = mr_strings_intern(&tensorflow->node_keys, &key, sizeof key, &number);

	if (result == 0 && number == count) {
		result = mr_vec_push(&tensorflow->nodes, (uint32_t)definitions->nodes.count);
		if (result == 0)
			result = mr_vec_push(&definitions->nodes,
					     ((struct mr_node){.graph = key.graph,
							       .name = key.name,
							       .device = key.device,
							       .process = process}));
	}
	if (result < 0)
		return result;
	*ret_node = tensorflow->nodes.items[number];
	if (definitions->nodes.items[*ret_node].type == 0)
		definitions->nodes.items[*ret_node].type = type;
	return 0;
}

int mr_tensorflow_find_node(struct mr_tensorflow *tensorflow, uint32_t process, uint32_t graph_name,
			    uint32_t name, uint32_t type, uint32_t *ret_node)
{
	uint32_t graph = 0;
	int result = find_graph(tensorflow, process, graph_name, &graph);

	return result < 0 ? result
			  : find_node(tensorflow, process, (struct node_key){graph, name, 0}, type,
				      ret_node);
}

bool mr_tensorflow_knows_node(struct mr_tensorflow *tensorflow, uint32_t process,
			      uint32_t graph_name, uint32_t name, uint32_t *ret_node)
{
	const struct graph_key graph = {process, graph_name};
	uint32_t number;

	if (!mr_strings_find(&tensorflow->graph_keys, &graph, sizeof graph, &number))
		return false;
	const struct node_key key = {tensorflow->graphs.items[number], name, 0};
	if (!mr_strings_find(&tensorflow->node_keys, &key, sizeof key, &number))
		return false;
	*ret_node = tensorflow->nodes.items[number];
	return true;
}

/* ---- devices -------------------------------------------------------------------------------------- */

static enum mr_device_kind kind_of_device(const char *name)
{
	if (strstr(name, "CPU:"))
		return MR_device_kind_cpu;
	return strstr(name, "GPU:") ? MR_device_kind_gpu : MR_device_kind_accelerator;
}

/* Devices are few: searched one by one. */
int mr_tensorflow_find_device(struct mr_tensorflow *tensorflow, uint32_t process, uint32_t name,
			      uint32_t *ret_device)
{
	struct mr_definitions *definitions = definitions_of(tensorflow);

	*ret_device = 0;
	if (name == 0)
		return 0;
	for (uint32_t i = 1; i < definitions->devices.count; i++) {
		*ret_device = i;
		if (definitions->devices.items[i].name == name &&
		    definitions->devices.items[i].process == process)
			return 0;
	}
	*ret_device = 0;
	if (definitions->devices.count == MR_DEVICES_MAX)
		return 0;
	*ret_device = (uint32_t)definitions->devices.count;
	const struct mr_device device = {
		.name = name,
		.host = tensorflow->model->survey->processes.items[process].host,
		.same = *ret_device,
		.clock = MR_trace_clock_realtime,
		.kind = (uint8_t)kind_of_device(mr_strings_text(&definitions->strings, name)),
		.process = process};
	int result = mr_vec_push(&definitions->devices, device);
	return result < 0 ? result : mr_runtime_add_device_clocks(tensorflow->model, *ret_device);
}

int mr_tensorflow_find_eager(struct mr_tensorflow *tensorflow, uint32_t process, uint32_t name,
			     uint32_t device_name, uint32_t *ret_node)
{
	struct node_key key = {.name = name};
	uint32_t graph_name;
	int result = mr_strings_intern(&definitions_of(tensorflow)->strings, MR_EAGER_GRAPH,
				       strlen(MR_EAGER_GRAPH), &graph_name);

	if (result == 0)
		result = find_graph(tensorflow, process, graph_name, &key.graph);
	if (result == 0)
		result = mr_tensorflow_find_device(tensorflow, process, device_name, &key.device);
	return result < 0 ? result : find_node(tensorflow, process, key, name, ret_node);
}
