/* SPDX-License-Identifier: Apache-2.0
 *
 * The tracks of a survey besides those of threads that recorded something: threads that only the kernel level saw, queues,
 * CPUs. And the names of threads.
 */
#ifndef MR_MODEL_OTHER_TRACKS_H
#define MR_MODEL_OTHER_TRACKS_H

#include "model/survey.h"

/* In the order that the numbers of tracks follow. -ENOMEM. */
int mr_other_tracks_add(struct mr_survey *survey);

#endif
