/* SPDX-License-Identifier: Apache-2.0 */
#include "query/lists.h"

/* For members whose own name is a keyword of SQL. */
#define MEMBER_AS(name, of, type, member, doc)                                  \
	{                                                                       \
		name, sizeof(((struct of *)0)->member), MR_MEANING_##type, doc, \
			offsetof(struct of, member)                             \
	}
#define MEMBER(of, type, member, doc) MEMBER_AS(#member, of, type, member, doc)

/* clang-format off */
static const struct mr_column_desc columns_of_hosts[] = {
	MEMBER(mr_host, string, name, "name of the machine; empty if not known"),
	MEMBER(mr_host, string, boot_id, "identifies one boot of the machine"),
};

static const struct mr_column_desc columns_of_processes[] = {
	MEMBER(mr_process, host, host, "host that it ran on"),
	MEMBER(mr_process, uint32_t, number, "number in this recording, never reused; 0: known only from the kernel level"),
	MEMBER(mr_process, uint32_t, pid, "process id of the operating system"),
	MEMBER(mr_process, process, parent, "parent process; its own row if there is none"),
	MEMBER(mr_process, string, program, "program that it runs"),
	MEMBER(mr_process, string, framework, "framework that it uses: tensorflow, torch; NULL: none that millrace knows"),
	MEMBER(mr_process, ordinal, rank, "its rank in the job that it is part of, as the environment says; NULL: none, or not known"),
	MEMBER(mr_process, ordinal, world_size, "number of ranks of that job; NULL: not known"),
	MEMBER(mr_process, ordinal, local_rank, "its rank on its host; NULL: not known"),
	MEMBER(mr_process, one_of(process_origin), origin, "how it was created"),
	MEMBER_AS("ended", mr_process, one_of(process_end), end, "how it ended, if the trace shows it"),
	MEMBER(mr_process, time_ns, first_ns, "time of its first record"),
	MEMBER(mr_process, time_ns, last_ns, "time of its last record"),
	MEMBER(mr_process, uint64_t, event_count, "number of events that it recorded"),
	MEMBER(mr_process, uint32_t, thread_count, "number of its threads in the trace"),
};

static const struct mr_column_desc columns_of_tracks[] = {
	MEMBER(mr_track, one_of(track_kind), kind, "kind of track"),
	MEMBER(mr_track, host, host, "host that it belongs to"),
	MEMBER(mr_track, process, process, "process that it belongs to"),
	MEMBER(mr_track, uint32_t, tid, "thread id; 0 for queues and CPUs"),
	MEMBER(mr_track, queue, queue, "the queue, for a track of a queue"),
	MEMBER(mr_track, cpu, cpu, "the CPU, for a track of a CPU"),
	MEMBER(mr_track, string, name, "name of the thread, queue or CPU; of a thread the one that the program gave it in Python, else the kernel's"),
	MEMBER(mr_track, string, kernel_name, "name of the thread in the kernel"),
	MEMBER(mr_track, one_of(thread_role), role, "what the thread is for, by what it did"),
	MEMBER(mr_track, time_ns, first_ns, "time of its first record"),
	MEMBER(mr_track, time_ns, last_ns, "time of its last record"),
};

static const struct mr_column_desc columns_of_graphs[] = {
	MEMBER(mr_graph, string, name, "name given by the program"),
	MEMBER(mr_graph, process, process, "process that defined it"),
	MEMBER(mr_graph, string, function, "name of the function in the program; a framework may make several graphs of one function"),
};

static const struct mr_column_desc columns_of_nodes[] = {
	MEMBER(mr_node, string, name, "name given by the program"),
	MEMBER(mr_node, string, type, "type of operation"),
	MEMBER(mr_node, string, family, "operation of which the type is a variant: MatMul for _MklMatMul; usually the type itself"),
	MEMBER(mr_node, one_of(purpose), purpose, "what it is for, if that is known"),
	MEMBER(mr_node, graph, graph, "graph that contains it"),
	MEMBER(mr_node, device, device, "device on which it is placed"),
	MEMBER(mr_node, process, process, "process that defined it"),
};

