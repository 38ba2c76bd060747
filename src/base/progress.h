/* SPDX-License-Identifier: Apache-2.0
 *
 * What the program is at, for whoever shows it to a waiting person: one for the whole process.
 *
 *     mr_progress_begin("reading events", bytes);
 *     … mr_progress_advance(packet_bytes);           a few calls per packet, no more: they are atomic
 *
 * Whoever works tells; any thread may look. A look between two words of a change may mix them: it is for
 * people's eyes alone.
 */
#ifndef MR_BASE_PROGRESS_H
#define MR_BASE_PROGRESS_H

#include <stdint.h>

struct mr_progress {
	const char *what; /* static; "" before anything began */
	uint64_t done;    /* at most `total` */
	uint64_t total;   /* 0: how much there is to do is not known */
};

/* `what` is static. */
void mr_progress_begin(const char *what, uint64_t total);
void mr_progress_advance(uint64_t done);
struct mr_progress mr_progress_now(void);

#endif
