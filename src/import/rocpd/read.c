/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "import/rocpd/rocpd.h"

/* ---- statements ------------------------------------------------------------------------------------- */

/* The columns that all statements begin with. */
enum {
	START,
	END,
	PROCESS,
	THREAD,
	CORRELATION,
	FIRST_OWN,
};

/* $ stands for the suffix of the recording, X for the table; P, T, E are the process, thread and event of a row. */
#define INLINE_HEAD "SELECT X.start, X.end, P.pid, T.tid, E.stack_id"
#define INLINE_JOINS                                                \
	" LEFT JOIN main.\"rocpd_event$\" E ON E.id = X.event_id"   \
	" LEFT JOIN main.\"rocpd_info_process$\" P ON P.id = X.pid" \
	" LEFT JOIN main.\"rocpd_info_thread$\" T ON T.id = X.tid"
#define TRACK_HEAD "SELECT B.value, F.value, P.pid, T.tid, E.stack_id"
#define TRACK_JOINS                                                   \
	" LEFT JOIN main.\"rocpd_event$\" E ON E.id = X.event_id"     \
	" LEFT JOIN main.\"rocpd_track$\" K ON K.id = X.track_id"     \
	" LEFT JOIN main.\"rocpd_timestamp$\" B ON B.id = X.start_id" \
	" LEFT JOIN main.\"rocpd_timestamp$\" F ON F.id = X.end_id"   \
	" LEFT JOIN main.\"rocpd_info_process$\" P ON P.id = K.pid"   \
	" LEFT JOIN main.\"rocpd_info_thread$\" T ON T.id = K.tid"

/* What an annotation says stands beside its event. */
#define REGION_COLUMNS                                                \
	", S.string, C.string, CASE WHEN json_valid(E.extdata) THEN " \
	"json_extract(E.extdata, '$.message') END FROM main.\"rocpd_region$\" X"
#define REGION_JOINS                                              \
	" LEFT JOIN main.\"rocpd_string$\" S ON S.id = X.name_id" \
	" LEFT JOIN main.\"rocpd_string$\" C ON C.id = E.category_id"

#define KERNEL_COLUMNS(place)                                                    \
	", " place ".agent_id, " place ".stream_id, " place                      \
	".queue_id, coalesce(Y.display_name, Y.kernel_name), X.grid_size_x, "    \
	"X.grid_size_y, X.grid_size_z, X.workgroup_size_x, X.workgroup_size_y, " \
	"X.workgroup_size_z, X.private_segment_size, X.group_segment_size FROM " \
	"main.\"rocpd_kernel_dispatch$\" X"
#define KERNEL_JOINS " LEFT JOIN main.\"rocpd_info_kernel_symbol$\" Y ON Y.id = X.kernel_id"

#define COPY_COLUMNS(place)                                             \
	", X.dst_agent_id, X.src_agent_id, " place ".stream_id, " place \
	".queue_id, S.string, X.size, D.type, O.type FROM "             \
	"main.\"rocpd_memory_copy$\" X"
#define COPY_JOINS                                                         \
	" LEFT JOIN main.\"rocpd_string$\" S ON S.id = X.name_id"          \
	" LEFT JOIN main.\"rocpd_info_agent$\" D ON D.id = X.dst_agent_id" \
	" LEFT JOIN main.\"rocpd_info_agent$\" O ON O.id = X.src_agent_id"

/* Both versions of a statement. */
struct statement {
	const char *with_times;
	const char *with_tracks;
};

static const struct statement regions = {INLINE_HEAD REGION_COLUMNS INLINE_JOINS REGION_JOINS,
					 TRACK_HEAD REGION_COLUMNS TRACK_JOINS REGION_JOINS},
			      kernels = {INLINE_HEAD KERNEL_COLUMNS("X") INLINE_JOINS KERNEL_JOINS,
					 TRACK_HEAD KERNEL_COLUMNS("K") TRACK_JOINS KERNEL_JOINS},
			      copies = {INLINE_HEAD COPY_COLUMNS("X") INLINE_JOINS COPY_JOINS,
					TRACK_HEAD COPY_COLUMNS("K") TRACK_JOINS COPY_JOINS};

static const struct statement processes = {"SELECT pid, command FROM main.\"rocpd_info_process$\"",
					   "SELECT pid, command FROM main.\"rocpd_info_process$\""};
static const struct statement agents = {
	"SELECT id, type, coalesce(type_index, absolute_index), coalesce(nullif(product_name, ''), "
	"name) FROM main.\"rocpd_info_agent$\"",
	"SELECT id, type, coalesce(type_index, absolute_index), coalesce(nullif(product_name, ''), "
	"name) FROM main.\"rocpd_info_agent$\""};

