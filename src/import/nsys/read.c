/* SPDX-License-Identifier: Apache-2.0 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "import/nsys/nsys.h"

/* ---- calls ---------------------------------------------------------------------------------------- */

/* "cudaLaunchKernel_v7000" and "cudaMemcpyAsync_ptsz_v7000" are the functions without that. */
static int name_function(struct mr_nsys *nsys, uint32_t string, uint32_t *ret_function)
{
	const char *text = mr_strings_text(&nsys->builder->strings, string);
	size_t length = nsys->builder->strings.lengths.items[string], digits = length;

	while (digits > 0 && isdigit((unsigned char)text[digits - 1]))
		digits--;
	if (digits < length && digits > 2 && memcmp(text + digits - 2, "_v", 2) == 0)
		length = digits - 2;
	if (length > 5 && (memcmp(text + length - 5, "_ptsz", 5) == 0 ||
			   memcmp(text + length - 5, "_ptds", 5) == 0))
		length -= 5;
	return mr_builder_string(nsys->builder, text, length, ret_function);
}

static int note_caller(struct mr_nsys *nsys, uint32_t thread)
{
	uint32_t process = nsys->builder->streams.items[thread].process;

	while (nsys->first_threads.count <= process)
		if (mr_vec_push(&nsys->first_threads, UINT32_MAX) < 0)
			return -ENOMEM;
	if (nsys->first_threads.items[process] == UINT32_MAX)
		nsys->first_threads.items[process] = thread;
	if (!nsys->has_calls)
		nsys->builder->definer = process;
	nsys->has_calls = true;
	return 0;
}

static int add_call(void *reader, sqlite3_stmt *row)
{
	struct mr_nsys *nsys = reader;
	int64_t start_ns, end_ns;
	uint32_t thread, function;

	if (!mr_database_interval(nsys->import, row, &start_ns, &end_ns))
		return 0;
	if (end_ns - start_ns > (int64_t)MR_U48_MAX)
		return mr_import_faults_add(&nsys->import->faults,
					    "a runtime call that lasts for days", 0, 0);
	if (mr_nsys_thread(nsys, (uint64_t)sqlite3_column_int64(row, 2), &thread) < 0 ||
	    name_function(nsys, mr_nsys_string(nsys, row, 4), &function) < 0 ||
	    note_caller(nsys, thread) < 0)
		return -ENOMEM;
	const struct mr_event_runtime_call call = {
		.function = function,
		.duration_ticks = mr_u48_from((uint64_t)(end_ns - start_ns)),
		.correlation = (uint64_t)sqlite3_column_int64(row, 3),
		.result = sqlite3_column_int64(row, 5)};
	return mr_builder_add(nsys->builder, thread, start_ns, end_ns, MR_EVENT_runtime_call,
			      &call);
}

int mr_nsys_read_calls(struct mr_nsys *nsys)
{
#define CALL_COLUMNS                                                                  \
	{                                                                             \
		"start", "end", "globalTid", "correlationId", "nameId", "returnValue" \
	}
	static const struct mr_database_table runtime = {"CUPTI_ACTIVITY_KIND_RUNTIME",
							 CALL_COLUMNS},
					      driver = {"CUPTI_ACTIVITY_KIND_DRIVER", CALL_COLUMNS};
#undef CALL_COLUMNS
	int result = mr_nsys_each(nsys, &runtime, add_call);

	return result < 0 ? result : mr_nsys_each(nsys, &driver, add_call);
}

/* ---- device operations ---------------------------------------------------------------------------- */

/* Where an operation is recorded: correlations are those of its process. Without one, that of the first call. */
static int find_thread(struct mr_nsys *nsys, sqlite3_stmt *row, int column, uint32_t *ret_thread)
{
	uint64_t global = (uint64_t)sqlite3_column_int64(row, column);
	uint32_t process = nsys->builder->definer;

	if (sqlite3_column_type(row, column) != SQLITE_NULL) {
		/* A process is a thread without number, and its main thread has the number of the process. */
		if (mr_nsys_thread(nsys, global | ((global >> 24) & 0xFFFFFF), ret_thread) < 0)
			return -ENOMEM;
		process = nsys->builder->streams.items[*ret_thread].process;
	} else if (!nsys->has_calls) {
		return mr_nsys_thread(nsys, 0, ret_thread);
	}
	if (process < nsys->first_threads.count && nsys->first_threads.items[process] != UINT32_MAX)
		*ret_thread = nsys->first_threads.items[process];
	return 0;
}

