/* SPDX-License-Identifier: Apache-2.0
 *
 * Crowds: culprits of one kind that are many, and of which none stands out. A build has thousands of short-lived
 * processes, a data set thousands of files; tables name the kind then, and how many there are.
 *
 *     thread 812 'true', thread 813 'true', ...        300 'true' processes
 *     /data/train/0001, /data/train/0002, ...          2000 files in /data/train
 *
 * Only names change: the times of the members are added up, and sums stay as they were. Read-only once made.
 */
#ifndef MR_ANALYSIS_CROWD_H
#define MR_ANALYSIS_CROWD_H

#include "analysis/cause/cause.h"

/* Borrows the model. */
struct mr_crowds {
	const struct mr_model *model;
	uint32_t *first_in_folder; /* by file: the first file in its folder */
};

int mr_crowds_make(const struct mr_model *model, struct mr_crowds *ret_crowds);
void mr_crowds_free(struct mr_crowds *crowds);

/* As mr_widen_key of tally.h, of a link; `crowds` is a struct mr_crowds. False if its culprit has no kind. */
bool mr_link_widen(const void *crowds, void *link, uint32_t members);

/* "300 'true' processes", of threads: the string of their name. From the region, or NULL. */
const char *mr_crowd_text(const struct mr_model *model, struct mr_region *region, uint32_t name,
			  uint32_t crowd);

/* What distinguishes the crowd of a thread: whether its members are processes, and how many they are. Never 0. */
uint32_t mr_crowd_of_thread(const struct mr_model *model, uint32_t track, uint32_t members);
uint32_t mr_crowd_of_tasks(uint32_t members);

#endif
