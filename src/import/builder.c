/* SPDX-License-Identifier: Apache-2.0 */
#include "import/builder.h"

#include <string.h>

#include "base/error.h"
#include "import/image.h"

enum {
	/* Tids that are no numbers, or too large, get one from here on. */
	FIRST_MADE_TID = 1u << 31,
};

/* ---- definitions ---------------------------------------------------------------------------------- */

int mr_builder_start(struct mr_builder *builder)
{
	uint32_t empty;

	*builder = (struct mr_builder){.first_ns = INT64_MAX};
	return mr_builder_string(builder, "", 0, &empty);
}

void mr_builder_free(struct mr_builder *builder)
{
	for (size_t i = 0; i < builder->threads.count; i++)
		mr_vec_free(&builder->threads.items[i].open);
	mr_strings_free(&builder->strings);
	mr_strings_free(&builder->graphs);
	mr_strings_free(&builder->nodes);
	mr_strings_free(&builder->process_keys);
	mr_strings_free(&builder->thread_keys);
	mr_strings_free(&builder->device_keys);
	mr_strings_free(&builder->queue_keys);
	mr_vec_free(&builder->processes);
	mr_vec_free(&builder->threads);
	mr_vec_free(&builder->devices);
	mr_vec_free(&builder->queues);
	mr_vec_free(&builder->records);
	mr_vec_free(&builder->payloads);
	*builder = (struct mr_builder){0};
}

int mr_builder_string(struct mr_builder *builder, const char *text, size_t length,
		      uint32_t *ret_string)
{
	return mr_strings_intern(&builder->strings, text, length, ret_string);
}

