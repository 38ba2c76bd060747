/* SPDX-License-Identifier: Apache-2.0
 *
 * Clock samples: at the start, every second and at the end of a recording, `record` reads each system
 * clock between two reads of the user clock and writes the brackets into the trace. From the first and the
 * last it also computes the linear map that CTF metadata can express; millrace's own reader uses all
 * samples (src/clock).
 */
#ifndef MR_LAUNCH_CLOCK_SAMPLES_H
#define MR_LAUNCH_CLOCK_SAMPLES_H

#include "record/arena.h"
#include "schema/metadata.h"

enum {
	MR_SYSTEM_CLOCKS = 4
};

struct mr_clock_bracket {
	uint64_t before;
	uint64_t value;
	uint64_t after;
};

struct mr_clock_samples {
	struct mr_clock_bracket first[MR_SYSTEM_CLOCKS];
	struct mr_clock_bracket first_monotonic;
	struct mr_clock_bracket last_monotonic;
	uint64_t realtime_minus_monotonic_ns;
	uint64_t calibrated_frequency; /* before there are two samples far apart */
};

/* The TSC if it is invariant and the kernel trusts it, else CLOCK_MONOTONIC. */
enum mr_trace_clock mr_clock_choose(void);

/* Chooses the user clock and takes the first sample: early, as the second must come a few milliseconds later. */
enum mr_trace_clock mr_clock_samples_begin(struct mr_clock_samples *samples);

/* Writes the first sample into the trace, and a second: a quick calibration, so that the metadata is usable from the
 * start. The process must be attached to the arena. */
void mr_clock_samples_start(struct mr_clock_samples *samples);

/* Takes a sample of every clock and writes it into the trace. */
void mr_clock_samples_take(struct mr_clock_samples *samples);

/* Fills in the clocks of `ret_metadata`. */
void mr_clock_samples_describe(const struct mr_clock_samples *samples,
			       enum mr_trace_clock user_clock, struct mr_metadata *ret_metadata);

#endif
