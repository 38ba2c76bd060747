/* SPDX-License-Identifier: Apache-2.0
 *
 * The lists of a survey (processes, tracks, definitions), described like the model's tables, so that
 * SQL treats both alike. Rows are structs in a vector. A row's number is its index; columns of other
 * tables refer to rows by this number.
 */
#ifndef MR_QUERY_LISTS_H
#define MR_QUERY_LISTS_H

#include "model/model.h"

/* LIST(name, where it is in the survey, meaning of its row numbers, first row, what it holds) */
#define MR_LISTS(LIST)                                                                         \
	LIST(hosts, hosts, host, 0, "Machines; each boot of a machine is a row.")              \
	LIST(processes, processes, process, 0, "Processes in the trace.")                      \
	LIST(tracks, tracks, track, 0,                                                         \
	     "Where intervals lie: threads, queues of devices, CPUs. All other tables are "    \
	     "sorted by track, then start_ns.")                                                \
	LIST(graphs, definitions.graphs, graph, 1, "Dataflow graphs.")                         \
	LIST(nodes, definitions.nodes, node, 1, "Nodes of the graphs: operations.")            \
	LIST(edges, definitions.edges, number, 0, "Edges of the graphs.")                      \
	LIST(devices, definitions.devices, device, 1, "Devices that runtimes use.")            \
	LIST(queues, definitions.queues, queue, 1, "Queues and streams of devices.")           \
	LIST(files, definitions.files, file, 1, "Files, sockets and pipes of system calls.")   \
	LIST(codes, definitions.sites.codes, code, 1, "Functions and modules in Python.")      \
	LIST(sites, definitions.sites, site, 1,                                                \
	     "Lines of Python, each with the lines that led to it.")                           \
	LIST(clocks, definitions.clocks, clock, 1, "Clocks that the trace defines.")           \
	LIST(gaps, gaps, number, 0, "Times for which kernel-level records of a CPU are lost.") \
	LIST(system_call_names, definitions.system_calls, system_call, 0,                      \
	     "Names of system calls, by number.")                                              \
	LIST(strings, definitions.strings.texts, number, 1, "All strings in the trace, each once.")

#define MR_LIST_DESC(name, ...) extern const struct mr_table_desc mr_##name##_desc;
MR_LISTS(MR_LIST_DESC)
#undef MR_LIST_DESC

struct mr_list_rows {
	const void *items;
	uint32_t item_bytes;
	uint32_t count;
};

struct mr_list {
	const struct mr_table_desc *desc;
	enum mr_meaning
		meaning; /* of columns that contain its row numbers; MR_MEANS_number: there are none */
	uint32_t first_row; /* 1 if index 0 means "none" */
	struct mr_list_rows (*rows)(const struct mr_model *model);
};

extern const struct mr_list mr_lists[];
extern const uint32_t mr_list_count;

/* The list that a column of that meaning refers to; NULL for others. */
const struct mr_list *mr_list_of(enum mr_meaning meaning);

/* The column with the name of a row: the first one of type text. */
const struct mr_column_desc *mr_list_name(const struct mr_list *list);

#endif
