/* SPDX-License-Identifier: Apache-2.0
 *
 * Bands: the strips of the timeline, in the order in which they are drawn, and their groups. A band shows the slices of
 * one table on one track (or device), in lanes, or one series of values.
 *
 *     group steps           steps.0
 *     group path            path.0
 *     group device 1        idle.1, device_operations.40, device_operations.41
 *     group process 2
 *       ├ counters          counters.3
 *       ├ thread 7          node_executions.7, calls.7, states.7 ...        the most active thread first
 *       └ thread 5          states.5
 *     group memory          memory.4, memory.5
 *     group cpus            cpu_runs.44, cpu_runs.45
 *
 * Bands without content are left out, except idle and path, whose content is computed when the page first shows them.
 * The number of a band is its place in the list and is always the same for the same trace. Read-only once made.
 */
#ifndef MR_TIMELINE_BANDS_H
#define MR_TIMELINE_BANDS_H

#include "base/vector.h"
#include "timeline/slices.h"

#define MR_NO_BAND UINT32_MAX

struct mr_view;

struct mr_band {
	bool is_series;
	enum mr_sliced table; /* of slices */
	uint32_t group;       /* of the table; the number of the series */
	uint32_t lanes;
	uint32_t count;   /* of slices or changes; MR_NO_ROW: not known yet */
	int64_t first_ns; /* when the first begins */
	int64_t last_ns;  /* when all have ended */
};

struct mr_band_group {
	enum mr_group_kind kind;
	uint32_t of;     /* device, process or track; 0 of other kinds */
	uint32_t parent; /* group of the process; MR_NO_BAND: none */
	int64_t busy_ns; /* device: at work; thread: on a CPU, or else in operations or calls; process: its threads */
	uint32_t first_band;
	uint32_t band_count;
};

struct mr_bands {
	mr_vec(struct mr_band) list;
	mr_vec(struct mr_band_group) groups;  /* parents before children */
	uint32_t *of_slices[MR_SLICED_COUNT]; /* band by group of the table, or MR_NO_BAND */
};

/* When slices of the model and of steps, and the list of series, are there. -ENOMEM. */
int mr_bands_make(const struct mr_view *view, struct mr_bands *ret_bands);
void mr_bands_free(struct mr_bands *bands);

/* The band that shows a group of a table's slices; MR_NO_BAND if there is none. */
static inline uint32_t mr_band_of(const struct mr_bands *bands, enum mr_sliced table,
				  uint32_t group)
{
	return bands->of_slices[table][group];
}

#endif