/* The suffix stands inside a quoted name. $.message of JSON is the one that is none. */
static char *write_statement(const struct mr_rocpd *rocpd, const struct statement *statement)
{
	const char *text = rocpd->has_tracks ? statement->with_tracks : statement->with_times;
	sqlite3_str *written = sqlite3_str_new(rocpd->database);

	for (; *text; text++)
		if (*text == '$' && text[1] == '"')
			sqlite3_str_appendf(written, "%w", rocpd->suffix);
		else
			sqlite3_str_appendchar(written, 1, *text);
	return sqlite3_str_finish(written);
}

static int each(struct mr_rocpd *rocpd, const struct statement *statement, mr_database_add *add)
{
	char *text = write_statement(rocpd, statement);
	sqlite3_stmt *rows = NULL;
	int result = text ? mr_database_prepare(rocpd->database, text, &rows) : -ENOMEM;

	sqlite3_free(text);
	if (result == 0 && !rows)
		return mr_import_faults_add(&rocpd->import->faults,
					    "tables of a version of rocpd that is not known", 0, 0);
	return result < 0 ? result : mr_database_each(rocpd->import, rows, add, rocpd);
}

/* ---- threads ------------------------------------------------------------------------------------------ */

static int find_thread(struct mr_rocpd *rocpd, sqlite3_stmt *row, uint32_t *ret_thread)
{
	char pid[24], tid[24];
	uint32_t process, key;

	snprintf(pid, sizeof pid, "%lld", (long long)sqlite3_column_int64(row, PROCESS));
	snprintf(tid, sizeof tid, "%lld", (long long)sqlite3_column_int64(row, THREAD));
	if (mr_builder_process(rocpd->builder, pid, strlen(pid), &process) < 0 ||
	    mr_builder_string(rocpd->builder, tid, strlen(tid), &key) < 0)
		return -ENOMEM;
	return mr_builder_thread(rocpd->builder, process, key, ret_thread);
}

/* Operations stand on the first thread of their process that made a call. */
static int find_operation_thread(struct mr_rocpd *rocpd, sqlite3_stmt *row, uint32_t *ret_thread)
{
	if (find_thread(rocpd, row, ret_thread) < 0)
		return -ENOMEM;
	uint32_t process = rocpd->builder->streams.items[*ret_thread].process;
	if (process < rocpd->first_threads.count &&
	    rocpd->first_threads.items[process] != UINT32_MAX)
		*ret_thread = rocpd->first_threads.items[process];
	return 0;
}

static int note_caller(struct mr_rocpd *rocpd, uint32_t thread)
{
	uint32_t process = rocpd->builder->streams.items[thread].process;

	while (rocpd->first_threads.count <= process)
		if (mr_vec_push(&rocpd->first_threads, UINT32_MAX) < 0)
			return -ENOMEM;
	if (rocpd->first_threads.items[process] == UINT32_MAX)
		rocpd->first_threads.items[process] = thread;
	return 0;
}

static int add_process(void *reader, sqlite3_stmt *row)
{
	struct mr_rocpd *rocpd = reader;
	const char *command = (const char *)sqlite3_column_text(row, 1);
	char pid[24];
	uint32_t process, name;

	snprintf(pid, sizeof pid, "%lld", (long long)sqlite3_column_int64(row, 0));
	if (mr_builder_process(rocpd->builder, pid, strlen(pid), &process) < 0)
		return -ENOMEM;
	if (command && mr_builder_string(rocpd->builder, command, strlen(command), &name) == 0)
		rocpd->builder->processes.items[process].name = name;
	return 0;
}

/* ---- regions ------------------------------------------------------------------------------------------ */

static int text_of(struct mr_rocpd *rocpd, sqlite3_stmt *row, int column, uint32_t *ret_string)
{
	const char *text = (const char *)sqlite3_column_text(row, column);

	return mr_builder_string(rocpd->builder, text ? text : "", text ? strlen(text) : 0,
				 ret_string);
}

/* Where a region stands, and what it is called. */
struct region {
	uint32_t thread;
	uint32_t name;
	int64_t start_ns;
	int64_t end_ns;
};

static int add_call(struct mr_rocpd *rocpd, sqlite3_stmt *row, const struct region *region)
{
	uint64_t ticks = (uint64_t)(region->end_ns - region->start_ns);
	const struct mr_event_runtime_call call = {
		.function = region->name,
		.duration_ticks = mr_u48_from(ticks),
		.correlation = (uint64_t)sqlite3_column_int64(row, CORRELATION)};

	if (ticks > MR_U48_MAX)
		return mr_import_faults_add(&rocpd->import->faults,
					    "a runtime call that lasts for days", 0, 0);
	if (note_caller(rocpd, region->thread) < 0)
		return -ENOMEM;
	return mr_builder_add(rocpd->builder, region->thread, region->start_ns, region->end_ns,
			      MR_EVENT_runtime_call, &call);
}

