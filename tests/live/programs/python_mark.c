/* SPDX-License-Identifier: Apache-2.0
 *
 * What python_lines.py calls in C, through ctypes: records an execution of a node of the given name, and calls back.
 */
#include <millrace.h>

__attribute__((visibility("default"))) void mark(const char *name);
__attribute__((visibility("default"))) int call_back(int (*function)(int), int argument);

void mark(const char *name)
{
	uint32_t node = millrace_node(millrace_graph("marks"), name, "mark", 0);
	struct millrace_span span = millrace_node_begin(node, 0);
	millrace_node_end(&span);
}

int call_back(int (*function)(int), int argument)
{
	return function(argument) + 1;
}
