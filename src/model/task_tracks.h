/* SPDX-License-Identifier: Apache-2.0
 *
 * Matches programs and tasks of the kernel level with processes and threads of the user streams.
 *
 *     task    tid 812, inner 7/9, [begin ─────────────────── end)
 *     track   process 3 (pid 7), tid 9      [first ─ last]           first packet begins inside: the same
 *
 * They agree in pid and tid as the program sees them, and the track's first packet begins while the task
 * lives; likewise a process and a program by their pids. A track continues with the next task of the same
 * program that reuses its tid. If pid namespaces make two tasks indistinguishable, nothing is guessed: they get
 * tracks of their own and are counted. Every task without records in the user streams also gets its own track,
 * and a process if it has none.
 */
#ifndef MR_MODEL_TASK_TRACKS_H
#define MR_MODEL_TASK_TRACKS_H

#include "model/survey.h"

/* Gives every task its track and every program its process, adding those that are missing. Spans of tracks
 * must be known. -ENOMEM. */
int mr_tasks_join(struct mr_survey *survey);

#endif
