/* SPDX-License-Identifier: Apache-2.0 */
#include "import/import.h"

#include <errno.h>
#include <inttypes.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/progress.h"
#include "import/chrome/kineto.h"

#define SECOND_NS 1000000000

static int list_damages(const struct mr_kineto *kineto, struct mr_region *region,
			struct mr_trace_damage **ret_damages)
{
	size_t count = kineto->faults.list.count;
	struct mr_trace_damage *damages = mr_region_allocate(region, (count + 1) * sizeof *damages);

	if (!damages)
		return mr_fail_errno(ENOMEM, "import");
	for (size_t i = 0; i < count; i++) {
		const struct mr_import_fault *fault = &kineto->faults.list.items[i];
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

/* Times are nanoseconds since the file's time 0. */
static struct mr_metadata describe(const struct mr_kineto *kineto)
{
	const struct mr_metadata_clock clock = {
		.description = "the imported file's own",
		.frequency = SECOND_NS,
		.offset_s = kineto->base_ns / SECOND_NS,
		.offset_ticks = (uint64_t)(kineto->base_ns % SECOND_NS),
		.precision_ns = kineto->has_fractions ? 1 : 1000,
	};

	return (struct mr_metadata){.host = "",
				    .user = clock,
				    .user_clock = MR_trace_clock_monotonic,
				    .monotonic = clock};
}

static int make_trace(const char *path, struct mr_kineto *kineto, struct mr_trace **ret_trace)
{
	const struct mr_metadata metadata = describe(kineto);
	mr_auto(mapping) struct mr_mapping packets = {0};
	struct mr_region region = {0};
	struct mr_trace_damage *damages = NULL;
	int result = mr_builder_finish(&kineto->builder, metadata.trace_uuid, &packets);

	if (result == 0)
		result = list_damages(kineto, &region, &damages);
	if (result == 0)
		result = mr_trace_of_memory(path, &metadata, &packets, damages,
					    (uint32_t)kineto->faults.list.count, ret_trace);
	mr_region_free(&region);
	return result;
}

static int read_file(const char *path, struct mr_kineto *kineto)
{
	struct mr_source source;
	int result = mr_source_open(path, &source);

	if (result < 0)
		return result;
	result = mr_chrome_read(&source, &kineto->reader);
	mr_source_close(&source);
	return result < 0 ? result : mr_kineto_complete(kineto);
}

static int import_file(const char *path, struct mr_trace **ret_trace)
{
	struct mr_kineto kineto;
	int result = mr_kineto_start(&kineto);

	if (result == 0)
		result = read_file(path, &kineto);
	result = result < 0 ? mr_fail_more(result, "%s", path)
			    : make_trace(path, &kineto, ret_trace);
	mr_kineto_free(&kineto);
	return result;
}

int mr_import_open(const char *path, struct mr_trace **ret_trace)
{
	struct stat status;

	/* What is not there, or not accessible, is for mr_trace_open() to tell. */
	if (stat(path, &status) < 0 || S_ISDIR(status.st_mode))
		return mr_trace_open(path, ret_trace);
	mr_progress_begin("reading the file", (uint64_t)status.st_size);
	return import_file(path, ret_trace);
}
