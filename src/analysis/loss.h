/* SPDX-License-Identifier: Apache-2.0
 *
 * What is not in a trace, and why: counts for the trace's health, and the reason for a trace that holds
 * nothing of the program. Pure functions of the model.
 */
#ifndef MR_ANALYSIS_LOSS_H
#define MR_ANALYSIS_LOSS_H

#include "model/model.h"

enum {
	MR_EMPTY_BYTES = 400, /* room for any sentence of mr_explain_empty() */
	MR_NAMES_BYTES = 120
};

/* Events that could not be recorded. */
uint64_t mr_count_lost_events(const struct mr_model *model);

/* Bytes that were recorded and are in no file now, not even as damage. */
uint64_t mr_count_missing_bytes(const struct mr_model *model);

/* The names, with commas, of what the program loaded and this version of millrace does not trace; false if nothing. */
bool mr_name_not_traced(const struct mr_survey *survey, char names[MR_NAMES_BYTES]);

/* True when the trace holds nothing from inside the program; then `sentence` says why. */
bool mr_explain_empty(const struct mr_model *model, char sentence[MR_EMPTY_BYTES]);

#endif
