/* SPDX-License-Identifier: Apache-2.0 */
#include "clock/clock.h"

#include <errno.h>
#include <stdlib.h>

#include "base/macros.h"

enum {
	PPB = 1000000000,
	ASSUMED_WANDER_PPB =
		10000, /* a rate that cannot be measured is assumed to vary at most this much */
	BATCH_NS = 1000000, /* samples this close are attempts at the same knot */
};

static int64_t clamp(__int128 value)
{
	return value > MR_CLOCK_MAX_NS    ? MR_CLOCK_MAX_NS
	       : value < -MR_CLOCK_MAX_NS ? -MR_CLOCK_MAX_NS
					  : (int64_t)value;
}

/* value * numerator / denominator, rounded down. The 64-bit division is the usual case and much faster.
 */
static unsigned __int128 scale(uint64_t value, uint64_t numerator, uint64_t denominator)
{
	uint64_t product;

	if (mr_likely(!__builtin_mul_overflow(value, numerator, &product)))
		return product / denominator;
	return (unsigned __int128)value * numerator / denominator;
}

static uint64_t scale_up(uint64_t value, uint64_t numerator, uint64_t denominator)
{
	unsigned __int128 result =
		((unsigned __int128)value * numerator + denominator - 1) / denominator;

	return result < MR_CLOCK_BOUND_UNKNOWN ? (uint64_t)result : MR_CLOCK_BOUND_UNKNOWN - 1;
}

static uint64_t add_bounds(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? MR_CLOCK_BOUND_UNKNOWN : sum;
}

int64_t mr_ticks_to_ns(uint64_t ticks, uint64_t ns, uint64_t per_ticks)
{
	unsigned __int128 result = scale(ticks, ns, per_ticks);

	return result > MR_CLOCK_MAX_NS ? MR_CLOCK_MAX_NS : (int64_t)result;
}

/* ---- looking up --------------------------------------------------------------------------------
 */

/* Gap g lies before knot g: gap 0 before the first, gap knot_count after the last. */
static bool is_in_gap(const struct mr_clock_map *map, uint64_t ticks, uint32_t gap)
{
	return (gap == 0 || map->knots[gap - 1].ticks <= ticks) &&
	       (gap == map->knot_count || ticks < map->knots[gap].ticks);
}

