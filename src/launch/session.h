/* SPDX-License-Identifier: Apache-2.0
 *
 * One recording from beginning to end: the work of `millrace record`.
 *
 *     privilege kernel level opened, sudo left
 *     prepare   trace directory, arena, program found and checked ── leaves nothing behind if this fails
 *     start     child waits ─ clocks, metadata, manifest ─ child goes
 *     run       signals ─ drain ─ clock samples ─ limits ─ snapshots, until the program and its
 *               descendants have ended
 *     finish    recording off, rest drained, metadata and manifest completed, arena deleted
 *
 * While it runs, the trace directory contains a link `arena`, and both are locked (flock). A directory with the
 * link but without the locks belongs to a recorder that was killed: see recover.h.
 */
#ifndef MR_LAUNCH_SESSION_H
#define MR_LAUNCH_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "kernel/collector.h"

struct mr_session_options {
	char *const *arguments; /* program and arguments, ended by NULL */
	const char *output;     /* trace directory; NULL: a name is made */
	uint32_t levels;        /* mask of enum mr_level; the kernel's only if it can be had */
	struct mr_kernel_options kernel;
	uint32_t python_samples; /* a second, of each thread that runs Python; 0: none */
	bool as_root;            /* started through sudo, stay root */
	uint64_t delay_ns;       /* levels stay off for so long */
	uint64_t duration_ns;    /* and go off again after so long; 0: never */
	bool has_steps;          /* levels are on only from first_step to last_step */
	uint64_t first_step;
	uint64_t last_step;
	const char *step_range; /* the name of ranges that are steps, short enough; NULL: none */
	uint64_t max_bytes;     /* keep the newest so many bytes; 0: a safe default */
	uint64_t last_bytes;    /* flight recorder: keep the newest so many bytes; 0: no */
	uint64_t last_ns;       /* flight recorder: keep the newest so much time; 0: no */
	uint64_t buffer_bytes;  /* size of the arena, at most 4 GiB; 0: fit for the machine */
	bool no_arguments;      /* keep command line and environment out of the trace */
	bool wait_all;          /* wait for descendants without limit */
	bool show_progress;     /* in the title of the terminal on stderr */
};

struct mr_session_result {
	char *path;         /* trace directory; owned by the caller */
	int wait_status;    /* of the program */
	uint32_t processes; /* traced; a process that executes another program is still the same */
	uint32_t untraced_processes;
	uint32_t alive_processes; /* descendants still running, now switched off */
	uint64_t bytes;
	uint64_t lost_events;
	uint64_t lost_definitions;
	uint64_t lost_packets;
	uint64_t overwritten_bytes;
	uint64_t kept_ns; /* time covered, when something was overwritten */
	uint64_t duration_ns;
	char *stop_reason;        /* why recording ended before the program; NULL: it did not */
	const char *untraced_why; /* why the program itself was not traced; NULL: it was */
	enum mr_kernel_mode kernel_mode;
	char *kernel_why; /* why the kernel level is off or degraded; NULL: it is not */
};

/* Runs it. On failure nothing was run and nothing is left behind: -ENOENT or another error of finding the
 * program has *ret_program_failed set. */
int mr_session_run(const struct mr_session_options *options, struct mr_session_result *ret_result,
		   bool *ret_program_failed);

void mr_session_result_free(struct mr_session_result *result);

#endif
