/* SPDX-License-Identifier: Apache-2.0 */
#include "import/chrome/kineto_memory.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* Types of PyTorch's devices that are the host: CPU, MKLDNN, IDEEP. */
static bool is_host(const struct mr_json_value *type)
{
	return mr_json_is(type, "0") || mr_json_is(type, "2") || mr_json_is(type, "5");
}

/* Not negative; otherwise it is not known. */
static int64_t read_total(const struct mr_json_value *args, const char *name)
{
	struct mr_json_value total = mr_json_member(args, name);
	int64_t bytes;

	return mr_json_integer(&total, 0, &bytes) && bytes >= 0 ? bytes : -1;
}

int mr_kineto_note_memory(struct mr_kineto *kineto, const struct mr_chrome_event *event,
			  uint32_t thread, int64_t ns, int64_t bytes)
{
	struct mr_json_value address = mr_json_member(&event->args, "Addr");
	struct mr_json_value number = mr_json_member(&event->args, "Device Id");
	struct mr_json_value type = mr_json_member(&event->args, "Device Type");
	struct mr_kineto_memory record = {
		.ns = ns,
		.bytes = bytes,
		.allocated = read_total(&event->args, "Total Allocated"),
		.reserved = read_total(&event->args, "Total Reserved"),
		.thread = thread,
	};

	mr_json_unsigned(&address, &record.address);
	record.is_host = is_host(&type) || !mr_json_unsigned(&number, &record.device);
	if (record.is_host && record.allocated == 0)
		record.allocated = -1; /* the host's allocator does not count */
	record.device = record.is_host ? 0 : record.device;
	record.order = kineto->memory.count;
	return mr_vec_push(&kineto->memory, record);
}

/* ---- whose memory it is --------------------------------------------------------------------------- */

static bool executes(const struct mr_builder *builder, size_t device_count, uint64_t number)
{
	for (size_t i = 0; i < device_count; i++)
		if (builder->devices.items[i].key == number)
			return true;
	return false;
}

/* PyTorch counts the devices that it may use, the profiler all of them. If each knows a single one, it is the same. */
static void unite_devices(struct mr_kineto *kineto)
{
	const struct mr_builder *builder = kineto->builder;
	struct mr_kineto_memory *records = kineto->memory.items;
	const struct mr_kineto_memory *first = NULL;

	for (size_t i = 0; i < kineto->memory.count; i++) {
		if (records[i].is_host)
			continue;
		first = first ? first : &records[i];
		if (records[i].device != first->device)
			return;
	}
	if (!first || builder->devices.count != 1 ||
	    executes(builder, builder->devices.count, first->device))
		return;
	for (size_t i = 0; i < kineto->memory.count; i++)
		if (!records[i].is_host)
			records[i].device = builder->devices.items[0].key;
}

/* By device, then by time, then as they came: a process gives memory from several threads. */
static int compare_records(const void *left, const void *right)
{
	const struct mr_kineto_memory *a = left, *b = right;

	if (a->is_host != b->is_host)
		return a->is_host ? -1 : 1;
	if (a->device != b->device)
		return a->device < b->device ? -1 : 1;
	if (a->ns != b->ns)
		return a->ns < b->ns ? -1 : 1;
	return (a->order > b->order) - (a->order < b->order);
}

/* ---- events --------------------------------------------------------------------------------------- */

struct account {
	struct mr_kineto *kineto;
	uint32_t device; /* 0: the host */
	uint32_t allocator;
	uint32_t counter; /* string: of what is reserved; 0 for the host */
	int64_t live;
	int64_t reserved;
};

static int add(struct account *account, const struct mr_kineto_memory *record, uint64_t address,
	       int64_t bytes)
{
	struct mr_builder *builder = account->kineto->builder;
	const struct mr_event_memory_allocate given = {.device = account->device,
						       .allocator = account->allocator,
						       .address = address,
						       .bytes = (uint64_t)bytes};
	const struct mr_event_memory_free got_back = {.device = account->device,
						      .allocator = account->allocator,
						      .address = address,
						      .bytes = -(uint64_t)bytes};

	account->live += bytes;
	if (bytes >= 0)
		return mr_builder_add(builder, record->thread, record->ns, record->ns,
				      MR_EVENT_memory_allocate, &given);
	return mr_builder_add(builder, record->thread, record->ns, record->ns, MR_EVENT_memory_free,
			      &got_back);
}

static int count_reserved(struct account *account, const struct mr_kineto_memory *record)
{
	const struct mr_event_counter counter = {.name = account->counter,
						 .value = record->reserved};

	if (record->reserved < 0 || record->reserved == account->reserved || !account->counter)
		return 0;
	account->reserved = record->reserved;
	return mr_builder_add(account->kineto->builder, record->thread, record->ns, record->ns,
			      MR_EVENT_counter, &counter);
}

/* What the records of a device give back beyond what they give. */
static int64_t find_deficit(const struct mr_kineto_memory *records, size_t count)
{
	int64_t sum = 0, least = 0;

	for (size_t i = 0; i < count; i++) {
		if (__builtin_add_overflow(sum, records[i].bytes, &sum))
			return 0;
		least = mr_min(least, sum);
	}
	return -least;
}

/* The first correction is what was there before; later ones are what was not recorded. */
static int add_record(struct account *account, const struct mr_kineto_memory *record)
{
	int64_t missing = 0;
	int result = 0;

	if (record->allocated >= 0)
		missing = record->allocated - record->bytes - account->live;
	if (missing)
		result = add(account, record, 0, missing);
	if (result == 0)
		result = add(account, record, record->address, record->bytes);
	return result < 0 ? result : count_reserved(account, record);
}

static int name_counter(struct account *account, uint64_t device)
{
	char name[64];
	int length = snprintf(name, sizeof name, "bytes reserved on device %llu",
			      (unsigned long long)device);

	return mr_builder_string(account->kineto->builder, name, (size_t)length, &account->counter);
}

static int add_device(struct mr_kineto *kineto, const struct mr_kineto_memory *records,
		      size_t count)
{
	struct account account = {.kineto = kineto, .reserved = -1};
	int result = mr_builder_string(kineto->builder, "PyTorch", 7, &account.allocator);

	if (result == 0 && !records->is_host)
		result = mr_builder_device(kineto->builder, records->device, &account.device);
	if (result == 0 && !records->is_host)
		result = name_counter(&account, records->device);
	int64_t deficit = records->allocated < 0 ? find_deficit(records, count) : 0;
	if (result == 0 && deficit)
		result = add(&account, records, 0, deficit);
	for (size_t i = 0; result == 0 && i < count; i++)
		result = add_record(&account, &records[i]);
	return result;
}

int mr_kineto_add_memory(struct mr_kineto *kineto)
{
	struct mr_kineto_memory *records = kineto->memory.items;
	size_t count = kineto->memory.count, next;
	int result = 0;

	unite_devices(kineto);
	if (count > 0)
		qsort(records, count, sizeof *records, compare_records);
	for (size_t i = 0; result == 0 && i < count; i = next) {
		for (next = i + 1; next < count && records[next].is_host == records[i].is_host &&
				   records[next].device == records[i].device;
		     next++)
			;
		result = add_device(kineto, &records[i], next - i);
	}
	mr_vec_free(&kineto->memory);
	return result;
}
