/* SPDX-License-Identifier: Apache-2.0
 *
 * Lists of windows of time: how long they are together, and how much of them lies in others.
 *
 * Owns its memory; any thread may make one.
 */
#ifndef MR_ANALYSIS_WINDOWS_H
#define MR_ANALYSIS_WINDOWS_H

#include "base/vector.h"
#include "model/model.h"

struct mr_windows {
	mr_vec(struct mr_window) list;
};

/* -ENOMEM. The second adds all steps of a process. */
int mr_windows_add(struct mr_windows *windows, int64_t start_ns, int64_t duration_ns);
int mr_windows_add_steps(struct mr_windows *windows, const struct mr_model *model,
			 uint32_t process);
void mr_windows_free(struct mr_windows *windows);

/* Sorted, and those that overlap made one: what the others need. */
void mr_windows_unite(struct mr_windows *windows);
int64_t mr_windows_length(const struct mr_windows *windows);
int64_t mr_windows_common(const struct mr_windows *left, const struct mr_windows *right);

static inline void mr_cleanup_windows(struct mr_windows *windows)
{
	mr_windows_free(windows);
}

#endif
