/* SPDX-License-Identifier: Apache-2.0
 *
 * The input pipeline: what threads did for each stage, and how long the steps waited for the next element.
 *
 *     Root                    the program takes elements here
 *     └─ Prefetch             makes elements ahead: requests to it wait for its buffer
 *        └─ Batch             works on the thread of whoever asks for an element
 *           └─ Map            may have its function executed on other threads
 *
 * Each moment of a thread counts for one stage, that of the innermost work it then did, and in one way. Stages that
 * make elements in turn, such as the files of an interleave, are one stage.
 *
 * Owns its memory; any thread may make one.
 */
#ifndef MR_ANALYSIS_INPUT_PIPELINE_H
#define MR_ANALYSIS_INPUT_PIPELINE_H

#include "base/vector.h"
#include "model/model.h"

/* How a thread spends its time for a stage. */
enum mr_input_time {
	MR_INPUT_RUNS,     /* on a CPU */
	MR_INPUT_RUNNABLE, /* waits for a CPU */
	MR_INPUT_BLOCKED,  /* waits for something else: a disk, a lock, a sleep */
	MR_INPUT_UNKNOWN,  /* works; whether it had a CPU is not known */
	MR_INPUT_CALLS,    /* waits for the stage's function, which other threads execute */
	MR_INPUT_WAITS,    /* waits for the stage's buffer */
	MR_INPUT_TIMES,
};

struct mr_input_stage {
	uint32_t process;
	uint32_t path;   /* string */
	uint32_t parent; /* the stage that it feeds; MR_NO_ROW: the program */
	uint32_t depth;
	uint32_t iterator_count;
	uint64_t request_count;
	bool is_ahead; /* it makes elements before they are asked for */
	int64_t ns[MR_INPUT_TIMES];
	uint32_t parallelism;  /* the largest reported; MR_NO_ORDINAL: none */
	uint32_t buffer_limit; /* likewise */
	uint64_t buffered;     /* elements in the buffer, over all requests that report it */
	uint64_t buffer_reports;
	bool is_autotuned;
};

/* What a process takes from its pipelines. */
struct mr_input_taken {
	uint32_t process;
	uint64_t take_count;
	int64_t wait_ns;      /* while the program waited for an element */
	int64_t step_ns;      /* in which at least one step of the process went on */
	int64_t wait_step_ns; /* of it, while the program waited */
};

struct mr_input_pipeline {
	mr_vec(struct mr_input_stage)
		stages; /* by process and path: a stage follows the one it feeds */
	mr_vec(struct mr_input_taken) taken; /* processes that take elements */
};

/* Of the window of the model. -ENOMEM. */
int mr_input_pipeline_make(const struct mr_model *model, struct mr_input_pipeline *ret_pipeline);
void mr_input_pipeline_free(struct mr_input_pipeline *pipeline);

/* Its own work: without the waits for its function and for its buffer. */
int64_t mr_input_stage_work_ns(const struct mr_input_stage *stage);

/* How long it works for each element that the program takes, divided by the elements that it makes at a time: the stage
 * with the largest pace limits the pipeline. 0 if nothing was taken. */
int64_t mr_input_stage_pace_ns(const struct mr_input_pipeline *pipeline,
			       const struct mr_input_stage *stage);

/* What the process of a stage takes; NULL: nothing. */
const struct mr_input_taken *mr_input_taken_by(const struct mr_input_pipeline *pipeline,
					       uint32_t process);

/* The stage of a process with the largest pace; MR_NO_ROW if there is none. */
uint32_t mr_input_slowest_stage(const struct mr_input_pipeline *pipeline, uint32_t process);

static inline void mr_cleanup_input_pipeline(struct mr_input_pipeline *pipeline)
{
	mr_input_pipeline_free(pipeline);
}

#endif
