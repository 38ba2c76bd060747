/* SPDX-License-Identifier: Apache-2.0
 *
 * Parts of the analysis of input and output.
 */
#ifndef MR_ANALYSIS_INPUT_OUTPUT_H
#define MR_ANALYSIS_INPUT_OUTPUT_H

#include "analysis/finding/finding.h"
#include "model/model.h"

/* Are there system calls that are about a file? */
bool mr_has_files(const struct mr_model *model);

/* Adds a table of what threads did with each file, pipe and socket. -ENOMEM. */
int mr_tabulate_files(const struct mr_model *model, struct mr_findings *findings,
		      struct mr_finding *finding);

#endif
