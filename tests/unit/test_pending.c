/* SPDX-License-Identifier: Apache-2.0
 *
 * The ring of pending operations, against a plain list of the same.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "hook/shared/pending.h"

enum {
	STEPS = 20000,
	MOST = 600,
	BATCH = 16,
};

/* What is expected in the ring, by correlation, oldest first. */
static uint64_t expected[STEPS];
static uint32_t expected_count;
static char events[STEPS]; /* their addresses are the operations' events */

static void *event_of(uint64_t correlation)
{
	return &events[correlation];
}

static void check(const struct mr_pending *pending)
{
	assert_int_equal(pending->count, expected_count);
	for (uint32_t i = 0; i < expected_count; i++) {
		assert_int_equal(mr_pending_at(pending, i)->correlation, expected[i]);
		assert_ptr_equal(mr_pending_at(pending, i)->event, event_of(expected[i]));
	}
}

static void forget(uint32_t place, uint32_t count)
{
	expected_count -= count;
	memmove(&expected[place], &expected[place + count],
		(expected_count - place) * sizeof expected[0]);
}

static void expect(uint32_t place, uint64_t correlation)
{
	memmove(&expected[place + 1], &expected[place],
		(expected_count - place) * sizeof expected[0]);
	expected[place] = correlation;
	expected_count++;
}

/* Of what is taken, some is complete, and the rest is put back where it was: the last first. */
static void look_at_some(struct mr_pending *pending)
{
	struct mr_pending_operation taken[BATCH];
	uint32_t count = mr_pending_take(pending, (uint32_t)rand() % BATCH, taken);
	assert_int_equal(pending->taken, count);
	forget(0, count);
	uint32_t complete = count ? (uint32_t)rand() % (count + 1) : 0;
	for (uint32_t i = count; i-- > complete;) {
		assert_true(mr_pending_put_back(pending, &taken[i]));
		expect(0, taken[i].correlation);
	}
	pending->taken -= count;
}

static void remove_one(struct mr_pending *pending)
{
	struct mr_pending_operation found;
	uint32_t place = (uint32_t)rand() % expected_count;
	assert_true(mr_pending_remove(pending, event_of(expected[place]), &found));
	assert_int_equal(found.correlation, expected[place]);
	forget(place, 1);
	assert_false(mr_pending_remove(pending, found.event, &found));
}

static void test_random_steps(void **state)
{
	(void)state;
	struct mr_pending pending = {0};
	uint64_t last = 0;
	srand(1);
	for (int step = 0; step < STEPS; step++) {
		int what = rand() % 8;
		if (what < 5 && expected_count < MOST && last + 1 < STEPS) {
			last++;
			assert_true(mr_pending_add(
				&pending, &(struct mr_pending_operation){.event = event_of(last),
									 .correlation = last}));
			expect(expected_count, last);
		} else if (what == 5 && expected_count > 0) {
			remove_one(&pending);
		} else {
			look_at_some(&pending);
		}
		if (step % 16 == 0)
			check(&pending);
	}
	check(&pending);
}

/* Two look at parts of the ring, and the second is the faster. */
static void test_put_back_behind_earlier_ones(void **state)
{
	(void)state;
	struct mr_pending pending = {0};
	struct mr_pending_operation first, second;
	for (uint64_t i = 1; i <= 3; i++)
		assert_true(mr_pending_add(
			&pending,
			&(struct mr_pending_operation){.event = event_of(i), .correlation = i}));
	assert_int_equal(mr_pending_take(&pending, 1, &first), 1);
	assert_int_equal(mr_pending_take(&pending, 1, &second), 1);
	assert_true(mr_pending_put_back(&pending, &first));
	assert_true(mr_pending_put_back(&pending, &second));
	expected_count = 3;
	for (uint64_t i = 1; i <= 3; i++)
		expected[i - 1] = i;
	check(&pending);
}

/* A ring that was large and is empty costs nothing, and can be used again. */
static void test_large_ring_shrinks(void **state)
{
	(void)state;
	struct mr_pending pending = {0};
	struct mr_pending_operation taken;
	for (int i = 0; i < 10000; i++)
		assert_true(mr_pending_add(&pending, &(struct mr_pending_operation){0}));
	mr_pending_shrink(&pending);
	assert_int_equal(pending.capacity, 16384);
	while (mr_pending_take(&pending, 1, &taken))
		;
	mr_pending_shrink(&pending);
	assert_int_equal(pending.capacity, 0);
	assert_true(mr_pending_add(&pending, &(struct mr_pending_operation){.correlation = 7}));
	assert_int_equal(mr_pending_at(&pending, 0)->correlation, 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_steps),
		cmocka_unit_test(test_put_back_behind_earlier_ones),
		cmocka_unit_test(test_large_ring_shrinks),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
