/* SPDX-License-Identifier: Apache-2.0
 *
 * Signals sent to `record` reach the program exactly once.
 *
 * A signal sent to the process group — Ctrl-C in a terminal, kill 0, kill -GROUP — has reached the program
 * already, since it is in the same group; one sent to record's own pid has not and is forwarded. The
 * sender does not say which of the two he did, so a witness tells: a second process of ours in the same group
 * that does nothing but count the signals it gets. What the witness also got was sent to the group.
 *
 * Stopping works as without record: when the program has stopped, record stops too, so the shell sees a
 * stopped job; and what continues record continues the program. Where somebody continues the program alone,
 * the witness continues record.
 */
#ifndef MR_LAUNCH_SIGNALS_H
#define MR_LAUNCH_SIGNALS_H

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum {
	MR_SIGNAL_COUNT = 65
};

struct mr_signals_shared {
	_Atomic uint32_t witnessed[MR_SIGNAL_COUNT];
	_Atomic int32_t stopped; /* program for whose sake record has stopped; 0: it runs */
};

struct mr_signals {
	int fd; /* signalfd */
	pid_t witness;
	struct mr_signals_shared *shared; /* with the witness */
	uint32_t seen[MR_SIGNAL_COUNT];
	sigset_t original; /* the mask that record was started with: the program's */
};

/* Blocks the signals and starts the witness. */
int mr_signals_start(struct mr_signals *signals);

/* Handles what has arrived: forwards to `child`. True if a child may have changed state. */
bool mr_signals_handle(struct mr_signals *signals, pid_t child);

/* Stops the calling process because `child` has stopped; returns when it, or both, are continued. */
void mr_signals_stop_along(struct mr_signals *signals, pid_t child);

/* Ends the witness and closes; the signals stay blocked. */
void mr_signals_stop(struct mr_signals *signals);

#endif
