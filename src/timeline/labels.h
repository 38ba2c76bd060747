/* SPDX-License-Identifier: Apache-2.0
 *
 * The name of a slice as a number, by which the page colours and groups slices, and its text. Each table has its own
 * numbers. The label is the column that tables.def names, and its text is the meaning of the column; for other tables:
 *
 *     table                label                      table            label
 *     device_operations    string: name, or kind      idle, path       enum mr_cause_kind
 *     states               state * 16 + reason        steps            low half of its number
 *     cpu_runs             tid: its text is a name    others           0: all are called by their noun
 */
#ifndef MR_TIMELINE_LABELS_H
#define MR_TIMELINE_LABELS_H

#include "timeline/view.h"

enum {
	MR_LABEL_BYTES = 96, /* room for texts that are made up */
	MR_LABEL_REASONS = 16,
};

/* A device operation without name: added to its kind. Strings are fewer. */
#define MR_LABEL_UNNAMED (UINT32_C(1) << 31)

/* Of a table without a column for it. */
uint32_t mr_label_find(const struct mr_view *view, enum mr_sliced table, uint32_t row);

/* Of a row of mr_view_slices(). */
static inline uint32_t mr_label_of(const struct mr_view *view, enum mr_sliced table, uint32_t row)
{
	const struct mr_slices *slices = &view->slices[table];

	if (!slices->label)
		return mr_label_find(view, table, row);
	return slices->label_desc->bytes == 1 ? ((const uint8_t *)slices->label)[row]
					      : ((const uint32_t *)slices->label)[row];
}

/* Of any label, also one that there is not. Lives as long as the view and the buffer, which has room for
 * MR_LABEL_BYTES. */
const char *mr_label_text(const struct mr_view *view, enum mr_sliced table, uint32_t label,
			  char *buffer);

/* What kind of thing a row is: "system call", "device kernel". */
const char *mr_row_noun(const struct mr_view *view, enum mr_sliced table, uint32_t row);

#endif
