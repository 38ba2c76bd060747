/* SPDX-License-Identifier: Apache-2.0 */
#include "clock/clocks.h"

#include <errno.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/macros.h"
#include "base/vector.h"
#include "schema/schema.h"

#define NS_PER_SECOND UINT64_C(1000000000)
#define MAX_EPOCH_NS  (INT64_MAX - MR_CLOCK_MAX_NS)

typedef mr_vec(struct mr_clock_knot) knot_list;

static int compare_samples(const void *left, const void *right)
{
	const struct mr_clock_sample *a = left, *b = right;

	return (a->clock > b->clock) - (a->clock < b->clock);
}

static int compare_definitions(const void *left, const void *right)
{
	const struct mr_clock_definition *a = left, *b = right;

	return (a->clock > b->clock) - (a->clock < b->clock);
}

static int compare_maps(const void *left, const void *right)
{
	const struct mr_clock_map *a = left, *b = right;

	return (a->clock > b->clock) - (a->clock < b->clock);
}

/* ---- the metadata's straight lines --------------------------------------------------------------
 */

static __int128 linear_ns(const struct mr_metadata_clock *clock, uint64_t ticks)
{
	uint64_t frequency = clock->frequency ? clock->frequency : NS_PER_SECOND;
	__int128 all_ticks = (__int128)clock->offset_ticks + ticks;

	return (__int128)clock->offset_s * (int64_t)NS_PER_SECOND +
	       all_ticks * (int64_t)NS_PER_SECOND / frequency;
}

int64_t mr_clocks_epoch_ns(const struct mr_clocks *clocks)
{
	__int128 epoch_ns = linear_ns(&clocks->metadata.monotonic, 0);

	/* Clamped so that every time of the trace can be added to it. */
	return epoch_ns > MAX_EPOCH_NS    ? MAX_EPOCH_NS
	       : epoch_ns < -MAX_EPOCH_NS ? -MAX_EPOCH_NS
					  : (int64_t)epoch_ns;
}

static uint64_t linear_distance(const struct mr_clocks *clocks, uint64_t ticks)
{
	__int128 ours = (__int128)mr_clock_to_ns(clocks->user, ticks) + mr_clocks_epoch_ns(clocks);
	__int128 distance = linear_ns(&clocks->metadata.user, ticks) - ours;

	distance = distance < 0 ? -distance : distance;
	return distance < INT64_MAX ? (uint64_t)distance : INT64_MAX;
}

uint64_t mr_clocks_linear_error_ns(const struct mr_clocks *clocks, uint64_t first, uint64_t last)
{
	const struct mr_clock_map *user = clocks->user;
	uint64_t bound = mr_clock_max_bound_ns(user, first, last);
	uint64_t largest = mr_max(linear_distance(clocks, first), linear_distance(clocks, last));

	if (bound == MR_CLOCK_BOUND_UNKNOWN)
		return MR_CLOCK_BOUND_UNKNOWN;
	/* Both are linear between knots, so their distance is largest at a knot. */
	for (uint32_t i = 0; i < user->knot_count; i++)
		if (user->knots[i].ticks > first && user->knots[i].ticks < last)
			largest = mr_max(largest, linear_distance(clocks, user->knots[i].ticks));
	return largest + bound + 1; /* 1: the rounding of both */
}

/* ---- building -----------------------------------------------------------------------------------
 */

