/* SPDX-License-Identifier: Apache-2.0
 *
 * A library with annotations of its own, to be loaded, called and unloaded.
 */
#include <millrace.h>

void emit_in_library(uint32_t count);

void emit_in_library(uint32_t count)
{
	uint32_t node = millrace_node(millrace_graph("library"), "node", "type", 0);
	for (uint32_t i = 0; i < count; i++)
		millrace_node_instant(node, i);
}
