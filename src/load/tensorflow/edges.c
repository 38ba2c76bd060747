/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads what the activity watcher says about a node, which is a text:
 *
 *     ExecutorState::Process
 *     node_name=gradient_tape/ReluGrad
 *     op=ReluGrad
 *     inputs=gradient_tape/MatMul_1/MatMul; Relu:1; ^init          output 0, output 1, control
 *     device=/job:localhost/replica:0/task:0/device:CPU:0
 *
 * Two things in it are not what they seem. A graph that is executed in advance has the device "/device:CPU:0", which is
 * the device of the process's own task. And inputs are those that the node was created with. A node that has replaced
 * one of them since has a name derived from it:
 *
 *     Rank       _recv_Rank_0          output 0 of Rank is handed to the graph
 *     range      range/_0__cf__3       range was executed in advance, and is a constant now
 *
 * If the replacement is not known, the input is a node of which only the name is known.
 */
#include <stdlib.h>
#include <string.h>

#include "load/tensorflow/tensorflow.h"

#define DEVICE "/device:"

struct seen {
	uint32_t process;
	uint32_t graph_name;
	uint32_t text;
};

struct folded_key {
	uint32_t graph;
	uint32_t name;
};

struct maker {
	struct mr_tensorflow *tensorflow;
	struct mr_strings known;
	mr_vec(struct seen) seen;      /* each once */
	uint32_t *tasks;               /* by process: string; 0: not known; SEVERAL */
	struct mr_strings folded_keys; /* struct folded_key: what was folded */
	mr_vec(uint32_t) folded_to;    /* node, by key; SEVERAL: it is not known which */
};

enum {
	SEVERAL = UINT32_MAX
};

static struct mr_definitions *definitions_of(const struct maker *maker)
{
	return &maker->tensorflow->model->survey->definitions;
}

static const char *text_of(const struct maker *maker, uint32_t string)
{
	return mr_strings_text(&definitions_of(maker)->strings, string);
}

static int intern(struct maker *maker, struct mr_slice slice, uint32_t *ret_string)
{
	return mr_strings_intern(&definitions_of(maker)->strings, slice.at, slice.length,
				 ret_string);
}

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

static int list_seen(struct maker *maker, const struct mr_runs *runs)
{
	const struct mr_tensorflow *tensorflow = maker->tensorflow;
	int result = 0;

	for (size_t i = 0; result == 0 && i < tensorflow->seen.count; i++) {
		const struct mr_activity_seen at = tensorflow->seen.items[i];
		const struct seen key = {at.process, mr_runs_find(runs, at.process, at.run),
					 at.text};
		uint32_t number;

		result = mr_strings_intern(&maker->known, &key, sizeof key, &number);
		if (result == 0 && number == maker->seen.count)
			result = mr_vec_push(&maker->seen, key);
	}
	return result;
}

/* ---- devices -------------------------------------------------------------------------------------- */

/* "/job:worker/replica:0/task:1" of "/job:worker/replica:0/task:1/device:CPU:0". */
static int note_task(struct maker *maker, struct mr_slice device, uint32_t *task)
{
	const char *at = memmem(device.at, device.length, DEVICE, strlen(DEVICE));
	uint32_t string;

	if (!at || at == device.at)
		return 0;
	int result = intern(maker, (struct mr_slice){device.at, (size_t)(at - device.at)}, &string);
	if (result == 0 && *task != string)
		*task = *task ? SEVERAL : string;
	return result;
}

/* A process executes graphs on devices of its own task; what is executed by itself may lie on those of others. */
static int find_tasks(struct maker *maker)
{
	const struct mr_definitions *definitions = definitions_of(maker);
	size_t count = maker->tensorflow->model->survey->processes.count;
	mr_auto(free) uint32_t *mentioned = calloc(count + 1, sizeof *mentioned);
	int result = mentioned ? 0 : -ENOMEM;

	for (size_t i = 0; result == 0 && i < maker->seen.count; i++) {
		const struct seen *seen = &maker->seen.items[i];

		result = note_task(maker, line_of(text_of(maker, seen->text), "device"),
				   &maker->tasks[seen->process]);
	}
	for (size_t i = 1; result == 0 && i < definitions->devices.count; i++) {
		const struct mr_device *device = &definitions->devices.items[i];
		const char *name = text_of(maker, device->name);

		result = note_task(maker, (struct mr_slice){name, strlen(name)},
				   &mentioned[device->process]);
	}
	for (size_t i = 0; result == 0 && i < count; i++)
		if (!maker->tasks[i])
			maker->tasks[i] = mentioned[i];
	return result;
}

