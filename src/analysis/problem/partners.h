/* SPDX-License-Identifier: Apache-2.0
 *
 * How often the subject and another thread end each other's waits, in the time that is looked at. A thread that often hands
 * something over, and is seldom set to work, works by itself. Waits for locks say nothing about that, and do not count. An
 * order may come through other threads, as in a pool of processes:
 *
 *     subject ──► thread that hands orders out ──► worker ──► thread that gathers results ──► subject
 */
#ifndef MR_ANALYSIS_PROBLEM_PARTNERS_H
#define MR_ANALYSIS_PROBLEM_PARTNERS_H

#include "model/model.h"

struct mr_partner {
	uint32_t ends;  /* waits of any thread that this thread ended */
	uint32_t gives; /* waits of the subject that this thread ended */
	uint32_t takes; /* waits of this thread that the subject ended, itself or through others */
	uint32_t
		asks; /* the most that it or a thread of its kind takes: who is busy need not be woken */
};

/* One for each track, to be freed; NULL without memory. */
struct mr_partner *mr_partners_make(const struct mr_model *model, struct mr_window window,
				    uint32_t subject);

/* How often the thread sent something, by the socket (file), to be freed; the first is the sum of all. NULL without
 * memory. */
uint32_t *mr_count_sends(const struct mr_model *model, struct mr_window window, uint32_t thread);

#endif