static uint32_t find_gap(const struct mr_clock_map *map, uint64_t ticks)
{
	uint32_t low = 0, high = map->knot_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (map->knots[middle].ticks <= ticks)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int64_t convert(const struct mr_clock_map *map, uint64_t ticks, uint32_t gap)
{
	if (gap == 0) {
		unsigned __int128 product =
			(unsigned __int128)(map->knots[0].ticks - ticks) * map->before.ns;
		__int128 back = (__int128)((product + map->before.ticks - 1) / map->before.ticks);

		return clamp(map->knots[0].ns - back);
	}
	const struct mr_clock_knot *from = &map->knots[gap - 1], *to = from + 1;
	uint64_t distance = ticks - from->ticks;
	if (mr_unlikely(gap == map->knot_count))
		return clamp(from->ns + (__int128)scale(distance, map->after.ns, map->after.ticks));
	return from->ns + (int64_t)scale(distance, (uint64_t)to->ns - (uint64_t)from->ns,
					 to->ticks - from->ticks);
}

int64_t mr_clock_to_ns_near(const struct mr_clock_map *map, uint64_t ticks, uint32_t *gap)
{
	if (mr_unlikely(*gap > map->knot_count || !is_in_gap(map, ticks, *gap)))
		*gap = find_gap(map, ticks);
	return convert(map, ticks, *gap);
}

int64_t mr_clock_to_ns(const struct mr_clock_map *map, uint64_t ticks)
{
	return convert(map, ticks, find_gap(map, ticks));
}

static uint64_t bound_inside(const struct mr_clock_knot *from, uint64_t ticks)
{
	const struct mr_clock_knot *to = from + 1;
	uint64_t length = to->ticks - from->ticks;
	uint64_t hidden = mr_min(scale_up(from->left_ns, ticks - from->ticks, length),
				 scale_up(from->right_ns, to->ticks - ticks, length));

	return add_bounds(add_bounds(mr_max(from->bound_ns, to->bound_ns), hidden), 1);
}

uint64_t mr_clock_bound_ns(const struct mr_clock_map *map, uint64_t ticks)
{
	uint32_t gap = find_gap(map, ticks);

	if (!map->bound_known)
		return MR_CLOCK_BOUND_UNKNOWN;
	if (gap > 0 && gap < map->knot_count)
		return bound_inside(&map->knots[gap - 1], ticks);
	const struct mr_clock_rate *rate = gap == 0 ? &map->before : &map->after;
	const struct mr_clock_knot *edge = gap == 0 ? &map->knots[0] : &map->knots[gap - 1];
	uint64_t distance = gap == 0 ? edge->ticks - ticks : ticks - edge->ticks;
	uint64_t distance_ns = scale_up(distance, rate->ns, rate->ticks);
	return add_bounds(edge->bound_ns, scale_up(distance_ns, rate->growth_ppb, PPB));
}

/* A gap can hide most where the bounds from both sides are equal. */
static uint64_t peak_of_gap(const struct mr_clock_knot *from)
{
	uint64_t length = from[1].ticks - from->ticks;
	uint64_t sum = add_bounds(from->left_ns, from->right_ns);

	return from->ticks + (sum ? (uint64_t)scale(length, from->right_ns, sum) : 0);
}

uint64_t mr_clock_max_bound_ns(const struct mr_clock_map *map, uint64_t first, uint64_t last)
{
	uint64_t largest = mr_max(mr_clock_bound_ns(map, first), mr_clock_bound_ns(map, last));

	for (uint32_t i = 0; map->bound_known && i + 1 < map->knot_count; i++) {
		uint64_t peak = peak_of_gap(&map->knots[i]);

		if (peak > first && peak < last)
			largest = mr_max(largest, bound_inside(&map->knots[i], peak));
	}
	return largest;
}

/* ---- building ----------------------------------------------------------------------------------
 */

static int compare_knots(const void *left, const void *right)
{
	const struct mr_clock_knot *a = left, *b = right;

	return a->ns != b->ns ? (a->ns > b->ns) - (a->ns < b->ns)
			      : (a->ticks > b->ticks) - (a->ticks < b->ticks);
}

/* Keeps the narrowest sample of each batch, then removes samples that would make the map decrease. */
static void choose_knots(struct mr_clock_map *map)
{
	struct mr_clock_knot *knots = map->knots;
	uint32_t kept = 0;

	qsort(knots, map->knot_count, sizeof *knots, compare_knots);
	for (uint32_t i = 0, next; i < map->knot_count; i = next) {
		uint32_t best = i;

		for (next = i + 1;
		     next < map->knot_count && (__int128)knots[next].ns - knots[i].ns < BATCH_NS;
		     next++)
			if (knots[next].bound_ns < knots[best].bound_ns)
				best = next;
		if (kept && (knots[best].ticks <= knots[kept - 1].ticks ||
			     knots[best].ns <= knots[kept - 1].ns))
			map->left_out++;
		else
			knots[kept++] = knots[best];
	}
	map->knot_count = kept;
}

/* How far a change of rate in the gap from `middle` to `far` moves `far`, as seen from the knot
 * `near` on the other side of `middle`. */
static uint64_t measure_change(const struct mr_clock_knot *near, const struct mr_clock_knot *middle,
			       const struct mr_clock_knot *far)
{
	__int128 near_ticks = (__int128)middle->ticks - near->ticks;
	__int128 all_ticks = (__int128)far->ticks - near->ticks;
	__int128 line_ns = near->ns + ((__int128)far->ns - near->ns) * near_ticks / all_ticks;
	__int128 residual = line_ns > middle->ns ? line_ns - middle->ns : middle->ns - line_ns;
	uint64_t uncertain =
		add_bounds(add_bounds(middle->bound_ns, mr_max(near->bound_ns, far->bound_ns)), 1);
	uint64_t all = (uint64_t)(all_ticks < 0 ? -all_ticks : all_ticks);
	uint64_t beside = (uint64_t)(near_ticks < 0 ? -near_ticks : near_ticks);

	return scale_up(add_bounds((uint64_t)clamp(residual), uncertain), all, beside);
}

static void bound_gaps(struct mr_clock_map *map)
{
	struct mr_clock_knot *knots = map->knots;
	uint32_t count = map->knot_count;

	for (uint32_t i = 0; i + 1 < count; i++) {
		uint64_t length_ns = (uint64_t)knots[i + 1].ns - (uint64_t)knots[i].ns;
		uint64_t assumed = scale_up(length_ns, ASSUMED_WANDER_PPB, PPB);

		knots[i].left_ns =
			i > 0 ? measure_change(&knots[i - 1], &knots[i], &knots[i + 1]) : assumed;
		knots[i].right_ns =
			i + 2 < count ? measure_change(&knots[i + 2], &knots[i + 1], &knots[i])
				      : assumed;
	}
}

static struct mr_clock_rate rate_of_gap(const struct mr_clock_knot *from)
{
	const struct mr_clock_knot *to = from + 1;
	uint64_t length_ns = (uint64_t)to->ns - (uint64_t)from->ns;
	uint64_t uncertain = add_bounds(from->bound_ns, to->bound_ns);

	return (struct mr_clock_rate){
		.ns = length_ns,
		.ticks = to->ticks - from->ticks,
		.growth_ppb = add_bounds(ASSUMED_WANDER_PPB, scale_up(uncertain, PPB, length_ns)),
	};
}

/* Rates outside the knots: those of the outermost gaps, or the nominal rate. False if there is none. */
static bool set_rates(struct mr_clock_map *map, uint64_t nominal_frequency)
{
	if (map->knot_count >= 2) {
		map->before = rate_of_gap(&map->knots[0]);
		map->after = rate_of_gap(&map->knots[map->knot_count - 2]);
		return true;
	}
	map->before = map->after = (struct mr_clock_rate){PPB, nominal_frequency, 0};
	return nominal_frequency != 0;
}

uint64_t mr_clock_frequency(const struct mr_clock_map *map)
{
	const struct mr_clock_knot *first = map->knots, *last = first + map->knot_count - 1;

	if (map->knot_count < 2)
		return map->before.ticks;
	return (uint64_t)scale(last->ticks - first->ticks, PPB,
			       (uint64_t)last->ns - (uint64_t)first->ns);
}

void mr_clock_map_build(struct mr_clock_map *map, struct mr_clock_knot *knots, uint32_t count,
			uint64_t nominal_frequency)
{
	map->knots = knots;
	map->knot_count = map->sample_count = count;
	map->left_out = 0;
	if (count)
		choose_knots(map);
	if (map->knot_count == 0 || !set_rates(map, nominal_frequency)) {
		map->knot_count = 0;
		map->bound_known = false;
		return;
	}
	bound_gaps(map);
	map->bound_known = map->knot_count >= 2 && map->left_out == 0;
}

int mr_clock_map_build_identity(struct mr_clock_map *map)
{
	struct mr_clock_knot *knot = calloc(1, sizeof *knot);

	if (!knot)
		return -ENOMEM;
	mr_clock_map_build(map, knot, 1, PPB);
	map->sample_count = 0;
	map->bound_known = true;
	return 0;
}
