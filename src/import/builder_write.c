/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes what a builder has collected into packets. The processes get numbers: 1 is the recorder, to which the streams
 * of CPUs belong; 2 is the process that defines the ids, so that all others can be its children.
 */
#include <string.h>

#include "base/error.h"
#include "import/builder.h"
#include "import/image.h"

#define SECOND_NS 1000000000

enum {
	DEFINER_PROCESS = MR_RECORDER_PROCESS + 1,
};

/* ---- the trace as a whole ------------------------------------------------------------------------- */

struct mr_metadata mr_builder_metadata(const struct mr_builder *builder)
{
	const struct mr_metadata_clock monotonic = {
		.description = "clock of the imported file",
		.frequency = SECOND_NS,
		.offset_s = builder->epoch_ns / SECOND_NS,
		.offset_ticks = (uint64_t)(builder->epoch_ns % SECOND_NS),
		.precision_ns = builder->precision_ns,
	};
	struct mr_metadata metadata = {
		.host = mr_strings_text(&builder->strings, builder->host),
		.user = monotonic,
		.user_clock = MR_trace_clock_monotonic,
		.monotonic = monotonic,
	};

	if (builder->thread_ticks_per_second) {
		const unsigned __int128 ticks = builder->thread_ticks_per_second;

		metadata.user_clock = MR_trace_clock_tsc;
		metadata.user.frequency = builder->thread_ticks_per_second;
		metadata.user.offset_ticks = (uint64_t)(ticks * monotonic.offset_ticks / SECOND_NS);
	}
	return metadata;
}

/* The first stream of a class; NULL if there is none. */
static const struct mr_build_stream *find_stream(const struct mr_builder *builder,
						 enum mr_stream_class stream_class)
{
	for (size_t i = 0; i < builder->streams.count; i++)
		if (builder->streams.items[i].stream_class == stream_class)
			return &builder->streams.items[i];
	return NULL;
}

/* When the first of the streams of a class begins; 0 if none has events. */
static int64_t first_of(const struct mr_builder *builder, enum mr_stream_class stream_class)
{
	int64_t first = INT64_MAX;

	for (size_t i = 0; i < builder->streams.count; i++)
		if (builder->streams.items[i].stream_class == stream_class)
			first = mr_min(first, builder->streams.items[i].first);
	return first == INT64_MAX ? 0 : first;
}

static int64_t last_of_threads(const struct mr_builder *builder)
{
	int64_t last = 0;

	for (size_t i = 0; i < builder->streams.count; i++)
		if (builder->streams.items[i].stream_class == MR_STREAM_USER)
			last = mr_max(last, builder->streams.items[i].last);
	return last;
}

static int end_open_intervals(struct mr_builder *builder)
{
	int64_t last = last_of_threads(builder);
	int result = 0;

	for (uint32_t i = 0; i < builder->streams.count; i++) {
		const struct mr_build_stream *stream = &builder->streams.items[i];

		for (size_t j = 0; result == 0 && j < stream->open.count; j++) {
			const struct mr_build_open *open = &stream->open.items[j];
			const struct mr_event_interval_unfinished unfinished = {
				.event = MR_EVENT_node_interval,
				.what = open->node,
				.step = UINT32_MAX, /* not known */
				.start = (uint64_t)open->start,
			};

			last = mr_max(last, open->start);
			result = mr_builder_add(builder, i, open->start, last,
						MR_EVENT_interval_unfinished, &unfinished);
		}
	}
	return result;
}

/* ---- definitions ---------------------------------------------------------------------------------- */

/* Where the definitions of one process go. */
struct definitions {
	const struct mr_builder *builder;
	struct mr_image *image;
	int64_t time;
};

static int define(const struct definitions *to, enum mr_event_id event, const void *payload,
		  const char *text)
{
	return mr_image_add(to->image, to->time, event, payload, text);
}

