/* SPDX-License-Identifier: Apache-2.0
 *
 * The waits that a critical path has left for what ended them, and where it comes back from there (doc/causes.md):
 *
 *     main      ── cpu ──┤ at a lock ├─ cpu ──          the holder explains the wait, and nothing before it
 *     holder    ──────────── cpu ────┤                  began: the path returns to main where main began to wait
 *     path      ── main ─┤─ holder ──┤─ main ──
 *
 * The last wait is the one that the path left last. A zeroed list is empty and valid.
 */
#ifndef MR_ANALYSIS_CRITICAL_PATH_WAITS_H
#define MR_ANALYSIS_CRITICAL_PATH_WAITS_H

#include "analysis/cause/cause.h"
#include "base/vector.h"
#include "model/model.h"

struct mr_path_wait {
	uint32_t thread;
	uint32_t state; /* BLOCKED; MR_NO_ROW: it waited for a device */
	int64_t begin_ns;
	uint32_t
		ordinary_call; /* of the thread, which counted as if it did not wait; or MR_NO_ROW */
	bool is_lock;          /* of which only the wait itself is explained by who had it */
	uint32_t holder;       /* of a lock, with which the path stayed; or MR_NO_TRACK */
	int64_t limit_ns; /* the latest begin of a lock's wait among this one and those before it */
};

struct mr_path_waits {
	mr_vec(struct mr_path_wait) list;
	/* Executions in which threads waited when the path left them, and which were going on when it came to the time
	 * that it was last asked for: the last is the one that the path left last. */
	mr_vec(uint32_t) executions;
};

void mr_path_waits_free(struct mr_path_waits *waits);

/* The path leaves a thread for what it waits for: another thread if it is blocked in that state, else a device, since
 * begin_ns. `execution` is what it executes, or MR_NO_ROW. -ENOMEM. */
int mr_path_waits_leave(struct mr_path_waits *waits, const struct mr_model *model,
			struct mr_path_wait wait, uint32_t execution);

/* For which execution the path is on threads that execute nothing, just before that time; or MR_NO_ROW. */
uint32_t mr_path_waits_execution(struct mr_path_waits *waits, const struct mr_model *model,
				 int64_t ns);

/* Where the path may have to come back from, at the latest: INT64_MIN if nowhere. */
static inline int64_t mr_path_waits_limit_ns(const struct mr_path_waits *waits)
{
	size_t count = waits->list.count;

	return count ? waits->list.items[count - 1].limit_ns : INT64_MIN;
}

/* What a thread did, as the path calls it: a thread that has a lock and for which the path left another one has the
 * lock, whatever it does with it. */
struct mr_link mr_path_waits_link(const struct mr_path_waits *waits, const struct mr_model *model,
				  uint32_t thread, struct mr_link link);

/* The path stands at the limit, on a thread, or on an operation (MR_NO_TRACK). The wait whose thread it returns to, valid
 * until the path leaves the next; or NULL if it stays, because that thread had waited for the lock itself. */
const struct mr_path_wait *mr_path_waits_return(struct mr_path_waits *waits,
						const struct mr_model *model, uint32_t thread);

/* The path is about to leave a thread for another one. If that is the one it left last: likewise, it returns; or NULL. */
const struct mr_path_wait *mr_path_waits_return_home(struct mr_path_waits *waits, uint32_t thread);

/* The path has come to a sleep that ended then. Likewise: the thread did not wait yet; or NULL. */
const struct mr_path_wait *mr_path_waits_return_from_sleep(struct mr_path_waits *waits,
							   int64_t end_ns);

#endif
