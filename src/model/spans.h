/* SPDX-License-Identifier: Apache-2.0
 *
 * The first and last times of the trace, its processes and its threads, from the packets' times.
 */
#ifndef MR_MODEL_SPANS_H
#define MR_MODEL_SPANS_H

#include "model/survey.h"

/* Processes, user tracks and clocks must be known. `starts`: by process, ticks of the user clock when it
 * attached; 0 if not known. */
void mr_survey_span(struct mr_survey *survey, const uint64_t *starts);

/* Makes the trace's span that of the program: from its start to the end of the last traced process, without the
 * recorder's own packets. Ticks of the user clock; 0: not known. Tasks must be known. */
void mr_survey_span_program(struct mr_survey *survey, uint64_t from_ticks, uint64_t to_ticks);

/* Ticks of the user clock when levels were last switched on, and off; 0: never. */
struct mr_switching {
	uint64_t on_ticks;
	uint64_t off_ticks;
};

/* Levels are on once at most, in the middle; where they were off from the beginning, the recorder says that, too. Events
 * may come in any order: each thread has a stream of its own. */
void mr_switching_note(struct mr_switching *switching, const struct mr_event *event);

/* Finds out from when to when levels were on. A program that counts steps switches its own; the recorder follows. */
void mr_survey_span_levels(struct mr_survey *survey, const struct mr_switching *by_recorder,
			   const struct mr_switching *by_program);

/* When threads were seen from outside: a vector, by track. */
struct mr_sightings {
	struct mr_sighting {
		uint64_t first_ticks, last_ticks; /* of the user clock; 0: never */
	} * items;
	size_t count;
	size_t capacity;
};

/* -ENOMEM. */
int mr_sightings_note(struct mr_sightings *sightings, uint32_t track, uint64_t ticks);

/* A thread that was seen was there: widens the spans of tracks, which must be known otherwise. */
void mr_sightings_span(const struct mr_sightings *sightings, struct mr_survey *survey);

#endif
