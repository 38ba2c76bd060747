/* SPDX-License-Identifier: Apache-2.0
 *
 * A format that does not exist: a file of lines, or a folder with such a file.
 *
 *     example trace 1
 *     run - TID FROM UNTIL        the thread had CPU 2
 *     op NAME TID FROM UNTIL      an execution
 *     work NAME TID FROM UNTIL    what a device did, launched 1000 ns before
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "import/formats.h"

static const char first_line[] = "example trace 1\n";

static void name_inside(const char *folder, char path[4096])
{
	snprintf(path, 4096, "%s/example.txt", folder);
}

static enum mr_sniff sniff(const struct mr_head *head)
{
	size_t length = sizeof first_line - 1;
	char inside[4096];

	name_inside(head->path, inside);
	if (head->is_folder)
		return access(inside, R_OK) == 0 ? MR_SNIFF_SURE : MR_SNIFF_NO;
	return head->count >= length && memcmp(head->bytes, first_line, length) == 0 ? MR_SNIFF_SURE
										     : MR_SNIFF_NO;
}

struct line {
	char kind[8];
	char name[32];
	uint32_t thread; /* stream */
	uint32_t tid;
	int64_t from;
	int64_t until;
};

static int add_run(struct mr_builder *builder, const struct line *line)
{
	const struct mr_event_kernel_fork fork = {.parent_tid = 1,
						  .tid = line->tid,
						  .pid = 9,
						  .inner_tid = line->tid,
						  .inner_pid = 9};
	const struct mr_event_kernel_switch in = {.next_tid = line->tid};
	const struct mr_event_kernel_switch out = {.previous_tid = line->tid,
						   .reason = MR_switch_reason_disk};
	uint32_t cpu;
	int result = mr_builder_cpu(builder, 2, &cpu);

	if (result == 0 && builder->streams.items[cpu].last == 0)
		result = mr_builder_add_text(builder, cpu, line->from, MR_EVENT_kernel_fork, &fork,
					     "worker", 6);
	if (result == 0)
		result = mr_builder_add(builder, cpu, line->from, line->from,
					MR_EVENT_kernel_switch, &in);
	if (result == 0)
		result = mr_builder_add(builder, cpu, line->until, line->until,
					MR_EVENT_kernel_switch, &out);
	return result;
}

static int add_op(struct mr_builder *builder, const struct line *line)
{
	struct mr_event_node_interval interval = {
		.step = UINT32_MAX, .duration_ticks = mr_u48_from(line->until - line->from)};
	uint32_t name, node;

	if (mr_builder_string(builder, line->name, strlen(line->name), &name) < 0 ||
	    mr_builder_node(builder, name, name, &node) < 0)
		return -ENOMEM;
	interval.node = node;
	return mr_builder_add(builder, line->thread, line->from, line->until,
			      MR_EVENT_node_interval, &interval);
}

static int add_work(struct mr_builder *builder, const struct line *line)
{
	uint32_t name, function, device, queue, of_device;

	if (mr_builder_string(builder, line->name, strlen(line->name), &name) < 0 ||
	    mr_builder_string(builder, "exampleLaunch", 13, &function) < 0 ||
	    mr_builder_string(builder, "Example NPU", 11, &of_device) < 0 ||
	    mr_builder_device(builder, 0, &device) < 0 ||
	    mr_builder_queue(builder, device, of_device, &queue) < 0)
		return -ENOMEM;
	builder->devices.items[device - 1].name = of_device;
	builder->devices.items[device - 1].kind = MR_device_kind_accelerator;
	uint64_t correlation = builder->records.count + 1;
	const struct mr_event_runtime_call call = {.function = function,
						   .duration_ticks = mr_u48_from(500),
						   .correlation = correlation};
	const struct mr_event_device_operation operation = {.queue = queue,
							    .name = name,
							    .correlation = correlation,
							    .start = (uint64_t)line->from,
							    .end = (uint64_t)line->until,
							    .kind = MR_operation_kind_kernel};
	int result = mr_builder_add(builder, line->thread, line->from - 1000, line->from - 500,
				    MR_EVENT_runtime_call, &call);
	if (result < 0)
		return result;
	return mr_builder_add(builder, line->thread, line->from, line->until,
			      MR_EVENT_device_operation, &operation);
}

static int add_line(struct mr_import *import, const char *text, uint64_t offset, uint64_t bytes)
{
	struct mr_builder *builder = &import->builder;
	struct line line;
	char tid[16];
	uint32_t process, key;

	if (sscanf(text, "%7s %31s %" SCNu32 " %" SCNd64 " %" SCNd64, line.kind, line.name,
		   &line.tid, &line.from, &line.until) != 5)
		return mr_import_faults_add(&import->faults, "a line that is none", offset, bytes);
	int length = snprintf(tid, sizeof tid, "%" PRIu32, line.tid);
	if (mr_builder_process(builder, "9", 1, &process) < 0 ||
	    mr_builder_string(builder, tid, (size_t)length, &key) < 0 ||
	    mr_builder_thread(builder, process, key, &line.thread) < 0)
		return -ENOMEM;
	return strcmp(line.kind, "run") == 0  ? add_run(builder, &line)
	       : strcmp(line.kind, "op") == 0 ? add_op(builder, &line)
					      : add_work(builder, &line);
}

static int read_lines(struct mr_import *import, struct mr_source *source)
{
	int result = 0;

	while (mr_source_more(source))
		;
	mr_source_advance(source, source->at + sizeof first_line - 1);
	for (const char *end;
	     result == 0 && (end = memchr(source->at, '\n', (size_t)(source->end - source->at)));) {
		result = add_line(import, source->at, source->offset,
				  (uint64_t)(end + 1 - source->at));
		mr_source_advance(source, end + 1);
	}
	return result;
}

static int read_trace(struct mr_import *import)
{
	struct mr_source inside;
	char path[4096];

	if (import->source)
		return read_lines(import, import->source);
	name_inside(import->path, path);
	int result = mr_source_open(path, &inside);
	if (result < 0)
		return result;
	result = read_lines(import, &inside);
	mr_source_close(&inside);
	return result;
}

const struct mr_format mr_example_format = {
	.name = "Example trace",
	.sniff = sniff,
	.read = read_trace,
};
