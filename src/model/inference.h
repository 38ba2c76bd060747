/* SPDX-License-Identifier: Apache-2.0
 *
 * What the launches or the operations of a process show about its steps, if nothing marks them (load/infer_steps.h).
 */
#ifndef MR_MODEL_INFERENCE_H
#define MR_MODEL_INFERENCE_H

#include <stdint.h>

#include "base/vector.h"

/* Of a sequence in which something comes again and again. */
struct mr_period {
	uint32_t length;  /* of one round; 0: the sequence does not repeat itself */
	uint32_t pattern; /* where a round begins that the others are like */
	uint32_t first;   /* what repeats is [first, end), at least two rounds */
	uint32_t end;
	uint32_t confidence_permille;
};

struct mr_inference {
	uint32_t process;
	uint32_t is_of_operations; /* 1: it launches nothing; what repeats are operations */
	uint32_t item_count;       /* launches, or operations */
	struct mr_period period;   /* in items; length 0: no steps can be inferred */
	uint32_t step_count;
	uint32_t is_uniform; /* 1: all items are alike, and do not show where a step begins */
};

/* One for each process that launches anything, or whose operations repeat. */
struct mr_inferences {
	mr_vec(struct mr_inference) list;
};

#endif
