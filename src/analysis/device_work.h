/* SPDX-License-Identifier: Apache-2.0
 *
 * What a device did, on all its queues, in order of time; the gaps in which it did nothing; and how long it
 * usually takes to begin with work that is ready (its dispatch latency, see doc/causes.md).
 *
 *     queue 0    ├── a ──┤           ├─ b ─┤
 *     queue 1      ├──── c ───┤              ├ d ┤
 *     rows       a c                 b       d
 *     until_ns           a    c            b     d         latest end so far
 *     gaps    ───┤            ├──────┤     ├─┤   ├───      the first and the last have no end
 *
 * Markers, barriers and operations without duration are no work. Borrows the model. Read-only once made.
 */
#ifndef MR_ANALYSIS_DEVICE_WORK_H
#define MR_ANALYSIS_DEVICE_WORK_H

#include "model/model.h"

struct mr_device_work {
	uint32_t *rows;    /* of device_operations, by start, then by correlation */
	int64_t *start_ns; /* of each */
	int64_t *until_ns; /* latest end of each and all before it */
	uint32_t count;

	uint32_t operations; /* with times, work or not */
	int64_t first_ns;    /* from the first start to the last end of these */
	int64_t end_ns;

	int64_t dispatch_ns;    /* its dispatch latency */
	uint32_t dispatch_gaps; /* that it is the 95th percentile of; 0: too few, it is assumed */
};

/* Of every device of the definitions, by its number. -ENOMEM. */
int mr_device_works_make(const struct mr_model *model, struct mr_device_work **ret_works);
void mr_device_works_free(const struct mr_model *model, struct mr_device_work *works);

struct mr_idle_gap {
	int64_t begin_ns;   /* INT64_MIN: it had done nothing yet */
	int64_t end_ns;     /* INT64_MAX: it did nothing any more */
	uint32_t operation; /* that ended it, or MR_NO_ROW */
	uint32_t place;     /* in rows: the first that starts when it ends */
};

/* Comes before the first. */
#define MR_NO_GAP ((struct mr_idle_gap){.place = MR_NO_ROW})

/* Goes on to the next gap; false: that was the last. */
bool mr_idle_gap_next(const struct mr_model *model, const struct mr_device_work *work,
		      struct mr_idle_gap *gap);

/* When the call that launched the operation was over; INT64_MAX if it is not known. */
static inline int64_t mr_operation_launched_ns(const struct mr_model *model, uint32_t row)
{
	uint32_t call = model->device_operations.call[row];

	return call == MR_NO_ROW ? INT64_MAX : mr_call_end_ns(model, call);
}

#endif
