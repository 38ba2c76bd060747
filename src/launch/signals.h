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
 *
 * The witness is named millrace-signal. Should somebody kill it, signals to the group arrive twice from
 * then on, and a record that has stopped must be continued by hand; the recording itself goes on.
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
	struct sigaction original_child_action; /* of SIGCHLD; likewise */
	bool asked_to_end; /* a signal that ends programs came when there was nobody to forward it to */
};

/* Blocks the signals and starts the witness. Takes back an inherited disregard for SIGCHLD, with which
 * record would never learn how the program ended. */
int mr_signals_start(struct mr_signals *signals);

/* Called in the child: the program begins with the mask and the action that record was started with. */
void mr_signals_restore(const struct mr_signals *signals);

/* Handles what has arrived: forwards to `child`, 0 if it has been reaped: its pid may be another's by now.
 * True if a child may have changed state. */
bool mr_signals_handle(struct mr_signals *signals, pid_t child);

/* Stops the calling process because `child` has stopped; returns when it, or both, are continued. */
void mr_signals_stop_along(struct mr_signals *signals, pid_t child);

/* Ends the witness and closes; the signals stay blocked. */
void mr_signals_stop(struct mr_signals *signals);

#endif
