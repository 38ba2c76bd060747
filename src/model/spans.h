/* SPDX-License-Identifier: Apache-2.0
 *
 * From when to when the trace, its processes and its threads last, from the packets' times.
 */
#ifndef MR_MODEL_SPANS_H
#define MR_MODEL_SPANS_H

#include "model/survey.h"

/* Processes, user tracks and clocks must be known. `starts`: by process, ticks of the user clock when it
 * attached; 0 if not known. */
void mr_survey_span(struct mr_survey *survey, const uint64_t *starts);

#endif
