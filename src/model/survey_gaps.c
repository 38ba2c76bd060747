/* SPDX-License-Identifier: Apache-2.0 */
#include "model/survey_gaps.h"

int mr_survey_note_gap(struct mr_survey *survey, uint32_t cpu, uint64_t begin_ticks,
		       uint64_t end_ticks)
{
	struct mr_gap gap = {
		.host = MR_OWN_HOST,
		.cpu = cpu,
		.begin_ns = (int64_t)mr_min(begin_ticks, (uint64_t)MR_CLOCK_MAX_NS),
		.end_ns = (int64_t)mr_min(end_ticks, (uint64_t)MR_CLOCK_MAX_NS),
	};

	return gap.begin_ns < gap.end_ns ? mr_vec_push(&survey->gaps, gap) : 0;
}

int mr_survey_look_for_gap(struct mr_survey *survey, struct mr_stream_reading *last,
			   const struct mr_event *event, const struct mr_cursor *cursor)
{
	const struct mr_packet_context *context = event->context;
	const struct mr_event_loss *loss = event->payload;
	int result = 0;

	if (mr_unlikely(context != last->context) &&
	    ((last->context && context->sequence > last->context->sequence + 1) ||
	     cursor->malformed_packets != last->malformed_packets))
		result =
			mr_survey_note_gap(survey, context->tid, last->ticks, context->begin_ticks);
	else if (mr_unlikely(event->desc->id == MR_EVENT_loss) &&
		 loss->reason == MR_loss_reason_kernel_buffer_full)
		result = mr_survey_note_gap(survey, context->tid, last->ticks, event->ticks);
	*last = (struct mr_stream_reading){context, event->ticks, cursor->malformed_packets};
	return result;
}
