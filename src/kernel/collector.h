/* SPDX-License-Identifier: Apache-2.0
 *
 * The kernel level: what the operating system did to every thread of the program.
 *
 *     mr_kernel_open()      loads and attaches; follows no task yet         needs privileges; nothing else does
 *     mr_kernel_follow()    the child, which waits at its barrier, and all its descendants
 *     mr_kernel_start()     from now on, packets go to the sink
 *     mr_kernel_drain()     every few milliseconds, until ...
 *     mr_kernel_finish()    ... stops recording; the last packets go to the sink
 *     mr_kernel_close()
 *
 * There are two sources: BPF programs in the kernel (bpf.c), which record everything, and perf events (perf.c),
 * which need no privileges and show when threads start, run and stop, but not why. The collector uses the better
 * one that is permitted.
 *
 * One thread drives it. Nothing outlives the process: if it is killed, the kernel detaches everything.
 * Before it starts, the process must be attached to the arena, because it defines files and texts there.
 */
#ifndef MR_KERNEL_COLLECTOR_H
#define MR_KERNEL_COLLECTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "kernel/packets.h"

enum mr_kernel_syscalls {
	MR_KERNEL_SYSCALLS_AUTO,     /* all, but as BLOCKING for processes that make very many */
	MR_KERNEL_SYSCALLS_ALL,      /* all; slows down every process of the machine a little */
	MR_KERNEL_SYSCALLS_BLOCKING, /* only those in which threads block */
	MR_KERNEL_SYSCALLS_NONE,
};

enum mr_kernel_mode {
	MR_KERNEL_OFF,
	MR_KERNEL_PERF,
	MR_KERNEL_BPF,
};

struct mr_kernel_options {
	enum mr_kernel_syscalls syscalls;
	uint64_t ring_bytes; /* per CPU; 0: depends on the machine's memory */
	bool no_arguments;   /* record only the paths of executed programs */
	/* For whom it is: what he may not see of other users' and setuid programs is left out. 0, root: sees all. */
	uint32_t user, group;
};

/* A process that made more system calls than MR_KERNEL_SYSCALLS_AUTO takes: since then only those that block are
 * recorded. */
struct mr_kernel_reduced {
	uint32_t pid;
	char name[16];
	uint64_t since_ns; /* CLOCK_MONOTONIC */
};

enum {
	MR_KERNEL_REDUCED_MAX = 64,     /* so many are named */
	MR_KERNEL_CALLS_MAX = 50000,    /* a second */
	MR_KERNEL_CALLS_WINDOW_MS = 250 /* in which they are counted */
};

/* Something that is not recorded, and why. */
struct mr_kernel_off {
	const char *what;
	const char *why;
};

/* Borrows from the collector. */
struct mr_kernel_status {
	enum mr_kernel_mode mode;
	enum mr_kernel_syscalls syscalls;
	const char *why_not_bpf; /* NULL in mode BPF */
	uint64_t events;         /* recorded */
	uint64_t files;          /* defined */
	uint32_t cpu_count;
	const uint64_t *lost_by_cpu; /* records for which a CPU's buffer had no room */
	uint64_t lost_syscalls;      /* of these, system calls */
	uint64_t not_followed;       /* tasks that could not be followed */
	uint64_t nested;             /* events that came while another was being recorded */
	const struct mr_kernel_off *off;
	size_t off_count;
	uint64_t
		calls_ended_ns; /* since when of all processes only calls that block are recorded */
	uint64_t guarded; /* threads of which something was left out, as the user may not see it */
	uint32_t reduced_count; /* may exceed MR_KERNEL_REDUCED_MAX */
	struct mr_kernel_reduced reduced[MR_KERNEL_REDUCED_MAX];
};

struct mr_kernel;

/* The cause of a failure says what is missing and what to do about it. */
int mr_kernel_open(const struct mr_kernel_options *options, struct mr_kernel **ret_kernel);

/* Follows a child that waits before its exec, and all its descendants. */
int mr_kernel_follow(struct mr_kernel *kernel, pid_t child);

int mr_kernel_start(struct mr_kernel *kernel, const struct mr_kernel_sink *sink);

/* Switches events on or off; they are on at first. Tasks are followed all the time. */
void mr_kernel_enable(struct mr_kernel *kernel, bool on);

/* True if it is known that none of the tasks that were followed is left. */
bool mr_kernel_are_all_gone(const struct mr_kernel *kernel);

/* Returns how many records were taken. */
uint32_t mr_kernel_drain(struct mr_kernel *kernel);

/* Drains, and also hands over packets that are not full. */
void mr_kernel_flush(struct mr_kernel *kernel);

/* Ends the recording; writes system calls that are still open as unfinished. */
void mr_kernel_finish(struct mr_kernel *kernel);

void mr_kernel_describe(const struct mr_kernel *kernel, struct mr_kernel_status *ret_status);

void mr_kernel_close(struct mr_kernel *kernel);

#endif
