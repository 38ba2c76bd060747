/* SPDX-License-Identifier: Apache-2.0
 *
 * Which system call a thread blocked in, and how long calls waited: compared, state by state and call by
 * call, for calls that follow one another as they should and for calls that overlap as they like.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "kernel_trace.h"
#include "trace_writer.h"

enum {
	TID = 7,
	ROUNDS = 400,
};

static uint64_t random_state;

static uint64_t random_below(uint64_t limit)
{
	return next_random(&random_state) % limit;
}

/* A thread that runs, blocks and waits; its calls last up to `longest_ns` whatever else happens. */
static struct mr_model *make(uint64_t seed, uint64_t longest_ns)
{
	uint64_t ns = 1000000;

	random_state = seed;
	kernel_trace_begin(1);
	kernel_born(0, ns, 0, TID, TID, "main");
	for (uint32_t i = 0; i < ROUNDS; i++) {
		kernel_switch(0, ns += 1 + random_below(50), 0, TID, MR_switch_reason_unknown);
		if (random_below(3))
			KERNEL(0, kernel_syscall, ns += 1 + random_below(50), NULL, .tid = TID,
			       .number = 1, .duration_ns = mr_u48_from(random_below(longest_ns)));
		kernel_switch(0, ns += 1 + random_below(50), TID, 0,
			      MR_switch_reason_interruptible);
		kernel_wake(0, ns += 1 + random_below(500), TID, 0);
	}
	return kernel_trace_load(ns + 1000);
}

static int64_t overlap_ns(const struct mr_model *model, uint32_t call, uint32_t state)
{
	const struct mr_system_calls *calls = &model->system_calls;
	const struct mr_states *states = &model->states;
	int64_t begin_ns = mr_max(calls->start_ns[call], states->start_ns[state]);
	int64_t end_ns = mr_min(calls->start_ns[call] + calls->duration_ns[call],
				states->start_ns[state] + states->duration_ns[state]);

	return mr_max(end_ns - begin_ns, INT64_C(0));
}

static void check_calls(const struct mr_model *model)
{
	const struct mr_system_calls *calls = &model->system_calls;
	const struct mr_states *states = &model->states;

	for (uint32_t call = 0; call < calls->table.count; call++) {
		int64_t blocked_ns = 0, runnable_ns = 0;

		for (uint32_t state = 0; state < states->table.count; state++) {
			if (states->state[state] == MR_STATE_BLOCKED)
				blocked_ns += overlap_ns(model, call, state);
			if (states->state[state] == MR_STATE_RUNNABLE)
				runnable_ns += overlap_ns(model, call, state);
		}
		assert_int_equal(calls->blocked_ns[call], blocked_ns);
		assert_int_equal(calls->runnable_ns[call], runnable_ns);
	}
}

static void check_states(const struct mr_model *model)
{
	const struct mr_system_calls *calls = &model->system_calls;
	const struct mr_states *states = &model->states;

	for (uint32_t state = 0; state < states->table.count; state++) {
		uint32_t found = MR_NO_ROW;

		for (uint32_t call = 0; call < calls->table.count; call++)
			if (states->state[state] == MR_STATE_BLOCKED &&
			    calls->start_ns[call] <= states->start_ns[state] &&
			    overlap_ns(model, call, state) == states->duration_ns[state])
				found = call;
		assert_int_equal(states->system_call[state], found);
	}
}

static void check(uint64_t seed, uint64_t longest_ns)
{
	struct mr_model *model = make(seed, longest_ns);

	assert_true(model->states.table.count > ROUNDS &&
		    model->system_calls.table.count > ROUNDS / 2);
	check_calls(model);
	check_states(model);
	kernel_trace_end(model);
}

static void test_one_after_the_other(void **state)
{
	(void)state;
	check(1, 50);
	check(2, 500);
}

static void test_overlapping(void **state)
{
	(void)state;
	for (uint64_t seed = 3; seed < 8; seed++)
		check(seed, seed % 2 ? 3000 : 100000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_after_the_other),
		cmocka_unit_test(test_overlapping),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
