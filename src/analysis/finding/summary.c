/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/finding/summary.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

#include "base/quote.h"

static int join_command(const struct mr_manifest *manifest, struct mr_region *region,
			const char **ret_command)
{
	char *joined = NULL;
	size_t length = 0;

	if (manifest->command_count == 0)
		return 0;
	FILE *text = open_memstream(&joined, &length);
	if (!text)
		return -ENOMEM;
	for (size_t i = 0; i < manifest->command_count; i++) {
		if (i)
			fputc(' ', text);
		mr_quote_print(text, manifest->command[i]);
	}
	bool is_whole = fclose(text) == 0;
	*ret_command = is_whole ? mr_region_copy(region, joined, length) : NULL;
	free(joined);
	return *ret_command ? 0 : -ENOMEM;
}

static bool is_recording(const struct mr_manifest *manifest)
{
	return manifest->state && strcmp(manifest->state, "recording") == 0 &&
	       manifest->started_realtime_ns > 0;
}

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* The span of the trace where the manifest does not know, or what it says cannot be. */
static int64_t run_ns(const struct mr_model *model)
{
	const struct mr_manifest *manifest = model->manifest;
	int64_t wall_ns = manifest->duration_ns;

	if (is_recording(manifest))
		return mr_max(INT64_C(0), now_ns() - manifest->started_realtime_ns);
	if (wall_ns <= 0 && (manifest->started_realtime_ns == 0 ||
			     __builtin_sub_overflow(manifest->ended_realtime_ns,
						    manifest->started_realtime_ns, &wall_ns)))
		wall_ns = 0;
	return wall_ns > 0 ? wall_ns : model->survey->last_ns - model->survey->first_ns;
}

/* After an exec the same process goes on, though the trace gives it a new number. */
static bool is_counted(const struct mr_survey *survey, const struct mr_process *process)
{
	const struct mr_process *parent = &survey->processes.items[process->parent];

	return process->number != MR_RECORDER_PROCESS &&
	       (parent == process || parent->pid != process->pid);
}

int mr_summary_make(const struct mr_model *model, struct mr_region *region,
		    struct mr_summary *ret_summary)
{
	const struct mr_manifest *manifest = model->manifest;
	const struct mr_survey *survey = model->survey;
	struct mr_summary summary = {
		.path = model->trace->path,
		.host = manifest->host,
		.wall_ns = run_ns(model),
		.is_recording = is_recording(manifest),
		.exit_kind = manifest->exit_kind,
		.exit_value = manifest->exit_value,
		.started_realtime_ns = manifest->started_realtime_ns,
		.first_ns = survey->first_ns,
		.window = mr_model_window(model),
		.thread_count = survey->first_queue_track,
		.event_count = survey->event_count,
		.event_bytes = model->trace->event_bytes,
	};

	for (size_t i = 0; i < survey->processes.count; i++)
		summary.process_count += is_counted(survey, &survey->processes.items[i]);
	/* So does its thread. */
	for (size_t i = 0; i < survey->tasks.list.count; i++)
		summary.thread_count -= survey->tasks.list.items[i].previous != MR_NO_TASK;
	int result = join_command(manifest, region, &summary.command);
	if (result == 0)
		*ret_summary = summary;
	return result;
}