static int find_device(struct maker *maker, uint32_t process, struct mr_slice name,
		       uint32_t *ret_device)
{
	uint32_t task = maker->tasks[process], string;
	char *full = NULL;
	int result;

	if (task && task != SEVERAL && name.length > strlen(DEVICE) &&
	    memcmp(name.at, DEVICE, strlen(DEVICE)) == 0) {
		int length =
			asprintf(&full, "%s%.*s", text_of(maker, task), (int)name.length, name.at);
		if (length < 0)
			return -ENOMEM;
		name = (struct mr_slice){full, (size_t)length};
	}
	result = intern(maker, name, &string);
	free(full);
	return result < 0
		       ? result
		       : mr_tensorflow_find_device(maker->tensorflow, process, string, ret_device);
}

/* ---- nodes ---------------------------------------------------------------------------------------- */

static int find_node(struct maker *maker, const struct seen *seen, uint32_t *ret_node)
{
	const char *text = text_of(maker, seen->text);
	uint32_t name, type;
	int result = intern(maker, line_of(text, "node_name"), &name);

	if (result == 0)
		result = intern(maker, line_of(text, "op"), &type);
	return result < 0 ? result
			  : mr_tensorflow_find_node(maker->tensorflow, seen->process,
						    seen->graph_name, name, type, ret_node);
}

static int add_node(struct maker *maker, const struct seen *seen)
{
	uint32_t node, device;
	int result = find_node(maker, seen, &node);

	if (result == 0)
		result = find_device(maker, seen->process,
				     line_of(text_of(maker, seen->text), "device"), &device);
	if (result == 0)
		definitions_of(maker)->nodes.items[node].device = device;
	return result;
}

/* "range" of "range/_0__cf__3"; empty of another name. */
static struct mr_slice name_before_folding(const char *name)
{
	static const char mark[] = "__cf__";
	const char *at = strstr(name, mark), *digits = at;

	while (digits && digits > name && digits[-1] >= '0' && digits[-1] <= '9')
		digits--;
	if (!at || digits == at || digits - name < 3 || memcmp(digits - 2, "/_", 2) != 0)
		return (struct mr_slice){"", 0};
	return (struct mr_slice){name, (size_t)(digits - 2 - name)};
}

/* Each output that is folded becomes a constant of its own, and none says of which output. */
static int find_folded(struct maker *maker)
{
	const struct mr_definitions *definitions = definitions_of(maker);
	int result = 0;

	for (uint32_t node = 1; result == 0 && node < definitions->nodes.count; node++) {
		struct folded_key key = {.graph = definitions->nodes.items[node].graph};
		struct mr_slice name =
			name_before_folding(text_of(maker, definitions->nodes.items[node].name));
		uint32_t number = 0;

		if (name.length == 0)
			continue;
		result = intern(maker, name, &key.name);
		if (result == 0)
			result = mr_strings_intern(&maker->folded_keys, &key, sizeof key, &number);
		if (result == 0 && number < maker->folded_to.count)
			maker->folded_to.items[number] = SEVERAL;
		else if (result == 0)
			result = mr_vec_push(&maker->folded_to, node);
	}
	return result;
}

/* ---- edges ---------------------------------------------------------------------------------------- */

/* The node that hands an output to the graph, if there is one. */
static int find_receiver(struct maker *maker, const struct seen *seen, struct mr_slice name,
			 uint16_t output, uint32_t *ret_node)
{
	char *receiver;
	uint32_t string;

	*ret_node = 0;
	if (asprintf(&receiver, "_recv_%.*s_%u", (int)name.length, name.at, output) < 0)
		return -ENOMEM;
	if (!mr_strings_find(&definitions_of(maker)->strings, receiver, strlen(receiver),
			     &string) ||
	    !mr_tensorflow_knows_node(maker->tensorflow, seen->process, seen->graph_name, string,
				      ret_node))
		*ret_node = 0;
	free(receiver);
	return 0;
}

