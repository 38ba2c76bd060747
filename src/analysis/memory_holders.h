/* SPDX-License-Identifier: Apache-2.0
 *
 * Who holds memory: what is live at a time, by the operation that it was allocated for; graphs that were made of the
 * same function are one. And who holds more of it at a later time.
 *
 * Owns its memory; any thread may make one.
 */
#ifndef MR_ANALYSIS_MEMORY_HOLDERS_H
#define MR_ANALYSIS_MEMORY_HOLDERS_H

#include "base/vector.h"
#include "model/memory_accounts.h"

struct mr_memory_holder {
	uint32_t function; /* string: of the graph; 0: not known */
	uint32_t name;     /* string: of the node; 0: for no operation */
	uint32_t type;     /* string */
	int64_t count;     /* pieces; or how many more */
	int64_t bytes;
};

struct mr_memory_holders {
	mr_vec(struct mr_memory_holder) list; /* largest first; they sum to what is live */
	int64_t bytes;
};

/* At a time, of the whole model that the account belongs to. -ENOMEM. */
int mr_memory_holders_make(const struct mr_model *model, const struct mr_memory_account *account,
			   int64_t ns, struct mr_memory_holders *ret_holders);

/* What more they hold at `to_ns` than at `from_ns`; also less. -ENOMEM. */
int mr_memory_holders_compare(const struct mr_model *model, const struct mr_memory_account *account,
			      int64_t from_ns, int64_t to_ns,
			      struct mr_memory_holders *ret_holders);
void mr_memory_holders_free(struct mr_memory_holders *holders);

static inline void mr_cleanup_memory_holders(struct mr_memory_holders *holders)
{
	mr_memory_holders_free(holders);
}

#endif
