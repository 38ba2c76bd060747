/* SPDX-License-Identifier: Apache-2.0
 *
 * The critical path of a window, as doc/causes.md defines it: what the end of the window waited for, what that
 * waited for, and so on back to the window's begin.
 *
 *     thread A   ├─ cpu ─┤ launch ┤              ┊           ├ sync ┤─ cpu ──────┤
 *     thread B           ┊        ┊              ┊           ┊      ┊            ┊
 *     device             ┊        ├─ dispatch ─┬─ device ────┤      ┊            ┊
 *     path       ├─ cpu ─┤ launch ┤─ dispatch ─┤─ device ────┤ sync ┤─ cpu ──────┤
 *
 * The segments tile the window: each begins where the one before it ends. The walk takes
 * O(length of the path · log n), whatever the trace says: of relations that contradict each other it makes
 * `unknown`.
 */
#ifndef MR_ANALYSIS_CRITICAL_PATH_H
#define MR_ANALYSIS_CRITICAL_PATH_H

#include "analysis/cause/cause.h"
#include "base/vector.h"

struct mr_path_segment {
	int64_t start_ns;
	int64_t duration_ns;
	struct mr_link link; /* cause and culprit; no chain */
	uint32_t track;     /* of the thread, or the queue of the operation; MR_NO_TRACK: neither */
	uint32_t operation; /* row of what runs or is about to run on the device, or MR_NO_ROW */
	/* Row: what the thread executes; or else what waits for it, as the work of a node is done by several
	 * threads; or what launched the operation; or MR_NO_ROW. */
	uint32_t execution;
};

struct mr_critical_path {
	mr_vec(struct mr_path_segment) segments; /* in order of time */
	/* Where two things could have been waited for last: how often, and how often the order of
	 * the two lies within the error of the clocks. */
	uint64_t decisions;
	uint64_t uncertain;
};

/* Of the whole trace, or of the window where the model is a cut (model/window.h): if it is one of some
 * processes, the path begins on these, wherever it leads. Rows are of the whole model. -ENOMEM. */
int mr_critical_path_make(const struct mr_model *model, struct mr_critical_path *ret_path);
void mr_critical_path_free(struct mr_critical_path *path);

enum mr_path_level {
	MR_PATH_DEVICE,
	MR_PATH_RUNTIME,
	MR_PATH_DATAFLOW, /* executes a node */
	MR_PATH_PROGRAM,  /* runs outside nodes and calls */
	MR_PATH_KERNEL,
	MR_PATH_UNKNOWN,
	MR_PATH_LEVELS,
};

/* Which level explains a segment. */
enum mr_path_level mr_path_level_of(const struct mr_link *link);
const char *mr_path_level_name(enum mr_path_level level);

static inline void mr_cleanup_critical_path(struct mr_critical_path *path)
{
	mr_critical_path_free(path);
}

#endif
