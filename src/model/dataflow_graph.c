/* SPDX-License-Identifier: Apache-2.0
 *
 * Graphs, nodes and edges that frameworks do not define but mention: made as they are met.
 *
 * What the activity watcher says of a node is a text:
 *
 *     ExecutorState::Process
 *     node_name=gradient_tape/ReluGrad
 *     op=ReluGrad
 *     inputs=gradient_tape/MatMul_1/MatMul; Relu:1; ^init          output 0, output 1, control
 *     device=/job:localhost/replica:0/task:0/device:CPU:0
 */
#include <string.h>

#include "model/dataflow.h"
#include "model/runtime.h"

static struct mr_definitions *definitions_of(struct mr_loader *loader)
{
	return &loader->model->survey->definitions;
}

struct graph_key {
	uint32_t process;
	uint32_t name;
};

static int find_graph(struct mr_loader *loader, uint32_t process, uint32_t name,
		      uint32_t *ret_graph)
{
	struct mr_dataflow *dataflow = &loader->dataflow;
	struct mr_definitions *definitions = definitions_of(loader);
	const struct graph_key key = {process, name};
	uint32_t count = mr_strings_count(&dataflow->graph_keys);
	uint32_t number;
	int result = mr_strings_intern(&dataflow->graph_keys, &key, sizeof key, &number);

	if (result == 0 && number == count) {
		result = mr_vec_push(&dataflow->graphs, (uint32_t)definitions->graphs.count);
		if (result == 0)
			result = mr_vec_push(&definitions->graphs,
					     ((struct mr_graph){.name = name, .process = process}));
	}
	if (result == 0)
		*ret_graph = dataflow->graphs.items[number];
	return result;
}

/* Nodes of a graph differ by name; those that are executed by themselves also by their device. */
struct node_key {
	uint32_t graph;
	uint32_t name;
	uint32_t device;
};

static int find_node(struct mr_loader *loader, uint32_t process, struct node_key key, uint32_t type,
		     uint32_t *ret_node)
{
	struct mr_dataflow *dataflow = &loader->dataflow;
	struct mr_definitions *definitions = definitions_of(loader);
	uint32_t count = mr_strings_count(&dataflow->node_keys);
	uint32_t number;
	int result = mr_strings_intern(&dataflow->node_keys, &key, sizeof key, &number);

	if (result == 0 && number == count) {
		result = mr_vec_push(&dataflow->nodes, (uint32_t)definitions->nodes.count);
		if (result == 0)
			result = mr_vec_push(&definitions->nodes,
					     ((struct mr_node){.graph = key.graph,
							       .name = key.name,
							       .device = key.device,
							       .process = process}));
	}
	if (result < 0)
		return result;
	*ret_node = dataflow->nodes.items[number];
	if (definitions->nodes.items[*ret_node].type == 0)
		definitions->nodes.items[*ret_node].type = type;
	return 0;
}

int mr_dataflow_find_node(struct mr_loader *loader, uint32_t process, uint32_t graph_name,
			  uint32_t name, uint32_t type, uint32_t *ret_node)
{
	uint32_t graph = 0;
	int result = find_graph(loader, process, graph_name, &graph);

	return result < 0 ? result
			  : find_node(loader, process, (struct node_key){graph, name, 0}, type,
				      ret_node);
}

/* ---- devices -------------------------------------------------------------------------------------- */

static enum mr_device_kind kind_of_device(const char *name)
{
	if (strstr(name, "CPU:"))
		return MR_device_kind_cpu;
	return strstr(name, "GPU:") ? MR_device_kind_gpu : MR_device_kind_accelerator;
}

/* Devices are few: searched one by one. */
static int find_device(struct mr_loader *loader, uint32_t process, uint32_t name,
		       uint32_t *ret_device)
{
	struct mr_definitions *definitions = definitions_of(loader);

	*ret_device = 0;
	if (name == 0)
		return 0;
	for (uint32_t i = 1; i < definitions->devices.count; i++) {
		*ret_device = i;
		if (definitions->devices.items[i].name == name &&
		    definitions->devices.items[i].process == process)
			return 0;
	}
	*ret_device = (uint32_t)definitions->devices.count;
	const struct mr_device device = {
		.name = name,
		.clock = MR_trace_clock_realtime,
		.kind = (uint8_t)kind_of_device(mr_strings_text(&definitions->strings, name)),
		.process = process};
	int result = mr_vec_push(&definitions->devices, device);
	return result < 0 ? result : mr_runtime_add_device_clocks(loader->model, *ret_device);
}