/* What the importer defined for the streams of a class. */
static int define_others(const struct definitions *to, enum mr_stream_class stream_class)
{
	const struct mr_builder *builder = to->builder;
	int result = 0;

	for (size_t i = 0; result == 0 && i < builder->definitions.count; i++) {
		const struct mr_build_definition *definition = &builder->definitions.items[i];

		if (definition->stream_class == stream_class)
			result = mr_image_add_stored(to->image, to->time,
						     &builder->payloads.items[definition->offset]);
	}
	return result;
}

static uint32_t process_number(const struct mr_builder *builder, uint32_t process)
{
	if (process == builder->definer)
		return DEFINER_PROCESS;
	return process + DEFINER_PROCESS + (process < builder->definer);
}

static int define_processes(const struct definitions *to)
{
	const struct mr_builder *builder = to->builder;
	int result = 0;

	for (uint32_t i = 0; result == 0 && i < builder->processes.count; i++) {
		const struct mr_build_process *process = &builder->processes.items[i];
		bool is_definer = i == builder->definer;

		if (!is_definer && !process->has_events)
			continue;
		const struct mr_event_process_start start = {
			.process = process_number(builder, i),
			.pid = process->pid,
			.parent_process = is_definer ? 0 : DEFINER_PROCESS,
			.first_definition = is_definer ? 0 : UINT32_MAX,
			.start = (uint64_t)to->time,
		};

		result = define(to, MR_EVENT_process_start, &start,
				mr_strings_text(&builder->strings, process->name));
	}
	return result;
}

static int define_strings(const struct definitions *to)
{
	const struct mr_strings *strings = &to->builder->strings;
	int result = 0;

	for (uint32_t i = 1; result == 0 && i < mr_strings_count(strings); i++) {
		const struct mr_event_def_string string = {.id = i};

		result = define(to, MR_EVENT_def_string, &string, mr_strings_text(strings, i));
	}
	return result;
}

static int define_nodes(const struct definitions *to)
{
	const struct mr_builder *builder = to->builder;
	int result = 0;

	for (uint32_t i = 0; result == 0 && i < mr_strings_count(&builder->graphs); i++) {
		struct mr_event_def_graph graph = {.id = i + 1};

		memcpy(&graph.name, mr_strings_text(&builder->graphs, i), sizeof graph.name);
		result = define(to, MR_EVENT_def_graph, &graph, NULL);
	}
	for (uint32_t i = 0; result == 0 && i < builder->nodes.count; i++) {
		const struct mr_build_node *built = &builder->nodes.items[i];
		uint32_t graph = 0;

		mr_strings_find(&builder->graphs, &built->graph, sizeof built->graph, &graph);
		const struct mr_event_def_node node = {.id = i + 1,
						       .graph = graph + 1,
						       .name = built->name,
						       .type = built->type,
						       .device = built->device};
		result = define(to, MR_EVENT_def_node, &node, NULL);
	}
	return result;
}

static int define_identity(const struct definitions *to, uint32_t device, uint32_t identity)
{
	const struct mr_event_def_device_identity said = {.device = device};

	return define(to, MR_EVENT_def_device_identity, &said,
		      mr_strings_text(&to->builder->strings, identity));
}

static int define_memory(const struct definitions *to, uint32_t device, uint64_t bytes)
{
	const struct mr_event_def_device_memory said = {.device = device, .bytes = bytes};

	return define(to, MR_EVENT_def_device_memory, &said, NULL);
}

static int define_devices(const struct definitions *to)
{
	const struct mr_builder *builder = to->builder;
	int result = 0;

	for (uint32_t i = 0; result == 0 && i < builder->devices.count; i++) {
		const struct mr_build_device *built = &builder->devices.items[i];
		const struct mr_event_def_device device = {.id = i + 1,
							   .name = built->name,
							   .clock = built->clock,
							   .kind = built->kind};

		result = define(to, MR_EVENT_def_device, &device, NULL);
		if (result == 0 && built->identity)
			result = define_identity(to, i + 1, built->identity);
		if (result == 0 && built->memory_bytes)
			result = define_memory(to, i + 1, built->memory_bytes);
	}
	for (uint32_t i = 0; result == 0 && i < builder->queues.count; i++) {
		const struct mr_build_queue *built = &builder->queues.items[i];
		const struct mr_event_def_queue queue = {.id = i + 1,
							 .device = built->device,
							 .name = built->name,
							 .order = built->order,
							 .is_untimed = built->is_untimed};

		result = define(to, MR_EVENT_def_queue, &queue, NULL);
	}
	return result;
}

