/* SPDX-License-Identifier: Apache-2.0
 *
 * Values over time: counters, by process and name; live memory, by process, device and source (runtime or framework),
 * and by allocator if there are several.
 *
 *     changes   ├─ 3 ──┤─ 7 ──────┤ 2 ┤───── 5 ───          each holds until the next
 *     pixels    │ low 3 high 7 last 7  │ low 2 ...          of all changes in the pixel
 *
 * The list is made first. The values follow later, all at once, and cost much more. Each block of MR_SERIES_BLOCK values
 * stores its minimum and maximum, so that a large window does not take longer.
 *
 * Read-only once filled in. Owns its memory; borrows nothing.
 */
#ifndef MR_TIMELINE_SERIES_H
#define MR_TIMELINE_SERIES_H

#include "analysis/live_set.h"
#include "base/strings.h"
#include "model/pixels.h"

enum {
	MR_SERIES_BLOCK = 64
};

struct mr_series {
	bool is_memory;
	uint32_t process;
	uint32_t name;                 /* string: of a counter */
	struct mr_memory_scope memory; /* else */
	int64_t first_ns;              /* of its changes */
	int64_t last_ns;
	uint32_t count; /* of changes */
	bool is_same;   /* as that of all allocators, as there is only one: without values */
	/* NULL until they are filled in. */
	int64_t *time_ns;
	double *value;
	double *low; /* by block */
	double *high;
};

struct mr_series_list {
	mr_vec(struct mr_series) items; /* counters, then memory, in order of appearance */
	struct mr_strings keys;         /* what each is of */
};

struct mr_series_pixel {
	int64_t time_ns; /* of the first change; before the first pixel of the last */
	double low;
	double high;
	double last;
};

/* -ENOMEM. */
int mr_series_list_make(const struct mr_model *model, struct mr_series_list *ret_list);
int mr_series_list_fill(const struct mr_model *model, struct mr_series_list *list);
void mr_series_list_free(struct mr_series_list *list);

/* Fills in the pixels in which something changes, after the value that holds when they begin, if there is one;
 * returns how many: at most pixels->count + 1. */
uint32_t mr_series_query(const struct mr_series *series, const struct mr_pixels *pixels,
			 struct mr_series_pixel *ret_pixels);

#endif
