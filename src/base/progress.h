/* SPDX-License-Identifier: Apache-2.0
 *
 * The progress of the current work, for display to the user. There is one for the whole process.
 *
 *     mr_progress_begin("reading events", bytes);
 *     … mr_progress_advance(packet_bytes);           a few calls per packet, no more: they are atomic
 *
 * The working thread updates it; any thread may read it. A reader may see one field before and another after
 * an update: it is for display only.
 */
#ifndef MR_BASE_PROGRESS_H
#define MR_BASE_PROGRESS_H

#include <stdint.h>

struct mr_progress {
	const char *what; /* static; "" before anything began */
	uint64_t done;    /* at most `total` */
	uint64_t total;   /* 0: not known */
};

/* `what` is static. */
void mr_progress_begin(const char *what, uint64_t total);
void mr_progress_advance(uint64_t done);
struct mr_progress mr_progress_now(void);

#endif
