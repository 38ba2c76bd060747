/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/summary.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

static bool is_plain(const char *word)
{
	return *word && word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
					  "0123456789_@%+=:,./-")] == '\0';
}

/* Appends a word, quoted where a shell would otherwise read it differently. */
static void append_quoted(FILE *text, const char *word)
{
	if (is_plain(word)) {
		fputs(word, text);
		return;
	}
	fputc('\'', text);
	for (; *word; word++) {
		if (*word == '\'')
			fputs("'\\''", text);
		else
			fputc(*word, text);
	}
	fputc('\'', text);
}

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
		append_quoted(text, manifest->command[i]);
	}
	bool is_whole = fclose(text) == 0;
	*ret_command = is_whole ? mr_region_copy(region, joined, length) : NULL;
	free(joined);
	return *ret_command ? 0 : -ENOMEM;
}

int mr_summary_make(const struct mr_model *model, struct mr_region *region,
		    struct mr_summary *ret_summary)
{
	const struct mr_manifest *manifest = model->manifest;
	const struct mr_survey *survey = model->survey;
	struct mr_summary summary = {
		.path = model->trace->path,
		.host = manifest->host,
		.wall_ns = manifest->ended_realtime_ns - manifest->started_realtime_ns,
		.exit_kind = manifest->exit_kind,
		.exit_value = manifest->exit_value,
		.started_realtime_ns = manifest->started_realtime_ns,
		.first_ns = survey->first_ns,
		.thread_count = survey->first_queue_track,
		.event_count = survey->event_count,
		.event_bytes = model->trace->event_bytes,
	};

	if (manifest->started_realtime_ns == 0 || summary.wall_ns <= 0)
		summary.wall_ns = survey->last_ns - survey->first_ns;
	for (size_t i = 0; i < survey->processes.count; i++)
		summary.process_count += survey->processes.items[i].number != MR_RECORDER_PROCESS;
	int result = join_command(manifest, region, &summary.command);
	if (result == 0)
		*ret_summary = summary;
	return result;
}
