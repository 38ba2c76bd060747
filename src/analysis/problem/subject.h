/* SPDX-License-Identifier: Apache-2.0
 *
 * What problems are looked for in: the time of the thread that makes the steps, instant by instant. If nothing
 * repeats, it is the main thread of the program.
 *
 *     step thread  ├ runs ┤── waits for B ────────────────┤ runs ┤─ waits for the device ─┤
 *     thread B     ┊      ├ decodes ─┤─ waits for a disk ─┤      ┊                        ┊
 *     device       ┊                                             ├─ kernel ───────────────┤
 *     moments      ├──────┤──────────┤────────────────────┤──────┤────────────────────────┤
 *     stations      A      A, B       A, B, disk           A      A, kernel
 *
 * Moments tile the window. Each has the stations of its chain of causes (host() of doc/causes.md, at the same
 * instant): what the step thread did, what it waited for did, and so on. The last station is the root cause. While a
 * device of the process runs an operation, that is the last station: a host that only runs ahead costs nothing. All
 * rows are of the whole model, which must live longer.
 */
#ifndef MR_ANALYSIS_PROBLEM_SUBJECT_H
#define MR_ANALYSIS_PROBLEM_SUBJECT_H

#include "analysis/cause/cause.h"
#include "analysis/steps.h"
#include "base/vector.h"

struct mr_station {
	struct mr_link link;
	uint32_t thread; /* MR_NO_TRACK: a device */
	uint32_t
		execution; /* innermost row around the instant, or MR_NO_ROW; so are the next four */
	uint32_t scope;
	uint32_t call;
	uint32_t state;
	uint32_t system_call; /* as far as they were recorded */
	uint32_t operation;   /* that a device runs, or MR_NO_ROW */
};

struct mr_moment {
	int64_t start_ns;
	int64_t duration_ns;
	int64_t left_ns;    /* of it no problem has claimed this */
	int64_t claimed_ns; /* by the problem that is looked for now */
	uint32_t first_station;
	uint32_t station_count; /* at least 1 */
};

struct mr_subject {
	const struct mr_model *model; /* whole */
	uint32_t thread;              /* or MR_NO_TRACK: there is nothing to look at */
	uint32_t process;
	bool has_steps;
	struct mr_window window;
	struct mr_step_list list; /* of the window */
	int64_t cause_ns
		[MR_CAUSE_COUNT];     /* how long the stations of each cause last, all together */
	mr_vec(struct mr_step) steps; /* of the thread, in order of time */
	mr_vec(struct mr_moment) moments;
	mr_vec(struct mr_station) stations;
};

int mr_subject_make(const struct mr_model *model, struct mr_subject *ret_subject);
void mr_subject_free(struct mr_subject *subject);

static inline const struct mr_station *mr_stations_of(const struct mr_subject *subject,
						      const struct mr_moment *moment)
{
	return &subject->stations.items[moment->first_station];
}

/* Its root cause. */
static inline const struct mr_station *mr_last_station(const struct mr_subject *subject,
						       const struct mr_moment *moment)
{
	return &subject->stations.items[moment->first_station + moment->station_count - 1];
}

#endif
