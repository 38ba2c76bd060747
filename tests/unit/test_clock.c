/* SPDX-License-Identifier: Apache-2.0
 *
 * Clock maps against simulated clocks whose truth is known: drifting, changing their rate, set back.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/macros.h"
#include "clock/clocks.h"
#include "schema/schema.h"
#include "trace_writer.h"

enum {
	SAMPLES_MAX = 2000,
	DEVICE = MR_CLOCK_FIRST_DEVICE
};

/* True nanoseconds of a counter that runs at 2.5 GHz with a slow drift and changes of rate. */
struct truth {
	double drift;        /* parts per 1e9 per second */
	double change_at[8]; /* seconds */
	double change_ppm[8];
	int change_count;
};

static int64_t true_ns(const struct truth *truth, uint64_t ticks)
{
	double seconds = (double)ticks / 2.5e9;
	double error_ns = truth->drift * seconds * seconds / 2;

	for (int i = 0; i < truth->change_count; i++)
		if (seconds > truth->change_at[i])
			error_ns += truth->change_ppm[i] * 1e3 * (seconds - truth->change_at[i]);
	return (int64_t)(ticks * 2 / 5) + (int64_t)error_ns + 1000000000;
}

struct simulation {
	struct truth truth;
	struct mr_clock_sample samples[SAMPLES_MAX];
	uint32_t count;
	uint64_t random;
	uint64_t last_ticks;
};

/* The clock is read somewhere inside the bracket; three attempts, one of them narrow. */
static void take_sample(struct simulation *simulation, uint64_t ticks)
{
	for (int attempt = 0; attempt < 3; attempt++) {
		uint64_t width = attempt == 1 ? 60 + next_random(&simulation->random) % 200
					      : 5000 + next_random(&simulation->random) % 90000;
		uint64_t at = ticks + next_random(&simulation->random) % (width + 1);

		simulation->samples[simulation->count++] = (struct mr_clock_sample){
			.reference = MR_trace_clock_tsc,
			.clock = MR_trace_clock_monotonic,
			.before = ticks,
			.value = (uint64_t)true_ns(&simulation->truth, at),
			.after = ticks + width,
		};
		ticks += width + 50;
	}
	simulation->last_ticks = ticks;
}

static struct mr_clocks *build(struct mr_clock_sample *samples, uint32_t count)
{
	struct mr_metadata metadata = writer_metadata;
	struct mr_clock_definition device = {DEVICE, 1000000000};
	struct mr_clocks *clocks = NULL;

	metadata.user.frequency = 2500000000;
	assert_int_equal(mr_clocks_build(&metadata, &device, 1, samples, count, &clocks), 0);
	return clocks;
}

static void check_against_truth(const struct simulation *simulation, const struct mr_clocks *clocks)
{
	uint64_t largest = mr_clock_max_bound_ns(clocks->user, 0, simulation->last_ticks);
	int64_t last_ns = INT64_MIN;

	for (uint64_t i = 0; i <= 20000; i++) {
		uint64_t ticks = simulation->last_ticks / 20000 * i;
		int64_t ns = mr_clock_to_ns(clocks->user, ticks);
		uint64_t error = (uint64_t)llabs(ns - true_ns(&simulation->truth, ticks));

		assert_true(error <= mr_clock_bound_ns(clocks->user, ticks));
		assert_true(mr_clock_bound_ns(clocks->user, ticks) <= largest);
		assert_true(ns >= last_ns);
		last_ns = ns;
	}
}

static void simulate(struct simulation *simulation, double seconds)
{
	for (double at = 0; at < seconds; at += 1)
		take_sample(simulation, (uint64_t)(at * 2.5e9) + 1000);
	take_sample(simulation, (uint64_t)(seconds * 2.5e9));
}

