/* SPDX-License-Identifier: Apache-2.0
 *
 * Names of the parts of a trace in the viewer. Texts live as long as the model and the region.
 */
#ifndef MR_TIMELINE_WORDS_H
#define MR_TIMELINE_WORDS_H

#include "timeline/view.h"

/* The command without the folders in it, "python train.py"; or the name of the trace. NULL without memory. */
const char *mr_trace_title(const struct mr_model *model, struct mr_region *region);

/* The levels from which the trace has records. */
struct mr_levels {
	bool dataflow;
	bool runtime;
	bool kernel;
};

struct mr_levels mr_trace_levels(const struct mr_model *model);

enum {
	MR_MISSING_MOST = 4
};

/* Sentences about what the trace does not contain; -ENOMEM. */
int mr_trace_missing(const struct mr_model *model, struct mr_region *region,
		     const char *ret_sentences[MR_MISSING_MOST], uint32_t *ret_count);

/* The last part of the program's path. */
const char *mr_process_title(const struct mr_model *model, uint32_t process);

/* "loader 812", "queue 0", "CPU 3". NULL without memory. */
const char *mr_track_title(const struct mr_model *model, uint32_t track, struct mr_region *region);

/* What the band shows, within its group. NULL without memory. */
const char *mr_band_title(const struct mr_view *view, const struct mr_band *band,
			  struct mr_region *region);

struct mr_group_words {
	const char *title;
	const char *about; /* what else is known; "" for nothing */
};

int mr_group_describe(const struct mr_view *view, const struct mr_band_group *group,
		      struct mr_region *region, struct mr_group_words *ret_words);

#endif