/* The columns that all operations begin with. */
enum {
	START,
	END,
	DEVICE,
	STREAM,
	CORRELATION,
	PROCESS,
	FIRST_OWN,
};

#define OPERATION_COLUMNS "start", "end", "deviceId", "streamId", "correlationId", "globalPid"

static int find_queue(struct mr_nsys *nsys, sqlite3_stmt *row, uint32_t *ret_queue)
{
	char text[32];
	int length = snprintf(text, sizeof text, "stream %lld",
			      (long long)sqlite3_column_int64(row, STREAM));
	uint32_t device, name;

	if (mr_builder_device(nsys->builder, (uint64_t)sqlite3_column_int64(row, DEVICE), &device) <
		    0 ||
	    mr_builder_string(nsys->builder, text, (size_t)length, &name) < 0)
		return -ENOMEM;
	return mr_builder_queue(nsys->builder, device, name, ret_queue);
}

static int add_operation(struct mr_nsys *nsys, sqlite3_stmt *row, uint32_t name, uint64_t bytes,
			 enum mr_operation_kind kind, uint32_t *ret_thread)
{
	struct mr_event_device_operation operation = {
		.name = name,
		.correlation = (uint64_t)sqlite3_column_int64(row, CORRELATION),
		.bytes = bytes,
		.kind = (uint8_t)kind};
	int64_t start_ns, end_ns;
	uint32_t queue;

	*ret_thread = UINT32_MAX;
	if (!mr_database_interval(nsys->import, row, &start_ns, &end_ns))
		return 0;
	if (find_queue(nsys, row, &queue) < 0 || find_thread(nsys, row, PROCESS, ret_thread) < 0)
		return -ENOMEM;
	operation.queue = queue;
	operation.start = (uint64_t)start_ns;
	operation.end = (uint64_t)end_ns;
	return mr_builder_add(nsys->builder, *ret_thread, start_ns, end_ns,
			      MR_EVENT_device_operation, &operation);
}

/* Work items of one dimension: groups times their size. */
static uint32_t work_items(sqlite3_stmt *row, int grid, int block)
{
	uint64_t items = (uint64_t)mr_database_u32(row, grid) * mr_database_u32(row, block);

	return (uint32_t)mr_min(items, (uint64_t)UINT32_MAX);
}

static int add_kernel(void *reader, sqlite3_stmt *row)
{
	struct mr_nsys *nsys = reader;
	enum {
		DEMANGLED = FIRST_OWN,
		SHORT,
		GRID,
		BLOCK = GRID + 3,
		STATIC = BLOCK + 3,
		DYNAMIC,
		LOCAL,
	};
	uint32_t name = mr_nsys_string(nsys, row, DEMANGLED), thread, queue;
	uint64_t shared = (uint64_t)mr_database_u32(row, STATIC) + mr_database_u32(row, DYNAMIC);

	if (!name)
		name = mr_nsys_string(nsys, row, SHORT);
	int result = add_operation(nsys, row, name, 0, MR_operation_kind_kernel, &thread);
	if (result < 0 || thread == UINT32_MAX || sqlite3_column_type(row, GRID) == SQLITE_NULL)
		return result;
	if (find_queue(nsys, row, &queue) < 0)
		return -ENOMEM;
	const struct mr_event_runtime_dispatch dispatch = {
		.correlation = (uint64_t)sqlite3_column_int64(row, CORRELATION),
		.queue = queue,
		.name = name,
		.global_x = work_items(row, GRID, BLOCK),
		.global_y = work_items(row, GRID + 1, BLOCK + 1),
		.global_z = work_items(row, GRID + 2, BLOCK + 2),
		.local_x = mr_database_u32(row, BLOCK),
		.local_y = mr_database_u32(row, BLOCK + 1),
		.local_z = mr_database_u32(row, BLOCK + 2),
		.private_bytes = mr_database_u32(row, LOCAL),
		.group_bytes = (uint32_t)mr_min(shared, (uint64_t)UINT32_MAX)};
	int64_t start_ns = sqlite3_column_int64(row, START);
	return mr_builder_add(nsys->builder, thread, start_ns, start_ns, MR_EVENT_runtime_dispatch,
			      &dispatch);
}

