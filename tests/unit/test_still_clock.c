/* SPDX-License-Identifier: Apache-2.0
 *
 * Clocks that stand still: everything happens at one instant, or in nanoseconds that no clock can count (they are
 * clamped, clock.h). Nothing has a duration then, and nothing may divide by one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analysis/analysis.h"
#include "kernel_trace.h"
#include "launch/clock_samples.h"
#include "timeline/view.h"
#include "trace_writer.h"

static void analyse(struct mr_model *model)
{
	struct mr_findings findings = {0};
	struct mr_view *view = NULL;

	assert_int_equal(mr_analyse_all(model, &findings), 0);
	assert_int_equal(mr_analyse_contents(model, &findings), 0);
	mr_findings_free(&findings);
	assert_int_equal(mr_view_make(model, &view), 0);
	mr_view_free(view);
}

/* Threads that run, wait and are preempted, all of it from `ns` on, in steps of `step`. */
static void live(uint64_t ns, uint64_t step)
{
	kernel_trace_begin(2);
	kernel_born(0, ns, 0, 7, 7, "main");
	kernel_born(0, ns, 7, 8, 7, "worker");
	for (uint32_t i = 0; i < 50; i++) {
		kernel_switch(0, ns += step, 0, 7, MR_switch_reason_unknown);
		KERNEL(0, kernel_syscall, ns += step, NULL, .tid = 7, .number = 1,
		       .duration_ns = {0, 0});
		kernel_wake(0, ns += step, 8, 7);
		kernel_switch(0, ns += step, 7, 8, MR_switch_reason_preempted);
		kernel_switch(0, ns += step, 8, 7, MR_switch_reason_interruptible);
		kernel_switch(0, ns += step, 7, 0, MR_switch_reason_interruptible);
		kernel_wake(1, ns += step, 7, 0);
	}
	struct mr_model *model = kernel_trace_load(ns);
	assert_true(model->survey->event_count > 200);
	analyse(model);
	kernel_trace_end(model);
}

static void test_one_instant(void **state)
{
	(void)state;
	live(1000, 0);
	live(1000, 1);
}

static void test_beyond_all_times(void **state)
{
	(void)state;
	live(UINT64_C(1) << 62, 1000000);
	live(UINT64_MAX / 2, 1000000000);
}

/* Both clocks, one of them, and none; of a recorder, which must describe them nevertheless. */
static void test_recorder(void **state)
{
	(void)state;
	for (uint64_t ticks = 0; ticks < 3000; ticks += 1000)
		for (uint64_t ns = 0; ns < 3000; ns += 1000) {
			const struct mr_clock_bracket first = {50, 100, 60},
						      last = {50 + ticks, 100 + ns, 60 + ticks};
			const struct mr_clock_samples samples = {.first_monotonic = first,
								 .last_monotonic = last};
			struct mr_metadata metadata = {0};

			mr_clock_samples_describe(&samples, MR_trace_clock_tsc, &metadata);
			assert_true(metadata.user.frequency > 0);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_recorder),
		cmocka_unit_test(test_one_instant),
		cmocka_unit_test(test_beyond_all_times),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