static int add_annotation(struct mr_rocpd *rocpd, const char *graph, const struct region *region)
{
	struct mr_event_node_interval_at interval = {.step = UINT32_MAX,
						     .clock = MR_trace_clock_monotonic,
						     .start = (uint64_t)region->start_ns,
						     .end = (uint64_t)region->end_ns};
	struct mr_event_node_instant instant = {.step = UINT32_MAX};
	const struct mr_step_mark mark = {
		.thread = region->thread, .start_ns = region->start_ns, .end_ns = region->end_ns};
	const char *name = mr_strings_text(&rocpd->builder->strings, region->name);
	uint32_t string, node;
	bool is_only_that = false, is_mark = region->start_ns == region->end_ns;

	if (!is_mark &&
	    mr_step_marks_note(&rocpd->marks, name, strlen(name), mark, &is_only_that) < 0)
		return -ENOMEM;
	if (is_only_that)
		return 0;
	if (mr_builder_string(rocpd->builder, graph, strlen(graph), &string) < 0 ||
	    mr_builder_node(rocpd->builder, string, region->name, &node) < 0)
		return -ENOMEM;
	interval.node = node;
	instant.node = node;
	return is_mark ? mr_builder_add(rocpd->builder, region->thread, region->start_ns,
					region->end_ns, MR_EVENT_node_instant, &instant)
		       : mr_builder_add(rocpd->builder, region->thread, region->start_ns,
					region->end_ns, MR_EVENT_node_interval_at, &interval);
}

static int add_region(void *reader, sqlite3_stmt *row)
{
	enum {
		NAME = FIRST_OWN,
		CATEGORY,
		MESSAGE
	};
	struct mr_rocpd *rocpd = reader;
	const char *category = (const char *)sqlite3_column_text(row, CATEGORY);
	struct region region;

	if (!mr_database_interval(rocpd->import, row, &region.start_ns, &region.end_ns))
		return 0;
	bool is_annotation = category && strncmp(category, "MARKER", 6) == 0;
	bool has_message = is_annotation && sqlite3_column_type(row, MESSAGE) == SQLITE_TEXT;
	if (find_thread(rocpd, row, &region.thread) < 0 ||
	    text_of(rocpd, row, has_message ? MESSAGE : NAME, &region.name) < 0)
		return -ENOMEM;
	if (is_annotation)
		return add_annotation(rocpd, "roctx", &region);
	if (category && strncmp(category, "HIP", 3) != 0 && strncmp(category, "HSA", 3) != 0)
		return add_annotation(rocpd, category, &region);
	return add_call(rocpd, row, &region);
}

/* ---- device operations ---------------------------------------------------------------------------------- */

static int find_queue(struct mr_rocpd *rocpd, sqlite3_stmt *row, uint64_t agent, int stream,
		      uint32_t *ret_queue)
{
	bool has_stream = sqlite3_column_type(row, stream) != SQLITE_NULL;
	char text[40];
	uint32_t device, name;

	snprintf(text, sizeof text, "%s %lld", has_stream ? "stream" : "queue",
		 (long long)sqlite3_column_int64(row, has_stream ? stream : stream + 1));
	if (mr_builder_device(rocpd->builder, agent, &device) < 0 ||
	    mr_builder_string(rocpd->builder, text, strlen(text), &name) < 0 ||
	    mr_builder_queue(rocpd->builder, device, name, ret_queue) < 0)
		return -ENOMEM;
	rocpd->builder->queues.items[*ret_queue - 1].order =
		has_stream ? MR_queue_order_in_order : MR_queue_order_unknown;
	return 0;
}

static int add_operation(struct mr_rocpd *rocpd, sqlite3_stmt *row, uint32_t queue,
			 struct mr_event_device_operation *operation, uint32_t *ret_thread)
{
	int64_t start_ns, end_ns;

	*ret_thread = UINT32_MAX;
	if (!mr_database_interval(rocpd->import, row, &start_ns, &end_ns))
		return 0;
	if (find_operation_thread(rocpd, row, ret_thread) < 0)
		return -ENOMEM;
	operation->queue = queue;
	operation->correlation = (uint64_t)sqlite3_column_int64(row, CORRELATION);
	operation->start = (uint64_t)start_ns;
	operation->end = (uint64_t)end_ns;
	return mr_builder_add(rocpd->builder, *ret_thread, start_ns, end_ns,
			      MR_EVENT_device_operation, operation);
}