static int add_copy(void *reader, sqlite3_stmt *row)
{
	struct mr_nsys *nsys = reader;
	/* By CUPTI's number of the direction; A is an array, which is on the device. */
	static const struct {
		const char *name;
		enum mr_operation_kind kind;
	} directions[] = {
		[0] = {"Memcpy", MR_operation_kind_other},
		[1] = {"Memcpy HtoD", MR_operation_kind_copy_to_device},
		[2] = {"Memcpy DtoH", MR_operation_kind_copy_from_device},
		[3] = {"Memcpy HtoA", MR_operation_kind_copy_to_device},
		[4] = {"Memcpy AtoH", MR_operation_kind_copy_from_device},
		[5] = {"Memcpy AtoA", MR_operation_kind_copy_on_device},
		[6] = {"Memcpy AtoD", MR_operation_kind_copy_on_device},
		[7] = {"Memcpy DtoA", MR_operation_kind_copy_on_device},
		[8] = {"Memcpy DtoD", MR_operation_kind_copy_on_device},
		[9] = {"Memcpy HtoH", MR_operation_kind_other},
		[10] = {"Memcpy PtoP", MR_operation_kind_copy_between_devices},
	};
	uint32_t direction = mr_database_u32(row, FIRST_OWN + 1), name, thread;
	int64_t bytes = sqlite3_column_int64(row, FIRST_OWN);

	if (direction >= mr_countof(directions))
		direction = 0;
	if (mr_builder_string(nsys->builder, directions[direction].name,
			      strlen(directions[direction].name), &name) < 0)
		return -ENOMEM;
	return add_operation(nsys, row, name, (uint64_t)mr_max(bytes, INT64_C(0)),
			     directions[direction].kind, &thread);
}

static int add_fill(void *reader, sqlite3_stmt *row)
{
	struct mr_nsys *nsys = reader;
	int64_t bytes = sqlite3_column_int64(row, FIRST_OWN);
	uint32_t name, thread;

	if (mr_builder_string(nsys->builder, "Memset", 6, &name) < 0)
		return -ENOMEM;
	return add_operation(nsys, row, name, (uint64_t)mr_max(bytes, INT64_C(0)),
			     MR_operation_kind_fill, &thread);
}

int mr_nsys_read_operations(struct mr_nsys *nsys)
{
	static const struct mr_database_table
		kernels = {"CUPTI_ACTIVITY_KIND_KERNEL",
			   {OPERATION_COLUMNS, "demangledName", "shortName", "gridX", "gridY",
			    "gridZ", "blockX", "blockY", "blockZ", "staticSharedMemory",
			    "dynamicSharedMemory", "localMemoryPerThread"}},
		copies = {"CUPTI_ACTIVITY_KIND_MEMCPY", {OPERATION_COLUMNS, "bytes", "copyKind"}},
		fills = {"CUPTI_ACTIVITY_KIND_MEMSET", {OPERATION_COLUMNS, "bytes"}};
	int result = mr_nsys_each(nsys, &kernels, add_kernel);

	if (result == 0)
		result = mr_nsys_each(nsys, &copies, add_copy);
	return result < 0 ? result : mr_nsys_each(nsys, &fills, add_fill);
}

/* ---- ranges --------------------------------------------------------------------------------------- */

