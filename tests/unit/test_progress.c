/* SPDX-License-Identifier: Apache-2.0
 *
 * Progress: observers see what was reported, also if several threads work.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/progress.h"

enum {
	THREADS = 4,
	STEPS = 10000,
};

static void assert_progress(const char *what, uint64_t done, uint64_t total)
{
	struct mr_progress now = mr_progress_now();

	assert_string_equal(now.what, what);
	assert_int_equal(now.done, done);
	assert_int_equal(now.total, total);
}

static void test_one_after_the_other(void **state)
{
	(void)state;
	assert_progress("", 0, 0);
	mr_progress_begin("first", 10);
	assert_progress("first", 0, 10);
	mr_progress_advance(4);
	mr_progress_advance(5);
	assert_progress("first", 9, 10);
	mr_progress_begin("second", 3);
	assert_progress("second", 0, 3);
}

static void test_never_more_than_all(void **state)
{
	(void)state;
	mr_progress_begin("counted", 10);
	mr_progress_advance(11);
	assert_progress("counted", 10, 10);
	mr_progress_begin("not counted", 0);
	mr_progress_advance(1);
	assert_progress("not counted", 0, 0);
}

static void *work(void *unused)
{
	for (int i = 0; i < STEPS; i++)
		mr_progress_advance(1);
	return unused;
}

static void test_threads(void **state)
{
	pthread_t threads[THREADS];

	(void)state;
	mr_progress_begin("together", 2 * THREADS * STEPS);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, work, NULL), 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	assert_progress("together", THREADS * STEPS, 2 * THREADS * STEPS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_after_the_other),
		cmocka_unit_test(test_never_more_than_all),
		cmocka_unit_test(test_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
