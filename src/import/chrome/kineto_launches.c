/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs when everything is read: finds the process of each device operation, and the names of devices.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "import/chrome/kineto_memory.h"
#include "import/chrome/kineto_waits.h"

/* A call, as far as operations look for it. */
struct caller {
	uint64_t correlation;
	uint32_t process;
	uint32_t thread;
};

static int compare_callers(const void *first, const void *second)
{
	const struct caller *a = first, *b = second;

	if (a->correlation != b->correlation)
		return a->correlation < b->correlation ? -1 : 1;
	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	return a->thread < b->thread ? -1 : a->thread > b->thread;
}

static const uint8_t *event_of(const struct mr_builder *builder,
			       const struct mr_build_record *record)
{
	return &builder->payloads.items[record->offset];
}

static struct caller *list_callers(const struct mr_builder *builder, size_t *ret_count)
{
	struct caller *callers = calloc(builder->records.count + 1, sizeof *callers);
	size_t count = 0;

	for (size_t i = 0; callers && i < builder->records.count; i++) {
		const struct mr_build_record *record = &builder->records.items[i];
		const uint8_t *event = event_of(builder, record);

		if (event[0] != MR_EVENT_runtime_call)
			continue;
		const struct mr_event_runtime_call *call = (const void *)(event + 1);
		uint32_t process = builder->streams.items[record->stream].process;

		if (call->correlation)
			callers[count++] =
				(struct caller){call->correlation, process, record->stream};
	}
	if (callers && count > 0)
		qsort(callers, count, sizeof *callers, compare_callers);
	*ret_count = count;
	return callers;
}

/* The first whose correlation is at least that. */
static size_t find_first(const struct caller *callers, size_t count, uint64_t correlation)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (callers[middle].correlation < correlation)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The thread that made the call of that correlation; `otherwise` if it is not known which. Those of one correlation are
 * in the order of their processes: if the first and the last are of the same, so are all. */
static uint32_t find_caller(const struct caller *callers, size_t count, uint64_t correlation,
			    uint32_t otherwise)
{
	size_t first = find_first(callers, count, correlation);

	if (first == count || callers[first].correlation != correlation)
		return otherwise;
	size_t end = correlation < UINT64_MAX ? find_first(callers, count, correlation + 1) : count;
	return callers[first].process == callers[end - 1].process ? callers[first].thread
								  : otherwise;
}

static void give(struct mr_builder *builder, struct mr_build_record *record, uint32_t thread,
		 uint64_t start)
{
	struct mr_build_stream *place = &builder->streams.items[thread];

	record->stream = thread;
	place->first = mr_min(place->first, (int64_t)start);
}

static int give_operations(struct mr_kineto *kineto)
{
	struct mr_builder *builder = kineto->builder;
	mr_auto(free) struct caller *callers = NULL;
	size_t count = 0;

	if (kineto->has_several_callers && !(callers = list_callers(builder, &count)))
		return -ENOMEM;
	for (size_t i = 0; kineto->has_calls && i < builder->records.count; i++) {
		struct mr_build_record *record = &builder->records.items[i];
		const uint8_t *event = event_of(builder, record);

		const void *fields = event + 1;
		bool is_dispatch = event[0] == MR_EVENT_runtime_dispatch;

		if (event[0] != MR_EVENT_device_operation && !is_dispatch)
			continue;
		const struct mr_event_device_operation *operation = fields;
		const struct mr_event_runtime_dispatch *dispatch = fields;
		uint64_t correlation = is_dispatch ? dispatch->correlation : operation->correlation;
		uint32_t thread = callers ? find_caller(callers, count, correlation, record->stream)
					  : kineto->first_caller;
		give(builder, record, thread,
		     is_dispatch ? (uint64_t)record->time : operation->start);
	}
	return 0;
}

/* The last that was said of a number; NULL if there is none. */
static const struct mr_kineto_device_name *find_said(const struct mr_kineto_device_name *names,
						     size_t count, uint64_t number)
{
	for (size_t i = count; i-- > 0;)
		if (names[i].number == number)
			return &names[i];
	return NULL;
}

static const char *find_name(const struct mr_kineto *kineto,
			     const struct mr_kineto_device_name *names, size_t count,
			     uint64_t number)
{
	const struct mr_kineto_device_name *said = find_said(names, count, number);

	return said ? mr_strings_text(&kineto->builder->strings, said->name) : NULL;
}

/* GPUs are what they are called, and what is called nothing. */
static bool is_gpu(const char *label)
{
	return !label || strncmp(label, "GPU ", 4) == 0 || strncmp(label, "XPU ", 4) == 0;
}