static int add_kernel(void *reader, sqlite3_stmt *row)
{
	enum {
		AGENT = FIRST_OWN,
		STREAM,
		QUEUE,
		NAME,
		GRID,
		GROUP = GRID + 3,
		PRIVATE = GROUP + 3,
		SHARED
	};
	struct mr_rocpd *rocpd = reader;
	struct mr_event_device_operation operation = {.kind = MR_operation_kind_kernel};
	uint32_t thread, name, queue;

	if (find_queue(rocpd, row, (uint64_t)sqlite3_column_int64(row, AGENT), STREAM, &queue) <
		    0 ||
	    text_of(rocpd, row, NAME, &name) < 0)
		return -ENOMEM;
	operation.name = name;
	int result = add_operation(rocpd, row, queue, &operation, &thread);
	if (result < 0 || thread == UINT32_MAX)
		return result;
	const struct mr_event_runtime_dispatch dispatch = {
		.correlation = operation.correlation,
		.queue = queue,
		.name = name,
		.global_x = mr_database_u32(row, GRID),
		.global_y = mr_database_u32(row, GRID + 1),
		.global_z = mr_database_u32(row, GRID + 2),
		.local_x = mr_database_u32(row, GROUP),
		.local_y = mr_database_u32(row, GROUP + 1),
		.local_z = mr_database_u32(row, GROUP + 2),
		.private_bytes = mr_database_u32(row, PRIVATE),
		.group_bytes = mr_database_u32(row, SHARED)};
	return mr_builder_add(rocpd->builder, thread, (int64_t)operation.start,
			      (int64_t)operation.start, MR_EVENT_runtime_dispatch, &dispatch);
}

static int add_copy(void *reader, sqlite3_stmt *row)
{
	enum {
		TARGET = FIRST_OWN,
		SOURCE,
		STREAM,
		QUEUE,
		NAME,
		BYTES,
		TARGET_KIND,
		SOURCE_KIND
	};
	struct mr_rocpd *rocpd = reader;
	const char *target = (const char *)sqlite3_column_text(row, TARGET_KIND);
	const char *source = (const char *)sqlite3_column_text(row, SOURCE_KIND);
	bool to_gpu = target && strcmp(target, "GPU") == 0;
	bool from_gpu = source && strcmp(source, "GPU") == 0;
	int64_t bytes = sqlite3_column_int64(row, BYTES);
	struct mr_event_device_operation operation = {.bytes = (uint64_t)mr_max(bytes, INT64_C(0))};
	uint64_t agent = (uint64_t)sqlite3_column_int64(row, to_gpu || !from_gpu ? TARGET : SOURCE);
	uint32_t thread, name, queue;

	if (to_gpu && from_gpu)
		operation.kind = agent == (uint64_t)sqlite3_column_int64(row, SOURCE)
					 ? MR_operation_kind_copy_on_device
					 : MR_operation_kind_copy_between_devices;
	else
		operation.kind = to_gpu     ? MR_operation_kind_copy_to_device
				 : from_gpu ? MR_operation_kind_copy_from_device
					    : MR_operation_kind_other;
	if (find_queue(rocpd, row, agent, STREAM, &queue) < 0 ||
	    text_of(rocpd, row, NAME, &name) < 0)
		return -ENOMEM;
	operation.name = name;
	return add_operation(rocpd, row, queue, &operation, &thread);
}

/* ---- devices ---------------------------------------------------------------------------------------------- */

/* "GPU 0 (AMD Instinct MI300X)". Agents that did nothing are not listed. */
static int describe_agent(void *reader, sqlite3_stmt *row)
{
	struct mr_rocpd *rocpd = reader;
	struct mr_builder *builder = rocpd->builder;
	uint64_t id = (uint64_t)sqlite3_column_int64(row, 0);
	const char *kind = (const char *)sqlite3_column_text(row, 1);
	const char *name = (const char *)sqlite3_column_text(row, 3);
	struct mr_region region = {0};
	uint32_t number;
	int result = 0;

	if (!kind || !mr_strings_find(&builder->device_keys, &id, sizeof id, &number))
		return 0;
	struct mr_build_device *device = &builder->devices.items[number];
	const char *text = mr_region_print(&region, name ? "%s %lld (%s)" : "%s %lld", kind,
					   (long long)sqlite3_column_int64(row, 2), name);
	device->kind = strcmp(kind, "GPU") == 0 ? MR_device_kind_gpu : MR_device_kind_cpu;
	result = text ? mr_builder_string(builder, text, strlen(text), &device->name) : -ENOMEM;
	mr_region_free(&region);
	return result;
}

int mr_rocpd_read(struct mr_rocpd *rocpd)
{
	int result = each(rocpd, &processes, add_process);

	if (result == 0)
		result = each(rocpd, &regions, add_region);
	if (result == 0)
		result = each(rocpd, &kernels, add_kernel);
	if (result == 0)
		result = each(rocpd, &copies, add_copy);
	return result < 0 ? result : each(rocpd, &agents, describe_agent);
}
