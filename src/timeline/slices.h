/* SPDX-License-Identifier: Apache-2.0
 *
 * Tables whose rows are slices of the timeline: those of the model that have a duration, and three that are
 * derived. Rows of a table stand in groups, in a group by start:
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

/* Those of a thread stand first, in the order in which they are drawn. */
#define MR_SLICED_TABLES(TABLE)  \
	TABLE(node_executions)   \
	TABLE(scopes)            \
	TABLE(calls)             \
	TABLE(states)            \
	TABLE(system_calls)      \
	TABLE(major_faults)      \
	TABLE(block_io)          \
	TABLE(interrupts)        \
	TABLE(device_operations) \
	TABLE(cpu_runs)

enum mr_sliced {
#define MR_SLICED(name) MR_SLICED_##name,
	MR_SLICED_TABLES(MR_SLICED)
#undef MR_SLICED
	MR_SLICED_idle,
	MR_SLICED_path,
	MR_SLICED_steps,
	MR_SLICED_COUNT,
	MR_SLICED_THREAD_END = MR_SLICED_device_operations, /* tables of threads come before it */
	MR_SLICED_MODEL_END = MR_SLICED_idle,
};

struct mr_slices {
	const int64_t *start_ns;
	const int64_t *duration_ns;
	const int64_t *self_ns;         /* NULL: slices do not nest */
	const uint32_t *track;          /* NULL: they are of none */
	const uint32_t *first_of_group; /* group_count + 1 of them */
	uint32_t group_count;
	uint32_t count;
	const struct mr_detail *detail; /* by group */
	struct mr_detail *own_detail;   /* NULL: it is the model's */
	void *own_columns;              /* what derived ones live in; NULL: they are the model's */
};

/* "calls"; NULL if there is none of that name. */
const char *mr_sliced_name(enum mr_sliced table);
bool mr_sliced_find(const char *name, enum mr_sliced *ret_table);

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
