/* SPDX-License-Identifier: Apache-2.0
 *
 * The line of the program that a problem leads to. Threads are most often inside a library when time is lost, so what counts
 * is the innermost line that the user wrote: a file that belongs neither to Python nor to an installed package.
 *
 *     read() ◄── json/decoder.py:338 decode ◄── train.py:12 Images.__getitem__ ◄── torch/utils/data/fetch.py:49
 *                                               counts
 */
#ifndef MR_ANALYSIS_PROBLEM_OWN_LINE_H
#define MR_ANALYSIS_PROBLEM_OWN_LINE_H

#include "analysis/problem/problem.h"

/* Adds to problem->why in which function most of what is claimed was spent, and its line, if there is one that matters and no
 * line is named there yet. -ENOMEM. */
int mr_problem_name_line(struct mr_case *of, struct mr_problem *problem);

#endif