int mr_builder_node(struct mr_builder *builder, uint32_t graph_name, uint32_t name,
		    uint32_t *ret_node)
{
	const uint32_t key[] = {graph_name, name};
	uint32_t known = mr_strings_count(&builder->nodes), node, graph;

	if (mr_strings_intern(&builder->nodes, key, sizeof key, &node) < 0)
		return -ENOMEM;
	*ret_node = node + 1;
	return node < known ? 0
			    : mr_strings_intern(&builder->graphs, &graph_name, sizeof graph_name,
						&graph);
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

int mr_builder_thread(struct mr_builder *builder, uint32_t process, uint32_t key,
		      uint32_t *ret_thread)
{
	const uint32_t both[] = {process, key};
	uint32_t thread;

	if (mr_strings_intern(&builder->thread_keys, both, sizeof both, &thread) < 0)
		return -ENOMEM;
	*ret_thread = thread;
	if (thread < builder->threads.count)
		return 0;
	struct mr_build_thread added = {.process = process, .first_ns = INT64_MAX};
	if (!read_number(mr_strings_text(&builder->strings, key),
			 builder->strings.lengths.items[key], FIRST_MADE_TID, &added.tid)) {
		added.tid = FIRST_MADE_TID + thread;
		added.name = key;
	}
	return mr_vec_push(&builder->threads, added);
}

int mr_builder_device(struct mr_builder *builder, uint64_t number, uint32_t *ret_device)
{
	uint32_t device;

	if (mr_strings_intern(&builder->device_keys, &number, sizeof number, &device) < 0)
		return -ENOMEM;
	*ret_device = device + 1;
	return device < builder->devices.count
		       ? 0
		       : mr_vec_push(&builder->devices, ((struct mr_build_device){number, 0}));
}

int mr_builder_queue(struct mr_builder *builder, uint32_t device, uint32_t name,
		     uint32_t *ret_queue)
{
	const struct mr_build_queue added = {device, name};
	uint32_t queue;

	if (mr_strings_intern(&builder->queue_keys, &added, sizeof added, &queue) < 0)
		return -ENOMEM;
	*ret_queue = queue + 1;
	return queue < builder->queues.count ? 0 : mr_vec_push(&builder->queues, added);
}

/* ---- events --------------------------------------------------------------------------------------- */

int mr_builder_add(struct mr_builder *builder, uint32_t thread, int64_t start_ns, int64_t time_ns,
		   enum mr_event_id event, const void *payload)
{
	size_t offset = builder->payloads.count, bytes = mr_event_table[event].fixed_bytes;
	struct mr_build_record record = {time_ns, thread, (uint32_t)offset};

	if (offset > UINT32_MAX)
		return mr_fail(EFBIG, "more events than can be imported");
	if (mr_vec_reserve(&builder->payloads, offset + 1 + bytes) < 0 ||
	    mr_vec_push(&builder->records, record) < 0)
		return mr_fail_errno(ENOMEM, "import");
	builder->payloads.items[offset] = (uint8_t)event;
	memcpy(&builder->payloads.items[offset + 1], payload, bytes);
	builder->payloads.count = offset + 1 + bytes;
	builder->first_ns = mr_min(builder->first_ns, start_ns);
	builder->last_ns = mr_max(builder->last_ns, time_ns);
	struct mr_build_thread *place = &builder->threads.items[thread];
	place->first_ns = mr_min(place->first_ns, start_ns);
	return 0;
}

static int end_open_intervals(struct mr_builder *builder)
{
	int result = 0;

	for (uint32_t i = 0; i < builder->threads.count; i++) {
		const struct mr_build_thread *thread = &builder->threads.items[i];

		for (size_t j = 0; result == 0 && j < thread->open.count; j++) {
			const struct mr_build_open *open = &thread->open.items[j];
			const struct mr_event_interval_unfinished unfinished = {
				.event = MR_EVENT_node_interval,
				.what = open->node,
				.step = UINT32_MAX, /* not known */
				.start = (uint64_t)open->start_ns,
			};

			result = mr_builder_add(builder, i, open->start_ns,
						mr_max(builder->last_ns, open->start_ns),
						MR_EVENT_interval_unfinished, &unfinished);
		}
	}
	return result;
}

/* ---- packets -------------------------------------------------------------------------------------- */

static int compare_records(const void *first, const void *second)
{
	const struct mr_build_record *a = first, *b = second;

	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	return a->offset < b->offset ? -1 : a->offset > b->offset;
}

/* Numbers of processes count from the definer's, which is the lowest; 1 is the recorder's. */
static uint32_t process_number(const struct mr_builder *builder, uint32_t process)
{
	return process == builder->definer ? 2 : process + (process < builder->definer ? 3 : 2);
}

static int define_processes(const struct mr_builder *builder, struct mr_image *image)
{
	int result = 0;

	for (uint32_t i = 0; result == 0 && i < builder->processes.count; i++) {
		const struct mr_build_process *process = &builder->processes.items[i];
		bool is_definer = i == builder->definer;

		if (!is_definer && !process->has_events)
			continue;
		const struct mr_event_process_start start = {
			.process = process_number(builder, i),
			.pid = process->pid,
			.parent_process = is_definer ? 0 : 2,
			.first_definition = is_definer ? 0 : UINT32_MAX,
			.start = (uint64_t)builder->first_ns,
		};

		result = mr_image_add(image, builder->first_ns, MR_EVENT_process_start, &start,
				      mr_strings_text(&builder->strings, process->name));
	}
	return result;
}

static int define_strings(const struct mr_builder *builder, struct mr_image *image)
{
	int result = 0;

	for (uint32_t i = 1; result == 0 && i < mr_strings_count(&builder->strings); i++) {
		const struct mr_event_def_string string = {.id = i};

		result = mr_image_add(image, builder->first_ns, MR_EVENT_def_string, &string,
				      mr_strings_text(&builder->strings, i));
	}
	return result;
}

static int define_nodes(const struct mr_builder *builder, struct mr_image *image)
{
	int result = 0;

	for (uint32_t i = 0; result == 0 && i < mr_strings_count(&builder->graphs); i++) {
		struct mr_event_def_graph graph = {.id = i + 1};

		memcpy(&graph.name, mr_strings_text(&builder->graphs, i), sizeof graph.name);
		result = mr_image_add(image, builder->first_ns, MR_EVENT_def_graph, &graph, NULL);
	}
	for (uint32_t i = 0; result == 0 && i < mr_strings_count(&builder->nodes); i++) {
		uint32_t key[2], graph = 0;

		memcpy(key, mr_strings_text(&builder->nodes, i), sizeof key);
		mr_strings_find(&builder->graphs, &key[0], sizeof key[0], &graph);
		const struct mr_event_def_node node = {
			.id = i + 1, .graph = graph + 1, .name = key[1], .type = key[1]};
		result = mr_image_add(image, builder->first_ns, MR_EVENT_def_node, &node, NULL);
	}
	return result;
}

static int define_devices(const struct mr_builder *builder, struct mr_image *image)
{
	int result = 0;

	for (uint32_t i = 0; result == 0 && i < builder->devices.count; i++) {
		const struct mr_event_def_device device = {
			.id = i + 1,
			.name = builder->devices.items[i].name,
			.clock = MR_trace_clock_monotonic,
			.kind = MR_device_kind_gpu,
		};

		result = mr_image_add(image, builder->first_ns, MR_EVENT_def_device, &device, NULL);
	}
	for (uint32_t i = 0; result == 0 && i < builder->queues.count; i++) {
		const struct mr_event_def_queue queue = {
			.id = i + 1,
			.device = builder->queues.items[i].device,
			.name = builder->queues.items[i].name,
			.order = MR_queue_order_in_order, /* as streams of CUDA and HIP are */
		};

		result = mr_image_add(image, builder->first_ns, MR_EVENT_def_queue, &queue, NULL);
	}
	return result;
}

static int write_definitions(const struct mr_builder *builder, struct mr_image *image)
{
	const struct mr_build_process *definer = &builder->processes.items[builder->definer];
	const struct mr_packet_context context = {
		.process = 2, .pid = definer->pid, .kind = MR_PACKET_DEFINITIONS};
	int result = mr_image_begin(image, &context, builder->first_ns);

	if (result == 0)
		result = define_processes(builder, image);
	if (result == 0)
		result = define_strings(builder, image);
	if (result == 0)
		result = define_nodes(builder, image);
	if (result == 0)
		result = define_devices(builder, image);
	mr_image_end(image);
	return result;
}

/* The records from `first` to before `end` are all of the thread's. */
static int write_thread(const struct mr_builder *builder, struct mr_image *image, size_t first,
			size_t end)
{
	const struct mr_build_record *records = builder->records.items;
	const struct mr_build_thread *thread = &builder->threads.items[records[first].thread];
	const struct mr_packet_context context = {
		.process = process_number(builder, thread->process),
		.pid = builder->processes.items[thread->process].pid,
		.tid = thread->tid,
		.kind = MR_PACKET_EVENTS,
	};
	int result = mr_image_begin(image, &context, thread->first_ns);

	if (result == 0 && thread->name)
		result = mr_image_add(image, thread->first_ns, MR_EVENT_thread_start, NULL,
				      mr_strings_text(&builder->strings, thread->name));
	for (size_t i = first; result == 0 && i < end; i++) {
		const uint8_t *payload = &builder->payloads.items[records[i].offset];

		result = mr_image_add(image, records[i].time_ns, payload[0], payload + 1, NULL);
	}
	mr_image_end(image);
	return result;
}

static int write_threads(const struct mr_builder *builder, struct mr_image *image)
{
	const struct mr_build_record *records = builder->records.items;
	size_t count = builder->records.count, next;
	int result = 0;

	for (size_t first = 0; result == 0 && first < count; first = next) {
		next = first + 1;
		while (next < count && records[next].thread == records[first].thread)
			next++;
		result = write_thread(builder, image, first, next);
	}
	return result;
}

/* Processes that only have names are none. */
static void mark_processes(struct mr_builder *builder)
{
	for (size_t i = 0; i < builder->records.count; i++) {
		uint32_t thread = builder->records.items[i].thread;

		builder->processes.items[builder->threads.items[thread].process].has_events = true;
	}
}

int mr_builder_finish(struct mr_builder *builder, const uint8_t *trace_uuid,
		      struct mr_mapping *ret_packets)
{
	struct mr_image image = {.trace_uuid = trace_uuid};
	int result = end_open_intervals(builder);

	if (result < 0)
		return result;
	if (builder->records.count > 0)
		qsort(builder->records.items, builder->records.count,
		      sizeof *builder->records.items, compare_records);
	mark_processes(builder);
	if (builder->records.count > 0)
		result = write_definitions(builder, &image);
	if (result == 0)
		result = write_threads(builder, &image);
	mr_builder_free(builder);
	if (result < 0) {
		mr_image_free(&image);
		return mr_fail_errno(ENOMEM, "import");
	}
	mr_image_take(&image, ret_packets);
	return 0;
}
