/* SPDX-License-Identifier: Apache-2.0
 *
 * Who comes late to collectives, of rows that are made by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analysis/arrivals.h"

enum {
	PROCESSES = 3,
	ROWS = 16,
};

static struct mr_track tracks[PROCESSES];
static struct mr_process processes[PROCESSES];
static struct mr_survey survey;
static struct mr_model model;
static uint32_t row_tracks[ROWS];
static int64_t starts[ROWS], durations[ROWS];
static uint64_t groups[ROWS], instances[ROWS];

static int begin(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < PROCESSES; i++)
		tracks[i].process = i;
	survey = (struct mr_survey){.tracks = {.items = tracks, .count = PROCESSES},
				    .processes = {.items = processes, .count = PROCESSES}};
	model = (struct mr_model){.survey = &survey,
				  .collectives = {.track = row_tracks,
						  .start_ns = starts,
						  .duration_ns = durations,
						  .group_key = groups,
						  .instance_key = instances}};
	return 0;
}

static void add(uint32_t process, uint64_t instance, int64_t from_ns, int64_t to_ns)
{
	uint32_t row = model.collectives.table.count++;

	row_tracks[row] = process;
	groups[row] = 1;
	instances[row] = instance;
	starts[row] = from_ns;
	durations[row] = to_ns - from_ns;
}

static void test_late(void **state)
{
	struct mr_arrivals arrivals;

	(void)state;
	add(0, 7, 100, 520);
	add(1, 7, 200, 520);
	add(2, 7, 500, 520);
	add(2, 8, 900, 925);
	add(0, 8, 600, 925);
	add(1, 8, 650, 925);
	add(1, 9, 1000, 1060); /* the last by chance */
	add(2, 9, 1010, 1060);
	add(0, 9, 1015, 1060);
	assert_int_equal(mr_arrivals_make(&model, &arrivals), 0);
	assert_int_equal(arrivals.list.count, 3);
	assert_int_equal(arrivals.late_process, 2);
	assert_int_equal(arrivals.late_count, 2);
	assert_int_equal(arrivals.late_ns, 300 + 250);
	assert_int_equal(arrivals.list.items[0].others_ns, 200);
	assert_int_equal(arrivals.list.items[0].last_ns, 500);
	mr_arrivals_free(&arrivals);
}

/* The same keys again are another collective; what one process does alone is none. */
static void test_keys_again(void **state)
{
	struct mr_arrivals arrivals;

	(void)state;
	add(0, 7, 100, 220);
	add(1, 7, 200, 220);
	add(0, 7, 300, 450);
	add(1, 7, 440, 450);
	add(0, 8, 500, 600);
	add(0, 8, 550, 600);
	assert_int_equal(mr_arrivals_make(&model, &arrivals), 0);
	assert_int_equal(arrivals.list.count, 2);
	assert_int_equal(arrivals.late_process, 1);
	assert_int_equal(arrivals.late_ns, 100 + 140);
	mr_arrivals_free(&arrivals);
}

static void test_none(void **state)
{
	struct mr_arrivals arrivals;

	(void)state;
	assert_int_equal(mr_arrivals_make(&model, &arrivals), 0);
	assert_int_equal(arrivals.list.count, 0);
	assert_int_equal(arrivals.late_process, UINT32_MAX);
	mr_arrivals_free(&arrivals);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_late, begin),
		cmocka_unit_test_setup(test_keys_again, begin),
		cmocka_unit_test_setup(test_none, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
