/* SPDX-License-Identifier: Apache-2.0
 *
 * The part of a trace that the user selected: a step, a stretch of time, a process.
 */
#ifndef MR_CMD_PART_H
#define MR_CMD_PART_H

#include "model/model.h"

#define MR_NOT_GIVEN UINT64_MAX

struct mr_part_options {
	uint64_t step;
	uint64_t from_ns; /* since the beginning of the trace */
	uint64_t to_ns;
	const char *process;    /* pid or name; NULL: all */
	const char *step_range; /* name of the ranges that are steps; NULL: as recorded */
	bool whole;             /* all of the time, even if the program has steps */
};

#define MR_NO_PART                                                          \
	{                                                                   \
		MR_NOT_GIVEN, MR_NOT_GIVEN, MR_NOT_GIVEN, NULL, NULL, false \
	}

/* *ret_cut is NULL if the part is the whole trace. If no time is given and the program has steps, the part is those
 * (mr_steps_steady), unless the whole is wanted. Otherwise it is at most the time that was recorded with --delay, --duration or --steps, and of a process the time that it lived in that. If several processes have the
 * name that is given, stderr says which one was chosen. -ENOENT with a cause if there is no such part. */
int mr_part_find(const struct mr_model *model, const struct mr_part_options *options,
		 struct mr_model **ret_cut);

/* "step 7 of process 812 (loader)", of a model that was cut; NULL if there is no memory. */
const char *mr_part_text(const struct mr_model *cut, const struct mr_part_options *options,
			 struct mr_region *region);

/* No part was selected, so that it is the steps. */
static inline bool mr_part_is_steps(const struct mr_part_options *options)
{
	return options->step == MR_NOT_GIVEN && options->from_ns == MR_NOT_GIVEN &&
	       options->to_ns == MR_NOT_GIVEN && !options->whole;
}

#endif
