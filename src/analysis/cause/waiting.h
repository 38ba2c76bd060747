/* SPDX-License-Identifier: Apache-2.0
 *
 * What a blocked thread waits for, as the system call it is in and the file of the call show it, and what things of the
 * kernel level are called.
 */
#ifndef MR_ANALYSIS_WAITING_H
#define MR_ANALYSIS_WAITING_H

#include "analysis/finding/finding.h"
#include "model/model.h"

enum mr_wait_kind {
	MR_WAIT_UNKNOWN, /* the call is not recorded, or there is none */
	MR_WAIT_DISK,
	MR_WAIT_LOCK,
	MR_WAIT_GIL,       /* the lock that an interpreter's threads share */
	MR_WAIT_HAND_OVER, /* at a futex too, but for something that another thread hands over */
	MR_WAIT_NETWORK,
	MR_WAIT_SLEEP,
	MR_WAIT_IPC, /* pipe, local socket, queue, semaphore, event counter */
	MR_WAIT_CHILD,
	MR_WAIT_POLL, /* for any of several things */
	MR_WAIT_STOPPED,
	MR_WAIT_OTHER,
	MR_WAIT_COUNT
};

/* Of a BLOCKED row of the states. */
enum mr_wait_kind mr_wait_kind_of(const struct mr_model *model, uint32_t row);
const char *mr_wait_kind_name(enum mr_wait_kind kind);

/* "blocked"; "disk sleep", or "" where there is nothing to say. */
const char *mr_thread_state_name(enum mr_thread_state state);
const char *mr_state_reason_name(enum mr_state_reason reason);

/* "pread64", or "system call 17" where the trace does not name it; from the findings' region, or NULL. */
const char *mr_system_call_text(const struct mr_model *model, struct mr_findings *findings,
				uint32_t number);

/* "softirq"; "NET_RX", or its number: from the region, or NULL. */
const char *mr_interrupt_kind_name(uint32_t kind);
const char *mr_interrupt_text(struct mr_region *region, uint32_t kind, uint32_t number);

/* "" for none. */
const char *mr_file_path(const struct mr_model *model, uint32_t file);

const char *mr_track_text(const struct mr_model *model, uint32_t track);
uint32_t mr_track_pid(const struct mr_model *model, uint32_t track);

/* Is that string the name of a thread of millrace's own? They all have its name, or one that begins with it and a
 * hyphen. */
#define MR_RECORDER_TEXT "millrace itself"
bool mr_is_recorder(const struct mr_model *model, uint32_t name);

/* A row of the states as evidence. */
struct mr_evidence mr_state_evidence(const struct mr_model *model, uint32_t row, const char *what);

#endif
