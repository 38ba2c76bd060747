/* SPDX-License-Identifier: Apache-2.0
 *
 * The slices of a table of the timeline (tables.h). The rows are grouped, and sorted by start within a group:
 *
 *     table                    a group is
 *     tables of the model      a track
 *     idle                     a device: its pieces (analysis/cause/idle.h)
 *     path                     the critical path: there is one, 0 (analysis/cause/critical_path.h)
 *     steps                    a track: marked or inferred steps (analysis/steps.h)
 */
#ifndef MR_TIMELINE_SLICES_H
#define MR_TIMELINE_SLICES_H

#include "analysis/cause/critical_path.h"
#include "analysis/cause/idle.h"
#include "analysis/steps.h"
#include "model/detail.h"
#include "model/model.h"
#include "timeline/tables.h"

struct mr_slices {
	const int64_t *start_ns;
	const int64_t *duration_ns;
	const int64_t *self_ns; /* NULL: slices do not nest */
	const uint32_t *parent; /* row that each is nested in; likewise */
	const uint32_t *track;  /* NULL: they are of none */
	const uint8_t *flags;   /* enum mr_row_flags; NULL: there are none */
	const void *label;      /* column; NULL: labels.c finds the labels */
	const struct mr_column_desc *label_desc;
	const uint32_t *first_of_group; /* group_count + 1 of them */
	uint32_t group_count;
	uint32_t count;
	const struct mr_detail *detail; /* by group */
	struct mr_detail *own_detail;   /* NULL: it is the model's */
	void *own_columns;              /* what derived ones live in; NULL: they are the model's */
};

/* Each adds the level of detail too: 0 or -ENOMEM. What they are made of must live longer. */
int mr_slices_of_model(const struct mr_model *model, enum mr_sliced table,
		       struct mr_slices *ret_slices);
int mr_slices_of_idle(const struct mr_model *model, const struct mr_idle *idle,
		      struct mr_slices *ret_slices);
int mr_slices_of_path(const struct mr_critical_path *path, struct mr_slices *ret_slices);
int mr_slices_of_steps(const struct mr_model *model, const struct mr_step_list *list,
		       struct mr_slices *ret_slices);
void mr_slices_free(struct mr_slices *slices);

static inline uint32_t mr_slices_in(const struct mr_slices *slices, uint32_t group)
{
	return slices->first_of_group[group + 1] - slices->first_of_group[group];
}

static inline int64_t mr_slice_end_ns(const struct mr_slices *slices, uint32_t row)
{
	return slices->start_ns[row] + slices->duration_ns[row];
}

#endif
