/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs when everything is read: finds the process of each device operation, and the names of devices.
 */
#include <stdio.h>
#include <stdlib.h>

#include "import/chrome/kineto.h"

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

/* The thread that made the call of that correlation; `otherwise` if it is not known which. */
static uint32_t find_caller(const struct caller *callers, size_t count, uint64_t correlation,
			    uint32_t otherwise)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (callers[middle].correlation < correlation)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == count || callers[low].correlation != correlation)
		return otherwise;
	for (size_t i = low + 1; i < count && callers[i].correlation == correlation; i++)
		if (callers[i].process != callers[low].process)
			return otherwise;
	return callers[low].thread;
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

		if (event[0] != MR_EVENT_device_operation)
			continue;
		const struct mr_event_device_operation *operation = (const void *)(event + 1);
		uint32_t thread = callers ? find_caller(callers, count, operation->correlation,
							record->stream)
					  : kineto->first_caller;
		give(builder, record, thread, operation->start);
	}
	return 0;
}

/* "GPU 3 (NVIDIA A100)": a machine has several of one name. */
static int describe_device(struct mr_kineto *kineto, struct mr_build_device *device)
{
	char number[32];
	struct mr_region region = {0};
	const char *name = NULL;

	snprintf(number, sizeof number, "GPU %llu", (unsigned long long)device->key);
	for (size_t i = 0; i < kineto->device_names.count; i++)
		if (kineto->device_names.items[i].number == device->key)
			name = mr_region_print(&region, "%s (%s)", number,
					       mr_strings_text(&kineto->builder->strings,
							       kineto->device_names.items[i].name));
	if (!name)
		name = number;
	int result = mr_builder_string(kineto->builder, name, strlen(name), &device->name);
	device->kind = MR_device_kind_gpu;
	mr_region_free(&region);
	return result;
}

int mr_kineto_complete(struct mr_kineto *kineto)
{
	struct mr_builder *builder = kineto->builder;
	int result = give_operations(kineto);

	if (kineto->has_calls)
		builder->definer = builder->streams.items[kineto->first_caller].process;
	for (size_t i = 0; result == 0 && i < builder->devices.count; i++)
		result = describe_device(kineto, &builder->devices.items[i]);
	for (size_t i = 0; i < builder->queues.count; i++) /* as streams of CUDA and HIP are */
		builder->queues.items[i].order = MR_queue_order_in_order;
	builder->precision_ns = kineto->has_fractions ? 1 : 1000;
	return result;
}