static int write_definitions(const struct mr_builder *builder, struct mr_image *image)
{
	const struct definitions to = {builder, image, first_of(builder, MR_STREAM_USER)};
	const struct mr_packet_context context = {
		.process = DEFINER_PROCESS,
		.pid = builder->processes.items[builder->definer].pid,
		.kind = MR_PACKET_DEFINITIONS};
	int result = mr_image_begin(image, MR_STREAM_USER, &context, to.time);

	if (result < 0)
		return result;
	result = define_processes(&to);
	if (result == 0)
		result = define_strings(&to);
	if (result == 0)
		result = define_nodes(&to);
	if (result == 0)
		result = define_devices(&to);
	if (result == 0)
		result = define_others(&to, MR_STREAM_USER);
	mr_image_end(image);
	return result;
}

/* What events of the kernel level refer to: to them it is the recorder that defines, on any CPU. */
static int write_kernel_definitions(const struct mr_builder *builder, struct mr_image *image,
				    uint32_t cpu)
{
	const struct definitions to = {builder, image, first_of(builder, MR_STREAM_KERNEL)};
	const struct mr_packet_context context = {
		.process = MR_RECORDER_PROCESS, .tid = cpu, .kind = MR_PACKET_DEFINITIONS};
	int result = mr_image_begin(image, MR_STREAM_KERNEL, &context, to.time);

	if (result < 0)
		return result;
	result = define_strings(&to);
	if (result == 0)
		result = define_others(&to, MR_STREAM_KERNEL);
	mr_image_end(image);
	return result;
}

/* ---- streams -------------------------------------------------------------------------------------- */

static int compare_records(const void *first, const void *second)
{
	const struct mr_build_record *a = first, *b = second;

	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	return a->offset < b->offset ? -1 : a->offset > b->offset;
}

static bool is_in_order(const struct mr_build_record *records, size_t count)
{
	for (size_t i = 1; i < count; i++)
		if (records[i].time < records[i - 1].time)
			return false;
	return true;
}

/* Moves the records, which stand as they came, to their streams, and says where each of these ends. */
static int divide_by_stream(struct mr_builder *builder, size_t *ends)
{
	size_t count = builder->records.count;
	struct mr_build_record *divided = malloc((count + 1) * sizeof *divided);

	if (!divided)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		ends[builder->records.items[i].stream + 1]++;
	for (size_t i = 0; i < builder->streams.count; i++)
		ends[i + 1] += ends[i]; /* so far the begin of i + 1 */
	for (size_t i = 0; i < count; i++)
		divided[ends[builder->records.items[i].stream]++] = builder->records.items[i];
	free(builder->records.items);
	builder->records.items = divided;
	builder->records.capacity = count + 1;
	return 0;
}

/* Processes that only have names are none. */
static void mark_process(struct mr_builder *builder, const struct mr_build_stream *stream)
{
	if (stream->stream_class == MR_STREAM_USER)
		builder->processes.items[stream->process].has_events = true;
}

/* By stream, then by time, then as they came. */
static int sort_records(struct mr_builder *builder)
{
	mr_auto(free) size_t *ends = calloc(builder->streams.count + 2, sizeof *ends);
	size_t first = 0;

	if (!ends || divide_by_stream(builder, ends) < 0)
		return mr_fail_errno(ENOMEM, "import");
	for (size_t i = 0; i < builder->streams.count; first = ends[i++]) {
		struct mr_build_record *records = &builder->records.items[first];
		size_t count = ends[i] - first;

		if (count > 0)
			mark_process(builder, &builder->streams.items[i]);
		if (!is_in_order(records, count))
			qsort(records, count, sizeof *records, compare_records);
	}
	return 0;
}