static void test_truth_within_bound(void **state)
{
	static struct simulation simulation;
	uint64_t random = 11;

	(void)state;
	for (int round = 0; round < 60; round++) {
		simulation = (struct simulation){.random = next_random(&random)};
		double seconds = 0.02 + (double)(next_random(&random) % 400) / 10;

		simulation.truth.drift = (double)(next_random(&random) % 100) - 50;
		/* One change of rate in a few gaps; short runs stay within the assumed 10 ppm. */
		for (double at = 3.5; at + 3 < seconds && simulation.truth.change_count < 8;
		     at += 5) {
			int i = simulation.truth.change_count++;

			simulation.truth.change_at[i] =
				at + (double)(next_random(&random) % 9) / 10;
			simulation.truth.change_ppm[i] = (double)(next_random(&random) % 900) - 450;
		}
		simulate(&simulation, seconds);
		struct mr_clocks *clocks = build(simulation.samples, simulation.count);
		assert_true(clocks->user->bound_known);
		check_against_truth(&simulation, clocks);
		mr_clocks_free(clocks);
	}
}

static void test_bound_is_useful(void **state)
{
	static struct simulation simulation = {.random = 5};

	(void)state;
	simulate(&simulation, 20.5);
	struct mr_clocks *clocks = build(simulation.samples, simulation.count);
	assert_int_equal(clocks->user->sample_count, simulation.count);
	assert_int_equal(clocks->user->knot_count, 22);
	/* Brackets are at most 260 ticks, 104 ns wide. */
	assert_true(mr_clock_max_bound_ns(clocks->user, 0, simulation.last_ticks) < 500);
	mr_clocks_free(clocks);
}

static void test_exact(void **state)
{
	struct mr_clock_sample samples[] = {
		{MR_trace_clock_tsc, MR_trace_clock_monotonic, 1000, 5000000, 1000},
		{MR_trace_clock_tsc, MR_trace_clock_monotonic, 30001000, 15000000, 30001000},
		{MR_trace_clock_tsc, MR_trace_clock_monotonic, 90001000, 45000000, 90001000},
	};
	struct mr_clocks *clocks = build(samples, 3);
	uint32_t gap = 12345;

	(void)state;
	assert_int_equal(mr_clock_to_ns(clocks->user, 1000), 5000000);
	assert_int_equal(mr_clock_to_ns(clocks->user, 1003), 5000001);
	assert_int_equal(mr_clock_to_ns(clocks->user, 30001002), 15000001);
	assert_int_equal(mr_clock_to_ns_near(clocks->user, 30000999, &gap), 14999999);
	assert_int_equal(gap, 1);
	/* Outside with the rate of the outermost gap: 1 ns in 3 ticks before, in 2 after. */
	assert_int_equal(mr_clock_to_ns(clocks->user, 90001009), 45000004);
	assert_int_equal(mr_clock_to_ns(clocks->user, 991), 4999997);
	assert_int_equal(mr_clock_to_ns(clocks->user, 990), 4999996);
	assert_int_equal(mr_clock_to_ns(clocks->user, UINT64_MAX), MR_CLOCK_MAX_NS);
	assert_int_equal(mr_clock_to_ns(clocks->monotonic, 123), 123);
	assert_int_equal(mr_clock_bound_ns(clocks->monotonic, 1u << 31), 0);
	assert_int_equal(mr_clocks_stream_to_ns(clocks, MR_STREAM_KERNEL, 77), 77);
	assert_int_equal(mr_clocks_stream_to_ns(clocks, MR_STREAM_USER, 1000), 5000000);
	mr_clocks_free(clocks);
}

static void test_too_few_samples(void **state)
{
	struct mr_clock_sample one = {MR_trace_clock_tsc, MR_trace_clock_monotonic, 2490, 7, 2510};

	(void)state;
	struct mr_clocks *clocks = build(NULL, 0);
	/* The metadata's lines: user 1700000000 s + 123 ticks, monotonic 1700000001 s + 456 ns. */
	assert_int_equal(mr_clock_to_ns(clocks->user, 2500000000), 49 - 456);
	assert_int_equal(mr_clock_bound_ns(clocks->user, 5), MR_CLOCK_BOUND_UNKNOWN);
	assert_int_equal(mr_clocks_linear_error_ns(clocks, 0, 5), MR_CLOCK_BOUND_UNKNOWN);
	assert_null(mr_clocks_find(clocks, DEVICE));
	assert_null(mr_clocks_find(clocks, MR_trace_clock_realtime));
	mr_clocks_free(clocks);

	clocks = build(&one, 1);
	assert_int_equal(mr_clock_to_ns(clocks->user, 2500 + 2500), 1007);
	assert_int_equal(mr_clock_max_bound_ns(clocks->user, 0, 9), MR_CLOCK_BOUND_UNKNOWN);
	mr_clocks_free(clocks);
}

