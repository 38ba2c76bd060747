/* SPDX-License-Identifier: Apache-2.0
 *
 * Rank tests, shifts and false discoveries, against numbers that can be counted by hand.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analysis/diff/rank.h"
#include "base/macros.h"

#define SAMPLE(...)                                         \
	((struct mr_sample){(const int64_t[]){__VA_ARGS__}, \
			    sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t)})

static double chance_of(struct mr_sample before, struct mr_sample after)
{
	struct mr_rank_table table;
	double chance;

	assert_int_equal(mr_rank_table_make(before.count, after.count, &table), 0);
	assert_int_equal(mr_rank_test(&table, before, after, &chance), 0);
	mr_rank_table_free(&table);
	return chance;
}

/* Of the 70 orders of four and four values two are as far apart as this. */
static void test_exact(void **state)
{
	(void)state;
	assert_true(fabs(chance_of(SAMPLE(1, 2, 3, 4), SAMPLE(5, 6, 7, 8)) - (2.0 / 70)) < 1e-12);
	assert_true(fabs(chance_of(SAMPLE(5, 6, 7, 8), SAMPLE(1, 2, 3, 4)) - (2.0 / 70)) < 1e-12);
	/* One pair in the wrong order: four orders. */
	assert_true(fabs(chance_of(SAMPLE(1, 2, 3, 5), SAMPLE(4, 6, 7, 8)) - (4.0 / 70)) < 1e-12);
	assert_true(fabs(chance_of(SAMPLE(1, 4), SAMPLE(2, 3)) - (1)) < 1e-12);
}

static void test_equal_values(void **state)
{
	(void)state;
	assert_true(fabs(chance_of(SAMPLE(7, 7, 7, 7), SAMPLE(7, 7, 7, 7)) - (1)) < 1e-12);
	assert_true(chance_of(SAMPLE(1, 1, 1, 1, 1, 1, 1, 1), SAMPLE(2, 2, 2, 2, 2, 2, 2, 2)) <
		    0.001);
	assert_true(chance_of(SAMPLE(1, 2, 1, 2), SAMPLE(2, 1, 2, 1)) > 0.9);
}

/* U is 105 of 400, so z is 2.56 with the normal distribution, and its chance 0.0106: the exact one is near that. */
static void test_near_the_limit(void **state)
{
	int64_t values[2][20];

	(void)state;
	for (int i = 0; i < 20; i++) {
		values[0][i] = 1000 * i;
		values[1][i] = 1000 * i + 5500;
	}
	double chance =
		chance_of((struct mr_sample){values[0], 20}, (struct mr_sample){values[1], 20});
	assert_true(chance > 0.008 && chance < 0.013);
}

/* U is 231 of 900, and z 3.23. */
static void test_large(void **state)
{
	int64_t values[2][30];

	(void)state;
	for (int i = 0; i < 30; i++) {
		values[0][i] = 1000 * i;
		values[1][i] = 1000 * i + 8500;
	}
	double chance =
		chance_of((struct mr_sample){values[0], 30}, (struct mr_sample){values[1], 30});
	assert_true(chance > 0.0012 && chance < 0.0013);
}

static void test_shift(void **state)
{
	struct mr_shift shift;

	(void)state;
	assert_int_equal(mr_shift_measure(SAMPLE(10, 11, 12), SAMPLE(20, 21, 22), &shift), 0);
	assert_int_equal(shift.by_ns, 10);
	assert_true(shift.low_ns >= 8 && shift.low_ns <= 10);
	assert_true(shift.high_ns >= 10 && shift.high_ns <= 12);
}

static void test_discoveries(void **state)
{
	static const double all[] = {0.01, 0.04, 0.03, 0.005}, none[] = {0.04, 0.5, 0.6, 0.9},
			    some[] = {0.9, 0.001, 0.03, 0.02};
	bool found[4];

	(void)state;
	assert_int_equal(mr_discoveries_find(all, 4, found), 0);
	assert_true(found[0] && found[1] && found[2] && found[3]);
	assert_int_equal(mr_discoveries_find(none, 4, found), 0);
	assert_false(found[0] || found[1] || found[2] || found[3]);
	assert_int_equal(mr_discoveries_find(some, 4, found), 0);
	assert_true(!found[0] && found[1] && found[2] && found[3]);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exact),          cmocka_unit_test(test_equal_values),
		cmocka_unit_test(test_near_the_limit), cmocka_unit_test(test_large),
		cmocka_unit_test(test_shift),          cmocka_unit_test(test_discoveries),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
