/* SPDX-License-Identifier: Apache-2.0
 *
 * The rings of all CPUs, and the two maps in which the programs find them:
 *
 *     outer map "events"        CPU 0 ──► ring, CPU 1 ──► ring ...       scheduling, system calls ...
 *     outer map "definitions"   CPU 0 ──► ring, CPU 1 ──► ring ...       life of tasks, names of files
 *
 * Rings are large, and the kernel waits for all programs that run (an RCU grace period) whenever one is put into an
 * outer map. So two threads make and install them while the caller loads and attaches the programs:
 *
 *     caller     begin ─── load the programs ─── attach them ─── end ─── follow the first task
 *     threads      ├────── make, map, install ──── done ──────────┤
 *                  └────── make, map, install ── done ────────────┘
 *
 * Programs that are attached write nothing before a task is followed.
 */
#ifndef MR_KERNEL_RINGS_H
#define MR_KERNEL_RINGS_H

#include <pthread.h>
#include <stdbool.h>

#include "kernel/ring.h"
#include "kernel/sizes.h"

/* An outer map, and what is in it. */
struct mr_ring_set {
	struct mr_ring *of_cpu; /* one for each CPU */
	int fd;                 /* the outer map */
	uint32_t cpu_count;
	uint64_t bytes; /* of one ring */
	pthread_t thread;
	bool is_running; /* the thread */
	int result;      /* the thread's, and its reason */
	char why[256];
};

struct mr_rings {
	struct mr_ring_set events, definitions;
};

/* Makes the outer maps, and begins to fill them. The struct must stay where it is. */
int mr_rings_begin(struct mr_rings *rings, uint32_t cpu_count, const struct mr_kernel_sizes *sizes);

/* Waits until all rings are installed. */
int mr_rings_end(struct mr_rings *rings);

/* Accepts a zeroed struct, and one that is not finished or has failed. */
void mr_rings_free(struct mr_rings *rings);

#endif
