/* SPDX-License-Identifier: Apache-2.0
 *
 * Count and time of each name, for the tables that are searched by name and for files. Read-only once made.
 */
#ifndef MR_TIMELINE_NAMES_H
#define MR_TIMELINE_NAMES_H

#include "timeline/label_sums.h"
#include "timeline/slices.h"

struct mr_view;

struct mr_names {
	struct mr_label_sums by_table[MR_SLICED_COUNT]; /* empty of tables that have no names */
	struct mr_label_sums by_file; /* system calls; labels are files of the definitions */
};

/* 0, or a negative errno with a cause. */
int mr_names_make(struct mr_view *view, struct mr_names *ret_names);
void mr_names_free(struct mr_names *names);

#endif
