/* SPDX-License-Identifier: Apache-2.0 */
#include "model/other_tracks.h"

#include <stdio.h>
#include <string.h>

#include "model/table.h"
#include "model/task_tracks.h"

static int add_queue_tracks(struct mr_survey *survey)
{
	const struct mr_definitions *definitions = &survey->definitions;

	survey->first_queue_track = (uint32_t)survey->tracks.count;
	for (size_t i = 1; i < definitions->queues.count; i++) {
		const struct mr_queue *queue = &definitions->queues.items[i];
		struct mr_track track = {
			.kind = MR_TRACK_QUEUE,
			.process = queue->process,
			.queue = (uint32_t)i,
			.cpu = MR_NO_CPU,
			.name = queue->name,
			.first_ns = INT64_MAX,
			.last_ns = INT64_MIN,
		};

		if (mr_vec_push(&survey->tracks, track) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int add_cpu_tracks(struct mr_survey *survey)
{
	uint32_t recorder = 0;

	mr_survey_find_process(survey, MR_OWN_HOST, MR_RECORDER_PROCESS, &recorder);
	survey->first_cpu_track = (uint32_t)survey->tracks.count;
	for (uint32_t i = 0; i < mr_strings_count(&survey->cpu_keys); i++) {
		struct mr_track track = {
			.kind = MR_TRACK_CPU,
			.process = recorder,
			.first_ns = survey->first_kernel_ns,
			.last_ns = survey->last_kernel_ns,
		};
		struct mr_host_key key;
		char name[24];

		memcpy(&key, mr_strings_text(&survey->cpu_keys, i), sizeof key);
		track.host = key.host;
		track.cpu = key.number;
		snprintf(name, sizeof name, "CPU %u", track.cpu);
		if (mr_strings_intern(&survey->definitions.strings, name, strlen(name),
				      &track.name) < 0 ||
		    mr_vec_push(&survey->tracks, track) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* What the program calls a thread says more than what the kernel does. */
static void name_threads(struct mr_survey *survey)
{
	for (size_t i = 0; i < survey->tracks.count; i++)
		if (survey->tracks.items[i].name == 0)
			survey->tracks.items[i].name = survey->tracks.items[i].kernel_name;
}

const char *mr_thread_role_text(uint8_t role)
{
	static const char *const texts[MR_ROLE_COUNT] = {
		[MR_ROLE_INPUT] = ", works for the input pipeline",
		[MR_ROLE_LOADER] = ", loads data",
		[MR_ROLE_AUTOGRAD] = ", computes gradients (autograd)",
		[MR_ROLE_INTER_OP] = ", executes operations (inter-op)",
		[MR_ROLE_INTRA_OP] = ", helps to execute operations (intra-op)",
		[MR_ROLE_POLLER] = ", waits for devices",
	};

	return role < MR_ROLE_COUNT && texts[role] ? texts[role] : "";
}

int mr_other_tracks_add(struct mr_survey *survey)
{
	if (mr_tasks_join(survey) < 0)
		return -ENOMEM;
	name_threads(survey);
	return add_queue_tracks(survey) < 0 || add_cpu_tracks(survey) < 0 ? -ENOMEM : 0;
}
