/* SPDX-License-Identifier: Apache-2.0
 *
 * Times for which kernel-level records of a CPU are missing, found while the survey reads its stream.
 */
#ifndef MR_MODEL_SURVEY_GAPS_H
#define MR_MODEL_SURVEY_GAPS_H

#include "model/survey.h"

/* What has been read of a CPU's stream. */
struct mr_stream_reading {
	const struct mr_packet_context *context; /* of the last event; NULL before the first */
	uint64_t ticks;                          /* of the last event; 0 before the first */
	uint64_t malformed_packets;
};

/* Notes that the CPU's records of this time are missing, if it is any. -ENOMEM. */
int mr_survey_note_gap(struct mr_survey *survey, uint32_t cpu, uint64_t begin_ticks,
		       uint64_t end_ticks);

/* Where the buffer was full, what is lost lies between the loss and the event before it; where packets are
 * missing or were given up, it ends with the next one's beginning. */
int mr_survey_look_for_gap(struct mr_survey *survey, struct mr_stream_reading *last,
			   const struct mr_event *event, const struct mr_cursor *cursor);

#endif
