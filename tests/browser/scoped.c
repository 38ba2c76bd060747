/* SPDX-License-Identifier: Apache-2.0
 *
 * scoped [NODES]: describes two graphs whose shape is known, and executes the nodes of the first five times.
 *
 *     scoped   input_0 … input_5 ─► model/dense/{MatMul ─► BiasAdd ─► Relu} ─► model/loss/{Sum ─► Mean}
 *                                          ─► train/{Clip ─► Apply} ─► step
 *     flat     NODES nodes without scopes: a chain, with an edge from each seventh to one far behind it
 */
#include <stdio.h>
#include <stdlib.h>

#include <millrace.h>

enum {
	STAGES = 8,
	INPUTS = 6,
	ROUNDS = 5,
};

static const char *const stages[STAGES][2] = {
	{"model/dense/MatMul", "MatMul"}, {"model/dense/BiasAdd", "BiasAdd"},
	{"model/dense/Relu", "Relu"},     {"model/loss/Sum", "Sum"},
	{"model/loss/Mean", "Mean"},      {"train/Clip", "Clip"},
	{"train/Apply", "Apply"},         {"step", "NoOp"},
};

static void describe_scoped(uint32_t *nodes)
{
	uint32_t graph = millrace_graph("scoped");
	uint32_t device = millrace_device("CPU:0", MILLRACE_DEVICE_CPU);

	for (int i = 0; i < STAGES; i++)
		nodes[i] = millrace_node(graph, stages[i][0], stages[i][1], device);
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

int main(int argument_count, char **arguments)
{
	uint32_t nodes[STAGES];

	describe_scoped(nodes);
	if (argument_count > 1)
		describe_flat(atoi(arguments[1]));
	for (uint64_t round = 0; round < ROUNDS; round++) {
		for (int i = 0; i < STAGES; i++) {
			struct millrace_span span = millrace_node_begin(nodes[i], round);

			for (volatile int work = 0; work < 10000 * (i + 1); work++)
				;
			millrace_node_end(&span);
		}
	}
	return 0;
}
