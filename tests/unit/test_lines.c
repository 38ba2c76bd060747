/* SPDX-License-Identifier: Apache-2.0
 *
 * The line of a thread at any instant, from samples and states; and sites, of which equal ones are one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "hand_model.h"
#include "model/lines.h"

#define MS INT64_C(1000000)

static struct mr_model *model;

static void sample(int64_t ns, uint32_t site)
{
	assert_int_equal(mr_samples_append(&model->samples, (struct mr_samples_row){.track = 0,
										    .start_ns = ns,
										    .site = site,
										    .cpu_ns = -1}),
			 0);
}

static void check(int64_t ns, uint32_t site, int64_t from_ns, int64_t to_ns)
{
	struct mr_line_stretch stretch;
	assert_int_equal(mr_line_at(model, 0, ns, &stretch), site);
	assert_int_equal(stretch.from_ns, from_ns);
	assert_int_equal(stretch.to_ns, to_ns);
	assert_int_equal(mr_line_at(model, 0, ns, NULL), site);
}

static int start(void **state)
{
	(void)state;
	model = hand_model_start();
	return 0;
}

static int end(void **state)
{
	(void)state;
	mr_model_free(model);
	return 0;
}

static void test_no_samples(void **state)
{
	(void)state;
	hand_model_load();
	check(5, 0, INT64_MIN, INT64_MAX);
}

/* Between two samples the nearer one counts; far from all none does. */
static void test_nearest(void **state)
{
	(void)state;
	sample(100 * MS, 1);
	sample(110 * MS, 2);
	sample(300 * MS, 2);
	hand_model_load();
	check(0, 0, INT64_MIN, 75 * MS);
	check(75 * MS, 1, 75 * MS, 100 * MS);
	check(100 * MS, 1, 100 * MS, 105 * MS + 1);
	check(105 * MS + 1, 2, 105 * MS + 1, 110 * MS);
	check(134 * MS, 2, 110 * MS, 135 * MS);
	check(135 * MS, 0, 135 * MS, 275 * MS);
	check(275 * MS, 2, 275 * MS, 300 * MS);
	check(325 * MS, 0, 325 * MS, INT64_MAX);
}

/* The same line before and after: it holds throughout, if both are near enough. */
static void test_same(void **state)
{
	(void)state;
	sample(0, 1);
	sample(49 * MS, 1);
	hand_model_load();
	check(30 * MS, 1, 0, 49 * MS);
}

/* A thread does not move while it is blocked, however long that is, nor while it waits for a CPU. */
static void test_blocked(void **state)
{
	(void)state;
	hand_run(0, 0, 10 * MS);
	hand_blocked(0, 10 * MS, 900 * MS, "read", 0);
	hand_runnable(0, 900 * MS, 910 * MS, MR_REASON_WOKEN);
	hand_run(0, 910 * MS, 920 * MS);
	sample(11 * MS, 1);
	sample(905 * MS, 2);
	hand_model_load();
	check(5 * MS, 1, -15 * MS, 11 * MS);
	check(10 * MS, 1, -15 * MS, 11 * MS);
	check(899 * MS, 1, 11 * MS, 905 * MS);
	check(905 * MS, 2, 905 * MS, 935 * MS);
	check(915 * MS, 2, 905 * MS, 935 * MS);
	check(935 * MS, 0, 935 * MS, INT64_MAX);
}

/* Many short runs between long waits: the thread is still where it was seen. */
static void test_short_runs(void **state)
{
	(void)state;
	for (int64_t i = 0; i < 100; i++) {
		hand_run(0, i * 100 * MS, i * 100 * MS + MS / 10);
		hand_blocked(0, i * 100 * MS + MS / 10, (i + 1) * 100 * MS, "futex", 0);
	}
	sample(0, 1);
	sample(9950 * MS, 2);
	hand_model_load();
	/* It runs for 10 ms in all: 5 ms of them come before the 51st run. */
	check(1000 * MS, 1, 0, 5000 * MS + 1);
	check(4999 * MS, 1, 0, 5000 * MS + 1);
	check(5000 * MS + 1, 2, 5000 * MS + 1, 9950 * MS);
}

/* ---- sites -------------------------------------------------------------------------------------- */

static void test_sites(void **state)
{
	struct mr_sites sites = {0};
	struct mr_strings strings = {0};
	uint32_t none, file, main_name, load_name, code[2], outer, inner, again, other;
	char text[200];
	(void)state;
	assert_int_equal(mr_strings_intern(&strings, "", 0, &none), 0);
	assert_int_equal(mr_strings_intern(&strings, "/home/train.py", 14, &file), 0);
	assert_int_equal(mr_strings_intern(&strings, "main", 4, &main_name), 0);
	assert_int_equal(mr_strings_intern(&strings, "load", 4, &load_name), 0);
	assert_int_equal(mr_sites_start(&sites), 0);
	assert_int_equal(
		mr_sites_add_code(&sites, &(struct mr_code){file, main_name, 80}, &code[0]), 0);
	assert_int_equal(
		mr_sites_add_code(&sites, &(struct mr_code){file, load_name, 40}, &code[1]), 0);
	assert_int_equal(
		mr_sites_add(&sites, &(struct mr_site){.code = code[0], .line = 88}, &outer), 0);
	const struct mr_site called = {.code = code[1], .line = 41, .parent = outer};
	assert_int_equal(mr_sites_add(&sites, &called, &inner), 0);
	assert_int_equal(mr_sites_add(&sites, &called, &again), 0);
	assert_int_equal(
		mr_sites_add(&sites, &(struct mr_site){.code = code[1], .line = 41}, &other), 0);
	assert_int_equal(inner, again);
	assert_int_not_equal(inner, other);
	assert_int_equal(sites.items[other].same, inner);
	assert_int_equal(sites.items[inner].depth, 1);
	assert_int_equal(mr_sites_write_stacks(&sites, &strings), 0);
	assert_string_equal(mr_strings_text(&strings, sites.items[inner].stack),
			    "train.py:41 load < train.py:88 main");
	assert_string_equal(mr_sites_line(&sites, &strings, other, text, sizeof text),
			    "train.py:41 load");
	assert_string_equal(mr_sites_stack(&sites, &strings, inner, 0, text, sizeof text),
			    "train.py:41 load < ...");
	/* Room for less: cut, and ended. */
	for (size_t room = 1; room < 40; room++) {
		memset(text, 'x', sizeof text);
		mr_sites_stack(&sites, &strings, inner, 8, text, room);
		assert_true(strnlen(text, sizeof text) < room);
		assert_int_equal(text[room], 'x');
	}
	mr_sites_free(&sites);
	mr_strings_free(&strings);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_no_samples, start, end),
		cmocka_unit_test_setup_teardown(test_nearest, start, end),
		cmocka_unit_test_setup_teardown(test_same, start, end),
		cmocka_unit_test_setup_teardown(test_blocked, start, end),
		cmocka_unit_test_setup_teardown(test_short_runs, start, end),
		cmocka_unit_test(test_sites),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
