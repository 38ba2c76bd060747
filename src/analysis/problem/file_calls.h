/* SPDX-License-Identifier: Apache-2.0
 *
 * What system calls do with files, by their names.
 */
#ifndef MR_ANALYSIS_PROBLEM_FILE_CALLS_H
#define MR_ANALYSIS_PROBLEM_FILE_CALLS_H

#include "analysis/problem/subject.h"

enum mr_file_call {
	MR_FILE_CALL_NONE,
	MR_FILE_CALL_READS,
	MR_FILE_CALL_WRITES,  /* or waits until that is done */
	MR_FILE_CALL_CHANGES, /* a folder, or all files: the trace need not know one */
};

/* By number of the system call, as many as the trace defines; to be freed. NULL without memory. */
uint8_t *mr_file_calls_make(const struct mr_model *model);

/* What the station's thread does with a file that is no device, whether it has a CPU or not. */
enum mr_file_call mr_station_file_call(const struct mr_model *model, const uint8_t *file_calls,
				       const struct mr_station *station);

#endif
