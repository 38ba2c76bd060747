/* SPDX-License-Identifier: Apache-2.0 */
#include "model/manifest.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>

#include "base/error.h"
#include "base/mapping.h"
#include "base/region.h"

enum {
	MAX_BYTES = 64 << 20 /* far beyond any; reading takes many times as much memory */
};

struct mr_manifest_private {
	struct mr_manifest manifest; /* what callers hold */
	json_t *root;                /* owns the texts */
	struct mr_region region;     /* owns the arrays and `problem` */
	bool no_memory;
};

/* The first problem is the one worth reporting. */
static void note_problem(struct mr_manifest_private *reader, const char *what, const char *why)
{
	if (reader->manifest.problem)
		return;
	reader->manifest.problem =
		mr_region_print(&reader->region, "manifest.json %s%s", what, why);
	reader->no_memory |= !reader->manifest.problem;
}

/* ---- members: absent and null are fine, another type is a problem --------------------------------- */

static json_t *member(struct mr_manifest_private *reader, json_t *object, const char *key,
		      bool is_type(const json_t *))
{
	json_t *value = json_object_get(object, key);

	if (!value || json_is_null(value))
		return NULL;
	if (is_type(value))
		return value;
	note_problem(reader, "has a wrong value for ", key);
	return NULL;
}

static bool is_string(const json_t *value)
{
	return json_is_string(value);
}

static bool is_integer(const json_t *value)
{
	return json_is_integer(value);
}

static bool is_boolean(const json_t *value)
{
	return json_is_boolean(value);
}

static bool is_array(const json_t *value)
{
	return json_is_array(value);
}

static bool is_object(const json_t *value)
{
	return json_is_object(value);
}

static const char *text_member(struct mr_manifest_private *reader, json_t *object, const char *key)
{
	return json_string_value(member(reader, object, key, is_string));
}

static int64_t integer_member(struct mr_manifest_private *reader, json_t *object, const char *key)
{
	return json_integer_value(member(reader, object, key, is_integer));
}

static uint64_t count_member(struct mr_manifest_private *reader, json_t *object, const char *key)
{
	int64_t value = integer_member(reader, object, key);

	if (value < 0)
		note_problem(reader, "has a negative value for ", key);
	return value < 0 ? 0 : (uint64_t)value;
}

static bool boolean_member(struct mr_manifest_private *reader, json_t *object, const char *key)
{
	return json_is_true(member(reader, object, key, is_boolean));
}

static const char **texts_member(struct mr_manifest_private *reader, const char *key,
				 size_t *ret_count)
{
	json_t *array = member(reader, reader->root, key, is_array);
	size_t size = json_array_size(array), count = 0;
	const char **texts = mr_region_allocate(&reader->region, size * sizeof *texts);

	reader->no_memory |= !texts;
	for (size_t i = 0; texts && i < size; i++) {
		const char *text = json_string_value(json_array_get(array, i));

		if (text)
			texts[count++] = text;
		else
			note_problem(reader, "has a wrong value in ", key);
	}
	*ret_count = count;
	return texts;
}

/* ---- the parts ------------------------------------------------------------------------------------ */

static void read_exit(struct mr_manifest_private *reader)
{
	struct mr_manifest *manifest = &reader->manifest;
	json_t *exit = member(reader, reader->root, "exit", is_object);

	if (member(reader, exit, "code", is_integer)) {
		manifest->exit_kind = MR_EXIT_CODE;
		manifest->exit_value = (int)integer_member(reader, exit, "code");
	} else if (member(reader, exit, "signal", is_integer)) {
		manifest->exit_kind = MR_EXIT_SIGNAL;
		manifest->exit_value = (int)integer_member(reader, exit, "signal");
	}
}

static void read_processes(struct mr_manifest_private *reader)
{
	struct mr_manifest *manifest = &reader->manifest;
	json_t *array = member(reader, reader->root, "processes", is_array);
	size_t size = json_array_size(array);

	manifest->processes =
		mr_region_allocate(&reader->region, size * sizeof *manifest->processes);
	reader->no_memory |= !manifest->processes;
	for (size_t i = 0; manifest->processes && i < size; i++) {
		json_t *process = json_array_get(array, i);

		if (!json_is_object(process)) {
			note_problem(reader, "has a wrong value in ", "processes");
			continue;
		}
		manifest->processes[manifest->process_count++] = (struct mr_manifest_process){
			.process = (uint32_t)count_member(reader, process, "process"),
			.pid = (uint32_t)count_member(reader, process, "pid"),
			.program = text_member(reader, process, "program"),
			.seen = text_member(reader, process, "seen"),
			.traced = boolean_member(reader, process, "traced"),
			.reason = text_member(reader, process, "reason"),
			.ended = boolean_member(reader, process, "ended"),
		};
	}
}

