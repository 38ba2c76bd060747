/* SPDX-License-Identifier: Apache-2.0
 *
 * The kernel level: what the operating system did to every thread of the program.
 *
 *     mr_kernel_open()      loads and attaches; nothing is followed yet     may need privilege
 *     mr_kernel_follow()    the child, which waits at its barrier, and all it will bring forth
 *     mr_kernel_start()     packets go to the sink from now on
 *     mr_kernel_drain()     every few milliseconds, until ...
 *     mr_kernel_finish()    ... nothing more is recorded; the last packets go to the sink
 *     mr_kernel_close()
 *
 * There are two sources: programs in the kernel (bpf.c), which see everything, and perf events (perf.c),
 * which need no privilege and see threads come and go, but not why. The better one that is permitted is used.
 *
 * Driven by one thread. Nothing outlives the process: should it be killed, the kernel detaches everything.
 * Once started, the process must be attached to the arena: files and texts are defined by it.
 */
#ifndef MR_KERNEL_COLLECTOR_H
#define MR_KERNEL_COLLECTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "kernel/packets.h"

enum mr_kernel_syscalls {
	MR_KERNEL_SYSCALLS_AUTO, /* every one, but of processes that make very many as BLOCKING does */
	MR_KERNEL_SYSCALLS_ALL,      /* every one; costs every process of the machine a little */
	MR_KERNEL_SYSCALLS_BLOCKING, /* only the ones that threads block in */
	MR_KERNEL_SYSCALLS_NONE,
};

enum mr_kernel_mode {
	MR_KERNEL_OFF,
	MR_KERNEL_PERF,
	MR_KERNEL_BPF,
};

struct mr_kernel_options {
	enum mr_kernel_syscalls syscalls;
	uint64_t ring_bytes; /* for each CPU; 0: as the machine's memory allows */
	bool no_arguments;   /* of programs executed, only the path is recorded */
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
	uint32_t reduced_count; /* may exceed MR_KERNEL_REDUCED_MAX */
	struct mr_kernel_reduced reduced[MR_KERNEL_REDUCED_MAX];
};

struct mr_kernel;

/* The cause of a failure says what is missing and what to do about it. */
int mr_kernel_open(const struct mr_kernel_options *options, struct mr_kernel **ret_kernel);

/* Follows a child that waits before its exec, and all tasks that come from it. */
int mr_kernel_follow(struct mr_kernel *kernel, pid_t child);

int mr_kernel_start(struct mr_kernel *kernel, const struct mr_kernel_sink *sink);

/* Switches events on or off; tasks are followed all the time. They are on at first. */
void mr_kernel_enable(struct mr_kernel *kernel, bool on);

/* True if it is known that none of the tasks that were followed is left. */
bool mr_kernel_are_all_gone(const struct mr_kernel *kernel);

/* Returns how many records were taken. */
uint32_t mr_kernel_drain(struct mr_kernel *kernel);

/* Drains, and hands over packets that are not full as well. */
void mr_kernel_flush(struct mr_kernel *kernel);

/* Ends the recording: calls that are still open are written as such. */
void mr_kernel_finish(struct mr_kernel *kernel);

void mr_kernel_describe(const struct mr_kernel *kernel, struct mr_kernel_status *ret_status);

void mr_kernel_close(struct mr_kernel *kernel);

#endif
