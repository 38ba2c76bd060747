/* SPDX-License-Identifier: Apache-2.0 */
#include "model/spans.h"

static void widen(int64_t *first_ns, int64_t *last_ns, int64_t begin_ns, int64_t end_ns)
{
	*first_ns = mr_min(*first_ns, begin_ns);
	*last_ns = mr_max(*last_ns, end_ns);
}

static void span_stream(struct mr_survey *survey, const struct mr_trace_stream *stream)
{
	const struct mr_clock_map *clock =
		mr_clocks_of_stream(survey->clocks, stream->stream_class);
	uint32_t gap = 0;

	for (uint32_t i = 0; i < stream->packet_count; i++) {
		const struct mr_packet_context *context = &stream->packets[i].packet->context;
		int64_t begin_ns = mr_clock_to_ns_near(clock, context->begin_ticks, &gap);
		int64_t end_ns = mr_clock_to_ns_near(clock, context->end_ticks, &gap);
		uint32_t process, track;

		widen(&survey->first_ns, &survey->last_ns, begin_ns, end_ns);
		if (stream->stream_class == MR_STREAM_KERNEL)
			widen(&survey->first_kernel_ns, &survey->last_kernel_ns, begin_ns, end_ns);
		mr_survey_find(survey, context, &process, &track);
		widen(&survey->processes.items[process].first_ns,
		      &survey->processes.items[process].last_ns, begin_ns, end_ns);
		if (track != MR_NO_TRACK)
			widen(&survey->tracks.items[track].first_ns,
			      &survey->tracks.items[track].last_ns, begin_ns, end_ns);
		if (stream->stream_class == MR_STREAM_USER) {
			survey->first_user_ticks =
				mr_min(survey->first_user_ticks, context->begin_ticks);
			survey->last_user_ticks =
				mr_max(survey->last_user_ticks, context->end_ticks);
		}
	}
}

static void span_all(struct mr_survey *survey)
{
	survey->first_user_ticks = UINT64_MAX;
	survey->first_ns = survey->first_kernel_ns = INT64_MAX;
	survey->last_ns = survey->last_kernel_ns = INT64_MIN;
	for (uint32_t i = 0; i < survey->trace->stream_count; i++)
		span_stream(survey, &survey->trace->streams[i]);
	if (survey->first_ns > survey->last_ns)
		survey->first_ns = survey->last_ns = 0; /* a trace without packets */
	if (survey->first_user_ticks > survey->last_user_ticks)
		survey->first_user_ticks = survey->last_user_ticks = 0;
}

/* A process that left no packet is known to have been there when it attached. */
static void span_silent(struct mr_survey *survey, const uint64_t *starts)
{
	for (size_t i = 0; i < survey->processes.count; i++) {
		struct mr_process *process = &survey->processes.items[i];

		if (process->first_ns > process->last_ns && starts[i])
			process->first_ns = process->last_ns =
				mr_clock_to_ns(survey->clocks->user, starts[i]);
	}
}

void mr_survey_span(struct mr_survey *survey, const uint64_t *starts)
{
	span_all(survey);
	span_silent(survey, starts);
}

int mr_sightings_note(struct mr_sightings *sightings, uint32_t track, uint64_t ticks)
{
	while (sightings->count <= track)
		if (mr_vec_push(sightings, ((struct mr_sighting){0})) < 0)
			return -ENOMEM;
	struct mr_sighting *sighting = &sightings->items[track];
	if (sighting->last_ticks == 0)
		sighting->first_ticks = ticks;
	sighting->last_ticks = ticks;
	return 0;
}

void mr_sightings_span(const struct mr_sightings *sightings, struct mr_survey *survey)
{
	for (size_t i = 0; i < sightings->count; i++) {
		const struct mr_sighting *sighting = &sightings->items[i];
		struct mr_track *track = &survey->tracks.items[i];

		if (sighting->last_ticks)
			widen(&track->first_ns, &track->last_ns,
			      mr_clock_to_ns(survey->clocks->user, sighting->first_ticks),
			      mr_clock_to_ns(survey->clocks->user, sighting->last_ticks));
	}
}

