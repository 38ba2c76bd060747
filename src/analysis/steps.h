/* SPDX-License-Identifier: Apache-2.0
 *
 * The steps of a run, as the model has them: those that the program marked; or calls of the function that a process
 * calls most often (load/called_steps.h); or else, process by process, those that were inferred from what it launches
 * or executes (load/infer_steps.h).
 */
#ifndef MR_ANALYSIS_STEPS_H
#define MR_ANALYSIS_STEPS_H

#include "base/vector.h"
#include "model/model.h"

/* Rows of the table of phases. */
enum mr_phase {
	MR_PHASE_BEFORE,
	MR_PHASE_IN,
	MR_PHASE_BETWEEN,
	MR_PHASE_AFTER,
	MR_PHASE_COUNT
};

struct mr_step {
	uint64_t number; /* that the program gave; inferred ones count from 0 in each process */
	uint32_t track;  /* thread that marked it, or made its first launch */
	int64_t start_ns;
	int64_t duration_ns;
	uint32_t function;       /* string: it is a call of this; 0: marked or inferred */
	uint8_t origin;          /* enum mr_step_origin */
	int64_t device_start_ns; /* of what was launched in it; MR_NO_TIME: nothing was */
	int64_t device_end_ns;
};

struct mr_step_list {
	mr_vec(struct mr_step) steps;           /* by track and time */
	mr_vec(struct mr_inference) inferences; /* empty if steps were marked */
};

/* The steps of the window of the model, clipped to it, of the processes that are looked at (mr_part);
 * NULL: of all. -ENOMEM. */
int mr_step_list_make(const struct mr_model *model, const bool *processes,
		      struct mr_step_list *list);
void mr_step_list_free(struct mr_step_list *list);

/* The step whose duration is the median; of an even number the shorter of the middle two. -ENOENT if there are
 * no steps, or -ENOMEM. */
int mr_step_list_median(const struct mr_step_list *list, uint32_t *ret_step);

/* The steps as they go on, without those at the beginning in which the program still warms up: it traces, compiles and
 * allocates then, and they take several times as long as the others. */
struct mr_steady {
	struct mr_window window; /* from the first of them to the end of the last */
	uint32_t count;
	uint32_t warm_up_count; /* that come before */
	int64_t warm_up_ns;     /* what these took longer than the median */
};

/* 1; 0 if there are too few steps to speak of; or -ENOMEM. What the steps launched belongs to them, even if the device
 * ends it after the last of them. */
int mr_steps_steady(const struct mr_model *model, const struct mr_step_list *list,
		    struct mr_steady *ret_steady);

#endif
