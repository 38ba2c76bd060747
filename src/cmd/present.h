/* SPDX-License-Identifier: Apache-2.0
 *
 * What `info` and `report` have in common: load a trace, ask the analyses, print the findings.
 */
#ifndef MR_CMD_PRESENT_H
#define MR_CMD_PRESENT_H

#include <stdbool.h>

#include "analysis/analysis.h"
#include "cmd/part.h"

struct mr_presentation {
	mr_analysis *const *analyses;       /* ended by NULL */
	const struct mr_part_options *part; /* NULL: the whole trace */
	bool json;
	bool brief;       /* say little of what is fine, and in JSON the answers first */
	const char *html; /* file that becomes a page; NULL: text or JSON is printed */
};

int mr_present(int count, char **operands, const struct mr_presentation *presentation);

#endif
