/* SPDX-License-Identifier: Apache-2.0
 *
 * Steps, in the spellings of profilers, trainers and servers: annotations whose names say that they are one round.
 *
 *     ProfilerStep#12, iteration 12, train_step_12     numbered
 *     step[DECODE bs=8], execute_context_0(0)_...      one after the other
 *     execute_2_context_1(...), run_training_batch
 *
 * A trainer may nest them. Marks are collected while the file is read. When it is read, those of the best spelling that
 * occurs become steps, and of these only the ones that lie in no other.
 */
#ifndef MR_IMPORT_STEP_MARKS_H
#define MR_IMPORT_STEP_MARKS_H

#include "import/builder.h"

struct mr_step_mark {
	uint32_t thread; /* of the builder */
	int64_t start_ns;
	int64_t end_ns;
	uint64_t number; /* both are filled in here */
	uint32_t spelling;
};

struct mr_step_marks {
	mr_vec(struct mr_step_mark) list;
};

/* Notes the mark if its name is a step's. *ret_is_only_that: it is nothing else besides. 0 or -ENOMEM. */
int mr_step_marks_note(struct mr_step_marks *marks, const char *name, size_t length,
		       struct mr_step_mark mark, bool *ret_is_only_that);

/* Notes a mark that says itself that it is step `number`. 0 or -ENOMEM. */
int mr_step_marks_note_numbered(struct mr_step_marks *marks, struct mr_step_mark mark);

/* Makes steps of them. 0 or -ENOMEM. */
int mr_step_marks_add_steps(struct mr_step_marks *marks, struct mr_builder *builder);
void mr_step_marks_free(struct mr_step_marks *marks);

#endif