static const struct mr_column_desc columns_of_edges[] = {
	MEMBER(mr_edge, node, source, "node that it comes from"),
	MEMBER(mr_edge, node, target, "node that it leads to"),
	MEMBER(mr_edge, uint32_t, source_output, "output number at the source"),
	MEMBER(mr_edge, uint32_t, target_input, "input number at the target"),
	MEMBER(mr_edge, one_of(edge_kind), kind, "what it carries"),
	MEMBER(mr_edge, process, process, "process that defined it"),
};

static const struct mr_column_desc columns_of_devices[] = {
	MEMBER(mr_device, string, name, "name in the runtime"),
	MEMBER(mr_device, host, host, "host that it belongs to"),
	MEMBER(mr_device, string, identity, "what identifies it on its host: pci 0000:3b:00.0; empty: not known"),
	MEMBER(mr_device, device, same, "first row of the same device of the host, which another process or a framework may have defined"),
	MEMBER(mr_device, one_of(device_kind), kind, "kind of device"),
	MEMBER(mr_device, clock, clock, "clock of its times"),
	MEMBER(mr_device, process, process, "process that defined it"),
	MEMBER(mr_device, uint64_t, memory_bytes, "how much memory it has; 0: not known"),
};

static const struct mr_column_desc columns_of_queues[] = {
	MEMBER(mr_queue, string, name, "name of the queue or stream"),
	MEMBER(mr_queue, device, device, "device that it feeds"),
	MEMBER_AS("ordering", mr_queue, one_of(queue_order), order, "order in which operations begin"),
	MEMBER(mr_queue, uint8_t, is_untimed, "1: the device does not report when its operations ran"),
	MEMBER(mr_queue, process, process, "process that defined it"),
};

static const struct mr_column_desc columns_of_files[] = {
	MEMBER(mr_file, string, path, "path with which it was opened, or what kind of file it is"),
	MEMBER(mr_file, host, host, "host that it belongs to"),
	MEMBER(mr_file, uint64_t, device_number, "device number of the file system"),
	MEMBER(mr_file, uint64_t, inode, "inode number in the file system"),
};

static const struct mr_column_desc columns_of_codes[] = {
	MEMBER(mr_code, string, name, "the function, with the classes and functions around it from Python 3.11 on"),
	MEMBER(mr_code, string, file, "the file, as the interpreter calls it"),
	MEMBER(mr_code, uint32_t, first_line, "where it begins in the file"),
};

static const struct mr_column_desc columns_of_sites[] = {
	MEMBER(mr_site, string, stack, "the line and those that led to it: train.py:41 load_batch < train.py:88 main"),
	MEMBER(mr_site, code, code, "function or module of the line"),
	MEMBER(mr_site, uint32_t, line, "line of the file"),
	MEMBER(mr_site, site, parent, "the line that called the function; NULL: none, or left out"),
	MEMBER(mr_site, uint32_t, depth, "number of lines that led to it"),
	MEMBER(mr_site, site, same, "first row of the same line, however it was reached"),
};

static const struct mr_column_desc columns_of_clocks[] = {
	MEMBER(mr_defined_clock, string, name, "name of the clock"),
	MEMBER(mr_defined_clock, uint64_t, ticks_per_second, "its frequency"),
	MEMBER(mr_defined_clock, process, process, "process that defined it"),
};

static const struct mr_column_desc columns_of_gaps[] = {
	MEMBER(mr_gap, host, host, "host whose records are missing"),
	MEMBER(mr_gap, cpu, cpu, "CPU whose records are missing"),
	MEMBER(mr_gap, time_ns, begin_ns, "when they begin to be missing"),
	MEMBER(mr_gap, time_ns, end_ns, "when records continue"),
};

static const struct mr_column_desc columns_of_system_call_names[] = {
	{"name", sizeof(uint32_t), MR_MEANING_string, "name of the system call whose number is the rowid", 0},
};

/* The rowid is the number of the string. */
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
