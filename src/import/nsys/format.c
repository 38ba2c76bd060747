/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "import/nsys/nsys.h"

/* ---- rows ----------------------------------------------------------------------------------------- */

int mr_nsys_each(struct mr_nsys *nsys, const struct mr_database_table *table, mr_database_add *add)
{
	sqlite3_stmt *rows;
	int result = mr_database_select(nsys->database, table, &rows);

	return result < 0 ? result : mr_database_each(nsys->import, rows, add, nsys);
}

/* ---- texts ---------------------------------------------------------------------------------------- */

static int add_text(void *reader, sqlite3_stmt *row)
{
	struct mr_nsys *nsys = reader;
	const char *text = (const char *)sqlite3_column_text(row, 1);
	struct mr_nsys_text added = {.id = sqlite3_column_int64(row, 0)};

	if (!text)
		return 0;
	if (mr_builder_string(nsys->builder, text, strlen(text), &added.string) < 0)
		return -ENOMEM;
	return mr_vec_push(&nsys->texts, added);
}

static int compare_texts(const void *left, const void *right)
{
	const struct mr_nsys_text *a = left, *b = right;

	return (a->id > b->id) - (a->id < b->id);
}

static int read_texts(struct mr_nsys *nsys)
{
	static const struct mr_database_table table = {"StringIds", {"id", "value"}};
	int result = mr_nsys_each(nsys, &table, add_text);

	if (nsys->texts.count)
		qsort(nsys->texts.items, nsys->texts.count, sizeof *nsys->texts.items,
		      compare_texts);
	return result;
}

uint32_t mr_nsys_string(const struct mr_nsys *nsys, sqlite3_stmt *rows, int column)
{
	const struct mr_nsys_text key = {.id = sqlite3_column_int64(rows, column)};

	if (sqlite3_column_type(rows, column) == SQLITE_NULL || nsys->texts.count == 0)
		return 0;
	const struct mr_nsys_text *found =
		bsearch(&key, nsys->texts.items, nsys->texts.count, sizeof key, compare_texts);
	return found ? found->string : 0;
}

/* ---- processes and threads ------------------------------------------------------------------------ */

/* 24 bits of the process, 24 of the thread. */
static uint32_t pid_of(uint64_t global)
{
	return (uint32_t)(global >> 24) & 0xFFFFFF;
}

static int find_process(struct mr_nsys *nsys, uint64_t global, uint32_t *ret_process)
{
	char key[16];
	int length = snprintf(key, sizeof key, "%u", pid_of(global));

	return mr_builder_process(nsys->builder, key, (size_t)length, ret_process);
}

int mr_nsys_thread(struct mr_nsys *nsys, uint64_t global, uint32_t *ret_thread)
{
	char text[16];
	uint32_t process, key;
	int length = snprintf(text, sizeof text, "%u", (uint32_t)global & 0xFFFFFF);

	if (nsys->last.global != global || !global) {
		if (find_process(nsys, global, &process) < 0 ||
		    mr_builder_string(nsys->builder, text, (size_t)length, &key) < 0 ||
		    mr_builder_thread(nsys->builder, process, key, &nsys->last.thread) < 0)
			return -ENOMEM;
		nsys->last.global = global;
	}
	*ret_thread = nsys->last.thread;
	return 0;
}

static int add_process(void *reader, sqlite3_stmt *row)
{
	struct mr_nsys *nsys = reader;
	const char *name = (const char *)sqlite3_column_text(row, 1);
	uint32_t process, string;

	if (!name)
		return 0;
	if (find_process(nsys, (uint64_t)sqlite3_column_int64(row, 0), &process) < 0 ||
	    mr_builder_string(nsys->builder, name, strlen(name), &string) < 0)
		return -ENOMEM;
	nsys->builder->processes.items[process].name = string;
	return 0;
}

static int add_thread(void *reader, sqlite3_stmt *row)
{
	struct mr_nsys *nsys = reader;
	uint32_t name = mr_nsys_string(nsys, row, 1), thread;

	if (!name)
		return 0;
	if (mr_nsys_thread(nsys, (uint64_t)sqlite3_column_int64(row, 0), &thread) < 0)
		return -ENOMEM;
	nsys->builder->streams.items[thread].name = name;
	return 0;
}

