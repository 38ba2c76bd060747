/* SPDX-License-Identifier: Apache-2.0 */
#include "import/import.h"

#include <errno.h>
#include <inttypes.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/progress.h"
#include "import/formats.h"

/* ---- what was read -------------------------------------------------------------------------------- */

static int list_damages(const struct mr_import *import, struct mr_region *region,
			struct mr_trace_damage **ret_damages)
{
	size_t count = import->faults.list.count;
	struct mr_trace_damage *damages = mr_region_allocate(region, (count + 1) * sizeof *damages);

	if (!damages)
		return mr_fail_errno(ENOMEM, "import");
	for (size_t i = 0; i < count; i++) {
		const struct mr_import_fault *fault = &import->faults.list.items[i];
		char *reason = fault->count == 1 ? mr_region_print(region, "%s", fault->reason)
						 : mr_region_print(region, "%s (%" PRIu64 " times)",
								   fault->reason, fault->count);

		if (!reason)
			return mr_fail_errno(ENOMEM, "import");
		damages[i] = (struct mr_trace_damage){
			.offset = fault->offset, .lost_bytes = fault->bytes, .reason = reason};
	}
	*ret_damages = damages;
	return 0;
}

static int make_trace(struct mr_import *import, struct mr_trace **ret_trace)
{
	const struct mr_metadata metadata = mr_builder_metadata(&import->builder);
	mr_auto(mapping) struct mr_mapping packets = {0};
	struct mr_region region = {0};
	struct mr_trace_damage *damages = NULL;
	int result = mr_builder_finish(&import->builder, metadata.trace_uuid, &packets);

	if (result == 0)
		result = list_damages(import, &region, &damages);
	if (result == 0)
		result = mr_trace_of_memory(import->path, &metadata, &packets, damages,
					    (uint32_t)import->faults.list.count, ret_trace);
	if (result == 0)
		(*ret_trace)->is_imported = true;
	mr_region_free(&region);
	return result;
}

/* ---- reading -------------------------------------------------------------------------------------- */

static int read_as(const struct mr_format *format, const char *path, struct mr_source *source,
		   struct mr_trace **ret_trace)
{
	struct mr_import import = {.path = path, .source = source};
	int result = mr_builder_start(&import.builder);

	if (result == 0)
		result = format->read(&import);
	if (result == -ENOMEM)
		mr_fail_errno(ENOMEM, "import");
	result = result < 0 ? mr_fail_more(result, "%s", path) : make_trace(&import, ret_trace);
	mr_builder_free(&import.builder);
	mr_import_faults_free(&import.faults);
	return result;
}

static int read_file(const char *path, struct mr_trace **ret_trace)
{
	struct mr_source source;
	int result = mr_source_open(path, &source);

	if (result < 0)
		return mr_fail_more(result, "%s", path);
	struct mr_head head = {.path = path, .is_whole = mr_source_fill_head(&source)};
	head.bytes = (const uint8_t *)source.at;
	head.count = (size_t)(source.end - source.at);
	const struct mr_format *format = mr_format_choose(mr_formats, &head);
	if (format)
		result = read_as(format, path, &source, ret_trace);
	else if (source.problem && head.count == 0)
		result = mr_fail_more(mr_fail(EINVAL, "not a trace: %s", source.problem), "%s",
				      path);
	else
		result = mr_fail_more(mr_format_refuse(mr_formats, &head), "%s", path);
	mr_source_close(&source);
	return result;
}

/* Folders that no format knows are millrace's own. */
static int read_folder(const char *path, struct mr_trace **ret_trace)
{
	const struct mr_head head = {
		.path = path, .bytes = (const uint8_t *)"", .is_whole = true, .is_folder = true};
	const struct mr_format *format = mr_format_choose(mr_formats, &head);

	return format ? read_as(format, path, NULL, ret_trace) : mr_trace_open(path, ret_trace);
}

int mr_import_open(const char *path, struct mr_trace **ret_trace)
{
	struct stat status;

	/* What is not there, or not accessible, is for mr_trace_open() to say. */
	if (stat(path, &status) < 0)
		return mr_trace_open(path, ret_trace);
	if (S_ISDIR(status.st_mode))
		return read_folder(path, ret_trace);
	mr_progress_begin("reading the file", (uint64_t)status.st_size);
	return read_file(path, ret_trace);
}
