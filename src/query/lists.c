/* SPDX-License-Identifier: Apache-2.0 */
#include "query/lists.h"

/* `name` where the member's own is a word of SQL. */
#define MEMBER_AS(name, of, type, member, doc)                                  \
	{                                                                       \
		name, sizeof(((struct of *)0)->member), MR_MEANING_##type, doc, \
			offsetof(struct of, member)                             \
	}
#define MEMBER(of, type, member, doc) MEMBER_AS(#member, of, type, member, doc)

/* clang-format off */
static const struct mr_column_desc columns_of_hosts[] = {
	MEMBER(mr_host, string, name, "of the machine; empty if it is not known"),
	MEMBER(mr_host, string, boot_id, "another one after each start of the machine"),
};

static const struct mr_column_desc columns_of_processes[] = {
	MEMBER(mr_process, host, host, "that it ran on"),
	MEMBER(mr_process, uint32_t, number, "in this run, never used again; 0: known from the kernel level alone"),
	MEMBER(mr_process, uint32_t, pid, "as the system numbers it"),
	MEMBER(mr_process, process, parent, "the process it came from; its own row if there is none"),
	MEMBER(mr_process, string, program, "what it runs"),
	MEMBER(mr_process, one_of(process_origin), origin, "how it came to be"),
	MEMBER_AS("ended", mr_process, one_of(process_end), end, "how it was seen to end"),
	MEMBER(mr_process, time_ns, first_ns, "its first record"),
	MEMBER(mr_process, time_ns, last_ns, "its last record"),
	MEMBER(mr_process, uint64_t, event_count, "that it recorded"),
	MEMBER(mr_process, uint32_t, thread_count, "that were seen"),
};

static const struct mr_column_desc columns_of_tracks[] = {
	MEMBER(mr_track, one_of(track_kind), kind, "what it is"),
	MEMBER(mr_track, host, host, "that it belongs to"),
	MEMBER(mr_track, process, process, "that it belongs to"),
	MEMBER(mr_track, uint32_t, tid, "of a thread; 0 of others"),
	MEMBER(mr_track, queue, queue, "of a queue"),
	MEMBER(mr_track, cpu, cpu, "of a CPU"),
	MEMBER(mr_track, string, name, "of the thread, queue or CPU"),
	MEMBER(mr_track, time_ns, first_ns, "its first record"),
	MEMBER(mr_track, time_ns, last_ns, "its last record"),
};

static const struct mr_column_desc columns_of_graphs[] = {
	MEMBER(mr_graph, string, name, "that the program gave"),
	MEMBER(mr_graph, process, process, "that defined it"),
};

static const struct mr_column_desc columns_of_nodes[] = {
	MEMBER(mr_node, string, name, "that the program gave"),
	MEMBER(mr_node, string, type, "what kind of operation it is"),
	MEMBER(mr_node, string, family, "the operation that the type is a form of: MatMul of _MklMatMul; mostly the type"),
	MEMBER(mr_node, graph, graph, "that it is a node of"),
	MEMBER(mr_node, device, device, "where it is placed"),
	MEMBER(mr_node, process, process, "that defined it"),
};

static const struct mr_column_desc columns_of_edges[] = {
	MEMBER(mr_edge, node, source, "where it comes from"),
	MEMBER(mr_edge, node, target, "where it goes"),
	MEMBER(mr_edge, uint32_t, source_output, "number of the output"),
	MEMBER(mr_edge, uint32_t, target_input, "number of the input"),
	MEMBER(mr_edge, one_of(edge_kind), kind, "what it carries"),
	MEMBER(mr_edge, process, process, "that defined it"),
};

static const struct mr_column_desc columns_of_devices[] = {
	MEMBER(mr_device, string, name, "as the runtime calls it"),
	MEMBER(mr_device, host, host, "that it belongs to"),
	MEMBER(mr_device, string, identity, "what it is on its host: pci 0000:3b:00.0; empty: not known"),
	MEMBER(mr_device, device, same, "the first row that is the same device of the host: of other processes, or a framework's"),
	MEMBER(mr_device, one_of(device_kind), kind, "what it is"),
	MEMBER(mr_device, clock, clock, "that its times are of"),
	MEMBER(mr_device, process, process, "that defined it"),
};

static const struct mr_column_desc columns_of_queues[] = {
	MEMBER(mr_queue, string, name, "of the queue or stream"),
	MEMBER(mr_queue, device, device, "that it feeds"),
	MEMBER_AS("ordering", mr_queue, one_of(queue_order), order, "in which operations begin"),
	MEMBER(mr_queue, uint8_t, is_untimed, "1: the device does not tell when its operations ran"),
	MEMBER(mr_queue, process, process, "that defined it"),
};

static const struct mr_column_desc columns_of_files[] = {
	MEMBER(mr_file, string, path, "as it was opened, or what it is"),
	MEMBER(mr_file, host, host, "that it belongs to"),
	MEMBER(mr_file, uint64_t, device_number, "of the file system"),
	MEMBER(mr_file, uint64_t, inode, "its number there"),
};

static const struct mr_column_desc columns_of_clocks[] = {
	MEMBER(mr_defined_clock, string, name, "of the clock"),
	MEMBER(mr_defined_clock, uint64_t, ticks_per_second, "its rate"),
	MEMBER(mr_defined_clock, process, process, "that defined it"),
};

static const struct mr_column_desc columns_of_gaps[] = {
	MEMBER(mr_gap, host, host, "whose records are missing"),
	MEMBER(mr_gap, cpu, cpu, "of it"),
	MEMBER(mr_gap, time_ns, begin_ns, "from then"),
	MEMBER(mr_gap, time_ns, end_ns, "until then"),
};

static const struct mr_column_desc columns_of_system_call_names[] = {
	{"name", sizeof(uint32_t), MR_MEANING_string, "of the system call with the row's number", 0},
};

/* The row's own number is the number of the string. */
static const struct mr_column_desc columns_of_strings[] = {
	{"text", 0, MR_MEANING_string, "the string", 0},
};
/* clang-format on */

#define ROWS(name, path, ...)                                                      \
	static struct mr_list_rows rows_of_##name(const struct mr_model *model)    \
	{                                                                          \
		__typeof__(model->survey->path) *vector = &model->survey->path;    \
		return (struct mr_list_rows){vector->items, sizeof *vector->items, \
					     (uint32_t)vector->count};             \
	}
MR_LISTS(ROWS)

#define LIST_DESC(name, path, refers, first, doc)                                     \
	const struct mr_table_desc mr_##name##_desc = {#name, doc, columns_of_##name, \
						       mr_countof(columns_of_##name)};
MR_LISTS(LIST_DESC)

#define LIST(name, path, refers, first, doc) \
	{&mr_##name##_desc, MR_MEANS_##refers, first, rows_of_##name},
const struct mr_list mr_lists[] = {MR_LISTS(LIST)};
const uint32_t mr_list_count = mr_countof(mr_lists);

const struct mr_list *mr_list_of(enum mr_meaning meaning)
{
	for (uint32_t i = 0; meaning != MR_MEANS_number && i < mr_list_count; i++)
		if (mr_lists[i].meaning == meaning)
			return &mr_lists[i];
	return NULL;
}

const struct mr_column_desc *mr_list_name(const struct mr_list *list)
{
	const struct mr_column_desc *column = list->desc->columns;

	while (column->meaning != MR_MEANS_string)
		column++;
	return column;
}
