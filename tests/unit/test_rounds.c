/* SPDX-License-Identifier: Apache-2.0
 *
 * Rounds with irregular extras: a loop that also writes a summary, saves a checkpoint or evaluates now and then. Where
 * each round begins is known by construction.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/macros.h"
#include "load/period.h"
#include "load/rounds.h"
#include "trace_writer.h"

enum {
	ROOM = 40000,
	SEEDS = 100,
};

static uint32_t ids[ROOM], begins[ROOM];
static uint32_t count, begin_count;
static uint32_t round_ids[400];

static void start(uint64_t *random, uint32_t length, uint32_t kinds)
{
	count = begin_count = 0;
	for (uint32_t i = 0; i < length; i++)
		round_ids[i] = (uint32_t)(next_random(random) % kinds);
	round_ids[0] = 1; /* two kinds at least */
	round_ids[length - 1] = 2;
}

static void add_part(uint32_t first, uint32_t end)
{
	for (uint32_t i = first; i < end; i++)
		ids[count++] = round_ids[i];
}

static void add_foreign(uint32_t first_kind, uint32_t length)
{
	for (uint32_t i = 0; i < length; i++)
		ids[count++] = first_kind + i;
}

/* Rounds that begin where those of the program do. */
static struct mr_period find(struct mr_rounds *ret_rounds)
{
	static uint32_t number_of[ROOM]; /* numbers from 1, by kind */
	struct mr_period period;
	uint32_t numbers = 0;

	/* Ids must be below the count. */
	memset(number_of, 0, sizeof number_of);
	for (uint32_t i = 0; i < count; i++) {
		if (number_of[ids[i]] == 0)
			number_of[ids[i]] = ++numbers;
		ids[i] = number_of[ids[i]] - 1;
	}
	assert_int_equal(mr_period_find(ids, count, &period), 0);
	if (period.length == 0)
		return period;
	assert_int_equal(mr_rounds_find(ids, count, &period, 0, ret_rounds), 0);
	uint32_t place = ret_rounds->places[begins[begin_count / 2]];
	mr_rounds_free(ret_rounds);
	assert_int_equal(mr_rounds_find(ids, count, &period, place, ret_rounds), 0);
	return period;
}

/* Every round is found where it begins, and no other. */
static void check(uint32_t length)
{
	struct mr_rounds rounds = {0};
	struct mr_period period = find(&rounds);

	assert_int_equal(period.length, length);
	assert_in_range(period.confidence_permille, 900, 1000);
	assert_int_equal(rounds.list.count, begin_count);
	for (uint32_t i = 0; i < begin_count; i++) {
		assert_int_equal(rounds.list.items[i].first, begins[i]);
		assert_in_range(rounds.list.items[i].end, begins[i] + length,
				i + 1 < begin_count ? begins[i + 1] : count);
	}
	mr_rounds_free(&rounds);
}

static void begin_round(void)
{
	begins[begin_count++] = count;
}

/* A few things of their own between rounds, or in the middle of one. */
static void extras_of_their_own(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		uint64_t random = seed;
		uint32_t length = 6 + (uint32_t)(next_random(&random) % 100);
		uint32_t often = 4 + (uint32_t)(next_random(&random) % 10);
		uint32_t extra = 1 + (uint32_t)(next_random(&random) %
						(mr_min(often * length / 20, length / 2) + 1));
		bool is_inside = next_random(&random) % 2;

		start(&random, length, 1000);
		add_foreign(1000, 3);
		for (uint32_t i = 0; i < 50; i++) {
			begin_round();
			add_part(0, length / 2);
			if (is_inside && i % often == often - 1)
				add_foreign(2000, extra);
			add_part(length / 2, length);
			if (!is_inside && i % often == often - 1)
				add_foreign(2000, extra);
		}
		check(length);
	}
}

/* At random times, each another. */
static void extras_at_random(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		uint64_t random = seed;
		uint32_t length = 20 + (uint32_t)(next_random(&random) % 100);

		start(&random, length, 1000);
		for (uint32_t i = 0; i < 60; i++) {
			begin_round();
			add_part(0, 5);
			if (next_random(&random) % 6 == 0)
				add_foreign(2000 + 10 * i,
					    1 + (uint32_t)(next_random(&random) % 3));
			add_part(5, length);
		}
		check(length);
	}
}

/* An evaluation launches what the first part of a step does: it is part of the step after it, or stands alone. */
static void evaluations(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		uint64_t random = seed;
		uint32_t length = 30 + (uint32_t)(next_random(&random) % 60), found = 0;
		struct mr_rounds rounds = {0};

		start(&random, length, 1000);
		for (uint32_t i = 0; i < 60; i++) {
			begin_round();
			add_part(0, length);
			if (i % 12 == 11)
				add_part(0, length / 3);
		}
		struct mr_period period = find(&rounds);
		assert_int_equal(period.length, length);
		assert_int_equal(rounds.list.count, 60);
		for (uint32_t i = 0; i < 60; i++)
			found += rounds.list.items[i].first == begins[i];
		assert_in_range(found, 56, 60);
		mr_rounds_free(&rounds);
	}
}

/* A loop, and later another: half of the time is enough. */
static void a_loop_and_something_else(void **state)
{
	uint64_t random = 7;

	(void)state;
	start(&random, 25, 1000);
	for (uint32_t i = 0; i < 40; i++) {
		begin_round();
		add_part(0, 25);
	}
	for (uint32_t i = 0; i < 600; i++)
		ids[count++] = (uint32_t)(next_random(&random) % 1500);
	check(25);
}

/* Things that come by chance, however few kinds there are, are not taken for rounds with extras. */
static void chance(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 10 * SEEDS; seed++) {
		uint64_t random = seed;
		uint32_t length = 8 + (uint32_t)(next_random(&random) % 4000);
		uint32_t kinds = 2 + (uint32_t)(next_random(&random) % 12);
		struct mr_rounds rounds = {0};

		count = 0;
		for (uint32_t i = 0; i < length; i++)
			ids[count++] = (uint32_t)(next_random(&random) % kinds) % length;
		/* So few things may repeat by chance. */
		if (length > 40)
			assert_int_equal(find(&rounds).length, 0);
	}
}

/* The same thing before each of others that never come again. */
static void one_thing_between_others(void **state)
{
	struct mr_rounds rounds = {0};

	(void)state;
	count = 0;
	for (uint32_t i = 0; i < 300; i++) {
		ids[count++] = 0;
		ids[count++] = 1 + i;
	}
	assert_int_equal(find(&rounds).length, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(extras_of_their_own),
		cmocka_unit_test(extras_at_random),
		cmocka_unit_test(evaluations),
		cmocka_unit_test(a_loop_and_something_else),
		cmocka_unit_test(chance),
		cmocka_unit_test(one_thing_between_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
