/* SPDX-License-Identifier: Apache-2.0
 *
 * All clocks of a trace, mapped to the trace clock from the recorded samples.
 *
 *     monotonic ──── is the trace clock
 *        ▲
 *     user (TSC) ─── samples (user, monotonic, user); without them the metadata's frequency
 *        ▲
 *     realtime, boottime, monotonic_raw, device clocks ── samples against any clock above or with
 *                                                         a lower number
 *
 * Clocks are identified by numbers: enum mr_trace_clock for those of the operating system. For device
 * clocks the caller chooses numbers from MR_CLOCK_FIRST_DEVICE on (ids in a trace are valid only in one
 * process).
 */
#ifndef MR_CLOCK_CLOCKS_H
#define MR_CLOCK_CLOCKS_H

#include "clock/clock.h"
#include "schema/metadata.h"
#include "schema/packet.h"

enum {
	MR_CLOCK_FIRST_DEVICE = 16, /* lower ids are enum mr_trace_clock */
};

struct mr_clock_sample {
	uint32_t reference; /* clock of before and after */
	uint32_t clock;     /* clock of value */
	uint64_t before;
	uint64_t value;
	uint64_t after;
};

struct mr_clock_definition {
	uint32_t clock;
	uint64_t ticks_per_second; /* 0 if not known */
};

struct mr_clocks {
	struct mr_metadata metadata; /* texts are borrowed */
	struct mr_clock_map *maps;   /* by clock, ascending */
	uint32_t map_count;
	const struct mr_clock_map *user;
	const struct mr_clock_map *monotonic;
	uint64_t
		unusable_samples; /* end before they begin, or refer to a clock that is not mapped */
};

/* Sorts the given samples and definitions; keeps neither. */
int mr_clocks_build(const struct mr_metadata *metadata, struct mr_clock_definition *definitions,
		    uint32_t definition_count, struct mr_clock_sample *samples,
		    uint32_t sample_count, struct mr_clocks **ret_clocks);
void mr_clocks_free(struct mr_clocks *clocks);

/* NULL if that clock cannot be mapped. */
const struct mr_clock_map *mr_clocks_find(const struct mr_clocks *clocks, uint32_t clock);

static inline const struct mr_clock_map *mr_clocks_of_stream(const struct mr_clocks *clocks,
							     enum mr_stream_class stream_class)
{
	return stream_class == MR_STREAM_USER ? clocks->user : clocks->monotonic;
}

/* An mr_to_ns for mr_merge_start(). */
int64_t mr_clocks_stream_to_ns(const void *clocks, enum mr_stream_class stream_class,
			       uint64_t ticks);

/* Nanoseconds since the Unix epoch at trace time 0, according to the metadata. */
int64_t mr_clocks_epoch_ns(const struct mr_clocks *clocks);

/* CTF readers know only the linear map of the user clock in the metadata. This is the error bound of
 * that map for ticks from `first` to `last`: the largest distance from our map, plus our map's
 * bound. */
uint64_t mr_clocks_linear_error_ns(const struct mr_clocks *clocks, uint64_t first, uint64_t last);

/* "tsc", "monotonic", ... of the system's clocks; NULL for others. */
const char *mr_clock_system_name(uint32_t clock);

#endif