static int add_execution(struct mr_nsys *nsys, const char *graph, uint32_t name, uint32_t thread,
			 int64_t start_ns, int64_t end_ns)
{
	struct mr_event_node_interval_at interval = {.step = UINT32_MAX,
						     .clock = MR_trace_clock_monotonic,
						     .start = (uint64_t)start_ns,
						     .end = (uint64_t)end_ns};
	uint32_t string, node;

	if (mr_builder_string(nsys->builder, graph, strlen(graph), &string) < 0 ||
	    mr_builder_node(nsys->builder, string, name, &node) < 0)
		return -ENOMEM;
	interval.node = node;
	return mr_builder_add(nsys->builder, thread, start_ns, end_ns, MR_EVENT_node_interval_at,
			      &interval);
}

static int add_mark(struct mr_nsys *nsys, sqlite3_stmt *row, uint32_t name, uint32_t thread)
{
	int64_t ns = sqlite3_column_int64(row, 0);
	uint32_t graph, node;

	if (ns < 0)
		return mr_import_faults_add(&nsys->import->faults, "a mark without a valid time", 0,
					    0);
	if (mr_builder_string(nsys->builder, "NVTX", 4, &graph) < 0 ||
	    mr_builder_node(nsys->builder, graph, name, &node) < 0)
		return -ENOMEM;
	return mr_builder_add(nsys->builder, thread, ns, ns, MR_EVENT_node_instant,
			      &(struct mr_event_node_instant){.node = node, .step = UINT32_MAX});
}

/* Nsight's numbers of NVTX events. */
enum {
	NVTX_MARK = 34,
	NVTX_PUSH_POP = 59,
	NVTX_START_END = 60,
};

static int add_range(void *reader, sqlite3_stmt *row)
{
	struct mr_nsys *nsys = reader;
	int64_t type = sqlite3_column_int64(row, 5), start_ns, end_ns;
	const char *text = (const char *)sqlite3_column_text(row, 3);
	uint32_t name = mr_nsys_string(nsys, row, 4), thread;

	if (type != NVTX_MARK && type != NVTX_PUSH_POP && type != NVTX_START_END)
		return 0; /* names of domains, categories and threads */
	if (text && mr_builder_string(nsys->builder, text, strlen(text), &name) < 0)
		return -ENOMEM;
	if (mr_nsys_thread(nsys, (uint64_t)sqlite3_column_int64(row, 2), &thread) < 0)
		return -ENOMEM;
	if (type == NVTX_MARK)
		return add_mark(nsys, row, name, thread);
	if (!mr_database_interval(nsys->import, row, &start_ns, &end_ns))
		return 0;
	const char *label = mr_strings_text(&nsys->builder->strings, name);
	const struct mr_step_mark mark = {.thread = thread, .start_ns = start_ns, .end_ns = end_ns};
	bool is_only_that;
	if (mr_step_marks_note(&nsys->marks, label, strlen(label), mark, &is_only_that) < 0)
		return -ENOMEM;
	return is_only_that ? 0 : add_execution(nsys, "NVTX", name, thread, start_ns, end_ns);
}

static int add_function(void *reader, sqlite3_stmt *row)
{
	struct mr_nsys *nsys = reader;
	int64_t start_ns, end_ns;
	uint32_t thread;

	if (!mr_database_interval(nsys->import, row, &start_ns, &end_ns))
		return 0;
	if (mr_nsys_thread(nsys, (uint64_t)sqlite3_column_int64(row, 2), &thread) < 0)
		return -ENOMEM;
	return add_execution(nsys, "C library", mr_nsys_string(nsys, row, 3), thread, start_ns,
			     end_ns);
}

int mr_nsys_read_ranges(struct mr_nsys *nsys)
{
	static const struct mr_database_table ranges = {"NVTX_EVENTS",
							{"start", "end", "globalTid", "text",
							 "textId", "eventType"}},
					      functions = {"OSRT_API",
							   {"start", "end", "globalTid", "nameId"}};
	int result = mr_nsys_each(nsys, &ranges, add_range);

	return result < 0 ? result : mr_nsys_each(nsys, &functions, add_function);
}
