/* SPDX-License-Identifier: Apache-2.0
 *
 * Signals sent to `record` reach the program exactly once.
 *
 * A signal sent to the process group (Ctrl-C in a terminal, kill 0, kill -GROUP) has already reached the program,
 * because it is in the same group. A signal sent to record's own pid has not, and record forwards it. The signal
 * does not say which of the two happened, so there is a witness: a second process of record in the same group that
 * only counts the signals it receives. If the witness also received a signal, it was sent to the group.
 *
 * Stopping works as without record: when the program has stopped, record stops too, so that the shell sees a
 * stopped job; whatever continues record also continues the program. If someone continues the program alone, the
 * witness continues record.
 *
 * The witness is named millrace-signal. If someone kills it, signals to the group arrive twice from then on, and a
 * stopped record must be continued by hand; the recording itself continues.
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
