/* SPDX-License-Identifier: Apache-2.0 */
#include "import/builder.h"

#include <string.h>

#include "base/error.h"

enum {
	/* Tids that are no numbers, or too large, get one from here on. */
	FIRST_MADE_TID = 1u << 31,
	/* Ids of clocks; lower ones are enum mr_trace_clock. */
	FIRST_CLOCK = 16,
};

int mr_builder_start(struct mr_builder *builder)
{
	uint32_t empty;

	*builder = (struct mr_builder){.precision_ns = 1};
	return mr_builder_string(builder, "", 0, &empty);
}

void mr_builder_free(struct mr_builder *builder)
{
	for (size_t i = 0; i < builder->streams.count; i++)
		mr_vec_free(&builder->streams.items[i].open);
	mr_strings_free(&builder->strings);
	mr_strings_free(&builder->graphs);
	mr_strings_free(&builder->node_keys);
	mr_strings_free(&builder->files);
	mr_strings_free(&builder->process_keys);
	mr_strings_free(&builder->stream_keys);
	mr_strings_free(&builder->device_keys);
	mr_strings_free(&builder->queue_keys);
	mr_vec_free(&builder->processes);
	mr_vec_free(&builder->streams);
	mr_vec_free(&builder->nodes);
	mr_vec_free(&builder->devices);
	mr_vec_free(&builder->queues);
	mr_vec_free(&builder->definitions);
	mr_vec_free(&builder->records);
	mr_vec_free(&builder->payloads);
	*builder = (struct mr_builder){0};
}

/* Keeps an event's id, its fields and its text, behind what is there. */
static inline int store(struct mr_builder *builder, enum mr_event_id event, const void *payload,
			const char *text, size_t length)
{
	const struct mr_event_desc *desc = &mr_event_table[event];
	size_t offset = builder->payloads.count, fixed = desc->fixed_bytes;
	size_t bytes = 1 + fixed + (desc->has_text ? length + 1 : 0);

	if (offset > MR_BUILD_OFFSET_MAX)
		return mr_fail(EFBIG, "too many events to import");
	if (mr_vec_reserve(&builder->payloads, offset + bytes) < 0)
		return mr_fail_errno(ENOMEM, "import");
	uint8_t *to = &builder->payloads.items[offset];
	*to++ = (uint8_t)event;
	if (fixed)
		memcpy(to, payload, fixed);
	if (desc->has_text) {
		if (length)
			memcpy(to + fixed, text, length);
		to[fixed + length] = 0;
	}
	builder->payloads.count = offset + bytes;
	return 0;
}

/* ---- definitions ---------------------------------------------------------------------------------- */

int mr_builder_string(struct mr_builder *builder, const char *text, size_t length,
		      uint32_t *ret_string)
{
	return mr_strings_intern(&builder->strings, text, length, ret_string);
}

int mr_builder_node(struct mr_builder *builder, uint32_t graph, uint32_t name, uint32_t *ret_node)
{
	const uint32_t key[] = {graph, name};
	const struct mr_build_node added = {.graph = graph, .name = name, .type = name};
	uint32_t node, number;

	if (mr_strings_intern(&builder->node_keys, key, sizeof key, &node) < 0)
		return -ENOMEM;
	*ret_node = node + 1;
	if (node < builder->nodes.count)
		return 0;
	if (mr_strings_intern(&builder->graphs, &graph, sizeof graph, &number) < 0)
		return -ENOMEM;
	return mr_vec_push(&builder->nodes, added);
}

/* A decimal number below `limit`; false if the text is none. */
static bool read_number(const char *text, size_t length, uint32_t limit, uint32_t *ret_number)
{
	uint64_t number = 0;

	if (length == 0 || length > 10)
		return false;
	for (size_t i = 0; i < length; i++) {
		if (text[i] < '0' || text[i] > '9')
			return false;
		number = number * 10 + (uint64_t)(text[i] - '0');
	}
	if (number >= limit)
		return false;
	*ret_number = (uint32_t)number;
	return true;
}

int mr_builder_process(struct mr_builder *builder, const char *key, size_t length,
		       uint32_t *ret_process)
{
	struct mr_build_process added = {0};
	uint32_t process;

	if (mr_strings_intern(&builder->process_keys, key, length, &process) < 0)
		return -ENOMEM;
	*ret_process = process;
	if (process < builder->processes.count)
		return 0;
	if (!read_number(key, length, UINT32_MAX, &added.pid) &&
	    mr_builder_string(builder, key, length, &added.name) < 0)
		return -ENOMEM;
	return mr_vec_push(&builder->processes, added);
}

/* The stream of that class and number, of a process where it is a thread's. */
static int find_stream(struct mr_builder *builder, enum mr_stream_class stream_class,
		       uint32_t process, uint32_t number, uint32_t *ret_stream, bool *ret_is_new)
{
	const uint32_t key[] = {stream_class, process, number};
	const struct mr_build_stream added = {
		.stream_class = stream_class, .process = process, .first = INT64_MAX};

	if (mr_strings_intern(&builder->stream_keys, key, sizeof key, ret_stream) < 0)
		return -ENOMEM;
	*ret_is_new = *ret_stream == builder->streams.count;
	if (*ret_stream > MR_BUILD_STREAM_MAX)
		return mr_fail(EFBIG, "too many threads to import");
	return *ret_is_new ? mr_vec_push(&builder->streams, added) : 0;
}