static void read_lost_by_cpu(struct mr_manifest_private *reader, json_t *level)
{
	struct mr_manifest_kernel *kernel = &reader->manifest.kernel_level;
	json_t *array = member(reader, level, "lost_by_cpu", is_array);
	size_t size = json_array_size(array);

	kernel->lost_by_cpu = mr_region_allocate(&reader->region, size * sizeof(uint64_t));
	reader->no_memory |= !kernel->lost_by_cpu;
	for (size_t i = 0; kernel->lost_by_cpu && i < size; i++) {
		json_t *lost = json_array_get(array, i);

		if (!json_is_integer(lost) || json_integer_value(lost) < 0)
			note_problem(reader, "has a wrong value in ", "lost_by_cpu");
		else
			kernel->lost_by_cpu[kernel->cpu_count++] =
				(uint64_t)json_integer_value(lost);
	}
}

static void read_reduced(struct mr_manifest_private *reader, json_t *level)
{
	struct mr_manifest_kernel *kernel = &reader->manifest.kernel_level;
	json_t *array = member(reader, level, "reduced", is_array);
	size_t size = json_array_size(array);

	kernel->reduced_above = count_member(reader, level, "reduced_above");
	kernel->processes_reduced = count_member(reader, level, "reduced_count");
	kernel->all_reduced_since_ns = count_member(reader, level, "all_reduced_since_ns");
	kernel->reduced = mr_region_allocate(&reader->region, size * sizeof *kernel->reduced);
	reader->no_memory |= !kernel->reduced;
	for (size_t i = 0; kernel->reduced && i < size; i++) {
		json_t *entry = json_array_get(array, i);

		kernel->reduced[kernel->reduced_count++] = (struct mr_manifest_reduced){
			.pid = (uint32_t)count_member(reader, entry, "pid"),
			.name = text_member(reader, entry, "name"),
			.since_ns = count_member(reader, entry, "since_ns"),
		};
	}
}

static void read_kernel_level(struct mr_manifest_private *reader)
{
	struct mr_manifest_kernel *kernel = &reader->manifest.kernel_level;
	json_t *level = member(reader, reader->root, "kernel_level", is_object);
	json_t *off = member(reader, level, "off", is_array);

	kernel->mode = text_member(reader, level, "mode");
	kernel->reason = text_member(reader, level, "reason");
	kernel->syscalls = text_member(reader, level, "syscalls");
	kernel->events = count_member(reader, level, "events");
	kernel->not_followed = count_member(reader, level, "not_followed");
	kernel->guarded_threads = count_member(reader, level, "guarded_threads");
	read_lost_by_cpu(reader, level);
	read_reduced(reader, level);
	kernel->off =
		mr_region_allocate(&reader->region, json_array_size(off) * sizeof *kernel->off);
	reader->no_memory |= !kernel->off;
	for (size_t i = 0; kernel->off && i < json_array_size(off); i++) {
		json_t *entry = json_array_get(off, i);
		const char *what = text_member(reader, entry, "what");
		const char *why = text_member(reader, entry, "why");

		if (what && why)
			kernel->off[kernel->off_count++] = (struct mr_manifest_off){what, why};
		else
			note_problem(reader, "has a wrong value in ", "off");
	}
}

static void read_cpu_time(struct mr_manifest_private *reader)
{
	struct mr_manifest *manifest = &reader->manifest;
	json_t *start = member(reader, reader->root, "cpu_time_at_start", is_object);
	json_t *end = member(reader, reader->root, "cpu_time_at_end", is_object);

	if (!start || !end)
		return;
	manifest->cpu_ns =
		count_member(reader, end, "all_ns") - count_member(reader, start, "all_ns");
	manifest->stolen_ns =
		count_member(reader, end, "stolen_ns") - count_member(reader, start, "stolen_ns");
	if (manifest->stolen_ns > manifest->cpu_ns) { /* a clock of the kernel's went back */
		manifest->cpu_ns = 0;
		manifest->stolen_ns = 0;
	}
}

