/* SPDX-License-Identifier: Apache-2.0
 *
 * The rings of all CPUs, and the two maps in which the programs find them:
 *
 *     outer map "events"        CPU 0 ──► ring, CPU 1 ──► ring ...       scheduling, system calls ...
 *     outer map "definitions"   CPU 0 ──► ring, CPU 1 ──► ring ...       life of tasks, names of files
 *
 * Rings are large, and the kernel waits for all programs that run (an RCU grace period) whenever one is put into an
 * outer map. So a thread makes and installs them while the caller loads the programs, which takes longer:
 *
 *     caller    begin ─── load the programs ──────────── end ─── attach
 *     thread      └────── make, map, install ── done ─────┘
 */
#ifndef MR_KERNEL_RINGS_H
#define MR_KERNEL_RINGS_H

#include <pthread.h>
#include <stdbool.h>

#include "kernel/ring.h"

struct mr_rings {
	struct mr_ring *events, *definitions; /* one for each CPU */
	int events_fd, definitions_fd;        /* the outer maps */
	uint32_t cpu_count;
	uint64_t event_bytes; /* of one ring */
	pthread_t thread;
	bool is_running; /* the thread */
	int result;      /* the thread's, and its reason */
	char why[256];
};

/* Makes the outer maps, and begins to fill them. `bytes` for each CPU; 0: as the machine's memory allows. The struct
 * must stay where it is. */
int mr_rings_begin(struct mr_rings *rings, uint32_t cpu_count, uint64_t bytes);

/* Waits until all rings are installed. */
int mr_rings_end(struct mr_rings *rings);

/* Accepts a zeroed struct, and one that is not finished or has failed. */
void mr_rings_free(struct mr_rings *rings);

#endif
