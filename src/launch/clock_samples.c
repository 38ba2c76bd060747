/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/clock_samples.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "record/recorder.h"

enum {
	TRIES = 8, /* reads per clock and sample; the narrowest bracket is written */
	CALIBRATION_NS = 5000000,
	MONOTONIC = 0, /* of system_clocks */
};

static const struct {
	enum mr_trace_clock clock;
	clockid_t id;
} system_clocks[MR_SYSTEM_CLOCKS] = {
	[MONOTONIC] = {MR_trace_clock_monotonic, CLOCK_MONOTONIC},
	{MR_trace_clock_realtime, CLOCK_REALTIME},
	{MR_trace_clock_boottime, CLOCK_BOOTTIME},
	{MR_trace_clock_monotonic_raw, CLOCK_MONOTONIC_RAW},
};

static bool file_contains(const char *path, const char *first, const char *second)
{
	mr_auto(close_file) FILE *file = fopen(path, "re");
	mr_auto(free) char *line = NULL;
	size_t capacity = 0;
	while (file && getline(&line, &capacity, file) > 0)
		if (strstr(line, first) && strstr(line, second))
			return true;
	return false;
}

enum mr_trace_clock mr_clock_choose(void)
{
#if defined(__aarch64__)
	return MR_trace_clock_tsc; /* the architecture's counter is invariant by definition */
#else
	static const char source[] =
		"/sys/devices/system/clocksource/clocksource0/available_clocksource";
	bool invariant = file_contains("/proc/cpuinfo", "constant_tsc", "nonstop_tsc");
	return invariant && file_contains(source, "tsc", "") ? MR_trace_clock_tsc
							     : MR_trace_clock_monotonic;
#endif
}

static struct mr_clock_bracket sample(clockid_t clock)
{
	struct mr_clock_bracket best = {.after = UINT64_MAX};
	for (int i = 0; i < TRIES; i++) {
		struct mr_clock_bracket bracket;
		bracket.before = mr_ticks_now();
		bracket.value = mr_ticks_of_system(clock);
		bracket.after = mr_ticks_now();
		if (bracket.after - bracket.before < best.after - best.before)
			best = bracket;
	}
	return best;
}

static uint64_t middle(struct mr_clock_bracket bracket)
{
	return bracket.before + (bracket.after - bracket.before) / 2;
}

static uint64_t frequency_between(struct mr_clock_bracket first, struct mr_clock_bracket last)
{
	uint64_t ns = last.value - first.value;
	if (ns == 0)
		return 0;
	unsigned __int128 ticks = middle(last) - middle(first);
	return (uint64_t)((ticks * 1000000000 + ns / 2) / ns);
}

static void write_sample(size_t clock, struct mr_clock_bracket bracket)
{
	mr_emit(clock_sample, .reference = mr_arena->user_clock,
		.clock = system_clocks[clock].clock, .before = bracket.before,
		.value = bracket.value, .after = bracket.after);
}

void mr_clock_samples_take(struct mr_clock_samples *samples)
{
	for (size_t i = 0; i < MR_SYSTEM_CLOCKS; i++) {
		struct mr_clock_bracket bracket = sample(system_clocks[i].id);
		write_sample(i, bracket);
		if (i == MONOTONIC)
			samples->last_monotonic = bracket;
	}
}

enum mr_trace_clock mr_clock_samples_begin(struct mr_clock_samples *samples)
{
	enum mr_trace_clock chosen = mr_clock_choose();
	mr_ticks_are_counter = chosen == MR_trace_clock_tsc;
	for (size_t i = 0; i < MR_SYSTEM_CLOCKS; i++)
		samples->first[i] = sample(system_clocks[i].id);
	samples->first_monotonic = samples->first[MONOTONIC];
	samples->realtime_minus_monotonic_ns =
		mr_ticks_of_system(CLOCK_REALTIME) - mr_ticks_of_system(CLOCK_MONOTONIC);
	return chosen;
}

void mr_clock_samples_start(struct mr_clock_samples *samples)
{
	uint64_t since_ns = mr_ticks_of_system(CLOCK_MONOTONIC) - samples->first_monotonic.value;
	for (size_t i = 0; i < MR_SYSTEM_CLOCKS; i++)
		write_sample(i, samples->first[i]);
	if (since_ns < CALIBRATION_NS)
		nanosleep(&(struct timespec){.tv_nsec = (long)(CALIBRATION_NS - since_ns)}, NULL);
	/* With two samples in the trace its times have a bound, even if record is killed early. */
	mr_clock_samples_take(samples);
	samples->calibrated_frequency =
		frequency_between(samples->first_monotonic, samples->last_monotonic);
}

void mr_clock_samples_describe(const struct mr_clock_samples *samples,
			       enum mr_trace_clock user_clock, struct mr_metadata *ret_metadata)
{
	uint64_t epoch_ns = samples->realtime_minus_monotonic_ns;
	struct mr_clock_bracket first = samples->first_monotonic;
	uint64_t frequency = frequency_between(first, samples->last_monotonic);
	if (user_clock == MR_trace_clock_monotonic)
		frequency = 1000000000;
	else if (samples->last_monotonic.value - first.value < 2 * CALIBRATION_NS)
		frequency = samples->calibrated_frequency;
	if (frequency == 0)
		frequency = 1000000000; /* a clock stands still: any rate is as good */
	ret_metadata->user_clock = (uint8_t)user_clock;
	ret_metadata->monotonic = (struct mr_metadata_clock){
		.description = "CLOCK_MONOTONIC",
		.frequency = 1000000000,
		.offset_s = (int64_t)(epoch_ns / 1000000000),
		.offset_ticks = epoch_ns % 1000000000,
		.precision_ns = 1,
	};
	/* offset + middle(first) * 1e9 / frequency must be first.value + epoch_ns. The whole seconds are split
	 * off so that the rest, in ticks, is small and positive. */
	uint64_t first_ticks = middle(first);
	uint64_t target_ns = first.value + epoch_ns;
	int64_t offset_s =
		(int64_t)(target_ns / 1000000000) - (int64_t)(first_ticks / frequency) - 1;
	unsigned __int128 rest_ticks =
		(unsigned __int128)(target_ns % 1000000000) * frequency / 1000000000;
	ret_metadata->user = (struct mr_metadata_clock){
		.description =
			user_clock == MR_trace_clock_tsc ? "processor counter" : "CLOCK_MONOTONIC",
		.frequency = frequency,
		.offset_s = offset_s,
		.offset_ticks = (uint64_t)rest_ticks + frequency - first_ticks % frequency,
		.precision_ns = 1 + (first.after - first.before) * 1000000000 / frequency,
	};
}