int mr_dataflow_find_eager(struct mr_loader *loader, uint32_t name, uint32_t device_name,
			   uint32_t *ret_node)
{
	static const char eager[] = "eager";
	struct node_key key = {.name = name};
	uint32_t graph_name;
	int result = mr_strings_intern(&definitions_of(loader)->strings, eager, strlen(eager),
				       &graph_name);

	if (result == 0)
		result = find_graph(loader, loader->process, graph_name, &key.graph);
	if (result == 0)
		result = find_device(loader, loader->process, device_name, &key.device);
	return result < 0 ? result : find_node(loader, loader->process, key, name, ret_node);
}

/* ---- what the activity watcher says ------------------------------------------------------------------ */

/* The value of a line key=value; empty if there is none. */
static struct mr_slice line_of(const char *text, const char *key)
{
	size_t length = strlen(key);

	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, key, length) == 0 && line[length] == '=') {
			const char *value = line + length + 1;
			const char *end = strchr(value, '\n');
			return (struct mr_slice){value,
						 end ? (size_t)(end - value) : strlen(value)};
		}
	}
	return (struct mr_slice){"", 0};
}

static int intern(struct mr_loader *loader, struct mr_slice slice, uint32_t *ret_string)
{
	return mr_strings_intern(&definitions_of(loader)->strings, slice.at, slice.length,
				 ret_string);
}

/* "name", "name:1" or "^name". */
static int add_edge(struct mr_loader *loader, uint32_t process, uint32_t graph_name,
		    uint32_t target, uint16_t target_input, struct mr_slice input)
{
	struct mr_edge edge = {.target = target,
			       .target_input = target_input,
			       .kind = MR_edge_kind_data,
			       .process = process};
	uint32_t name;

	if (input.length > 0 && input.at[0] == '^') {
		edge.kind = MR_edge_kind_control;
		input.at++;
		input.length--;
	}
	const char *colon = memrchr(input.at, ':', input.length);
	if (colon) {
		size_t behind = (size_t)(input.at + input.length - colon - 1);
		edge.source_output =
			(uint16_t)mr_slice_number((struct mr_slice){colon + 1, behind});
		input.length = (size_t)(colon - input.at);
	}
	int result = intern(loader, input, &name);
	if (result == 0)
		result = mr_dataflow_find_node(loader, process, graph_name, name, 0, &edge.source);
	return result < 0 ? result : mr_vec_push(&definitions_of(loader)->edges, edge);
}

static int add_inputs(struct mr_loader *loader, uint32_t process, uint32_t graph_name,
		      uint32_t node, struct mr_slice inputs)
{
	uint16_t number = 0;
	int result = 0;

	while (result == 0 && inputs.length > 0) {
		const char *end = memmem(inputs.at, inputs.length, "; ", 2);
		size_t length = end ? (size_t)(end - inputs.at) : inputs.length;
		size_t step = end ? length + 2 : length;

		if (length > 0)
			result = add_edge(loader, process, graph_name, node, number++,
					  (struct mr_slice){inputs.at, length});
		inputs.at += step;
		inputs.length -= step;
	}
	return result;
}

static int add_seen(struct mr_loader *loader, uint32_t process, uint32_t graph_name,
		    const char *text)
{
	uint32_t name, type, device_name, device, node;
	struct mr_slice node_name = line_of(text, "node_name");

	if (node_name.length == 0)
		return 0;
	int result = intern(loader, node_name, &name);
	if (result == 0)
		result = intern(loader, line_of(text, "op"), &type);
	if (result == 0)
		result = intern(loader, line_of(text, "device"), &device_name);
	if (result == 0)
		result = mr_dataflow_find_node(loader, process, graph_name, name, type, &node);
	if (result == 0)
		result = find_device(loader, process, device_name, &device);
	if (result < 0)
		return result;
	definitions_of(loader)->nodes.items[node].device = device;
	return add_inputs(loader, process, graph_name, node, line_of(text, "inputs"));
}

struct seen_key {
	uint32_t process;
	uint32_t graph_name;
	uint32_t text;
};

int mr_dataflow_add_edges(struct mr_loader *loader, const struct mr_runs *runs)
{
	const struct mr_dataflow *dataflow = &loader->dataflow;
	struct mr_strings known = {0};
	int result = 0;

	for (size_t i = 0; i < dataflow->seen.count && result == 0; i++) {
		const struct mr_activity_seen seen = dataflow->seen.items[i];
		const struct seen_key key = {seen.process,
					     mr_runs_find(runs, seen.process, seen.run), seen.text};
		uint32_t count = mr_strings_count(&known);
		uint32_t number;

		result = mr_strings_intern(&known, &key, sizeof key, &number);
		if (result == 0 && number == count)
			result = add_seen(
				loader, key.process, key.graph_name,
				mr_strings_text(&definitions_of(loader)->strings, key.text));
	}
	mr_strings_free(&known);
	return result;
}
