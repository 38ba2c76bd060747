/* SPDX-License-Identifier: Apache-2.0
 *
 * Times without kernel-level records: a CPU's buffer was full, events were overwritten, or the recording was off.
 * What happened in such a time is not known, so no state may span it.
 *
 *     CPU 0   ░░░░░────────────────▒▒▒───────────░░░░      ░ not recorded   ▒ lost
 *     CPU 1   ░░░░░──────────────────────────────░░░░
 *
 * Read-only once made.
 */
#ifndef MR_LOAD_GAPS_H
#define MR_LOAD_GAPS_H

#include "model/model.h"

struct mr_gaps {
	int64_t on_ns;       /* events are complete from here ... */
	int64_t off_ns;      /* ... to here, but for the lost ones */
	struct mr_gap *lost; /* by CPU, and of a CPU by time */
	size_t lost_count;
};

int mr_gaps_make(const struct mr_model *model, struct mr_gaps *ret_gaps);
void mr_gaps_free(struct mr_gaps *gaps);

/* The part of [*begin_ns, *end_ns) from the first to the last gap of the CPU, or of any one (MR_NO_CPU),
 * and why (enum mr_state_reason); false if there is none. */
bool mr_gaps_find(const struct mr_gaps *gaps, uint32_t cpu, int64_t *begin_ns, int64_t *end_ns,
		  uint8_t *ret_reason);

#endif