/* A device clock is read between reads of the TSC, which is itself uncertain. */
static void test_device_clock(void **state)
{
	static struct simulation simulation = {.random = 6};

	(void)state;
	simulate(&simulation, 10);
	for (uint64_t second = 0; second < 10; second++) {
		uint64_t before = second * 2500000000 + 777;
		uint64_t middle = before + next_random(&simulation.random) % 2000;

		simulation.samples[simulation.count++] = (struct mr_clock_sample){
			.reference = MR_trace_clock_tsc,
			.clock = DEVICE,
			.before = before,
			.value = (uint64_t)true_ns(&simulation.truth, middle) / 3,
			.after = before + 2000,
		};
	}
	simulation.samples[simulation.count++] =
		(struct mr_clock_sample){.reference = 99, .clock = DEVICE};
	struct mr_clocks *clocks = build(simulation.samples, simulation.count);
	const struct mr_clock_map *device = mr_clocks_find(clocks, DEVICE);
	assert_non_null(device);
	assert_int_equal(clocks->unusable_samples, 1);
	for (uint64_t ticks = device->knots[0].ticks; ticks < 3000000000; ticks += 9999999) {
		uint64_t error =
			(uint64_t)llabs(mr_clock_to_ns(device, ticks) - (int64_t)ticks * 3);

		assert_true(error <= mr_clock_bound_ns(device, ticks) + 3);
	}
	mr_clocks_free(clocks);
}

static void test_clock_set_back(void **state)
{
	struct mr_clock_sample samples[12];

	(void)state;
	for (uint64_t i = 0; i < 6; i++) {
		uint64_t ns = 1000000000 * (i + 1), back = i < 3 ? 0 : 2500000000;

		samples[i] = (struct mr_clock_sample){1, 2, ns, ns, ns + 2};
		samples[6 + i] = (struct mr_clock_sample){1, 3, ns, ns + 9000000000 - back, ns + 2};
	}
	struct mr_clocks *clocks = build(samples, 12);
	const struct mr_clock_map *realtime = mr_clocks_find(clocks, MR_trace_clock_realtime);
	assert_non_null(realtime);
	assert_true(realtime->left_out > 0);
	assert_int_equal(mr_clock_bound_ns(realtime, 10000000000), MR_CLOCK_BOUND_UNKNOWN);
	for (uint64_t ticks = 0; ticks < 20000000000; ticks += 100000000)
		assert_true(mr_clock_to_ns(realtime, ticks) <=
			    mr_clock_to_ns(realtime, ticks + 100000000));
	mr_clocks_free(clocks);
}

/* What babeltrace2 computes from the metadata, in the test's own arithmetic. */
static void test_linear_error(void **state)
{
	static struct simulation simulation = {.random = 9, .truth = {.drift = 40}};
	uint64_t largest = 0;

	(void)state;
	simulate(&simulation, 12.3);
	struct mr_clocks *clocks = build(simulation.samples, simulation.count);
	int64_t epoch_ns = mr_clocks_epoch_ns(clocks);
	assert_int_equal(epoch_ns, 1700000001000000456);
	for (uint64_t ticks = 0; ticks < simulation.last_ticks; ticks += 12345678) {
		int64_t linear_ns = 1700000000000000000 + (int64_t)((ticks + 123) * 2 / 5);
		int64_t truth_ns = true_ns(&simulation.truth, ticks) + epoch_ns;

		largest = mr_max(largest, (uint64_t)llabs(linear_ns - truth_ns));
	}
	uint64_t error = mr_clocks_linear_error_ns(clocks, 0, simulation.last_ticks);
	assert_true(error >= largest);
	assert_true(error <= largest + 2000);
	mr_clocks_free(clocks);
}

