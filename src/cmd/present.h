/* SPDX-License-Identifier: Apache-2.0
 *
 * What `info` and `report` have in common: load a trace, ask the analyses, print the findings.
 */
#ifndef MR_CMD_PRESENT_H
#define MR_CMD_PRESENT_H

#include <stdbool.h>

#include "analysis/analysis.h"

typedef int mr_analysis(const struct mr_model *model, struct mr_findings *findings);

/* `analyses` is ended by NULL. `brief`: say little of what is fine. */
int mr_present(int count, char **operands, mr_analysis *const *analyses, bool json, bool brief);

#endif
