/* SPDX-License-Identifier: Apache-2.0
 *
 * A course while it is made: pieces come thread by thread, then operations, and name what they follow in the words of
 * the trace, as that may not be a piece yet. course.c resolves the names and puts all in order of time.
 */
#ifndef MR_ANALYSIS_DRAFT_H
#define MR_ANALYSIS_DRAFT_H

#include "analysis/whatif/course.h"

/* What a piece follows. */
enum mr_name_kind {
	MR_NAME_PIECE,     /* number: of the draft */
	MR_NAME_OPERATION, /* number: row */
	MR_NAME_THREAD,    /* number: track; what the thread had done at ns */
};

struct mr_name {
	uint32_t number;
	uint8_t what;   /* enum mr_name_kind */
	uint8_t follow; /* enum mr_follow_kind */
	int64_t ns;
};

struct mr_named {
	uint32_t piece; /* that follows */
	struct mr_name name;
};

/* A moment at which a thread gave something to another or to a device: a piece must end there. */
struct mr_cut {
	uint32_t track;
	int64_t ns;
};

struct mr_draft {
	const struct mr_model *model;
	mr_vec(struct mr_piece) pieces;
	mr_vec(struct mr_named) names;
	mr_vec(struct mr_cut) cuts; /* by track, then by time */
	uint32_t *first_cut;        /* by track, and one more */
	uint32_t *first_piece;  /* likewise: pieces of threads; those of operations come behind */
	uint32_t *of_operation; /* piece by row, or MR_NO_PIECE */
	uint32_t *makers;       /* by track */
	uint32_t *list_first;   /* by call: its rows of `listed`, and one more */
	uint32_t *listed;       /* operations that a call has in its wait list */
};

/* A piece that follows these names. -ENOMEM. */
int mr_draft_add(struct mr_draft *draft, struct mr_piece piece, const struct mr_name *names,
		 size_t count);

/* When the operation was given to its device, as the thread's time has it; it must have a call. (draft_operations.c) */
int64_t mr_operation_given_ns(const struct mr_model *model, uint32_t row);

/* Adds the cuts, unordered. (draft_threads.c, draft_operations.c) */
int mr_draft_cut_threads(struct mr_draft *draft);
int mr_draft_cut_launches(struct mr_draft *draft);

/* Adds the pieces of a thread. (draft_threads.c) */
int mr_draft_add_thread(struct mr_draft *draft, uint32_t track);

/* Adds those of all operations that have times. (draft_operations.c) */
int mr_draft_add_operations(struct mr_draft *draft);

#endif
