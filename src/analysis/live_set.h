/* SPDX-License-Identifier: Apache-2.0
 *
 * What memory was live at a time: allocations that were not given back by then, by who they were made for.
 * Their bytes sum to what the model says was live (memory.live_bytes).
 *
 * Owns its memory; any thread may make one.
 */
#ifndef MR_ANALYSIS_LIVE_SET_H
#define MR_ANALYSIS_LIVE_SET_H

#include "model/model.h"

/* Which memory is looked at. */
struct mr_memory_scope {
	uint32_t process;
	uint32_t device; /* 0: of the host, or not known */
	uint32_t teller; /* enum mr_memory_teller */
	uint32_t allocator;
	bool is_of_allocator; /* false: of all allocators */
};

/* Pieces for one node, from one allocator. */
struct mr_live_share {
	uint32_t node; /* 0: for none that is known */
	uint32_t allocator;
	uint64_t count;
	uint64_t bytes;
};

struct mr_live_set {
	uint64_t count;
	uint64_t bytes;
	mr_vec(struct mr_live_share) shares; /* largest first */
};

/* After all that happened until `ns` included. -ENOMEM. */
int mr_live_set_make(const struct mr_model *model, const struct mr_memory_scope *scope, int64_t ns,
		     struct mr_live_set *ret_set);
void mr_live_set_free(struct mr_live_set *set);

#endif
