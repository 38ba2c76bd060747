/* SPDX-License-Identifier: Apache-2.0
 *
 * Maps the ticks of any clock to the trace clock (CLOCK_MONOTONIC nanoseconds), with an error bound.
 *
 * A map is a chain of knots (ticks, ns), each made from one clock sample: the clock was read between
 * two reads of a clock already mapped, so its time is known to half the width of that bracket.
 * Between knots the map is linear; outside it continues with the rate of the outermost gap.
 *
 *     ns │                    ·····        at a knot    h: half the bracket
 *        │               ▪────             in between   max(h) of both ends + what a change of rate
 *        │          ▪────                               between them can hide (below)
 *        │     ▪────                       outside      the bound at the end knot, growing with the
 *        │·····                                         distance: 10 ppm + the error of its rate
 *        └────────────────────────── ticks
 *
 * What can a gap of length d hide? If the rate changes somewhere inside it, its right end leaves the line
 * through its left end and the knot before by some distance e, and the true clock x after the left
 * end is at most e x/d away from our line; seen from the other side, at most e' (d - x)/d. The smaller
 * of the two counts, so the bound is small near knots. e is measured by leaving a knot out: its
 * distance r from the line between its neighbours, and the uncertainty u of the three, make
 * e = (r + u)(d' + d)/d', d' being the neighbouring gap. Where there is no knot beyond, the rate is
 * assumed to change by no more than 10 ppm. A map of one knot uses the nominal frequency, and its
 * bound is not known.
 *
 * Arithmetic is exact (128 bits, rounded down) and maps never decrease. Maps are read-only once
 * built: any number of threads.
 */
#ifndef MR_CLOCK_CLOCK_H
#define MR_CLOCK_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MR_CLOCK_BOUND_UNKNOWN UINT64_MAX

/* Whether one time was before another, if their error bounds allow to decide. */
enum mr_order {
	MR_ORDER_NO,
	MR_ORDER_YES,
	MR_ORDER_UNKNOWN, /* they are closer than the sum of their bounds */
};

/* Times beyond 73 years either way are not real; they are clamped, so that no sum of two overflows. */
#define MR_CLOCK_MAX_NS (INT64_MAX / 4)

struct mr_clock_knot {
	uint64_t ticks;
	int64_t ns;
	uint64_t bound_ns; /* here */
	/* The error that the gap from here to the next knot can hide, seen from the left and the right. */
	uint64_t left_ns;
	uint64_t right_ns;
};

/* A rate as ns per ticks, and how fast the bound grows with the distance. */
struct mr_clock_rate {
	uint64_t ns;
	uint64_t ticks;
	uint64_t growth_ppb;
};

struct mr_clock_map {
	uint32_t clock; /* number of the clock, see clocks.h */
	struct mr_clock_knot *knots;
	uint32_t knot_count; /* 0: this clock cannot be mapped */
	uint32_t sample_count;
	uint32_t
		left_out; /* samples omitted because they contradict the others (a clock was set back) */
	bool bound_known;
	struct mr_clock_rate before; /* the first knot */
	struct mr_clock_rate after;  /* the last knot */
};

/* Fills `map` from knots in any order (ticks, ns, bound_ns); takes ownership of the array, also on
 * failure. `nominal_frequency` in ticks per second (0: not known) is used if there is a single knot. */
void mr_clock_map_build(struct mr_clock_map *map, struct mr_clock_knot *knots, uint32_t count,
			uint64_t nominal_frequency);

/* The clock that is the trace clock itself. -ENOMEM. */
int mr_clock_map_build_identity(struct mr_clock_map *map);

/* `*gap` caches where the last ticks were found, which makes runs of nearby ticks cheap; any initial
 * value works. */
int64_t mr_clock_to_ns_near(const struct mr_clock_map *map, uint64_t ticks, uint32_t *gap);
int64_t mr_clock_to_ns(const struct mr_clock_map *map, uint64_t ticks);

/* Error bound of mr_clock_to_ns(), or MR_CLOCK_BOUND_UNKNOWN. */
uint64_t mr_clock_bound_ns(const struct mr_clock_map *map, uint64_t ticks);

/* The largest bound from `first` to `last`. */
uint64_t mr_clock_max_bound_ns(const struct mr_clock_map *map, uint64_t first, uint64_t last);

/* Was `a` before `b`? The times are exact within their bounds. */
static inline enum mr_order mr_time_before(int64_t a_ns, uint64_t a_bound_ns, int64_t b_ns,
					   uint64_t b_bound_ns)
{
	uint64_t apart_ns =
		a_ns < b_ns ? (uint64_t)b_ns - (uint64_t)a_ns : (uint64_t)a_ns - (uint64_t)b_ns;

	if (apart_ns <= a_bound_ns || apart_ns - a_bound_ns <= b_bound_ns)
		return MR_ORDER_UNKNOWN;
	return a_ns < b_ns ? MR_ORDER_YES : MR_ORDER_NO;
}

/* Ticks per second over all knots. */
uint64_t mr_clock_frequency(const struct mr_clock_map *map);

/* Converts `ticks` of a clock with that frequency to nanoseconds, rounded down and clamped. */
int64_t mr_ticks_to_ns(uint64_t ticks, uint64_t ns, uint64_t per_ticks);

#endif