/* What has taken the place of an input that no node is called like; 0: that is not known. */
static int find_replaced(struct maker *maker, const struct seen *seen, struct mr_slice input,
			 uint32_t name, const struct mr_edge *edge, uint32_t *ret_node)
{
	const struct folded_key key = {definitions_of(maker)->nodes.items[edge->target].graph,
				       name};
	uint32_t number;
	int result = find_receiver(maker, seen, input, edge->source_output, ret_node);

	if (result == 0 && !*ret_node &&
	    mr_strings_find(&maker->folded_keys, &key, sizeof key, &number) &&
	    maker->folded_to.items[number] != SEVERAL)
		*ret_node = maker->folded_to.items[number];
	return result;
}

static int find_source(struct maker *maker, const struct seen *seen, struct mr_slice input,
		       struct mr_edge *edge)
{
	uint32_t name, replaced = 0;
	int result = intern(maker, input, &name);

	if (result < 0 || mr_tensorflow_knows_node(maker->tensorflow, seen->process,
						   seen->graph_name, name, &edge->source))
		return result;
	if (edge->kind == MR_edge_kind_data)
		result = find_replaced(maker, seen, input, name, edge, &replaced);
	if (result < 0 || !replaced)
		return result < 0
			       ? result
			       : mr_tensorflow_find_node(maker->tensorflow, seen->process,
							 seen->graph_name, name, 0, &edge->source);
	edge->source = replaced;
	edge->source_output = 0;
	return 0;
}

/* "name", "name:1" or "^name". */
static int add_edge(struct maker *maker, const struct seen *seen, uint32_t target,
		    uint16_t target_input, struct mr_slice input)
{
	struct mr_edge edge = {.target = target,
			       .target_input = target_input,
			       .kind = MR_edge_kind_data,
			       .process = seen->process};

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
	int result = find_source(maker, seen, input, &edge);
	return result < 0 ? result : mr_vec_push(&definitions_of(maker)->edges, edge);
}

static int add_inputs(struct maker *maker, const struct seen *seen)
{
	struct mr_slice inputs = line_of(text_of(maker, seen->text), "inputs");
	uint16_t number = 0;
	uint32_t node;
	int result = find_node(maker, seen, &node);

	while (result == 0 && inputs.length > 0) {
		const char *end = memmem(inputs.at, inputs.length, "; ", 2);
		size_t length = end ? (size_t)(end - inputs.at) : inputs.length;
		size_t step = end ? length + 2 : length;

		if (length > 0)
			result = add_edge(maker, seen, node, number++,
					  (struct mr_slice){inputs.at, length});
		inputs.at += step;
		inputs.length -= step;
	}
	return result;
}

/* Nodes come first: which inputs are none of them is known only then. */
static int for_each(struct maker *maker, int (*add)(struct maker *, const struct seen *))
{
	int result = 0;

	for (size_t i = 0; result == 0 && i < maker->seen.count; i++) {
		const struct seen seen = maker->seen.items[i];

		if (line_of(text_of(maker, seen.text), "node_name").length > 0)
			result = add(maker, &seen);
	}
	return result;
}

int mr_tensorflow_add_edges(struct mr_tensorflow *tensorflow, const struct mr_runs *runs)
{
	size_t processes = tensorflow->model->survey->processes.count;
	struct maker maker = {.tensorflow = tensorflow,
			      .tasks = calloc(processes + 1, sizeof(uint32_t))};
	int result = maker.tasks ? list_seen(&maker, runs) : -ENOMEM;

	if (result == 0)
		result = find_tasks(&maker);
	if (result == 0)
		result = for_each(&maker, add_node);
	if (result == 0)
		result = find_folded(&maker);
	if (result == 0)
		result = for_each(&maker, add_inputs);
	free(maker.tasks);
	mr_strings_free(&maker.known);
	mr_vec_free(&maker.seen);
	mr_strings_free(&maker.folded_keys);
	mr_vec_free(&maker.folded_to);
	return result;
}
