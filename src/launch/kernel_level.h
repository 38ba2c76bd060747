/* SPDX-License-Identifier: Apache-2.0
 *
 * The kernel level within a session. It never makes a recording fail: if it is not available, the reason is
 * kept, and the recording continues without it.
 */
#ifndef MR_LAUNCH_KERNEL_LEVEL_H
#define MR_LAUNCH_KERNEL_LEVEL_H

#include <jansson.h>

#include "kernel/collector.h"
#include "launch/drain.h"

struct mr_kernel_level {
	struct mr_kernel *kernel; /* NULL: off */
	enum mr_kernel_mode mode;
	char *why;              /* why it is off or degraded; NULL: it is neither */
	struct mr_drain *drain; /* borrowed */
};

/* Needs the privileges that we were started with. */
void mr_kernel_level_open(struct mr_kernel_level *level, const struct mr_kernel_options *options);

/* Follows the child; from now on packets go to the drain's streams. */
void mr_kernel_level_start(struct mr_kernel_level *level, pid_t child, struct mr_drain *drain);

/* All of these do nothing when it is off. */
void mr_kernel_level_enable(struct mr_kernel_level *level, bool on);
uint32_t mr_kernel_level_drain(struct mr_kernel_level *level); /* returns how many records */
void mr_kernel_level_finish(struct mr_kernel_level *level);

/* True if it is known that no task which it followed is left. */
bool mr_kernel_level_are_all_gone(const struct mr_kernel_level *level);

/* How often it was decided to record only blocking system calls: of a process, or of all. */
uint32_t mr_kernel_level_reductions(const struct mr_kernel_level *level);

/* Hands over all that is recorded so far. */
void mr_kernel_level_flush(struct mr_kernel_level *level);

/* Writes how it goes into the manifest, and its losses into the drain. */
void mr_kernel_level_tell(const struct mr_kernel_level *level, json_t *manifest);

void mr_kernel_level_close(struct mr_kernel_level *level);

#endif
