/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds the task that a tid in a kernel event refers to, while events are read in order of time.
 *
 *     tid 100     ──── task 0 ────exec┬──── task 2 ────exit        fork── task 3 ──
 *                 ▲                   ▲                            ▲
 *                 └ each tid has a mark at the task that was born last; it only moves on
 *
 * Times never go back, so finding a task is one look at the mark, where mr_task_find() would search. An ended task
 * keeps its tid until the next one is born; its states, which are made at the same time, show whether it has ended.
 */
#ifndef MR_LOAD_TASK_FINDER_H
#define MR_LOAD_TASK_FINDER_H

#include "load/states.h"
#include "model/tasks.h"

struct mr_task_finder {
	const struct mr_tasks *tasks;         /* borrowed */
	const struct mr_states_maker *states; /* borrowed */
	uint32_t *next_of_tid;                /* by place: of tasks_by_tid.order */
	uint32_t host;                        /* set by the caller: whose tids are asked for */
	int64_t now_ns;                       /* likewise, never to an earlier time */
};

/* 0 or -ENOMEM. */
int mr_task_finder_start(struct mr_task_finder *finder, const struct mr_tasks *tasks,
			 const struct mr_states_maker *states);
void mr_task_finder_free(struct mr_task_finder *finder);

/* The task of a thread now; MR_NO_TASK if it is not traced. */
uint32_t mr_task_now(struct mr_task_finder *finder, uint32_t tid);

/* Its track; MR_NO_TRACK if it is not traced, or over. */
uint32_t mr_task_track_now(struct mr_task_finder *finder, uint32_t tid);

/* The track of an interval that ends now, also if the thread's life ends with it: one that an exec divides
 * belongs to where it began. */
uint32_t mr_task_track_since(struct mr_task_finder *finder, uint32_t tid, int64_t start_ns);

#endif
