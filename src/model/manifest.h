/* SPDX-License-Identifier: Apache-2.0
 *
 * manifest.json: what `millrace record` knows about a recording and the events do not contain.
 *
 * Reading the trace needs nothing from it. If the manifest is absent, broken or of a later format, there is still
 * a manifest object, with `problem` set and everything else unknown; likewise, a member of the wrong type is named in
 * `problem` and treated as absent.
 *
 * All texts belong to the manifest.
 */
#ifndef MR_MODEL_MANIFEST_H
#define MR_MODEL_MANIFEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/trace.h"

enum {
	MR_MANIFEST_FORMAT = 1
};

enum mr_exit_kind {
	MR_EXIT_UNKNOWN,
	MR_EXIT_CODE,
	MR_EXIT_SIGNAL,
};

struct mr_manifest_process {
	uint32_t process; /* number in this run */
	uint32_t pid;
	const char *program; /* NULL if not known */
	const char *seen;    /* how: "library", "wrapper" ... */
	bool traced;
	const char *reason; /* why not; NULL if traced */
	bool ended;
};

/* Something of the kernel level that was not recorded. */
struct mr_manifest_off {
	const char *what;
	const char *why;
};

/* A process that made so many system calls that only those which block were recorded since then. */
struct mr_manifest_reduced {
	uint32_t pid;
	const char *name;  /* NULL if not known */
	uint64_t since_ns; /* CLOCK_MONOTONIC */
};

struct mr_manifest_kernel {
	const char *mode;     /* "bpf", "perf", "off"; NULL if not known */
	const char *reason;   /* why not "bpf"; NULL if there is none, or nobody asked for it */
	const char *syscalls; /* "auto", "all", "blocking", "none" */
	uint64_t events;      /* 0 if the recorder was killed */
	uint64_t not_followed;
	uint64_t *lost_by_cpu;
	size_t cpu_count;
	struct mr_manifest_off *off;
	size_t off_count;
	uint64_t reduced_above; /* system calls a second; 0 if not known */
	struct mr_manifest_reduced *reduced;
	size_t reduced_count;          /* that are listed */
	uint64_t processes_reduced;    /* all of them */
	uint64_t all_reduced_since_ns; /* since when this holds for all processes; 0: it does not */
	uint64_t guarded_threads;      /* whose files and addresses the user may not see */
};

struct mr_manifest {
	const char *problem;  /* NULL: none */
	const char *millrace; /* version; all texts are NULL if not known */
	const char *host;
	const char *boot_id;
	const char *kernel;
	const char *state; /* "complete", "recovered", "stopped", "lost", "recording", "imported" */
	const char *stop_reason;
	const char **command;
	size_t command_count;
	const char **levels;
	size_t level_count;
	const char **frameworks_seen;
	size_t framework_count;
	struct mr_manifest_process *processes;
	size_t process_count;
	int64_t started_realtime_ns; /* 0 if not known */
	int64_t ended_realtime_ns;
	int64_t duration_ns; /* 0 if not known */
	uint64_t cpu_ns;     /* of all CPUs, idle or not, from start to end; 0 if not known */
	uint64_t stolen_ns;  /* of it, by the host of a virtual machine */
	uint64_t window_from_ticks; /* of the user clock: the program's start; 0 if not known */
	uint64_t window_to_ticks;   /* end of the last traced process; 0 if not known */
	uint64_t delay_ns;          /* recording began that late */
	uint64_t first_step;        /* ... or with that step */
	const char *step_range;     /* the name of ranges that are steps; NULL: none */
	enum mr_exit_kind exit_kind;
	int exit_value;
	uint64_t lost_events;
	uint64_t lost_definitions;
	uint64_t kept_bytes; /* of all stream files; 0 if not known */
	uint64_t overwritten_packets;
	uint64_t overwritten_user_packets; /* of these, not of the kernel level; all if not known */
	struct mr_manifest_kernel kernel_level;
	uint64_t kept_from_ticks; /* of the user clock: what is older was overwritten; 0: nothing */
	bool unseen_processes_possible;
	uint32_t recorder_pid;     /* 0 if not known */
	const char *recorder_name; /* of its thread */
	uint64_t recorder_cpu_ns;  /* used while the program ran; 0 if not known */
	uint64_t arena_removals;   /* how often the arena's name was removed while recording */
	struct mr_manifest_private *private;
};

/* Reads TRACE/manifest.json. Fails only without memory. */
int mr_manifest_read(const char *trace_path, struct mr_manifest **ret_manifest);

/* That of a trace. Another tool's has none, even if there is a file of that name: its state is "imported". */
int mr_manifest_of(const struct mr_trace *trace, struct mr_manifest **ret_manifest);

void mr_manifest_free(struct mr_manifest *manifest);

#endif
