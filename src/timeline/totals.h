/* SPDX-License-Identifier: Apache-2.0
 *
 * The time of the slices of a table by label, for the whole trace or for a window.
 *
 *     window             ├───────────────────────┤
 *     slices   ├── a ──────┤ ├─ b ─┤ ├─── a ─────────┤          only the portion inside counts
 *
 * Self times are exact, too: the self time of a clipped slice is its portion less the portions of the slices nested in it.
 */
#ifndef MR_TIMELINE_TOTALS_H
#define MR_TIMELINE_TOTALS_H

#include "base/json_writer.h"
#include "timeline/label_sums.h"
#include "timeline/view.h"

struct mr_totals_scope {
	enum mr_sliced table;
	struct mr_window window;
	const bool *groups; /* of the slices: which count; NULL: all */
};

/* Largest total first. 0, or a negative errno with a cause. */
int mr_totals_make(struct mr_view *view, const struct mr_totals_scope *scope,
		   struct mr_label_sums *ret_sums);

/* "label", "text", "count", "total_ns", "self_ns" (null where slices do not nest), "min_ns", "max_ns". */
void mr_totals_write(struct mr_view *view, enum mr_sliced table, const struct mr_label_sum *sum,
		     struct mr_json *json);

/* The part of a slice that lies in a window; not empty slices have none where they only touch it. */
static inline bool mr_window_clip(const struct mr_window *window, int64_t *start_ns,
				  int64_t *end_ns)
{
	bool is_empty = *start_ns == *end_ns;

	if (*start_ns < window->first_ns)
		*start_ns = window->first_ns;
	if (*end_ns > window->last_ns)
		*end_ns = window->last_ns;
	return *start_ns < *end_ns || (is_empty && *start_ns == *end_ns);
}

#endif