static void read_members(struct mr_manifest_private *reader)
{
	struct mr_manifest *manifest = &reader->manifest;
	json_t *root = reader->root;
	json_t *losses = member(reader, root, "losses", is_object);
	json_t *kept = member(reader, root, "kept", is_object);
	json_t *options = member(reader, root, "options", is_object);
	json_t *window = member(reader, root, "window", is_object);

	manifest->millrace = text_member(reader, root, "millrace");
	manifest->host = text_member(reader, root, "host");
	manifest->boot_id = text_member(reader, root, "boot_id");
	manifest->kernel = text_member(reader, root, "kernel");
	manifest->state = text_member(reader, root, "state");
	manifest->stop_reason = text_member(reader, root, "stop_reason");
	manifest->command = texts_member(reader, "command", &manifest->command_count);
	manifest->levels = texts_member(reader, "levels", &manifest->level_count);
	manifest->frameworks_seen =
		texts_member(reader, "frameworks_seen", &manifest->framework_count);
	manifest->started_realtime_ns = integer_member(reader, root, "started_realtime_ns");
	manifest->ended_realtime_ns = integer_member(reader, root, "ended_realtime_ns");
	manifest->duration_ns = integer_member(reader, root, "duration_ns");
	manifest->window_from_ticks = count_member(reader, window, "from_ticks");
	manifest->window_to_ticks = count_member(reader, window, "to_ticks");
	manifest->delay_ns = count_member(reader, options, "delay_ns");
	manifest->first_step = count_member(reader, options, "first_step");
	manifest->step_range = text_member(reader, options, "step_range");
	manifest->lost_events = count_member(reader, losses, "events");
	manifest->lost_definitions = count_member(reader, losses, "definitions");
	manifest->kept_bytes = count_member(reader, kept, "bytes");
	manifest->overwritten_packets = count_member(reader, kept, "overwritten_packets");
	manifest->overwritten_user_packets = count_member(
		reader, kept,
		json_object_get(kept, "overwritten_user_packets") ? "overwritten_user_packets"
								  : "overwritten_packets");
	manifest->kept_from_ticks = count_member(reader, kept, "from_ticks");
	json_t *recorder = member(reader, root, "recorder", is_object);
	manifest->recorder_pid = (uint32_t)count_member(reader, recorder, "pid");
	manifest->recorder_name = text_member(reader, recorder, "name");
	manifest->recorder_cpu_ns = count_member(reader, recorder, "cpu_ns");
	manifest->arena_removals =
		count_member(reader, member(reader, root, "arena", is_object), "removals");
	manifest->unseen_processes_possible =
		boolean_member(reader, root, "unseen_processes_possible");
	read_cpu_time(reader);
	read_exit(reader);
	read_processes(reader);
	read_kernel_level(reader);
}

static void read_root(struct mr_manifest_private *reader, const char *path)
{
	json_error_t error;

	mr_auto(mapping) struct mr_mapping text = {0};
	int result = mr_mapping_open(AT_FDCWD, path, &text);
	if (result == -ENOENT) {
		note_problem(reader, "is absent", "");
		return;
	}
	if (result < 0 || text.size > MAX_BYTES) {
		note_problem(reader,
			     "cannot be read: ", result < 0 ? mr_error_text() : "it is too large");
		return;
	}
	reader->root = json_loadb((const char *)text.bytes, text.size, 0, &error);
	if (!reader->root) {
		note_problem(reader, "cannot be read: ", error.text);
		return;
	}
	json_t *format = json_object_get(reader->root, "format");
	if (!json_is_integer(format))
		note_problem(reader, "does not say its format", "");
	else if (json_integer_value(format) != MR_MANIFEST_FORMAT)
		note_problem(reader, "is of a format that this version does not know", "");
	else
		read_members(reader);
}

static struct mr_manifest_private *start(void)
{
	struct mr_manifest_private *reader = calloc(1, sizeof *reader);

	if (reader)
		reader->manifest.private = reader;
	return reader;
}

int mr_manifest_read(const char *trace_path, struct mr_manifest **ret_manifest)
{
	struct mr_manifest_private *reader = start();

	if (!reader)
		return mr_fail_errno(ENOMEM, "read the manifest");
	const char *path = mr_region_print(&reader->region, "%s/manifest.json", trace_path);
	if (path)
		read_root(reader, path);
	if (!path || reader->no_memory) {
		mr_manifest_free(&reader->manifest);
		return mr_fail_errno(ENOMEM, "read the manifest");
	}
	*ret_manifest = &reader->manifest;
	return 0;
}

int mr_manifest_of(const struct mr_trace *trace, struct mr_manifest **ret_manifest)
{
	if (!trace->is_imported)
		return mr_manifest_read(trace->path, ret_manifest);
	struct mr_manifest_private *reader = start();
	if (!reader)
		return mr_fail_errno(ENOMEM, "import");
	reader->manifest.state = "imported";
	*ret_manifest = &reader->manifest;
	return 0;
}

void mr_manifest_free(struct mr_manifest *manifest)
{
	if (!manifest)
		return;
	struct mr_manifest_private *reader = manifest->private;
	json_decref(reader->root);
	mr_region_free(&reader->region);
	free(reader);
}
