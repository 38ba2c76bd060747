/* SPDX-License-Identifier: Apache-2.0
 *
 * `record --steps`: the levels are on during the steps asked for, of the first process that counts any.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "memory_arena.h"
#include "record/steps.h"

static int attach(void **state)
{
	(void)state;
	test_arena = test_arena_create(8);
	test_arena->step_levels = MR_LEVEL_dataflow;
	test_arena->first_step = 3;
	test_arena->last_step = 5;
	mr_process_attach_mapped(test_arena);
	atomic_store(&test_arena->tables->step_levels, MR_LEVEL_core);
	return 0;
}

static void assert_levels(uint32_t levels)
{
	assert_int_equal(atomic_load(&test_arena->tables->step_levels), levels);
}

/* Runs in a forked child. */
static void in_child(void (*action)(void))
{
	pid_t child = fork();
	if (child == 0) {
		action();
		_exit(0);
	}
	int status = -1;
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

static void note_third(void)
{
	mr_steps_note(3);
}

/* Calls of what is called most often are steps; first of all tests, as long as nothing is marked ... */
static void test_calls(void **state)
{
	const uint64_t once = 1, often = 2;

	(void)state;
	mr_steps_count(once);
	for (uint64_t call = 0; call < 10; call++) {
		bool is_in = call >= 3 && call <= 5;
		mr_steps_count(often);
		assert_levels(MR_LEVEL_core | (is_in ? MR_LEVEL_dataflow : 0));
	}
}

/* ... unless the program marks its own. */
static void test_marks_come_before_calls(void **state)
{
	(void)state;
	mr_steps_note(0);
	for (uint64_t call = 0; call < 5; call++)
		mr_steps_count(1);
	assert_levels(MR_LEVEL_core);
}

static void test_range(void **state)
{
	(void)state;
	for (uint64_t step = 0; step < 10; step++) {
		bool is_in = step >= 3 && step <= 5;
		mr_steps_note(step);
		assert_levels(MR_LEVEL_core | (is_in ? MR_LEVEL_dataflow : 0));
	}
}

static void test_without_range(void **state)
{
	(void)state;
	test_arena->step_levels = 0;
	mr_steps_note(3);
	assert_levels(MR_LEVEL_core);
}

static void test_recording_has_ended(void **state)
{
	(void)state;
	atomic_store(&test_arena->tables->step_levels, 0);
	mr_steps_note(3);
	assert_levels(0);
}

static void test_only_the_first_process_counts(void **state)
{
	(void)state;
	mr_steps_note(0);
	in_child(note_third);
	assert_levels(MR_LEVEL_core);
	mr_steps_note(3);
	assert_levels(MR_LEVEL_core | MR_LEVEL_dataflow);
}

/* A child that has written nothing yet is a process, too. */
static void test_a_forked_child_may_be_the_first(void **state)
{
	(void)state;
	in_child(note_third);
	assert_levels(MR_LEVEL_core | MR_LEVEL_dataflow);
	assert_int_not_equal(atomic_load(&test_arena->tables->step_process), 0);
	mr_steps_note(9);
	assert_levels(MR_LEVEL_core | MR_LEVEL_dataflow);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_calls, attach, test_arena_detach),
		cmocka_unit_test_setup_teardown(test_marks_come_before_calls, attach,
						test_arena_detach),
		cmocka_unit_test_setup_teardown(test_range, attach, test_arena_detach),
		cmocka_unit_test_setup_teardown(test_without_range, attach, test_arena_detach),
		cmocka_unit_test_setup_teardown(test_recording_has_ended, attach,
						test_arena_detach),
		cmocka_unit_test_setup_teardown(test_only_the_first_process_counts, attach,
						test_arena_detach),
		cmocka_unit_test_setup_teardown(test_a_forked_child_may_be_the_first, attach,
						test_arena_detach),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
