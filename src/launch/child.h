/* SPDX-License-Identifier: Apache-2.0
 *
 * The program that is recorded. It starts in record's own process group and session, with the standard streams,
 * signal mask and limits that record itself was given, and waits at a pipe before its first instruction until the
 * recorder is ready.
 */
#ifndef MR_LAUNCH_CHILD_H
#define MR_LAUNCH_CHILD_H

#include <sys/resource.h>
#include <sys/types.h>

#include "launch/signals.h"

struct mr_child {
	pid_t pid;
	int release; /* writing here lets it go; -1 once it has gone */
	int failure; /* gives the errno of a failed exec, or end of file */
};

/* Forks the child and leaves it waiting. Its signals and its limit of descriptors will be those given. */
int mr_child_start(char *const *arguments, char *const *environment,
		   const struct mr_signals *signals, const struct rlimit *descriptors,
		   struct mr_child *ret_child);

/* Lets it execute the program. -errno, with a cause, if that failed; then the child is gone. */
int mr_child_release(struct mr_child *child);

/* Ends and reaps a child that was never released. */
void mr_child_abandon(struct mr_child *child);

/* Finds the file that executing `program` would run. -ENOENT or -EACCES with a cause. */
int mr_child_find_program(const char *program, char **ret_path);

#endif
