/* SPDX-License-Identifier: Apache-2.0
 *
 * What `info` and `report` have in common: load a trace, run the analyses, print the findings.
 */
#ifndef MR_CMD_PRESENT_H
#define MR_CMD_PRESENT_H

#include <stdbool.h>

#include "analysis/analysis.h"
#include "cmd/part.h"

struct mr_presentation {
	mr_analysis *const *analyses;       /* terminated by NULL */
	const struct mr_part_options *part; /* NULL: the whole trace */
	bool json;
	bool brief;          /* shorten what is fine; JSON begins with the answers */
	const char *html;    /* write a page to this file; NULL: print text or JSON */
	bool tells_damage;   /* a damaged trace is said on stderr, too, and MR_EXIT_DAMAGED */
	const char *verdict; /* finding whose warning is the exit status 1; NULL: there is none */
};

/* The exit status, or a negative errno. */
int mr_present(int count, char **operands, const struct mr_presentation *presentation);

#endif