/* "GPU 3 (NVIDIA A100)", as for other formats. Devices of which no operation is known do not matter. */
static int add_device_name(void *reader, sqlite3_stmt *row)
{
	struct mr_nsys *nsys = reader;
	struct mr_builder *builder = nsys->builder;
	const char *name = (const char *)sqlite3_column_text(row, 1);
	uint64_t number = (uint64_t)sqlite3_column_int64(
		row, sqlite3_column_type(row, 2) == SQLITE_NULL ? 0 : 2);
	struct mr_region region = {0};
	int result = 0;

	for (size_t i = 0; name && result == 0 && i < builder->devices.count; i++) {
		struct mr_build_device *device = &builder->devices.items[i];
		char *text = device->key == number
				     ? mr_region_print(&region, "GPU %llu (%s)",
						       (unsigned long long)number, name)
				     : NULL;

		if (text)
			result = mr_builder_string(builder, text, strlen(text), &device->name);
	}
	mr_region_free(&region);
	return result;
}

static int add_epoch(void *reader, sqlite3_stmt *row)
{
	struct mr_nsys *nsys = reader;
	int64_t ns = sqlite3_column_int64(row, 0);

	if (ns >= 0 && ns <= MR_BUILD_TIME_MAX_NS)
		nsys->builder->epoch_ns = ns;
	return 0;
}

static int read_names(struct mr_nsys *nsys)
{
	static const struct mr_database_table processes = {"PROCESSES", {"globalPid", "name"}},
					      threads = {"ThreadNames", {"globalTid", "nameId"}},
					      session = {"TARGET_INFO_SESSION_START_TIME",
							 {"utcEpochNs"}};
	int result = mr_nsys_each(nsys, &processes, add_process);

	if (result == 0)
		result = mr_nsys_each(nsys, &threads, add_thread);
	return result < 0 ? result : mr_nsys_each(nsys, &session, add_epoch);
}

static int describe_devices(struct mr_nsys *nsys)
{
	static const struct mr_database_table devices = {"TARGET_INFO_GPU",
							 {"id", "name", "cuDevice"}};
	struct mr_builder *builder = nsys->builder;
	char name[32];
	int result = 0;

	for (size_t i = 0; result == 0 && i < builder->devices.count; i++) {
		struct mr_build_device *device = &builder->devices.items[i];
		int length =
			snprintf(name, sizeof name, "GPU %llu", (unsigned long long)device->key);

		device->kind = MR_device_kind_gpu;
		result = mr_builder_string(builder, name, (size_t)length, &device->name);
	}
	for (size_t i = 0; i < builder->queues.count; i++) /* as streams of CUDA are */
		builder->queues.items[i].order = MR_queue_order_in_order;
	return result < 0 ? result : mr_nsys_each(nsys, &devices, add_device_name);
}

/* ---- the format ----------------------------------------------------------------------------------- */

static bool has_tables(sqlite3 *database)
{
	return mr_database_has_table(database, "StringIds") &&
	       (mr_database_has_table(database, "CUPTI_ACTIVITY_KIND_RUNTIME") ||
		mr_database_has_table(database, "CUPTI_ACTIVITY_KIND_KERNEL") ||
		mr_database_has_table(database, "NVTX_EVENTS") ||
		mr_database_has_table(database, "OSRT_API") ||
		mr_database_has_table(database, "TARGET_INFO_SESSION_START_TIME"));
}

static enum mr_sniff sniff(const struct mr_head *head)
{
	if (head->is_folder || !mr_database_is(head))
		return MR_SNIFF_NO;
	sqlite3 *database = mr_database_open(head->path);
	bool is_one = database && has_tables(database);

	sqlite3_close(database);
	return is_one ? MR_SNIFF_SURE : MR_SNIFF_NO;
}

static int read_all(struct mr_nsys *nsys)
{
	int result = read_texts(nsys);

	if (result == 0)
		result = read_names(nsys);
	if (result == 0)
		result = mr_nsys_read_calls(nsys);
	if (result == 0)
		result = mr_nsys_read_operations(nsys);
	if (result == 0)
		result = mr_nsys_read_ranges(nsys);
	if (result == 0)
		result = mr_step_marks_add_steps(&nsys->marks, nsys->builder);
	return result < 0 ? result : describe_devices(nsys);
}

static int read_trace(struct mr_import *import)
{
	struct mr_nsys nsys = {.import = import,
			       .builder = &import->builder,
			       .database = mr_database_open(import->path)};
	int result = nsys.database ? read_all(&nsys) : -ENOMEM;

	sqlite3_close(nsys.database);
	mr_vec_free(&nsys.texts);
	mr_vec_free(&nsys.first_threads);
	mr_step_marks_free(&nsys.marks);
	return result;
}

const struct mr_format mr_nsys_format = {
	.name = "SQLite of Nsight Systems",
	.sniff = sniff,
	.read = read_trace,
};