/* "GPU 3 (NVIDIA A100)": a machine has several of one name. */
static int describe_device(struct mr_kineto *kineto, struct mr_build_device *device)
{
	const char *label = find_name(kineto, kineto->device_labels.items,
				      kineto->device_labels.count, device->key);
	const char *name = find_name(kineto, kineto->device_names.items, kineto->device_names.count,
				     device->key);
	struct mr_region region = {0};

	if (label && (!*label || strcmp(label, "CPU") == 0))
		label = NULL; /* the pid of a process that happens to be the number */
	const char *text =
		label ? label
		      : mr_region_print(&region, "GPU %llu", (unsigned long long)device->key);
	if (text && name && *name)
		text = mr_region_print(&region, "%s (%s)", text, name);
	const struct mr_kineto_device_name *said =
		find_said(kineto->device_names.items, kineto->device_names.count, device->key);
	device->memory_bytes = said ? said->memory_bytes : 0;
	device->kind = is_gpu(label) ? MR_device_kind_gpu : MR_device_kind_accelerator;
	int result = text ? mr_builder_string(kineto->builder, text, strlen(text), &device->name)
			  : -ENOMEM;
	mr_region_free(&region);
	return result;
}

/* ---- times that are none -------------------------------------------------------------------------- */

enum {
	NEAR_ZERO_NS = 1000000000,
};

#define FAR_NS (INT64_C(86400) * 1000000000) /* a trace that lasts a day has no such gap */

/* When what a record tells of began. */
static int64_t start_of(const struct mr_builder *builder, const struct mr_build_record *record)
{
	const uint8_t *event = event_of(builder, record);
	const void *fields = event + 1;
	uint64_t duration = 0;

	switch (event[0]) {
	case MR_EVENT_node_interval:
		duration = mr_u48_value(
			((const struct mr_event_node_interval *)fields)->duration_ticks);
		break;
	case MR_EVENT_node_interval_shapes:
		duration = mr_u48_value(
			((const struct mr_event_node_interval_shapes *)fields)->duration_ticks);
		break;
	case MR_EVENT_runtime_call:
		duration = mr_u48_value(
			((const struct mr_event_runtime_call *)fields)->duration_ticks);
		break;
	case MR_EVENT_step_interval:
		duration = ((const struct mr_event_step_interval *)fields)->duration_ticks;
		break;
	case MR_EVENT_node_interval_at:
		return (int64_t)((const struct mr_event_node_interval_at *)fields)->start;
	case MR_EVENT_device_operation:
		return (int64_t)((const struct mr_event_device_operation *)fields)->start;
	}
	return record->time - (int64_t)duration;
}

/* Kineto writes time 0 for what has no time. All others are then far from it. */
static int drop_timeless(struct mr_kineto *kineto)
{
	struct mr_builder *builder = kineto->builder;
	struct mr_build_record *records = builder->records.items;
	int64_t earliest = INT64_MAX;
	size_t near = 0, kept = 0;

	for (size_t i = 0; i < builder->records.count; i++)
		near += records[i].time < NEAR_ZERO_NS;
	for (size_t i = 0; near && i < builder->records.count; i++)
		if (records[i].time >= NEAR_ZERO_NS)
			earliest = mr_min(earliest, start_of(builder, &records[i]));
	if (near == 0 || earliest == INT64_MAX || earliest < FAR_NS)
		return 0;
	for (size_t i = 0; i < builder->streams.count; i++)
		builder->streams.items[i].first = INT64_MAX;
	for (size_t i = 0; i < builder->records.count; i++) {
		if (records[i].time < NEAR_ZERO_NS) {
			if (mr_import_faults_add(&kineto->import->faults,
						 "an event at time 0, far from all others", 0,
						 0) < 0)
				return -ENOMEM;
			continue;
		}
		struct mr_build_stream *stream = &builder->streams.items[records[i].stream];

		stream->first = mr_min(stream->first, start_of(builder, &records[i]));
		records[kept++] = records[i];
	}
	builder->records.count = kept;
	return 0;
}

int mr_kineto_complete(struct mr_kineto *kineto)
{
	struct mr_builder *builder = kineto->builder;
	int result = mr_kineto_add_memory(kineto);

	if (result == 0)
		result = mr_step_marks_add_steps(&kineto->marks, builder);
	if (result == 0)
		result = drop_timeless(kineto);
	if (result == 0)
		result = give_operations(kineto);
	if (result == 0)
		result = mr_kineto_add_waits(kineto);
	if (kineto->has_calls)
		builder->definer = builder->streams.items[kineto->first_caller].process;
	for (size_t i = 0; result == 0 && i < builder->devices.count; i++)
		result = describe_device(kineto, &builder->devices.items[i]);
	for (size_t i = 0; i < builder->queues.count; i++) /* as streams of CUDA and HIP are */
		builder->queues.items[i].order = MR_queue_order_in_order;
	builder->precision_ns = kineto->has_fractions ? 1 : 1000;
	return result;
}