/* The user clock's knots come from samples whose *reference* it is. */
static int gather_user_knots(const struct mr_clocks *clocks, const struct mr_clock_sample *samples,
			     uint32_t count, knot_list *knots)
{
	uint64_t frequency = clocks->metadata.user.frequency;

	for (uint32_t i = 0; i < count; i++) {
		const struct mr_clock_sample *sample = &samples[i];
		uint64_t width = sample->after - sample->before;

		if (sample->reference != clocks->metadata.user_clock ||
		    sample->clock != MR_trace_clock_monotonic || sample->after < sample->before ||
		    sample->value > MR_CLOCK_MAX_NS)
			continue;
		struct mr_clock_knot knot = {
			.ticks = sample->before + width / 2,
			.ns = (int64_t)sample->value,
			.bound_ns = (uint64_t)mr_ticks_to_ns(width - width / 2, NS_PER_SECOND,
							     frequency ? frequency : 1) +
				    2, /* 2: rounding, and a rate close to the nominal one */
		};
		if (mr_vec_push(knots, knot) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int build_user(struct mr_clocks *clocks, struct mr_clock_map *map,
		      const struct mr_clock_sample *samples, uint32_t count)
{
	const struct mr_metadata *metadata = &clocks->metadata;
	knot_list knots = {0};
	int result = gather_user_knots(clocks, samples, count, &knots);

	if (result == 0 && knots.count == 0) {
		__int128 zero = linear_ns(&metadata->user, 0) - linear_ns(&metadata->monotonic, 0);

		result = mr_vec_push(&knots, ((struct mr_clock_knot){.ns = (int64_t)zero}));
	}
	if (result < 0) {
		mr_vec_free(&knots);
		return result;
	}
	mr_clock_map_build(map, knots.items, (uint32_t)knots.count,
			   metadata->user.frequency ? metadata->user.frequency : NS_PER_SECOND);
	return 0;
}

/* Any other clock was read between two reads of a clock that is mapped already. */
static int gather_knots(struct mr_clocks *clocks, const struct mr_clock_sample *samples,
			uint32_t count, knot_list *knots)
{
	for (uint32_t i = 0; i < count; i++) {
		const struct mr_clock_sample *sample = &samples[i];
		const struct mr_clock_map *reference = mr_clocks_find(clocks, sample->reference);

		if (!reference || sample->after < sample->before) {
			clocks->unusable_samples++;
			continue;
		}
		int64_t before_ns = mr_clock_to_ns(reference, sample->before);
		int64_t after_ns = mr_clock_to_ns(reference, sample->after);
		uint64_t width_ns = (uint64_t)after_ns - (uint64_t)before_ns;
		uint64_t bound = mr_clock_max_bound_ns(reference, sample->before, sample->after);
		struct mr_clock_knot knot = {
			.ticks = sample->value,
			.ns = before_ns + (int64_t)(width_ns / 2),
			/* A reference with an unknown bound gives a map with an unknown bound. */
			.bound_ns =
				bound == MR_CLOCK_BOUND_UNKNOWN ? bound : width_ns / 2 + bound + 1,
		};
		if (mr_vec_push(knots, knot) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int build_other(struct mr_clocks *clocks, struct mr_clock_map *map,
		       const struct mr_clock_sample *samples, uint32_t count,
		       uint64_t ticks_per_second)
{
	knot_list knots = {0};
	int result = gather_knots(clocks, samples, count, &knots);
	bool bound_known = true;

	if (result < 0) {
		mr_vec_free(&knots);
		return result;
	}
	for (size_t i = 0; i < knots.count; i++)
		bound_known &= knots.items[i].bound_ns != MR_CLOCK_BOUND_UNKNOWN;
	mr_clock_map_build(map, knots.items, (uint32_t)knots.count, ticks_per_second);
	map->bound_known &= bound_known;
	return 0;
}

/* The operating system's clocks tick in nanoseconds, even if the trace does not say so. */
static uint64_t frequency_of(uint32_t clock, const struct mr_clock_definition *definitions,
			     uint32_t count)
{
	const struct mr_clock_definition key = {.clock = clock};
	const struct mr_clock_definition *found =
		count ? bsearch(&key, definitions, count, sizeof key, compare_definitions) : NULL;

	return found ? found->ticks_per_second : clock < MR_CLOCK_FIRST_DEVICE ? NS_PER_SECOND : 0;
}

/* Makes a map without knots for every clock that is sampled or defined. */
static int list_clocks(struct mr_clocks *clocks, const struct mr_clock_definition *definitions,
		       uint32_t definition_count, const struct mr_clock_sample *samples,
		       uint32_t sample_count)
{
	size_t most = (size_t)sample_count + definition_count + 2, listed = 0;

	clocks->maps = calloc(most, sizeof *clocks->maps);
	if (!clocks->maps)
		return -ENOMEM;
	clocks->maps[listed++].clock = MR_trace_clock_monotonic;
	clocks->maps[listed++].clock = clocks->metadata.user_clock;
	for (uint32_t i = 0; i < definition_count; i++)
		clocks->maps[listed++].clock = definitions[i].clock;
	for (uint32_t i = 0; i < sample_count; i++)
		if (i == 0 || samples[i].clock != samples[i - 1].clock)
			clocks->maps[listed++].clock = samples[i].clock;
	qsort(clocks->maps, listed, sizeof *clocks->maps, compare_maps);
	for (size_t i = 0; i < listed; i++)
		if (i == 0 || clocks->maps[i].clock != clocks->maps[i - 1].clock)
			clocks->maps[clocks->map_count++].clock = clocks->maps[i].clock;
	return 0;
}

static struct mr_clock_map *find_any(const struct mr_clocks *clocks, uint32_t clock)
{
	const struct mr_clock_map key = {.clock = clock};

	return bsearch(&key, clocks->maps, clocks->map_count, sizeof key, compare_maps);
}

/* Maps the clocks other than user and monotonic, in ascending order of their numbers. */
static int build_others(struct mr_clocks *clocks, const struct mr_clock_definition *definitions,
			uint32_t definition_count, const struct mr_clock_sample *samples,
			uint32_t sample_count)
{
	for (uint32_t i = 0, next; i < sample_count; i = next) {
		struct mr_clock_map *map = find_any(clocks, samples[i].clock);

		for (next = i + 1; next < sample_count && samples[next].clock == map->clock; next++)
			;
		if (map == clocks->monotonic || map == clocks->user)
			continue;
		int result = build_other(clocks, map, samples + i, next - i,
					 frequency_of(map->clock, definitions, definition_count));
		if (result < 0)
			return result;
	}
	return 0;
}

static int build_all(struct mr_clocks *clocks, const struct mr_clock_definition *definitions,
		     uint32_t definition_count, const struct mr_clock_sample *samples,
		     uint32_t sample_count)
{
	int result = list_clocks(clocks, definitions, definition_count, samples, sample_count);

	if (result < 0)
		return result;
	struct mr_clock_map *monotonic = find_any(clocks, MR_trace_clock_monotonic);
	struct mr_clock_map *user = find_any(clocks, clocks->metadata.user_clock);
	clocks->monotonic = monotonic;
	clocks->user = user;
	result = mr_clock_map_build_identity(monotonic);
	if (result == 0 && user != monotonic)
		result = build_user(clocks, user, samples, sample_count);
	if (result < 0)
		return result;
	return build_others(clocks, definitions, definition_count, samples, sample_count);
}

int mr_clocks_build(const struct mr_metadata *metadata, struct mr_clock_definition *definitions,
		    uint32_t definition_count, struct mr_clock_sample *samples,
		    uint32_t sample_count, struct mr_clocks **ret_clocks)
{
	if (metadata->user_clock != MR_trace_clock_tsc &&
	    metadata->user_clock != MR_trace_clock_monotonic)
		return mr_fail(EINVAL, "the trace's user clock is of an unknown kind, %u",
			       metadata->user_clock);

	struct mr_clocks *clocks = calloc(1, sizeof *clocks);
	if (!clocks)
		return mr_fail_errno(ENOMEM, "map the clocks");
	clocks->metadata = *metadata;
	if (sample_count)
		qsort(samples, sample_count, sizeof *samples, compare_samples);
	if (definition_count)
		qsort(definitions, definition_count, sizeof *definitions, compare_definitions);
	int result = build_all(clocks, definitions, definition_count, samples, sample_count);
	if (result < 0) {
		mr_clocks_free(clocks);
		return mr_fail_errno(-result, "map the clocks");
	}
	*ret_clocks = clocks;
	return 0;
}

void mr_clocks_free(struct mr_clocks *clocks)
{
	if (!clocks)
		return;
	for (uint32_t i = 0; i < clocks->map_count; i++)
		free(clocks->maps[i].knots);
	free(clocks->maps);
	free(clocks);
}

/* ---- asking -------------------------------------------------------------------------------------
 */

const struct mr_clock_map *mr_clocks_find(const struct mr_clocks *clocks, uint32_t clock)
{
	const struct mr_clock_map *map = find_any(clocks, clock);

	return map && map->knot_count ? map : NULL;
}

int64_t mr_clocks_stream_to_ns(const void *clocks, enum mr_stream_class stream_class,
			       uint64_t ticks)
{
	return mr_clock_to_ns(mr_clocks_of_stream(clocks, stream_class), ticks);
}

const char *mr_clock_system_name(uint32_t clock)
{
	switch (clock) {
	case MR_trace_clock_tsc:
		return "tsc";
	case MR_trace_clock_monotonic:
		return "monotonic";
	case MR_trace_clock_realtime:
		return "realtime";
	case MR_trace_clock_boottime:
		return "boottime";
	case MR_trace_clock_monotonic_raw:
		return "monotonic_raw";
	}
	return NULL;
}
