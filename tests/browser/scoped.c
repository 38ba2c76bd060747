/* SPDX-License-Identifier: Apache-2.0
 *
 * scoped [NODES | twin | devices]: describes graphs whose shape is known, and executes the nodes of the first five times.
 *
 *     scoped   input_0 … input_5 ─► model/dense/{MatMul ─► BiasAdd ─► Relu} ─► model/loss/{Sum ─► Mean}
 *                                          ─► train/{Clip ─► Apply} ─► step
 *     flat     NODES nodes without scopes: a chain, with an edge from each seventh to one far behind it
 *     twin     the same as the first, and its nodes are executed twice
 *     devices  only the first, and every second stage of it is on another device
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <millrace.h>

enum {
	STAGES = 8,
	INPUTS = 6,
	ROUNDS = 5,
	TWIN_ROUNDS = 2,
};

static const char *const stages[STAGES][2] = {
	{"model/dense/MatMul", "MatMul"}, {"model/dense/BiasAdd", "BiasAdd"},
	{"model/dense/Relu", "Relu"},     {"model/loss/Sum", "Sum"},
	{"model/loss/Mean", "Mean"},      {"train/Clip", "Clip"},
	{"train/Apply", "Apply"},         {"step", "NoOp"},
};

static void describe_scoped(const char *title, uint32_t *nodes, bool has_devices)
{
	uint32_t graph = millrace_graph(title);
	uint32_t device = millrace_device("CPU:0", MILLRACE_DEVICE_CPU);
	uint32_t other = has_devices ? millrace_device("GPU:0", MILLRACE_DEVICE_GPU) : device;

	for (int i = 0; i < STAGES; i++)
		nodes[i] = millrace_node(graph, stages[i][0], stages[i][1], i % 2 ? other : device);
	for (int i = 1; i < STAGES; i++)
		millrace_edge(nodes[i - 1], 0, nodes[i], 0);
	for (int i = 0; i < INPUTS; i++) {
		char name[16];

		snprintf(name, sizeof name, "input_%d", i);
		millrace_edge(millrace_node(graph, name, "Input", device), 0, nodes[0], 0);
	}
}

static void describe_flat(int count)
{
	uint32_t graph = millrace_graph("flat");
	uint32_t *nodes = calloc((size_t)count + 1, sizeof *nodes);

	for (int i = 0; nodes && i < count; i++) {
		char name[16];

		snprintf(name, sizeof name, "op_%d", i);
		nodes[i] = millrace_node(graph, name, "Op", 0);
		if (i > 0)
			millrace_edge(nodes[i - 1], 0, nodes[i], 0);
		if (i % 7 == 6)
			millrace_edge(nodes[i / 2], 0, nodes[i], 0);
	}
	free(nodes);
}

static void execute(const uint32_t *nodes, uint64_t rounds)
{
	for (uint64_t round = 0; round < rounds; round++) {
		for (int i = 0; i < STAGES; i++) {
			struct millrace_span span = millrace_node_begin(nodes[i], round);

			for (volatile int work = 0; work < 10000 * (i + 1); work++)
				;
			millrace_node_end(&span);
		}
	}
}

int main(int argument_count, char **arguments)
{
	uint32_t nodes[STAGES], others[STAGES];
	bool has_twin = argument_count > 1 && strcmp(arguments[1], "twin") == 0;

	bool has_devices = argument_count > 1 && strcmp(arguments[1], "devices") == 0;

	describe_scoped("scoped", nodes, has_devices);
	if (has_twin)
		describe_scoped("twin", others, false);
	else if (argument_count > 1 && !has_devices)
		describe_flat(atoi(arguments[1]));
	execute(nodes, ROUNDS);
	if (has_twin)
		execute(others, TWIN_ROUNDS);
	return 0;
}