/* ---- the program ----------------------------------------------------------------------------------- */

static bool is_recorders(const struct mr_trace_stream *stream)
{
	return stream->stream_class == MR_STREAM_USER && stream->packet_count &&
	       stream->packets[0].packet->context.process == MR_RECORDER_PROCESS;
}

static void span_events(const struct mr_survey *survey, int64_t *ret_first_ns, int64_t *ret_last_ns)
{
	for (uint32_t i = 0; i < survey->trace->stream_count; i++) {
		const struct mr_trace_stream *stream = &survey->trace->streams[i];
		const struct mr_clock_map *clock =
			mr_clocks_of_stream(survey->clocks, stream->stream_class);

		if (stream->kind != MR_PACKET_EVENTS || is_recorders(stream))
			continue;
		for (uint32_t k = 0; k < stream->packet_count; k++) {
			const struct mr_packet_context *context =
				&stream->packets[k].packet->context;

			widen(ret_first_ns, ret_last_ns,
			      mr_clock_to_ns(clock, context->begin_ticks),
			      mr_clock_to_ns(clock, context->end_ticks));
		}
	}
}

/* When the kernel saw the last task end; INT64_MIN if it did not see all of them end. */
static int64_t last_exit_ns(const struct mr_tasks *tasks)
{
	int64_t last_ns = INT64_MIN;

	for (size_t i = 0; i < tasks->list.count; i++) {
		if (tasks->list.items[i].end == MR_TASK_RUNNING)
			return INT64_MIN;
		last_ns = mr_max(last_ns, tasks->list.items[i].end_ns);
	}
	return last_ns;
}

static uint64_t clamp_ticks(const struct mr_survey *survey, uint64_t ticks)
{
	return mr_min(mr_max(ticks, survey->first_user_ticks), survey->last_user_ticks);
}

void mr_survey_span_program(struct mr_survey *survey, uint64_t from_ticks, uint64_t to_ticks)
{
	int64_t first_ns = INT64_MAX, last_ns = INT64_MIN;

	if (!from_ticks || (to_ticks && to_ticks < from_ticks))
		return;
	/* The recorder was there before and after: what lies outside cannot be. */
	from_ticks = clamp_ticks(survey, from_ticks);
	to_ticks = to_ticks ? clamp_ticks(survey, to_ticks) : 0;
	span_events(survey, &first_ns, &last_ns);
	survey->first_ns = mr_min(first_ns, mr_clock_to_ns(survey->clocks->user, from_ticks));
	if (to_ticks) {
		int64_t exit_ns = last_exit_ns(&survey->tasks);

		if (exit_ns == INT64_MIN) /* the recorder has seen it a little later */
			exit_ns = mr_clock_to_ns(survey->clocks->user, to_ticks);
		survey->last_ns = mr_max(last_ns, exit_ns);
	}
	survey->last_ns = mr_max(survey->last_ns, survey->first_ns);
}

/* ---- levels -------------------------------------------------------------------------------------- */

void mr_switching_note(struct mr_switching *switching, const struct mr_event *event)
{
	const struct mr_event_recording_switched *said = event->payload;
	uint64_t *ticks = said->is_on ? &switching->on_ticks : &switching->off_ticks;

	*ticks = mr_max(*ticks, event->ticks);
}

static struct mr_switched place(const struct mr_clock_map *clock,
				const struct mr_switching *switching)
{
	uint64_t on_ticks = switching->on_ticks, off_ticks = switching->off_ticks;

	return (struct mr_switched){
		on_ticks ? mr_clock_to_ns(clock, on_ticks) : INT64_MIN,
		off_ticks > on_ticks ? mr_clock_to_ns(clock, off_ticks) : INT64_MAX,
	};
}

void mr_survey_span_levels(struct mr_survey *survey, const struct mr_switching *by_recorder,
			   const struct mr_switching *by_program)
{
	survey->kernel_recorded = place(survey->clocks->user, by_recorder);
	survey->recorded = by_program->on_ticks ? place(survey->clocks->user, by_program)
						: survey->kernel_recorded;
}