int mr_builder_thread(struct mr_builder *builder, uint32_t process, uint32_t key,
		      uint32_t *ret_stream)
{
	bool is_new;
	int result = find_stream(builder, MR_STREAM_USER, process, key, ret_stream, &is_new);

	if (result < 0 || !is_new)
		return result;
	struct mr_build_stream *thread = &builder->streams.items[*ret_stream];
	if (!read_number(mr_strings_text(&builder->strings, key),
			 builder->strings.lengths.items[key], FIRST_MADE_TID, &thread->tid)) {
		thread->tid = FIRST_MADE_TID + *ret_stream;
		thread->name = key;
	}
	return 0;
}

int mr_builder_cpu(struct mr_builder *builder, uint32_t number, uint32_t *ret_stream)
{
	bool is_new;
	int result = find_stream(builder, MR_STREAM_KERNEL, 0, number, ret_stream, &is_new);

	if (result == 0)
		builder->streams.items[*ret_stream].tid = number;
	return result;
}

int mr_builder_device(struct mr_builder *builder, uint64_t key, uint32_t *ret_device)
{
	const struct mr_build_device added = {.key = key, .clock = MR_trace_clock_monotonic};
	uint32_t device;

	if (mr_strings_intern(&builder->device_keys, &key, sizeof key, &device) < 0)
		return -ENOMEM;
	*ret_device = device + 1;
	return device < builder->devices.count ? 0 : mr_vec_push(&builder->devices, added);
}

int mr_builder_queue(struct mr_builder *builder, uint32_t device, uint32_t name,
		     uint32_t *ret_queue)
{
	const uint32_t key[] = {device, name};
	const struct mr_build_queue added = {.device = device, .name = name};
	uint32_t queue;

	if (mr_strings_intern(&builder->queue_keys, key, sizeof key, &queue) < 0)
		return -ENOMEM;
	*ret_queue = queue + 1;
	return queue < builder->queues.count ? 0 : mr_vec_push(&builder->queues, added);
}

static int define(struct mr_builder *builder, enum mr_stream_class stream_class,
		  enum mr_event_id event, const void *payload, uint32_t text)
{
	size_t offset = builder->payloads.count;
	int result = store(builder, event, payload, mr_strings_text(&builder->strings, text),
			   builder->strings.lengths.items[text]);

	if (result < 0)
		return result;
	return mr_vec_push(&builder->definitions,
			   ((struct mr_build_definition){offset, stream_class}));
}

/* Events of the kernel level alone refer to files and system calls. */
int mr_builder_file(struct mr_builder *builder, uint64_t device_number, uint64_t inode,
		    uint32_t path, uint32_t *ret_file)
{
	const uint64_t key[] = {device_number, inode, path};
	struct mr_event_def_file file = {.device = device_number, .inode = inode};
	uint32_t known = mr_strings_count(&builder->files), number;

	if (mr_strings_intern(&builder->files, key, sizeof key, &number) < 0)
		return -ENOMEM;
	*ret_file = file.id = number + 1;
	return number < known ? 0
			      : define(builder, MR_STREAM_KERNEL, MR_EVENT_def_file, &file, path);
}

int mr_builder_system_call(struct mr_builder *builder, uint32_t number, uint32_t name)
{
	const struct mr_event_def_syscall call = {.number = number};

	return define(builder, MR_STREAM_KERNEL, MR_EVENT_def_syscall, &call, name);
}

int mr_builder_clock(struct mr_builder *builder, uint32_t name, uint64_t ticks_per_second,
		     uint32_t *ret_clock)
{
	const struct mr_event_def_clock clock = {.id = FIRST_CLOCK + builder->clock_count++,
						 .name = name,
						 .ticks_per_second = ticks_per_second};

	*ret_clock = clock.id;
	return define(builder, MR_STREAM_USER, MR_EVENT_def_clock, &clock, 0);
}

int mr_builder_sample(struct mr_builder *builder, const struct mr_event_clock_sample *sample)
{
	return define(builder, MR_STREAM_USER, MR_EVENT_clock_sample, sample, 0);
}

int mr_builder_edge(struct mr_builder *builder, const struct mr_event_def_edge *edge)
{
	return define(builder, MR_STREAM_USER, MR_EVENT_def_edge, edge, 0);
}

/* ---- events --------------------------------------------------------------------------------------- */

static inline int add(struct mr_builder *builder, uint32_t stream, int64_t start, int64_t time,
		      enum mr_event_id event, const void *payload, const char *text, size_t length)
{
	struct mr_build_stream *place = &builder->streams.items[stream];
	size_t offset = builder->payloads.count;
	int result = store(builder, event, payload, text, length);

	if (result < 0)
		return result;
	place->first = mr_min(place->first, start);
	place->last = mr_max(place->last, time);
	const struct mr_build_record record = {.time = time, .offset = offset, .stream = stream};
	return mr_vec_push(&builder->records, record);
}

int mr_builder_add(struct mr_builder *builder, uint32_t stream, int64_t start, int64_t time,
		   enum mr_event_id event, const void *payload)
{
	return add(builder, stream, start, time, event, payload, NULL, 0);
}

int mr_builder_add_text(struct mr_builder *builder, uint32_t stream, int64_t time,
			enum mr_event_id event, const void *payload, const char *text,
			size_t length)
{
	return add(builder, stream, time, time, event, payload, text, length);
}
