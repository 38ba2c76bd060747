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