/* Records that follow one another, all of one stream. */
struct run {
	const struct mr_builder *builder;
	const struct mr_build_record *records;
	size_t count;
};

static int write_record(const struct run *run, size_t i, struct mr_image *image)
{
	const uint8_t *stored = &run->builder->payloads.items[run->records[i].offset];

	return mr_image_add_stored(image, run->records[i].time, stored);
}

static int write_thread(const struct run *run, struct mr_image *image)
{
	const struct mr_builder *builder = run->builder;
	const struct mr_build_stream *thread = &builder->streams.items[run->records->stream];
	const struct mr_packet_context context = {
		.process = process_number(builder, thread->process),
		.pid = builder->processes.items[thread->process].pid,
		.tid = thread->tid,
		.kind = MR_PACKET_EVENTS,
	};
	int result = mr_image_begin(image, MR_STREAM_USER, &context, thread->first);

	if (result < 0)
		return result;
	if (thread->name)
		result = mr_image_add(image, thread->first, MR_EVENT_thread_start, NULL,
				      mr_strings_text(&builder->strings, thread->name));
	for (size_t i = 0; result == 0 && i < run->count; i++)
		result = write_record(run, i, image);
	mr_image_end(image);
	return result;
}

/* The life of tasks stands among the definitions of a CPU. */
static bool is_of_kind(enum mr_event_id event, enum mr_packet_kind kind)
{
	bool is_life = event >= MR_EVENT_kernel_fork && event <= MR_EVENT_kernel_task_name;

	return is_life == (kind == MR_PACKET_DEFINITIONS);
}

static int write_cpu(const struct run *run, struct mr_image *image)
{
	const struct mr_build_stream *cpu = &run->builder->streams.items[run->records->stream];
	struct mr_packet_context context = {.process = MR_RECORDER_PROCESS, .tid = cpu->tid};
	const uint8_t *payloads = run->builder->payloads.items;
	int result;

	for (int kind = MR_PACKET_DEFINITIONS; kind >= MR_PACKET_EVENTS; kind--) {
		context.kind = (uint8_t)kind;
		result = mr_image_begin(image, MR_STREAM_KERNEL, &context, cpu->first);
		if (result < 0)
			return result;
		for (size_t i = 0; result == 0 && i < run->count; i++)
			if (is_of_kind(payloads[run->records[i].offset], kind))
				result = write_record(run, i, image);
		mr_image_end(image);
		if (result < 0)
			return result;
	}
	return 0;
}

static int write_streams(const struct mr_builder *builder, struct mr_image *image)
{
	const struct mr_build_record *records = builder->records.items;
	size_t count = builder->records.count, next;
	int result = 0;

	for (size_t first = 0; result == 0 && first < count; first = next) {
		uint32_t stream = records[first].stream;

		next = first + 1;
		while (next < count && records[next].stream == stream)
			next++;
		const struct run run = {builder, &records[first], next - first};
		result = builder->streams.items[stream].stream_class == MR_STREAM_USER
				 ? write_thread(&run, image)
				 : write_cpu(&run, image);
	}
	return result;
}

static int write_all(const struct mr_builder *builder, struct mr_image *image)
{
	const struct mr_build_stream *cpu = find_stream(builder, MR_STREAM_KERNEL);
	int result = 0;

	if (find_stream(builder, MR_STREAM_USER))
		result = write_definitions(builder, image);
	if (result == 0 && cpu)
		result = write_kernel_definitions(builder, image, cpu->tid);
	return result < 0 ? result : write_streams(builder, image);
}

int mr_builder_finish(struct mr_builder *builder, const uint8_t *trace_uuid,
		      struct mr_mapping *ret_packets)
{
	struct mr_image image = {.trace_uuid = trace_uuid};
	int result = end_open_intervals(builder);

	if (result == 0)
		result = sort_records(builder);
	if (result < 0)
		return result;
	if (builder->records.count > 0)
		result = write_all(builder, &image);
	if (result < 0) {
		mr_image_free(&image);
		return mr_fail_errno(ENOMEM, "import");
	}
	mr_image_take(&image, ret_packets);
	return 0;
}