/* Nothing that a file can say does harm. */
static void test_nonsense(void **state)
{
	static const uint64_t values[] = {0, 1, UINT64_MAX, UINT64_MAX - 1, INT64_MAX, 1u << 31};
	struct mr_clock_sample samples[40];
	uint64_t random = 8;

	(void)state;
	for (int round = 0; round < 3000; round++) {
		for (size_t i = 0; i < mr_countof(samples); i++)
			samples[i] = (struct mr_clock_sample){
				(uint32_t)(next_random(&random) % 5),
				(uint32_t)(next_random(&random) % 6),
				values[next_random(&random) % 6] + next_random(&random) % 3,
				values[next_random(&random) % 6] - next_random(&random) % 3,
				values[next_random(&random) % 6]};
		struct mr_clocks *clocks = build(samples, mr_countof(samples));
		for (uint32_t i = 0; i < clocks->map_count; i++)
			for (size_t j = 0; clocks->maps[i].knot_count && j < 6; j++) {
				mr_clock_to_ns(&clocks->maps[i], values[j]);
				mr_clock_max_bound_ns(&clocks->maps[i], values[j], UINT64_MAX);
			}
		mr_clocks_linear_error_ns(clocks, 0, UINT64_MAX);
		mr_clocks_free(clocks);
	}
}

/* However far away the epoch is said to be, times can be added to it. */
static void test_far_epoch(void **state)
{
	static const int64_t offsets_s[] = {INT64_MAX, INT64_MIN, 8589934592, -8589934592};

	(void)state;
	for (size_t i = 0; i < mr_countof(offsets_s); i++) {
		struct mr_clocks clocks = {.metadata = writer_metadata};
		int64_t sum;

		clocks.metadata.monotonic.offset_s = offsets_s[i];
		int64_t epoch_ns = mr_clocks_epoch_ns(&clocks);
		assert_int_equal(epoch_ns > 0, offsets_s[i] > 0);
		assert_false(__builtin_add_overflow(epoch_ns, MR_CLOCK_MAX_NS, &sum));
		assert_false(__builtin_sub_overflow(epoch_ns, MR_CLOCK_MAX_NS, &sum));
	}
}

static void test_order(void **state)
{
	(void)state;
	assert_int_equal(mr_time_before(10, 3, 20, 3), MR_ORDER_YES);
	assert_int_equal(mr_time_before(20, 3, 10, 3), MR_ORDER_NO);
	assert_int_equal(mr_time_before(10, 5, 20, 5), MR_ORDER_UNKNOWN);
	assert_int_equal(mr_time_before(10, 5, 20, 4), MR_ORDER_YES);
	assert_int_equal(mr_time_before(10, 0, 10, 0), MR_ORDER_UNKNOWN);
	assert_int_equal(mr_time_before(10, MR_CLOCK_BOUND_UNKNOWN, 1000, 0), MR_ORDER_UNKNOWN);
	assert_int_equal(mr_time_before(10, MR_CLOCK_BOUND_UNKNOWN, 1000, MR_CLOCK_BOUND_UNKNOWN),
			 MR_ORDER_UNKNOWN);
	assert_int_equal(mr_time_before(INT64_MIN, 0, INT64_MAX, 0), MR_ORDER_YES);
	assert_int_equal(mr_time_before(INT64_MAX, UINT64_MAX - 1, INT64_MIN, 0), MR_ORDER_NO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_truth_within_bound),
		cmocka_unit_test(test_bound_is_useful),
		cmocka_unit_test(test_exact),
		cmocka_unit_test(test_too_few_samples),
		cmocka_unit_test(test_device_clock),
		cmocka_unit_test(test_clock_set_back),
		cmocka_unit_test(test_linear_error),
		cmocka_unit_test(test_nonsense),
		cmocka_unit_test(test_far_epoch),
		cmocka_unit_test(test_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
